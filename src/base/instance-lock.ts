import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { AppError, fileError, systemCode } from "./errors.ts";
import { formatDuration } from "./text.ts";
import type { Clock } from "./clock.ts";
import { ensureFolder } from "./files.ts";
import { identify, isRunning, waitWhileEnding, type ProcessIdentity } from "./process-identity.ts";
import { dirname } from "node:path";

/** What a lock file says of its holder. */
export interface LockHolder extends ProcessIdentity {
  /** ISO time at which the lock was taken. */
  readonly createdAt: string;
  readonly configPath: string;
  readonly stateDir: string;
  readonly port?: number;
  /** Lets the same user's CLI ask the running gateway. The file is readable by its owner only. */
  readonly runSecret?: string;
  /** It is there for one turn (`agent --local`) and ends by itself. */
  readonly temporary?: true;
}

export interface LockDeps {
  readonly clock: Clock;
  readonly pid: number;
  /** We hold the lock already: rewrite it atomically. */
  readonly replace?: boolean;
  /** The lock is that of a configuration file, which gateways with other state folders take too. */
  readonly ofConfig?: boolean;
}

/** A takeover that takes longer than this was abandoned. */
const TAKEOVER_STALE_MS = 5000;
/** How long the threads of a killed process may take to end. */
const ENDING_MS = 3000;

/** Who holds the lock, if its process still lives. */
export function lockHolder(path: string): LockHolder | undefined {
  let holder: LockHolder;
  try {
    holder = JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
  return typeof holder.pid === "number" && isRunning(holder) ? holder : undefined;
}

function refuse(path: string, holder: LockHolder, deps: LockDeps): AppError {
  const since = formatDuration(deps.clock.now() - Date.parse(holder.createdAt));
  const where = holder.port === undefined ? "" : ` on port ${holder.port}`;
  const [what, advice] = deps.ofConfig
    ? [
        "configuration file",
        "give this one a configuration of its own with OPENCLAW_CONFIG_PATH or --profile, or let both use the file with OPENCLAW_ALLOW_MULTI_GATEWAY=1",
      ]
    : ["state folder", "give this one a state folder of its own with OPENCLAW_STATE_DIR or --profile"];
  return new AppError(
    "LOCKED",
    `another gateway uses this ${what}: process ${holder.pid}${where}, started ${since} ago (state ${holder.stateDir}, config ${holder.configPath}). ` +
      `Stop it (kill ${holder.pid}), or ${advice}`,
    { details: { path, pid: holder.pid, port: holder.port } },
  );
}

/** Makes the file with its content in one step, so that nobody ever reads a half-written lock. False when it is there already. */
function create(path: string, temporary: string): boolean {
  try {
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw fileError(path, "could not take the lock", error);
  }
}

/** Removes a lock whose holder is dead. Takeovers are serialised, so that nobody removes the lock of a process that was faster. */
function clearStale(path: string, deps: LockDeps): void {
  const takeover = `${path}.takeover`;
  try {
    if (deps.clock.now() - statSync(takeover).mtimeMs > TAKEOVER_STALE_MS) rmSync(takeover, { force: true });
  } catch {
    // Nobody is taking over.
  }
  try {
    writeFileSync(takeover, String(deps.pid), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (systemCode(error) === "EEXIST") throw new AppError("LOCKED", `another gateway is starting on ${path} at this moment; try again`, { cause: error });
    throw fileError(takeover, "could not take over the lock", error);
  }
  try {
    if (!lockHolder(path)) rmSync(path, { force: true });
  } finally {
    rmSync(takeover, { force: true });
  }
}

/** Takes the lock or throws `LOCKED` naming its holder. The lock of a dead process is taken over. Disposing gives it back. */
export function acquireLock(path: string, info: Omit<LockHolder, keyof ProcessIdentity | "createdAt">, deps: LockDeps): Disposable {
  ensureFolder(dirname(path));
  const temporary = `${path}.${deps.pid}`;
  const content: LockHolder = { createdAt: new Date(deps.clock.now()).toISOString(), ...info, ...identify(deps.pid) };
  try {
    writeFileSync(temporary, JSON.stringify(content), { mode: 0o600 });
  } catch (error) {
    rmSync(temporary, { force: true });
    throw fileError(path, "could not take the lock", error);
  }
  try {
    if (deps.replace) renameSync(temporary, path);
    else if (!create(path, temporary)) {
      let holder = lockHolder(path);
      if (holder) {
        waitWhileEnding(holder, ENDING_MS);
        holder = lockHolder(path);
      }
      if (holder) throw refuse(path, holder, deps);
      clearStale(path, deps);
      if (!create(path, temporary)) {
        const winner = lockHolder(path);
        throw winner ? refuse(path, winner, deps) : new AppError("LOCKED", `another gateway is starting on ${path} at this moment; try again`);
      }
    }
  } finally {
    rmSync(temporary, { force: true });
  }
  return { [Symbol.dispose]: () => rmSync(path, { force: true }) };
}
