import type { AgentHooks } from "./agent.ts";
import type { LifecycleHooks } from "./lifecycle.ts";
import type { MessageHooks } from "./messages.ts";
import type { ModelHooks } from "./model.ts";
import type { SessionHooks } from "./sessions.ts";
import type { SubagentHooks } from "./subagents.ts";
import type { ToolHooks } from "./tools.ts";

/** Event, context and result of every hook. */
export interface HookMap extends AgentHooks, ModelHooks, ToolHooks, MessageHooks, SessionHooks, SubagentHooks, LifecycleHooks {}

export type HookName = keyof HookMap;
export type HookEvent<K extends HookName> = HookMap[K]["event"];
export type HookContext<K extends HookName> = HookMap[K]["ctx"];
/** What a handler may return. */
export type HookResult<K extends HookName> = HookMap[K]["result"];

/** Hooks with synchronous handlers. */
export type SyncHookName = "tool_result_persist" | "before_message_write";

/** `void` since a handler that decides nothing has no `return`. */
export type HookHandler<K extends HookName> = (
  event: HookEvent<K>,
  ctx: HookContext<K>,
  // oxlint-disable-next-line typescript/no-invalid-void-type
) => HookResult<K> | null | undefined | void | Promise<HookResult<K> | null | undefined | void>;

export * from "./agent.ts";
export * from "./lifecycle.ts";
export * from "./messages.ts";
export * from "./model.ts";
export * from "./sessions.ts";
export * from "./subagents.ts";
export * from "./tools.ts";
export type * from "./values.ts";
