/** Who may reach an agent. */
export { judge } from "./judge.ts";
export { accountKey, effectiveChannelConfig } from "./section.ts";
export type { AccessGranted, AccessQuestion, AccessReason, AccessRefused, AccessVerdict } from "./verdict.ts";
