import { AppError } from "../../../base/errors.ts";
import { defaultAgentId, type OpenClawConfig } from "../../../config/index.ts";
import { agentOfKey, resolveSessionKey, type ResolvedSessionKey } from "../../../protocol/index.ts";
import type { SessionRow, Store } from "../../../store/index.ts";

/** What a short key is completed with. */
export interface KeySettings {
  readonly defaultAgentId: string;
  readonly mainKey: string;
  readonly scope: "per-sender" | "global";
}

type Agent = NonNullable<NonNullable<OpenClawConfig["agents"]>["list"]>[number];

/** All agents; one called `main` when none is configured. */
export function agentList(config: OpenClawConfig): readonly Agent[] {
  const list = config.agents?.list ?? [];
  return list.length > 0 ? list : [{ id: "main" }];
}

export function keySettings(config: OpenClawConfig): KeySettings {
  return { defaultAgentId: defaultAgentId(config), mainKey: "main", scope: config.session?.scope ?? "per-sender" };
}

/** The key of an agent's main session. */
export function mainSessionKey({ defaultAgentId, mainKey, scope }: KeySettings, agentId = defaultAgentId): string {
  return scope === "global" ? "global" : `agent:${agentId}:${mainKey}`;
}

/** What a written key stands for among the configured agents. */
export function resolveKey(written: string, config: OpenClawConfig): ResolvedSessionKey {
  const agentIds = agentList(config).map(({ id }) => id.toLowerCase());
  return resolveSessionKey(written, keySettings(config), agentIds);
}

const refused = (message: string): AppError => new AppError("INVALID_INPUT", message);

/** The id of an agent that is there; of the default one when none is named. */
export function knownAgent(named: string | undefined, config: OpenClawConfig): string {
  const id = named?.trim().toLowerCase() || defaultAgentId(config);
  if (!agentList(config).some((agent) => agent.id.toLowerCase() === id)) throw refused(`unknown agent id "${id.slice(0, 80)}"`);
  return id;
}

/** The one spelling of a session key: lower case, `agent:<id>:<rest>`, or `global` and `unknown`. Sessions of agents that are gone have one too. */
export function canonicalKey(written: string, config: OpenClawConfig): string {
  const found = resolveKey(written, config);
  if (found.key === undefined) throw refused(found.message);
  return found.key;
}

/** The canonical key of a session that something is to run in: its agent must be there. */
export function runnableKey(written: string, config: OpenClawConfig): string {
  const found = resolveKey(written, config);
  if (!found.ok) throw refused(found.message);
  return found.key;
}

/** Refuses to make, or to look for, a session of an agent that is not there. What is stored of one that is gone stays within reach. */
export function checkAgent(key: string, row: SessionRow | undefined, config: OpenClawConfig): void {
  const found = resolveKey(key, config);
  if (!row && !found.ok) throw refused(found.message);
}

/** The session that a key means, if there is one. Throws when its agent is unknown, too. */
export async function findSession(written: string, deps: { readonly config: { readonly current: OpenClawConfig }; readonly store: Store }) {
  const { current } = deps.config;
  const key = canonicalKey(written, current);
  const session = await deps.store.read("sessions.get", { key });
  checkAgent(key, session, current);
  return { key, session };
}

/** The agent that a canonical key belongs to. */
export function agentOf(key: string, config: OpenClawConfig): string {
  return agentOfKey(key, keySettings(config));
}

export function kindOf(key: string, chatType?: unknown): "direct" | "group" | "global" | "unknown" {
  if (key === "global" || key === "unknown") return key;
  return chatType === "group" || chatType === "channel" || /:(?:group|channel):/.test(key) ? "group" : "direct";
}

export function isSubagent(key: string): boolean {
  return /^agent:[^:]+:subagent:/.test(key);
}
