/** Who may reach an agent. */
export { judge } from "./judge.ts";
export { isOwner, namedOwners, ownerEntry, withOwner, type KnownSender, type NamedOwners } from "./owners.ts";
export { accountKey, effectiveChannelConfig } from "./section.ts";
export type { AccessGranted, AccessQuestion, AccessReason, AccessRefused, AccessVerdict } from "./verdict.ts";
