import type { MethodResult } from "openclaw/client";
import { t } from "../../words/words.ts";

export type Status = MethodResult<"channels.status">;
export type Account = Status["channelAccounts"][string][number];

export interface Issue {
  readonly message: string;
  readonly fix?: string;
}

/** How an account does, in a word and a colour. */
export interface Standing {
  readonly word: string;
  readonly look: "good" | "warn" | "bad" | "";
  /** What to know beyond the word. */
  readonly why?: string;
}

interface Judged {
  readonly state?: string;
  readonly why?: string;
}

const judged = (account: Account): Judged => account["health"] ?? {};

/** How an account does. */
export function standing(account: Account): Standing {
  const why = beyondIssues(account);
  const reason = why === undefined ? {} : { why };
  if (account.enabled === false) return { word: t("Off"), look: "" };
  if (account.configured === false) return { word: t("Not set up"), look: "" };
  if (account.stoppedByHand === true) return { word: t("Stopped manually"), look: "warn", why: t("Outgoing messages wait until the account is started.") };
  if (account.linked === false) return { word: t("Not logged in"), look: "warn", ...reason };
  if (account.running !== true) return { word: t("Stopped"), look: account.lastError ? "bad" : "warn", ...reason };
  const isBroken = (state: string | undefined): boolean => state === "conflict" || state === "error";
  if (isBroken(account.sending?.state) && account.connected !== false) return { word: t("Receiving only"), look: "bad", ...reason };
  if (isBroken(account.receiving?.state) && account.sending?.state === "ok") return { word: t("Sending only"), look: "bad", ...reason };
  if (account.connected === true) return { word: t("Connected"), look: "good", ...reason };
  if (account.connected === undefined) return { word: t("Running"), look: "good", ...reason };
  return { word: (account.reconnectAttempts ?? 0) > 0 ? t("Reconnecting") : t("Connecting"), look: "warn", ...reason };
}

const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /\b401\b|unauthori[sz]ed|invalid token|token .*(?:refused|invalid|not valid|rejected)|not accept .*token|reject\w* .*token/i,
    t("Enter a new token in the settings."),
  ],
  [/\b409\b|terminated by other/i, t("Another program is using the same account. Stop it, or use another account.")],
  [/\b429\b|too many requests|rate limit/i, t("The platform is limiting requests. It resumes automatically.")],
  [
    /ENOTFOUND|ECONN|ETIMEDOUT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|timed? ?out|no connection/i,
    t("Check that the gateway’s machine can reach the platform. It retries automatically."),
  ],
  [/certificate|\bTLS\b/i, t("Check the clock on the gateway’s machine and the server’s certificate.")],
];

/** What to do about an error that came without advice. */
export const adviceFor = (error: string): string | undefined => ADVICE.find(([pattern]) => pattern.test(error))?.[1];

/** The gateway's reason without what stands among the issues: "restarts in 5s: refused" is "restarts in 5s" beside "refused". */
function beyondIssues(account: Account): string | undefined {
  const { why = "" } = judged(account);
  const issues = issuesOf(account);
  if (why === "" || issues.some(({ message }) => message.includes(why))) return undefined;
  const said = [account.lastError ?? "", ...issues.map(({ message }) => message)].find((text) => text !== "" && why.endsWith(text));
  if (said === undefined) return why;
  return why.slice(0, -said.length).replace(/[:\s]+$/, "") || undefined;
}

/** What the user may do to start or stop an account. */
export function controlsOf(account: Account): readonly ("start" | "stop" | "restart")[] {
  const { enabled, configured, stoppedByHand, running } = account;
  if (enabled === false || configured === false) return [];
  const { state } = judged(account);
  const runs = state === undefined ? running === true : state !== "down";
  return stoppedByHand !== true && runs ? ["restart", "stop"] : ["start"];
}

/** What is wrong with an account and what to do about it. Each thing once. */
export function issuesOf(account: Account): readonly Issue[] {
  const listed = ((account["issues"] ?? []) as readonly Partial<Issue>[]).flatMap(({ message, fix }) =>
    typeof message === "string" ? [{ message, ...(typeof fix === "string" ? { fix } : {}) }] : [],
  );
  for (const [name, direction] of [[t("Receiving"), account.receiving] as const, [t("Sending"), account.sending] as const]) {
    const { state, text, fix } = direction ?? {};
    if ((state !== "conflict" && state !== "error") || text === undefined || listed.some(({ message }) => message.includes(text))) continue;
    listed.push({ message: `${name}: ${text}`, ...(fix === undefined ? {} : { fix }) });
  }
  const { lastError } = account;
  if (!lastError || listed.some(({ message }) => message.includes(lastError) || lastError.includes(message))) return alikeOnce(listed);
  return alikeOnce([...listed, { message: lastError }]);
}

/** Of issues that ask for the same thing the one that says it best: with what to do, else the first. Those without advice get some where it is known. */
function alikeOnce(issues: readonly Issue[]): readonly Issue[] {
  const kept: Issue[] = [];
  for (const issue of issues) {
    const advice = adviceFor(issue.message);
    const at = advice === undefined ? -1 : kept.findIndex(({ message }) => adviceFor(message) === advice);
    if (at < 0) kept.push(issue);
    else if (kept[at]!.fix === undefined && issue.fix !== undefined) kept[at] = issue;
  }
  return kept.map(({ message, fix = adviceFor(message) }) => ({ message, ...(fix === undefined ? {} : { fix }) }));
}

/** What a probe found, in words, unless they stand among the issues; undefined when nobody asked. */
export function probeWords(account: Account): { readonly ok: boolean; readonly text: string } | undefined {
  const { probe } = account;
  const issues = issuesOf(account);
  if (typeof probe !== "object" || probe === null) return undefined;
  const { ok, error, elapsedMs, bot } = probe as { ok?: unknown; error?: unknown; elapsedMs?: unknown; bot?: { username?: unknown } };
  if (ok === false) {
    const text = typeof error === "string" ? error : t("no answer");
    return { ok: false, text: issues.some(({ message }) => message.includes(text)) ? "" : text };
  }
  const who = typeof bot?.username === "string" ? t`answers as @${bot.username}` : t("answers");
  return { ok: true, text: `${who}${typeof elapsedMs === "number" ? t` in ${Math.round(elapsedMs)} ms` : ""}` };
}

/** Where an account's settings stand: a channel's default account may stand in the channel itself. */
export function settingsPath(channel: string, accountId: string, config: unknown): string {
  const section = (config as { channels?: Record<string, { accounts?: Record<string, unknown> }> } | undefined)?.channels?.[channel];
  return section?.accounts?.[accountId] === undefined ? `channels.${channel}` : `channels.${channel}.accounts.${accountId}`;
}

export interface BindingLine {
  readonly path: string;
  readonly agentId: string;
  /** What it asks for. */
  readonly when: string;
}

/** The bindings of the configuration, in words. */
export function bindingsOf(config: unknown): readonly BindingLine[] {
  const found = (config as { bindings?: unknown } | undefined)?.bindings;
  if (!Array.isArray(found)) return [];
  return found.map((each: { agentId?: string; match?: Record<string, unknown> }, index) => {
    const parts = Object.entries(each.match ?? {}).map(([name, value]) => {
      if (typeof value !== "object" || value === null) return `${name} ${String(value)}`;
      if (Array.isArray(value)) return `${name} ${value.join(t(" or "))}`;
      const { kind, id } = value as { kind?: string; id?: string };
      return `${name} ${[kind, id].filter((word) => word !== undefined).join(":")}`;
    });
    return { path: `bindings[${index}]`, agentId: each.agentId ?? "", when: parts.join(", ") || t("everything") };
  });
}
