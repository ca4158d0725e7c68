/** Looks at an installation and mends what it can: a list of checks, each with an id. Works without a gateway. Loaded by who needs it. */
export { CHECKS } from "./examine.ts";
export type { AccountTrouble, ChannelRuleFinding, DoctorDeps, FailedPlugin, ModelFacts, ServiceFacts } from "./deps.ts";
export { examine, type Outcome } from "./examine.ts";
export { TOPICS, type Check, type Finding, type Repair } from "./finding.ts";
