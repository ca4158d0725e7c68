import { tmpdir } from "node:os";
import { join } from "node:path";
import { isTruthy, type Env } from "./env.ts";
import { lockFile } from "./paths.ts";
import { acquireLock, type LockDeps, type LockHolder } from "../base/instance-lock.ts";
import { AppError, messageOf } from "../base/errors.ts";
import type { OpenClawConfig } from "./schema/index.ts";
import type { Snapshot } from "./snapshot.ts";

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

interface StartOptions {
  readonly allowUnconfigured: boolean;
}

/** Refuses to start a gateway without a configuration, on one for another machine, or on one that this version cannot serve. */
export function checkStart(snapshot: Snapshot, config: OpenClawConfig, { allowUnconfigured }: StartOptions): void {
  if (!allowUnconfigured) checkMode(snapshot, config.gateway?.mode);
  if (config.store?.url !== undefined)
    throw new AppError("UNAVAILABLE", "store.url is set, but this version keeps its state in SQLite only; remove the key to start");
}

function checkMode({ path, exists }: Snapshot, mode: NonNullable<OpenClawConfig["gateway"]>["mode"]): void {
  if (mode === "local") return;
  if (mode !== undefined)
    throw new AppError("CONFIG_INVALID", `Gateway start blocked: set gateway.mode=local (current: ${mode}) in ${path}, or start with --allow-unconfigured`);
  throw new AppError(
    "CONFIG_INVALID",
    exists
      ? `Gateway start blocked: set gateway.mode=local (current: unset) in ${path} (openclaw config set gateway.mode local), or start with --allow-unconfigured`
      : `Missing config. There is no ${path}: run \`openclaw config set gateway.mode local\`, or start with --allow-unconfigured`,
  );
}

/** Why a gateway that runs would not start again with this configuration; undefined when it would. */
export function startRefusal(snapshot: Snapshot, options: StartOptions): string | undefined {
  try {
    checkStart(snapshot, snapshot.config, options);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
