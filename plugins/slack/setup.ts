/** Accounts, setting one up, and what is known about them. */
import { PAIRING_APPROVED_MESSAGE } from "openclaw/plugin-sdk";
import { type ChannelParts, type ChannelProbe, createChannelParts, createOnboarding, type Fields, fieldsOf, runProbe } from "openclaw/plugin-sdk/channel-kit";
import { accounts, channelLayers, CREDENTIALS, isName, type SlackAccount, userEntry } from "./account.ts";
import type { ApiOptions } from "./api.ts";
import { createApi } from "./api.ts";
import { appManifest } from "./manifest.ts";
import { sendText } from "./send/text.ts";
import type { HostConfig } from "./types.ts";
import type { Workspaces } from "./workspace.ts";

export interface SlackProbe extends ChannelProbe {
  readonly bot?: { readonly id: unknown; readonly name: unknown };
  readonly team?: { readonly id: unknown; readonly name: unknown };
}

const intro = (): string[] => [
  "1. Open https://api.slack.com/apps and choose Create New App, From a manifest.",
  "2. Pick your workspace, choose JSON and paste this:",
  "",
  JSON.stringify(appManifest({ mode: "socket" }), null, 2),
  "",
  "3. Create the app and install it to the workspace. The tokens that are asked for now are on its pages.",
];

/** Asks the platform who a token belongs to, with a connection of its own. */
async function probe(account: SlackAccount, timeoutMs: number, options: ApiOptions): Promise<SlackProbe> {
  const api = createApi(account, options);
  try {
    return await runProbe(async () => {
      const { user_id: id, user: name, team_id: teamId, team } = await api.call("auth.test", {}, { timeoutMs });
      return { bot: { id, name }, team: { id: teamId, name: team } };
    });
  } finally {
    if (options.transport === undefined) api.close();
  }
}

function warnings(account: SlackAccount): string[] {
  const dm = fieldsOf(account.config["dm"]);
  const names = Object.keys(account.channels).filter((key) => key !== "*" && !/^#?[CG][A-Z0-9]{6,}$/i.test(key));
  return [
    ...(dm?.["groupEnabled"] === true && !Array.isArray(dm["groupChannels"])
      ? ["channels.slack.dm.groupEnabled is true: everybody in a group message with the bot may use it. List the conversations in dm.groupChannels."]
      : []),
    ...(names.length > 0 ? [`channels.slack.channels names channels that can be renamed: ${names.join(", ")}. Use ids (C…).`] : []),
  ];
}

export function createParts(options: ApiOptions, workspaces: () => Workspaces) {
  const spec = {
    channel: "slack",
    label: "Slack",
    credentials: CREDENTIALS,
    accounts,
    idLabel: "slackUserId",
    normalizeEntry: userEntry,
    isName,
    nameAdvice: "Use user ids (U…): a person's profile, Copy member ID",
    idExample: "U0123456789",
    groupsLetIn: true,
    groupLayers: (
      account: SlackAccount,
      { groupId, groupChannel }: { groupId?: string | null | undefined; groupChannel?: string | null | undefined },
    ): readonly Fields[] => channelLayers(account.channels, groupId ?? "", groupChannel ?? undefined),
    probe: (account: SlackAccount, timeoutMs: number) => probe(account, timeoutMs, options),
    async notifyApproval({ cfg, id }: { cfg: HostConfig; id: string }): Promise<void> {
      await sendText(workspaces().of(cfg), { to: `user:${id}`, text: PAIRING_APPROVED_MESSAGE });
    },
    describe: (account: SlackAccount) => ({ mode: account.mode, ...(account.mode === "http" ? { webhookPath: account.webhookPath } : {}) }),
    warnings,
  };
  const parts: ChannelParts<SlackAccount, SlackProbe> = createChannelParts<SlackAccount, SlackProbe>(spec);
  const onboarding = createOnboarding<SlackAccount, SlackProbe>(
    {
      ...spec,
      intro: intro(),
      who: ({ bot, team }) => `${String(bot?.name)} in ${String(team?.name)}`,
    },
    parts,
  );
  return { parts, onboarding };
}
