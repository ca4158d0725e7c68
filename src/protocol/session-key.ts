import { isAgentId } from "../base/session-name.ts";
import { escapeLine, isPrintable } from "../base/printable.ts";
import { clip } from "../base/text.ts";

/** What a key means depends on these settings. */
export interface SessionNaming {
  /** Agent that bare keys belong to. */
  readonly defaultAgentId: string;
  /** Another name of `main`, from `session.mainKey`. */
  readonly mainKey?: string;
  /** With `global` all main sessions are one. */
  readonly scope?: "per-sender" | "global";
}

/** A session key taken apart. `global` and `unknown` belong to no agent. */
export type SessionKey =
  | { readonly kind: "global" }
  | { readonly kind: "unknown" }
  /** `rest` is what stands after `agent:<agentId>:`, never empty. */
  | { readonly kind: "agent"; readonly agentId: string; readonly rest: string };

const PREFIX = "agent:";

/** First words of sessions that are no chat on a channel, and words that a peer's id follows: a `dm` behind one of them is part of that id. */
const OTHER_KINDS = new Set(["direct", "group", "channel", "thread", "openai", "openai-user", "openresponses-user", "hook", "cron", "subagent"]);

/** `dm` is an older word for `direct`. It stands before a peer: first, after a channel, or after a channel and an account. */
function withDirect(rest: string): string {
  const parts = rest.split(":");
  const at = parts.indexOf("dm");
  if (at < 0 || at > 2 || at === parts.length - 1 || parts.slice(0, at).some((part) => OTHER_KINDS.has(part))) return rest;
  return parts.with(at, "direct").join(":");
}

/**
 * Takes a canonical key apart. Undefined when it is none: not lower case, without an agent or a rest, or with an older spelling.
 */
export function parseSessionKey(key: string): SessionKey | undefined {
  if (key === "global" || key === "unknown") return { kind: key };
  if (!key.startsWith(PREFIX) || key !== key.toLowerCase() || key !== key.trim()) return undefined;
  const colon = key.indexOf(":", PREFIX.length);
  if (colon < 0) return undefined;
  const agentId = key.slice(PREFIX.length, colon);
  const rest = key.slice(colon + 1);
  if (agentId.trim() !== agentId || agentId === "" || rest.trim() !== rest || rest === "" || withDirect(rest) !== rest) return undefined;
  return { kind: "agent", agentId, rest };
}

/** The text of a key. */
export function formatSessionKey(key: SessionKey): string {
  return key.kind === "agent" ? `${PREFIX}${key.agentId}:${key.rest}` : key.kind;
}

/** The canonical key of a written one, and the agent it was written for: where all main sessions are one, the key does not name it. */
function readKey(written: string, naming: SessionNaming): { readonly key: string; readonly agentId: string } | undefined {
  const key = written.trim().toLowerCase();
  let agentId = naming.defaultAgentId.trim().toLowerCase();
  if (key === "") return undefined;
  if (key === "global" || key === "unknown") return { key, agentId };
  let rest = key;
  if (key.startsWith(PREFIX)) {
    const colon = key.indexOf(":", PREFIX.length);
    if (colon < 0) return undefined;
    agentId = key.slice(PREFIX.length, colon).trim();
    rest = key.slice(colon + 1).trim();
    if (agentId === "" || rest === "") return undefined;
  }
  rest = withDirect(rest);
  const isMain = rest === "main" || (naming.mainKey !== undefined && rest === withDirect(naming.mainKey.trim().toLowerCase()));
  if (isMain && naming.scope === "global") return { key: "global", agentId };
  return { key: `${PREFIX}${agentId}:${isMain ? "main" : rest}`, agentId };
}

/**
 * The one key that a session is stored and reported under, for whatever a client, a binding or a person wrote. Undefined when nothing can
 * be meant by it: it is empty, or starts with `agent:` and names no agent or no session of it.
 */
export function canonicalSessionKey(written: string, naming: SessionNaming): string | undefined {
  return readKey(written, naming)?.key;
}

/** Longer than any platform's ids make it. */
const MAX_KEY = 1024;
/** As much of a key as a message repeats. */
const MAX_SHOWN = 300;

/** What a written key stands for. `message` is the error for the caller. */
export type ResolvedSessionKey =
  | { readonly ok: true; readonly key: string; readonly agentId: string }
  /** A key of an agent that is not there (any more). Nothing may run under it; what is stored under it may be looked at and removed. */
  | { readonly ok: false; readonly key: string; readonly agentId: string; readonly message: string }
  | { readonly ok: false; readonly key: undefined; readonly message: string };

/** The canonical key for a written one, checked against the agents that there are: their ids, in lower case. */
export function resolveSessionKey(written: string, naming: SessionNaming, agentIds: readonly string[]): ResolvedSessionKey {
  const found = written.length > MAX_KEY ? undefined : readKey(written, naming);
  if (!found || !isAgentId(found.agentId)) {
    return { ok: false, key: undefined, message: `malformed session key "${escapeLine(clip(written, MAX_SHOWN))}"` };
  }
  const { key, agentId } = found;
  // One that was made before this rule may still be looked at and removed.
  if (!isPrintable(key)) return { ok: false, key, agentId, message: `session key has non-printable characters: "${escapeLine(clip(written, MAX_SHOWN))}"` };
  return agentIds.includes(agentId) ? { ok: true, key, agentId } : { ok: false, key, agentId, message: `unknown agent id "${agentId}"` };
}

/** The agent that a canonical key belongs to. */
export function agentOfKey(key: string, { defaultAgentId }: Pick<SessionNaming, "defaultAgentId">): string {
  const parsed = parseSessionKey(key);
  return parsed?.kind === "agent" ? parsed.agentId : defaultAgentId.trim().toLowerCase();
}
