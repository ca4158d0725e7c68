/**
 * Bindings to an agent and a session key, with an explanation.
 * Entry point of the module.
 */
export { createRouting, type Broadcast, type Route, type RouteInput, type Routing, type TierStep } from "./create-routing.ts";
export { isSameMatch, readBindings, type Binding, type MatchedBy, type Tier } from "./bindings.ts";
export { accountKey, DEFAULT_ACCOUNT, type PeerKind, type RoutePeer, type RouteLocation, type ThreadForm } from "./chat.ts";
export type { Explanation, Refusal, BindingOutcome } from "./explain.ts";
export type { SessionKeys } from "./session-keys.ts";
