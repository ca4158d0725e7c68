/**
 * The composition root: builds every room from its deps and owns the one stack that takes them down again.
 * The door of the room.
 */
import type * as commandHost from "./plugins/command-host.ts";

export { createApp, type App, type AppOptions } from "./create-app.ts";
export { createProcessLifetime, type Lifetime } from "./lifetime.ts";
export { lockHolder, type LockHolder } from "./instance-lock.ts";
export { stateLockPath } from "./state-lock.ts";
export { logFileAt } from "./log-file.ts";
export type { CommandHost } from "./plugins/command-host.ts";
/** Plugins for one command: loaded by who needs it. */
export async function loadCommandHost(): Promise<typeof commandHost> {
  return import("./plugins/command-host.ts");
}
