import type { OpenClawConfig } from "../../../config/index.ts";
import { agentOfKey, canonicalSessionKey, type SessionNaming } from "../../../protocol/index.ts";
import type { SessionRow } from "../../../store/index.ts";
import { jsonOutcome, type ToolContext, type ToolOutcome } from "../../tool.ts";
import type { SessionToolsDeps } from "./deps.ts";

/** Which sessions an agent sees: its own, those it began, its agent's, or all. */
export type Visibility = "self" | "tree" | "agent" | "all";

/** Longest way from a session up to the one that began it. */
const MAX_DEPTH = 16;

type Caller = Pick<ToolContext, "agentId" | "sessionKey">;

/** `tools.sessions.visibility`; inside a sandbox not more than what the session began, unless `sessionToolsVisibility` is `all`. */
export function visibilityOf({ config, isSandboxed }: Pick<SessionToolsDeps, "config" | "isSandboxed">, caller: Caller): Visibility {
  const current = config();
  const wide = current.tools?.sessions?.visibility ?? "tree";
  return wide !== "self" && isClamped(current, caller, isSandboxed) ? "tree" : wide;
}

/** A sandboxed session that sees only what it began. */
export function isClamped(config: OpenClawConfig, { agentId, sessionKey }: Caller, isSandboxed: SessionToolsDeps["isSandboxed"]): boolean {
  const own = config.agents?.list?.find((agent) => agent.id.toLowerCase() === agentId.toLowerCase())?.sandbox?.sessionToolsVisibility;
  return (own ?? config.agents?.defaults?.sandbox?.sessionToolsVisibility ?? "spawned") === "spawned" && isSandboxed({ agentId, sessionKey });
}

/** May these two agents know of each other? `tools.agentToAgent` has to be on, and its list to name both; an empty list names everybody. */
export function agentsMayMeet(config: OpenClawConfig, one: string, other: string): boolean {
  if (one === other) return true;
  const { enabled = false, allow = [] } = config.tools?.agentToAgent ?? {};
  const listed = (id: string): boolean => allow.length === 0 || allow.some((pattern) => fits(pattern.trim().toLowerCase(), id));
  return enabled && listed(one.toLowerCase()) && listed(other.toLowerCase());
}

/** `*` stands for any text. Both are short, and a list is written by the owner. */
function fits(pattern: string, id: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return pattern === id;
  if (!id.startsWith(first)) return false;
  const last = rest.pop() ?? "";
  let at = first.length;
  for (const part of rest) {
    const found = id.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return id.length - last.length >= at && id.endsWith(last);
}

/** How short keys are completed for this caller. */
export function namingFor(config: OpenClawConfig, { agentId }: Pick<Caller, "agentId">): SessionNaming {
  return { defaultAgentId: agentId, scope: config.session?.scope ?? "per-sender" };
}

/** The session that a model wrote: a key, `main` or the id of a session. `row` is what is stored of it. */
export interface Target {
  readonly key: string;
  readonly agentId: string;
  readonly row: SessionRow | undefined;
}

/** Undefined when nothing can be meant. */
export async function findTarget({ store, config }: Pick<SessionToolsDeps, "store" | "config">, caller: Caller, written: string): Promise<Target | undefined> {
  const naming = namingFor(config(), caller);
  const key = written.length > 1024 ? undefined : canonicalSessionKey(written, naming);
  const row = key === undefined ? undefined : await store.read("sessions.get", { key });
  if (row) return { key: row.key, agentId: row.agentId.toLowerCase(), row };
  const byId = /^[a-z0-9][a-z0-9._-]{0,127}$/i.test(written.trim()) ? await store.read("sessions.bySessionId", { sessionId: written.trim() }) : [];
  const found = byId.find(({ agentId }) => agentId === caller.agentId) ?? byId[0];
  if (found) return { key: found.key, agentId: found.agentId.toLowerCase(), row: found };
  return key === undefined ? undefined : { key, agentId: agentOfKey(key, naming), row: undefined };
}

/** Undefined when the caller may look at the session; else the reason why not. Says nothing about whether a session is there. */
export async function refusal(deps: Pick<SessionToolsDeps, "store" | "config" | "isSandboxed">, caller: Caller, target: Target): Promise<string | undefined> {
  if (target.key === caller.sessionKey) return undefined;
  const visibility = visibilityOf(deps, caller);
  const limited = `tools.sessions.visibility is "${visibility}"`;
  if (visibility === "self") return `Only this session is accessible (${limited}).`;
  if (visibility === "tree") {
    if (await isBelow(deps, caller, target.row)) return undefined;
    const clamped = isClamped(deps.config(), caller, deps.isSandboxed);
    return `Only sessions started by this one are accessible (${clamped ? "it is sandboxed" : limited}).`;
  }
  if (target.agentId === caller.agentId.toLowerCase()) return undefined;
  if (visibility === "agent") return `Only sessions of this agent are accessible (${limited}).`;
  if (agentsMayMeet(deps.config(), caller.agentId.toLowerCase(), target.agentId)) return undefined;
  return "Sessions of that agent are not accessible: tools.agentToAgent must be enabled and allow both agents.";
}

/** Was this session begun by the caller's, or by one that was? */
async function isBelow({ store, config }: Pick<SessionToolsDeps, "store" | "config">, caller: Caller, row: SessionRow | undefined): Promise<boolean> {
  const naming = namingFor(config(), caller);
  let at = row;
  for (let depth = 0; at && depth < MAX_DEPTH; depth += 1) {
    const { spawnedBy } = at.entry;
    const parent: string | undefined = typeof spawnedBy === "string" ? canonicalSessionKey(spawnedBy, naming) : undefined;
    if (parent === undefined) return false;
    if (parent === caller.sessionKey) return true;
    at = await store.read("sessions.get", { key: parent });
  }
  return false;
}

/** The documented shape of a refusal. */
export function forbidden(error: string): ToolOutcome {
  return { ...jsonOutcome({ status: "forbidden", error }), isError: true };
}

export function failure(error: string): ToolOutcome {
  return { ...jsonOutcome({ status: "error", error }), isError: true };
}

/** `global` is shown as `main` where all main sessions are one. */
export function shownKey(key: string): string {
  return key === "global" ? "main" : key;
}
