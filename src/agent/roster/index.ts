/** The agents of a configuration. Loaded when one is added, changed or removed. */
export { createRoster, type AddedAgent, type AgentFolder, type NewAgent, type RemovedAgent, type Roster, type RosterDeps } from "./roster.ts";
export { beatenBy, describeBinding, planBindings, type BindingConflict, type BindingMatch, type BindingPlan, type WrittenBinding } from "./bindings.ts";
export { parseIdentity, type WrittenIdentity } from "./identity-file.ts";
export { TEMPLATES, templateNamed, type AgentTemplate } from "../templates/index.ts";
