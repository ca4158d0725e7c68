/** Lists of who may write. */
import type { RuntimeEnv } from "../../../protocol/index.ts";

type Entry = string | number;

function trimmed(entries: readonly Entry[] | null | undefined): string[] {
  return (entries ?? []).map((entry) => String(entry).trim()).filter(Boolean);
}

/** The entries as trimmed texts. */
export function normalizeAllowFrom(values?: readonly Entry[]): string[] {
  return trimmed(values);
}

/** The list with `*` in it: everybody. */
export function addWildcardAllowFrom(allowFrom?: readonly Entry[] | null): string[] {
  const list = trimmed(allowFrom);
  return list.includes("*") ? list : [...list, "*"];
}

/** Both lists in order, each entry once. */
export function mergeAllowFromEntries(current: readonly Entry[] | null | undefined, additions: readonly Entry[]): string[] {
  return [...new Set([...trimmed(current), ...trimmed(additions)])];
}

/** As {@link mergeAllowFromEntries}, blind to case; the first spelling stays. */
export function mergeAllowlist(params: { existing?: readonly Entry[] | undefined; additions: readonly string[] }): string[] {
  const byKey = new Map<string, string>();
  for (const entry of [...trimmed(params.existing), ...trimmed(params.additions)]) {
    const key = entry.toLowerCase();
    if (!byKey.has(key)) byKey.set(key, entry);
  }
  return [...byKey.values()];
}

/** Entries in lower case, a prefix such as `telegram:` taken off. */
export function formatAllowFromLowercase(params: { allowFrom: readonly Entry[]; stripPrefixRe?: RegExp | undefined }): string[] {
  return trimmed(params.allowFrom).map((entry) => (params.stripPrefixRe ? entry.replace(params.stripPrefixRe, "") : entry).toLowerCase());
}

export type AllowlistMatchSource = "wildcard" | "id" | "name" | "tag" | "username" | "prefixed-id" | "prefixed-user" | "prefixed-name" | "slug" | "localpart";

export interface AllowlistMatch<Source extends string = AllowlistMatchSource> {
  allowed: boolean;
  matchKey?: string | undefined;
  matchSource?: Source | undefined;
}

/** Whether a sender is on the list by id or name. An empty list allows nobody. */
export function resolveAllowlistMatchSimple(params: {
  allowFrom: readonly Entry[];
  senderId: string;
  senderName?: string | null | undefined;
}): AllowlistMatch<"wildcard" | "id" | "name"> {
  const list = new Set(trimmed(params.allowFrom).map((entry) => entry.toLowerCase()));
  if (list.has("*")) return { allowed: true, matchKey: "*", matchSource: "wildcard" };
  const candidates = [
    ["id", params.senderId.toLowerCase()],
    ["name", params.senderName?.toLowerCase()],
  ] as const;
  for (const [matchSource, matchKey] of candidates) {
    if (matchKey && list.has(matchKey)) return { allowed: true, matchKey, matchSource };
  }
  return { allowed: false };
}

/** For logs. */
export function formatAllowlistMatchMeta(match?: { matchKey?: string | undefined; matchSource?: string | undefined } | null): string {
  return `matchKey=${match?.matchKey ?? "none"} matchSource=${match?.matchSource ?? "none"}`;
}

export type ParsedChatAllowTarget =
  | { kind: "chat_id"; chatId: number }
  | { kind: "chat_guid"; chatGuid: string }
  | { kind: "chat_identifier"; chatIdentifier: string }
  | { kind: "handle"; handle: string };

/** Whether a sender, or the chat they write in, is on a list whose entries `parseAllowTarget` understands. An empty list allows everybody. */
export function isAllowedParsedChatSender(params: {
  allowFrom: readonly Entry[];
  sender: string;
  chatId?: number | null | undefined;
  chatGuid?: string | null | undefined;
  chatIdentifier?: string | null | undefined;
  normalizeSender(sender: string): string;
  parseAllowTarget(entry: string): ParsedChatAllowTarget;
}): boolean {
  const entries = params.allowFrom.map((entry) => String(entry).trim());
  if (entries.length === 0 || entries.includes("*")) return true;
  const sender = params.normalizeSender(params.sender);
  const guid = params.chatGuid?.trim();
  const identifier = params.chatIdentifier?.trim();
  return entries.filter(Boolean).some((entry) => {
    const target = params.parseAllowTarget(entry);
    switch (target.kind) {
      case "chat_id":
        return params.chatId != null && target.chatId === params.chatId;
      case "chat_guid":
        return Boolean(guid) && target.chatGuid === guid;
      case "chat_identifier":
        return Boolean(identifier) && target.chatIdentifier === identifier;
      default:
        return Boolean(sender) && target.handle === sender;
    }
  });
}

const SHOWN = 6;

/** Says which names of a list were found on the platform and which were not. */
export function summarizeMapping(label: string, mapping: readonly string[], unresolved: readonly string[], runtime: Pick<RuntimeEnv, "log">): void {
  const line = (word: string, entries: readonly string[]) => {
    const more = entries.length > SHOWN ? ` (+${entries.length - SHOWN})` : "";
    return entries.length > 0 ? [`${label} ${word}: ${entries.slice(0, SHOWN).join(", ")}${more}`] : [];
  };
  const lines = [...line("resolved", mapping), ...line("unresolved", unresolved)];
  if (lines.length > 0) runtime.log(lines.join("\n"));
}
