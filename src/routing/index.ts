/**
 * Bindings to an agent and a session key, with an explanation.
 * The door of the room: nothing else in this folder is imported from outside.
 */
export { createRouting, type Route, type RouteQuestion, type Routing, type TierStep } from "./create-routing.ts";
export type { MatchedBy, Tier } from "./bindings.ts";
export type { Broadcast } from "./broadcast.ts";
export { accountKey, DEFAULT_ACCOUNT, type PeerKind, type RoutePeer, type RoutePlace, type ThreadForm } from "./chat.ts";
export type { Explanation, Refusal, Verdict } from "./explain.ts";
export type { SessionKeys } from "./session-keys.ts";
