export {
  computeBackoff,
  createNonExitingRuntime,
  createSubsystemLogger,
  defaultRuntime,
  getChildLogger,
  isVerbose,
  logVerbose,
  retryAsync,
  shouldLogVerbose,
  sleepWithAbort,
  waitForAbortSignal,
} from "../environment.ts";
export { isTruthyEnvValue, sleep } from "../text.ts";
export { isWSL2Sync } from "../values/wsl.ts";
export type { RuntimeEnv, RuntimeLogger } from "../../../protocol/index.ts";
