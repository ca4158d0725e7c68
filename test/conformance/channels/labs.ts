import type { Lacks, MakeLab } from "./lab.ts";

export interface Labs {
  readonly make: MakeLab;
  readonly lacks: Lacks;
}

/** The labs of all channels, each loaded when it is asked for. */
export const LABS: Readonly<Record<string, () => Promise<Labs>>> = {
  telegram: async () => ({ make: (await import("./telegram.ts")).telegramLabs(), lacks: {} }),
  irc: async () => {
    const { ircLabs, IRC_LACKS } = await import("./irc.ts");
    return { make: ircLabs(), lacks: IRC_LACKS };
  },
  discord: async () => ({ make: (await import("./discord.ts")).discordLabs(), lacks: {} }),
  slack: async () => ({ make: (await import("./slack.ts")).slackLabs(), lacks: {} }),
  whatsapp: async () => {
    const { whatsappLabs, WHATSAPP_LACKS } = await import("./whatsapp.ts");
    return { make: whatsappLabs(), lacks: WHATSAPP_LACKS };
  },
  imessage: async () => {
    const { imessageLabs, IMESSAGE_LACKS } = await import("./imessage.ts");
    return { make: imessageLabs(), lacks: IMESSAGE_LACKS };
  },
  mattermost: async () => ({ make: (await import("./mattermost.ts")).mattermostLabs(), lacks: {} }),
};
