/** What is known about accounts, and what is wrong with them. */
import {
  type ChannelAccountSnapshot,
  type ChannelGroupContext,
  type ChannelStatusIssue,
  collectTelegramStatusIssues,
  type TelegramProbe,
} from "openclaw/plugin-sdk";
import {
  type AccountReader,
  type ChannelOnboardingSpec,
  type ChannelParts,
  type Fields,
  fieldsOf,
  listOf,
  numberOf,
  runProbe,
  textOf,
  voiceNotePrograms,
} from "openclaw/plugin-sdk/channel-kit";
import { CREDENTIALS, groupRules, layersOf, type TelegramAccount } from "./account.ts";
import type { TelegramClient } from "./api/client.ts";
import { tokenProblem } from "./setup.ts";

/** Groups whose membership is looked at. */
const MAX_GROUPS = 50;

function probe(client: TelegramClient, timeoutMs: number): Promise<TelegramProbe> {
  return runProbe(async () => {
    const me = await client.call("getMe", {}, { timeoutMs });
    const hook = await client.call("getWebhookInfo", {}, { timeoutMs }).catch(() => undefined);
    return {
      bot: {
        id: me.id,
        username: me.username,
        canJoinGroups: me.can_join_groups,
        canReadAllGroupMessages: me.can_read_all_group_messages,
        supportsInlineQueries: me.supports_inline_queries,
      },
      ...(hook ? { webhook: { url: hook.url ?? null, hasCustomCert: hook.has_custom_certificate } } : {}),
    };
  });
}

/** Whether the bot is in the groups that it is to answer in without being mentioned. */
async function audit(client: TelegramClient, account: TelegramAccount, timeoutMs: number): Promise<object> {
  const keys = Object.keys(account.groups).filter((key) => fieldsOf(account.groups[key])?.["enabled"] !== false);
  const open = keys.filter((key) => key !== "*" && groupRules(account.groups, key, undefined).requireMention === false);
  const numbered = open.filter((key) => /^-?\d+$/.test(key)).slice(0, MAX_GROUPS);
  const groups = await Promise.all(
    numbered.map(async (chatId) => {
      try {
        const member = await client.call("getChatMember", { chat_id: Number(chatId), user_id: client.botId ?? 0 }, { timeoutMs });
        return { chatId, ok: !["left", "kicked"].includes(member.status), status: member.status };
      } catch (error) {
        return { chatId, ok: false, error: error instanceof Error ? error.message : "unknown" };
      }
    }),
  );
  return {
    ok: groups.every(({ ok }) => ok),
    groups,
    unresolvedGroups: open.length - open.filter((key) => /^-?\d+$/.test(key)).length,
    hasWildcardUnmentionedGroups: fieldsOf(account.groups["*"])?.["requireMention"] === false,
  };
}

/** Updates that could not be read. */
function skippedIssues({ application }: ChannelAccountSnapshot): Omit<ChannelStatusIssue, "channel" | "accountId">[] {
  const skipped = fieldsOf(fieldsOf(application)?.["skippedUpdates"]);
  const count = numberOf(skipped?.["count"]) ?? 0;
  if (count === 0) return [];
  const last = listOf(skipped?.["last"]).flatMap((entry) => `${numberOf(fieldsOf(entry)?.["updateId"]) ?? "?"} (${textOf(fieldsOf(entry)?.["why"]) ?? ""})`);
  return [{ kind: "runtime", message: `${count} updates could not be read and were skipped, last: ${last.slice(-3).join("; ")}` }];
}

/** `tg:123` → `123`. */
export const bareEntry = (entry: string): string =>
  entry
    .trim()
    .replace(/^(?:(?:telegram|tg):)+/i, "")
    .toLowerCase();

function layersIn({ groups }: TelegramAccount, { groupId }: ChannelGroupContext): readonly Fields[] {
  const [, chatId, topicId] = /^(?:telegram:|group:)*(.+?)(?::(?:topic:)?(\d+))?$/.exec(groupId?.trim() ?? "") ?? [];
  return chatId === undefined ? [] : layersOf(groups, chatId, topicId);
}

/** From this the kit makes setup, onboarding, status and the rest. */
export function describeChannel(
  accounts: AccountReader<TelegramAccount>,
  clientOf: (account: TelegramAccount) => TelegramClient,
): ChannelOnboardingSpec<TelegramAccount, TelegramProbe> {
  return {
    channel: "telegram",
    label: "Telegram",
    credentials: CREDENTIALS.map((credential) => ({ ...credential, checkEntry: tokenProblem })),
    accounts,
    idLabel: "telegramUserId",
    idsLabel: "Telegram user ids",
    idExample: "123456789",
    normalizeEntry: bareEntry,
    isName: (entry) => entry !== "" && entry !== "*" && !/^-?\d+$/.test(entry),
    nameAdvice: "Use numbers such as 123456789; /whoami shows one",
    requireMention: true,
    authStatuses: [401, 404],
    quickstartScore: 10,
    groupLayers: layersIn,
    probe: (account, timeoutMs) => probe(clientOf(account), timeoutMs),
    who: ({ bot }) => (bot?.username ? `@${bot.username}` : undefined),
    issues: skippedIssues,
    programs: voiceNotePrograms,
    webhook: ({ webhook }) => webhook && { url: webhook.url, path: webhook.path, setting: "channels.telegram.webhookUrl" },
  };
}

type Status = ChannelParts<TelegramAccount, TelegramProbe>["status"];

/** The kit's status, with the bot's groups looked at. */
export function withAudit(status: Status, clientOf: (account: TelegramAccount) => TelegramClient): Status {
  return {
    ...status,
    auditAccount: ({ account, timeoutMs }) => audit(clientOf(account), account, timeoutMs),
    async buildAccountSnapshot(params) {
      const { account, runtime, probe: probed } = params;
      const unmentioned = Object.keys(account.groups).some((key) => groupRules(account.groups, key, undefined).requireMention === false);
      return {
        ...(await status.buildAccountSnapshot!(params)),
        mode: runtime?.mode ?? (account.webhook ? "webhook" : "polling"),
        // True where it is asked for and privacy mode prevents it.
        allowUnmentionedGroups: unmentioned && probed?.bot?.canReadAllGroupMessages === false,
        bot: runtime?.bot ?? probed?.bot,
      };
    },
    collectStatusIssues: (accounts) => [...collectTelegramStatusIssues(accounts), ...status.collectStatusIssues!(accounts)],
  };
}
