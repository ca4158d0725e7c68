/** Accounts, setting one up, and what is known about them. */
import { type ChannelSetupInput, PAIRING_APPROVED_MESSAGE } from "openclaw/plugin-sdk";
import {
  type ChannelOnboardingSpec,
  type ChannelParts,
  type ChannelProbe,
  createChannelParts,
  createOnboarding,
  type Fields,
  fieldsOf,
  runProbe,
} from "openclaw/plugin-sdk/channel-kit";
import { accounts, channelLayers, CREDENTIALS, DEFAULT_WEBHOOK_PATH, isName, type SlackAccount, userEntry } from "./account.ts";
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

type Onboarding = ChannelOnboardingSpec<SlackAccount, SlackProbe>;

const addressOf = (text: string): URL | undefined => {
  const url = URL.parse(text.trim());
  return url && /^https?:$/.test(url.protocol) ? url : undefined;
};

/** The path of an address, where it is not the usual one. */
function pathKeys(address: URL | undefined): Fields {
  return address === undefined || address.pathname === "/" || address.pathname === DEFAULT_WEBHOOK_PATH ? {} : { webhookPath: address.pathname };
}

/** How events arrive and whether the one command is answered; then the manifest that fits. */
const askFirst: NonNullable<Onboarding["askFirst"]> = async (prompter, { mode: before, config, slash, webhookPath }) => {
  const mode = await prompter.select<SlackAccount["mode"]>({
    message: "How should Slack deliver messages?",
    options: [
      { value: "socket", label: "Socket Mode: nothing has to be reachable from outside" },
      { value: "http", label: "HTTP: Slack posts to a public https address of this gateway" },
    ],
    initialValue: before,
  });
  const typed =
    mode === "http"
      ? await prompter.text({
          message: "Public https address of this gateway, for the manifest (empty: enter it in Slack later)",
          placeholder: `https://claw.example.com${webhookPath}`,
          validate: (text) => (text.trim() === "" || addressOf(text) ? undefined : "Expected an address such as https://claw.example.com/slack/events"),
        })
      : "";
  const address = addressOf(typed);
  const url = address === undefined ? undefined : `${address.origin}${address.pathname === "/" ? webhookPath : address.pathname}`;
  const isOn = await prompter.confirm({ message: `Answer the slash command /${slash.name}?`, initialValue: true });
  const manifest = appManifest({ mode, url, command: isOn ? slash.name : undefined });
  return {
    keys: { mode, ...pathKeys(address), slashCommand: { ...fieldsOf(config["slashCommand"]), enabled: isOn } },
    note: ["The app manifest:", "", JSON.stringify(manifest, null, 2)],
  };
};

/** A signing secret without an app token means HTTP mode. */
function setupKeys({ mode, signingSecret, appToken, webhookPath, webhookUrl }: ChannelSetupInput): Fields {
  const chosen = mode?.trim() ?? (signingSecret !== undefined && appToken === undefined ? "http" : undefined);
  const path = webhookPath?.trim();
  return { ...(chosen === undefined ? {} : { mode: chosen }), ...(path ? { webhookPath: path } : pathKeys(addressOf(webhookUrl ?? ""))) };
}

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
      ? ["channels.slack.dm.groupEnabled is true: everyone in a group message with the bot can use it. List the conversations in dm.groupChannels."]
      : []),
    ...(names.length > 0 ? [`channels.slack.channels lists channels by name, which can change: ${names.join(", ")}. Use ids (C…).`] : []),
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
    peopleLists: ["channels.*.users", "reactionAllowlist"],
    groupsLetIn: true,
    setupKeys,
    removedKeys: ["mode", "webhookPath"],
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
      askFirst,
      who: ({ bot, team }) => `${String(bot?.name)} in ${String(team?.name)}`,
    },
    parts,
  );
  return { parts, onboarding };
}
