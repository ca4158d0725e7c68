import { tmpdir } from "node:os";
import { join } from "node:path";
import { isTruthy, type Env } from "./env.ts";
import { lockFile } from "./paths.ts";
import { acquireLock, type LockDeps, type LockHolder } from "../base/instance-lock.ts";

/** The lock that says which gateway uses a state folder. */
export function stateLockPath(stateDir: string): string {
  return join(stateDir, "gateway.lock");
}

export interface StateLockInfo {
  readonly configPath: string;
  readonly stateDir: string;
  readonly runSecret: string;
  readonly temporary?: true;
}

export interface StateLock extends Disposable {
  /** Adds the port to the lock once it is known. */
  announce(port: number): void;
}

/**
 * Takes the state folder's lock, and the documented one of the configuration file, so that a gateway of another make on the same file is
 * noticed too. `OPENCLAW_ALLOW_MULTI_GATEWAY=1` leaves out the second; two gateways on one state folder are never allowed.
 */
export function acquireStateLock(info: StateLockInfo, env: Env, deps: LockDeps): StateLock {
  const stack = new DisposableStack();
  try {
    const own = stateLockPath(info.stateDir);
    stack.use(acquireLock(own, info, deps));
    if (!isTruthy(env["OPENCLAW_ALLOW_MULTI_GATEWAY"])) {
      const shared: Pick<LockHolder, "configPath" | "stateDir"> = { configPath: info.configPath, stateDir: info.stateDir };
      stack.use(acquireLock(lockFile(info.configPath, tmpdir(), process.getuid?.()), shared, { ...deps, ofConfig: true }));
    }
    return {
      announce: (port) => stack.use(acquireLock(own, { ...info, port }, { ...deps, replace: true })),
      [Symbol.dispose]: () => stack[Symbol.dispose](),
    };
  } catch (error) {
    stack[Symbol.dispose]();
    throw error;
  }
}
