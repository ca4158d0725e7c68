export { createNonExitingRuntime, waitForAbortSignal } from "../environment.ts";
