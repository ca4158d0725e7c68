import { AppError } from "../../../base/errors.ts";
import { clip } from "../../../base/text.ts";
import type { OpenClawConfig } from "../../../config/index.ts";
import { canonicalSessionKey } from "../../../protocol/index.ts";

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

export function defaultAgentId(config: OpenClawConfig): string {
  const list = agentList(config);
  return (list.find((agent) => agent.default) ?? list[0]!).id.toLowerCase();
}

export function keySettings(config: OpenClawConfig): KeySettings {
  return { defaultAgentId: defaultAgentId(config), mainKey: "main", scope: config.session?.scope ?? "per-sender" };
}

/** The key of an agent's main session. */
export function mainSessionKey({ defaultAgentId, mainKey, scope }: KeySettings, agentId = defaultAgentId): string {
  return scope === "global" ? "global" : `agent:${agentId}:${mainKey}`;
}

/** An agent's id is the name of a folder in the state folder. */
const AGENT_ID = /^[a-z0-9][a-z0-9._-]{0,127}$/;

/** Longer than any platform's ids make it. */
const MAX_KEY = 1024;

/** The one spelling of a session key: lower case, `agent:<id>:<rest>`, or `global` and `unknown`. */
export function canonicalKey(key: string, settings: KeySettings): string {
  const canonical = key.length > MAX_KEY ? undefined : canonicalSessionKey(key, settings);
  if (canonical === undefined || !AGENT_ID.test(agentOf(canonical, settings))) throw new AppError("INVALID_INPUT", `malformed session key "${clip(key, 300)}"`);
  return canonical;
}

/** The agent that a canonical key belongs to. */
export function agentOf(key: string, settings: KeySettings): string {
  return /^agent:([^:]+):/.exec(key)?.[1] ?? settings.defaultAgentId;
}

export function kindOf(key: string, chatType?: unknown): "direct" | "group" | "global" | "unknown" {
  if (key === "global" || key === "unknown") return key;
  return chatType === "group" || chatType === "channel" || /:(?:group|channel):/.test(key) ? "group" : "direct";
}

export function isSubagent(key: string): boolean {
  return /^agent:[^:]+:subagent:/.test(key);
}
