/**
 * The composition root: builds every room from its deps and owns the one stack that takes them down again.
 * The door of the room.
 */
import type * as doctor from "./doctor/index.ts";
import type * as explainFile from "./agent/explain-file.ts";
import type * as commandHost from "./plugins/command-host.ts";
import type * as pluginTrial from "./plugins/trial.ts";
import type * as securityAudit from "./security-audit/index.ts";
import type * as setup from "./setup/index.ts";

export { createApp, type App, type AppOptions } from "./create-app.ts";
export type { AnsweringModel } from "./answering-model.ts";
export { createProcessLifetime, type Lifetime } from "./lifetime.ts";
export { lockHolder, type LockHolder } from "./instance-lock.ts";
export { stateLockPath } from "./state-lock.ts";
export { logFileAt } from "./log-file.ts";
/** What tools may do with a file: loaded by who explains it. */
export async function loadExplainFile(): Promise<typeof explainFile> {
  return import("./agent/explain-file.ts");
}
export type { CommandHost } from "./plugins/command-host.ts";
/** Plugins for one command: loaded by who needs it. */
export async function loadCommandHost(): Promise<typeof commandHost> {
  return import("./plugins/command-host.ts");
}
export type { TrialProgram, TriedPlugin, UnloadablePlugin } from "./plugins/trial.ts";
/** Loads plugins to see whether they load: loaded by the command that asks. */
export async function loadPluginTrial(): Promise<typeof pluginTrial> {
  return import("./plugins/trial.ts");
}
export type { Asker, Given, LoginPort, MadeAccount, OnboardResult, ProgramsPort, Section, ServicePort, SetupPlace } from "./setup/index.ts";
/** The first steps: loaded by who takes them. */
export async function loadSetup(): Promise<typeof setup> {
  return import("./setup/index.ts");
}
export type { AccountTrouble, Check, DoctorDeps, FailedPlugin, Finding, ModelFacts, Outcome, Repair, ServiceFacts } from "./doctor/index.ts";
/** Checks of an installation: loaded by who makes them. */
export async function loadDoctor(): Promise<typeof doctor> {
  return import("./doctor/index.ts");
}
export type { AuditDeps, AuditFinding, AuditReport, FixReport, RiskyEntry, Severity } from "./security-audit/index.ts";
/** The security audit: loaded by the command that makes it. */
export async function loadSecurityAudit(): Promise<typeof securityAudit> {
  return import("./security-audit/index.ts");
}
