/**
 * The model catalogue, wire formats, providers, auth profiles, failover, usage.
 * The door of the room. Importing it loads none of them.
 */
export type { CallEvent, CallRequest, CallResult } from "./call/call.ts";
export type { ModelCost, ModelEntry, ModelSource, WireCompat } from "./entry.ts";
export type { Attempt } from "./failover/words.ts";
export type { FailureClass } from "./failover/classify.ts";
export type { ModelEvent } from "./wire/format.ts";
