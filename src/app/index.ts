/**
 * The composition root: builds every room from its deps and owns the one stack that takes them down again.
 * The door of the room.
 */
import type * as explainFile from "./agent/explain-file.ts";
import type * as commandHost from "./plugins/command-host.ts";
import type * as pluginTrial from "./plugins/trial.ts";

export { createApp, type App, type AppOptions } from "./create-app.ts";
export { createProcessLifetime, type Lifetime } from "./lifetime.ts";
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
