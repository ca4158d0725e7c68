/** Who may reach an agent. */
export { decideAccess } from "./decide-access.ts";
export { isOwner, namedOwners, ownerEntry, ownersBy, withOwner, type IsOwner, type KnownSender, type NamedOwners } from "./owners.ts";
export { accountKey, effectiveChannelConfig } from "./section.ts";
export type { AccessGranted, AccessRequest, AccessReason, AccessRefused, AccessDecision } from "./decision.ts";
