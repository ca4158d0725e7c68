import { THINKING_LEVELS } from "../../base/thinking.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { SessionEntry, ThinkingLevel } from "../../protocol/index.ts";

/** Who decided a setting, most specific first. */
export type SettingSource = "run" | "session" | "config" | "model" | "default";

/** A setting with who decided it, so that `/status` and explanations can name it. */
export interface Chosen<T> {
  readonly value: T;
  readonly source: SettingSource;
}

const VERBOSE = ["off", "on", "full"] as const;
const REASONING = ["off", "on", "stream"] as const;
const USAGE = ["off", "tokens", "full"] as const;

export type VerboseLevel = (typeof VERBOSE)[number];
export type ReasoningLevel = (typeof REASONING)[number];
export type ElevatedLevel = "off" | "on" | "ask" | "full";
export type UsageFooter = (typeof USAGE)[number];

type Entry = SessionEntry | undefined;

function word<T extends string>(value: unknown, words: readonly T[]): T | undefined {
  if (typeof value !== "string") return undefined;
  const written = value.trim().toLowerCase();
  return words.find((known) => known === written);
}

/** The first that is there. */
function first<T>(...chain: readonly (readonly [SettingSource, T | undefined])[]): Chosen<T> | undefined {
  for (const [source, value] of chain) if (value !== undefined) return { value, source };
  return undefined;
}

/** `modelDefault` is what the model does when nobody chose: `low` where it can reason, else `off`. */
export function thinkingLevel(
  config: OpenClawConfig,
  entry: Entry,
  facts: { readonly run?: ThinkingLevel | undefined; readonly modelDefault: ThinkingLevel },
): Chosen<ThinkingLevel> {
  const found = first<ThinkingLevel>(
    ["run", facts.run],
    ["session", word(entry?.["thinkingLevel"], THINKING_LEVELS)],
    ["config", config.agents?.defaults?.thinkingDefault],
  );
  return found ?? { value: facts.modelDefault, source: "model" };
}

export function verboseLevel(config: OpenClawConfig, entry: Entry, run?: VerboseLevel): Chosen<VerboseLevel> {
  const found = first<VerboseLevel>(["run", run], ["session", word(entry?.["verboseLevel"], VERBOSE)], ["config", config.agents?.defaults?.verboseDefault]);
  return found ?? { value: "off", source: "default" };
}

export function reasoningLevel(entry: Entry, run?: ReasoningLevel): Chosen<ReasoningLevel> {
  return first<ReasoningLevel>(["run", run], ["session", word(entry?.["reasoningLevel"], REASONING)]) ?? { value: "off", source: "default" };
}

/** What is written below an answer about its tokens. `on` is an older word for `tokens`. */
export function usageFooter(entry: Entry): Chosen<UsageFooter> {
  const value = entry?.["responseUsage"] === "on" ? "tokens" : word(entry?.["responseUsage"], USAGE);
  return value === undefined ? { value: "off", source: "default" } : { value, source: "session" };
}

/** The model that was chosen for a session; undefined when it follows the configuration. */
export function modelOverride(entry: Entry): { readonly providerOverride?: string; readonly modelOverride: string } | undefined {
  const model = entry?.["modelOverride"];
  const provider = entry?.["providerOverride"];
  if (typeof model !== "string" || model.trim() === "") return undefined;
  return { modelOverride: model.trim(), ...(typeof provider === "string" && provider.trim() !== "" ? { providerOverride: provider.trim() } : {}) };
}

/** The credential a session is pinned to, and whether a person did it. */
export function authProfileOverride(entry: Entry): { readonly profile: string; readonly source: "auto" | "user" } | undefined {
  const profile = entry?.["authProfileOverride"];
  if (typeof profile !== "string" || profile === "") return undefined;
  return { profile, source: entry?.["authProfileOverrideSource"] === "auto" ? "auto" : "user" };
}

const QUEUE_MODES = ["steer", "followup", "collect", "steer-backlog", "interrupt"] as const;
const QUEUE_DROPS = ["old", "new", "summarize"] as const;
export type QueueMode = (typeof QUEUE_MODES)[number];

function queueMode(value: unknown): QueueMode | undefined {
  return value === "steer+backlog" ? "steer-backlog" : value === "queue" ? "steer" : word(value, QUEUE_MODES);
}

function amount(value: unknown, least = 0): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= least ? Math.floor(value) : undefined;
}

export interface QueueSettings {
  readonly mode: Chosen<QueueMode>;
  readonly debounceMs: Chosen<number>;
  readonly cap: Chosen<number>;
  readonly drop: Chosen<(typeof QUEUE_DROPS)[number]>;
}

/** One object for all messages that wait. */
const DEFAULT_QUEUE: QueueSettings = {
  mode: { value: "collect", source: "default" },
  debounceMs: { value: 1000, source: "default" },
  cap: { value: 20, source: "default" },
  drop: { value: "summarize", source: "default" },
};

/** Where a session has settings of its own. */
const QUEUE_FIELDS = ["queueMode", "queueDebounceMs", "queueCap", "queueDrop"] as const;

/** What happens to messages that come while the session's turn runs. */
export function queueSettings(config: OpenClawConfig, entry: Entry, channel: string | undefined): QueueSettings {
  const queue = config.messages?.queue;
  if (!queue && QUEUE_FIELDS.every((field) => entry?.[field] === undefined)) return DEFAULT_QUEUE;
  const byChannel: Readonly<Record<string, unknown>> = queue?.byChannel ?? {};
  const own = channel === undefined ? undefined : byChannel[channel];
  const wait = channel === undefined ? undefined : queue?.debounceMsByChannel?.[channel];
  return {
    mode: first<QueueMode>(["session", queueMode(entry?.["queueMode"])], ["config", queueMode(own) ?? queueMode(queue?.mode)]) ?? DEFAULT_QUEUE.mode,
    debounceMs: first(["session", amount(entry?.["queueDebounceMs"])], ["config", amount(wait) ?? queue?.debounceMs]) ?? DEFAULT_QUEUE.debounceMs,
    cap: first(["session", amount(entry?.["queueCap"], 1)], ["config", queue?.cap]) ?? DEFAULT_QUEUE.cap,
    drop: first(["session", word(entry?.["queueDrop"], QUEUE_DROPS)], ["config", queue?.drop]) ?? DEFAULT_QUEUE.drop,
  };
}

const DEFAULT_TURN_SECONDS = 600;

/** The longest that a turn may take, in milliseconds: what was asked for with its message, else the configured time. 0: as long as it takes. */
export function turnLimitMs(config: OpenClawConfig, asked?: number): number {
  return asked ?? (config.agents?.defaults?.timeoutSeconds ?? DEFAULT_TURN_SECONDS) * 1000;
}

/** Whether answers of a session may be sent, and what decided it. */
export interface SendDecision {
  readonly allowed: boolean;
  readonly source: "session" | "rule" | "default";
  /** Index in `session.sendPolicy.rules`. */
  readonly rule?: number;
}

/** `dm` is an older word for `direct`, in a beginning of a key, too. */
const withDirect = (prefix: string): string => prefix.toLowerCase().replace(/(^|:)dm(?=:|$)/, "$1direct");

function chatTypeOf(key: string, entry: SessionEntry | undefined): string {
  const { chatType } = entry ?? {};
  if (chatType === "dm") return "direct";
  if (chatType === "room") return "channel";
  if (chatType !== undefined) return chatType;
  return /:group:/.test(key) ? "group" : /:channel:/.test(key) ? "channel" : "direct";
}

type AccessRules = NonNullable<OpenClawConfig["session"]>["sendPolicy"];

/** What rules say about a session: any `deny` that matches wins, then the first that matches, then the default. `channel` counts when the entry has none. */
export function decideByRules(policy: AccessRules, key: string, entry: SessionEntry | undefined, channel?: string): SendDecision {
  if (!policy?.rules) return { allowed: policy?.default !== "deny", source: "default" };
  const chatType = chatTypeOf(key, entry);
  const from = (entry?.channel ?? channel)?.toLowerCase();
  const bare = key.replace(/^agent:[^:]+:/, "");
  const matching = policy.rules.flatMap(({ action, match = {} }, rule) => {
    const type = match.chatType === "dm" ? "direct" : match.chatType;
    const matches =
      (match.channel === undefined || match.channel.toLowerCase() === from) &&
      (type === undefined || type === chatType) &&
      (match.keyPrefix === undefined || bare.startsWith(withDirect(match.keyPrefix))) &&
      (match.rawKeyPrefix === undefined || key.startsWith(withDirect(match.rawKeyPrefix)));
    return matches ? [{ action, rule }] : [];
  });
  const deciding = matching.find(({ action }) => action === "deny") ?? matching[0];
  if (deciding) return { allowed: deciding.action === "allow", source: "rule", rule: deciding.rule };
  return { allowed: policy.default !== "deny", source: "default" };
}

/** The session's own setting, then the rules. */
export function sendPolicy(config: OpenClawConfig, key: string, entry: SessionEntry | undefined, channel?: string): SendDecision {
  const own = entry?.["sendPolicy"];
  if (own === "allow" || own === "deny") return { allowed: own === "allow", source: "session" };
  return decideByRules(config.session?.sendPolicy, key, entry, channel);
}
