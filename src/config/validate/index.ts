/** Checking a configuration: against the schema, against what plugins bring, and across keys. */
export { validateConfig, validateSections } from "./config.ts";
export { applyDefaults } from "./defaults.ts";
export { parseDuration, parseSize, SHORTEST_HEARTBEAT_MS } from "./durations.ts";
export { formatIssue, formatPath, type Issue } from "./issue.ts";
export type { ConfigSections, JsonSchema, JsonSchemaNode } from "../json-schema.ts";
export { applyLoadDefaults } from "./load-defaults.ts";
export { BUILTIN_TOOL_NAMES, OWN_PLUGINS, pluginsSection, type KnownNames } from "./known-names.ts";
export { hasUnexplainedNames, nameIssues } from "./rules/names.ts";
export { pluginsExist } from "./rules/extensions.ts";
export { unavailableFeatures } from "./rules/unavailable.ts";
export { isSensitivePath } from "./sensitive.ts";
export { isTooDeep, validate } from "./walk.ts";
