/** What is known about accounts, and what is wrong with them. */
import { type ChannelPlugin, type ChannelStatusIssue, collectTelegramStatusIssues, type TelegramProbe } from "openclaw/plugin-sdk";
import { namesIn } from "./access.ts";
import { groupRules, type TelegramAccount } from "./account.ts";
import type { TelegramClient } from "./api/client.ts";
import { asTelegramError } from "./api/failure.ts";
import { fieldsOf, listOf, numberOf, textOf } from "./fields.ts";

type StatusAdapter = NonNullable<ChannelPlugin<TelegramAccount, TelegramProbe, object>["status"]>;

/** Groups whose membership is looked at. */
const MAX_GROUPS = 50;

async function probe(client: TelegramClient, timeoutMs: number): Promise<TelegramProbe> {
  const started = performance.now();
  const elapsed = (): number => Math.round(performance.now() - started);
  try {
    const me = await client.call("getMe", {}, { timeoutMs });
    const hook = await client.call("getWebhookInfo", {}, { timeoutMs }).catch(() => undefined);
    return {
      ok: true,
      status: 200,
      error: null,
      elapsedMs: elapsed(),
      bot: {
        id: me.id,
        username: me.username,
        canJoinGroups: me.can_join_groups,
        canReadAllGroupMessages: me.can_read_all_group_messages,
        supportsInlineQueries: me.supports_inline_queries,
      },
      ...(hook ? { webhook: { url: hook.url ?? null, hasCustomCert: hook.has_custom_certificate } } : {}),
    };
  } catch (error) {
    const failure = asTelegramError(error);
    return { ok: false, status: failure?.status ?? null, error: failure?.message ?? "the probe failed", elapsedMs: elapsed() };
  }
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

/** Besides what every host reports: names on allow lists, and updates that were skipped. */
function ownIssues(accounts: Parameters<NonNullable<StatusAdapter["collectStatusIssues"]>>[0]): ChannelStatusIssue[] {
  return accounts.flatMap((account) => {
    const found: Omit<ChannelStatusIssue, "channel" | "accountId">[] = [];
    const names = namesIn(account.allowFrom);
    if (names.length > 0)
      found.push({ kind: "config", message: `allowFrom takes numeric user ids; these entries admit nobody: ${names.join(", ")}`, fix: "Replace names by ids" });
    const probed = fieldsOf(account.probe);
    if (probed?.["status"] === 401 || probed?.["status"] === 404) {
      found.push({
        kind: "auth",
        message: "Telegram does not accept the bot token",
        fix: "Get a valid one from @BotFather and set channels.telegram.botToken",
      });
    }
    const skipped = fieldsOf(fieldsOf(account.application)?.["skippedUpdates"]);
    const count = numberOf(skipped?.["count"]) ?? 0;
    if (count > 0) {
      const last = listOf(skipped?.["last"]).flatMap(
        (entry) => `${numberOf(fieldsOf(entry)?.["updateId"]) ?? "?"} (${textOf(fieldsOf(entry)?.["why"]) ?? ""})`,
      );
      found.push({ kind: "runtime", message: `${count} updates could not be read and were skipped, last: ${last.slice(-3).join("; ")}` });
    }
    if (textOf(account.lastError) && account.running === false) found.push({ kind: "runtime", message: `The account stopped: ${account.lastError}` });
    return found.map((issue) => ({ channel: "telegram", accountId: account.accountId, ...issue }));
  });
}

export function createStatus(clientOf: (account: TelegramAccount) => TelegramClient): StatusAdapter {
  return {
    defaultRuntime: { accountId: "default", running: false, lastStartAt: null, lastStopAt: null, lastError: null },
    probeAccount: ({ account, timeoutMs }) => probe(clientOf(account), timeoutMs),
    auditAccount: ({ account, timeoutMs }) => audit(clientOf(account), account, timeoutMs),
    buildChannelSummary: ({ snapshot }) => ({
      configured: snapshot.configured ?? false,
      tokenSource: snapshot.tokenSource ?? "none",
      running: snapshot.running ?? false,
      mode: snapshot.mode ?? null,
      lastStartAt: snapshot.lastStartAt ?? null,
      lastStopAt: snapshot.lastStopAt ?? null,
      lastError: snapshot.lastError ?? null,
      probe: snapshot.probe,
      lastProbeAt: snapshot.lastProbeAt ?? null,
    }),
    buildAccountSnapshot({ account, runtime, probe: probed, audit: audited }) {
      const seesAll = probed?.bot?.canReadAllGroupMessages;
      const unmentioned = Object.keys(account.groups).some((key) => groupRules(account.groups, key, undefined).requireMention === false);
      return {
        ...runtime,
        accountId: account.accountId,
        name: account.name,
        enabled: account.enabled,
        configured: account.token !== "",
        tokenSource: account.tokenSource,
        mode: runtime?.mode ?? (account.webhook ? "webhook" : "polling"),
        dmPolicy: account.config.dmPolicy ?? "pairing",
        allowFrom: (account.config.allowFrom ?? []).map(String),
        // True where it is asked for and privacy mode prevents it.
        allowUnmentionedGroups: unmentioned && seesAll === false,
        running: runtime?.running ?? false,
        ...(probed === undefined ? {} : { probe: probed }),
        ...(audited === undefined ? {} : { audit: audited }),
        bot: runtime?.bot ?? probed?.bot,
      };
    },
    collectStatusIssues: (accounts) => [...collectTelegramStatusIssues(accounts), ...ownIssues(accounts)],
  };
}
