/** What plugins register: one table per kind, one ledger per plugin and generation. The door of this folder. */
export type { Binding } from "./binding.ts";
export { matchCommand, registerCommand, runCommand } from "./commands.ts";
export { createDiagnostics } from "./diagnostics.ts";
export { registerInternalHook, registerToolPolicy, registerTypedHook, type PolicyGrants } from "./hooks.ts";
export type { CleanupReason, MethodRegistration, RouteRegistration, ServiceRegistration, SessionExtensionRegistration } from "./kinds.ts";
export { createLedger, type Ledger } from "./ledger.ts";
export { registerGatewayMethod } from "./routes.ts";
export type { Owner, Registration } from "./owner.ts";
export { imageMakers, mediaDescribers, mediaProviderMembers } from "./media-providers.ts";
export { registerChannel, registerCli, registerProvider, registerService } from "./parts.ts";
export type { RegistryPorts } from "./ports.ts";
export { createRegistries, type Registries } from "./registries.ts";
export { needsGatewayToken, registerHttpHandler, registerHttpRoute, type RouteBoard } from "./routes.ts";
export { enqueueInjection, jsonOf, registerSessionExtension, type InjectionDeps } from "./sessions.ts";
export type { Table } from "./table.ts";
export { createTools, registerTool } from "./tools.ts";
