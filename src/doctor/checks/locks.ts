import { readFileSync, rmSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { fileError } from "../../base/errors.ts";
import { lockHolder } from "../../base/instance-lock.ts";
import type { DoctorDeps } from "../deps.ts";
import { namesIn } from "../files.ts";
import type { Check } from "../finding.ts";

/** A lock that does not say whose it is, or is another machine's, is left over after this long. */
const STALE_MS = 30 * 60_000;

function lockFiles(state: string): string[] {
  const agents = namesIn(join(state, "agents")).map((id) => join(state, "agents", id));
  const folders = [join(state, "sessions"), ...agents.flatMap((agent) => [join(agent, "sessions"), join(agent, "agent")])];
  return folders.flatMap((folder) => namesIn(folder).flatMap((name) => (name.endsWith(".lock") ? [join(folder, name)] : [])));
}

/** Whoever held it is gone. */
function isStale(path: string, now: number): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isFile()) return false;
  let holder: { readonly pid?: unknown; readonly host?: unknown } | null;
  try {
    holder = JSON.parse(readFileSync(path, "utf8")) as typeof holder;
  } catch {
    holder = null;
  }
  const isOurs = typeof holder?.pid === "number" && (holder.host === undefined || holder.host === hostname());
  return isOurs ? lockHolder(path) === undefined : now - stat.mtimeMs > STALE_MS;
}

function remove(paths: readonly string[], clock: DoctorDeps["clock"]): string {
  // Looked at once more: somebody may have taken one over.
  const gone = paths.filter((path) => isStale(path, clock.now()));
  for (const path of gone) {
    try {
      rmSync(path, { force: true });
    } catch (error) {
      throw fileError(path, "could not remove the lock", error);
    }
  }
  return gone.length === 0 ? "they are gone already" : `removed ${gone.join(", ")}`;
}

/** Locks that a killed process left: who comes next would wait for it. */
export const sessionLocks: Check = {
  id: "sessions.locks",
  topic: "state",
  title: "Locks left over",
  run({ config, clock }) {
    const stale = lockFiles(config.paths.state).filter((path) => isStale(path, clock.now()));
    if (stale.length === 0) return [];
    const text = `${stale.length === 1 ? "a lock" : `${stale.length} locks`} of processes that are gone: ${stale.join(", ")}`;
    return [
      { level: "warn", text, todo: "openclaw doctor --fix removes them", repair: { summary: "remove them", safe: false, apply: () => remove(stale, clock) } },
    ];
  },
};
