import { existsSync, renameSync } from "node:fs";
import { basename, join } from "node:path";
import { AppError, fileError } from "../base/errors.ts";
import { agentWorkspace, defaultAgentId, oauthFolder, type PathContext } from "../config/index.ts";
import type { Committed } from "./draft.ts";
import type { ResetScope } from "./answers.ts";
import type { SetupHost } from "./host.ts";

/** What of the state folder goes with credentials and conversations. */
export const STATE_PARTS = ["agents", "sessions", "devices", "identity", "openclaw.db", "openclaw.db-wal", "openclaw.db-shm", ".env"];

export const pathsOf = ({ env, osHome, cwd }: Pick<SetupHost, "env" | "osHome" | "cwd">): PathContext => ({ env, osHome, cwd, exists: existsSync });

export const workspaceOf = (host: SetupHost, config = host.config.current): string => agentWorkspace(config, pathsOf(host), defaultAgentId(config));

/** Moves what a scope covers beside where it is, under a name with the time: nothing is deleted. */
export async function putAway(host: SetupHost, scope: ResetScope): Promise<Committed["removed"]> {
  if (host.isRunning()) {
    throw new AppError("CONFLICT", "a gateway is running on this state folder; stop it first with: openclaw gateway stop");
  }
  const { file, state } = host.config.paths;
  const stamp = stampOf(host.clock.now());
  const parts = STATE_PARTS.map((name) => join(state, name));
  // Without the last good one too, the next start would go on with the configuration that was put away.
  const wanted = [
    file,
    join(state, "config.last-good.json"),
    ...(scope === "config" ? [] : [oauthFolder(pathsOf(host)), ...parts]),
    ...(scope === "full" ? [workspaceOf(host)] : []),
  ];
  return putAside(wanted, stamp);
}

/** Moves files and folders beside where they are: all that are there, or none. `stamp` ends their new names. */
export function putAside(wanted: readonly string[], stamp: string): Committed["removed"] {
  const removed: { readonly from: string; readonly to: string }[] = [];
  try {
    for (const from of wanted) if (existsSync(from)) removed.push(moved(from, stamp));
    return removed;
  } catch (error) {
    for (const { from, to } of removed.toReversed()) renameSync(to, from);
    throw error;
  }
}

/** The time as part of a file's name. */
export const stampOf = (now: number): string => new Date(now).toISOString().replaceAll(/[:.]/g, "-");

function moved(from: string, stamp: string): { readonly from: string; readonly to: string } {
  const to = `${from}.removed-${stamp}`;
  try {
    renameSync(from, to);
    return { from, to };
  } catch (error) {
    throw fileError(from, "could not move", error);
  }
}

/** Moves a folder out of one that is about to be deleted, next to it. */
export function moveOut(folder: string, from: string, stamp: string): { readonly from: string; readonly to: string } {
  const to = `${from}-${basename(folder)}.kept-${stamp}`;
  try {
    renameSync(folder, to);
    return { from: folder, to };
  } catch (error) {
    throw fileError(folder, "could not move away", error);
  }
}
