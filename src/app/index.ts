/**
 * The composition root: builds every room from its deps and owns the one stack that takes them down again.
 * The door of the room.
 */
export { createApp, type App, type AppOptions } from "./create-app.ts";
export { createProcessLifetime, type Lifetime } from "./lifetime.ts";
export { lockHolder, type LockHolder } from "./instance-lock.ts";
export { stateLockPath } from "./state-lock.ts";
export { logFileAt } from "./log-file.ts";
