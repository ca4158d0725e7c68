import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { AppError, fileError } from "../base/errors.ts";
import { agentWorkspace, defaultAgentId, oauthFolder, type PathContext } from "../config/index.ts";
import type { Committed } from "./draft.ts";
import type { ResetScope } from "./answers.ts";
import type { SetupHost } from "./host.ts";

/** What of the state folder goes with credentials and conversations. */
const STATE_PARTS = ["agents", "sessions", "devices", "identity", "openclaw.db", "openclaw.db-wal", "openclaw.db-shm", ".env"];

export const pathsOf = ({ env, osHome, cwd }: Pick<SetupHost, "env" | "osHome" | "cwd">): PathContext => ({ env, osHome, cwd, exists: existsSync });

export const workspaceOf = (host: SetupHost, config = host.config.current): string => agentWorkspace(config, pathsOf(host), defaultAgentId(config));

/** Moves what a scope covers beside where it is, under a name with the time: nothing is deleted. */
export async function putAway(host: SetupHost, scope: ResetScope): Promise<Committed["removed"]> {
  if (host.isRunning()) {
    throw new AppError("CONFLICT", "a gateway runs on this state folder, which cannot be reset under it; stop it first with: openclaw gateway stop");
  }
  const { file, state } = host.config.paths;
  const stamp = new Date(host.clock.now()).toISOString().replaceAll(/[:.]/g, "-");
  const parts = STATE_PARTS.map((name) => join(state, name));
  // Without the last good one too, the next start would go on with the configuration that was put away.
  const wanted = [
    file,
    join(state, "config.last-good.json"),
    ...(scope === "config" ? [] : [oauthFolder(pathsOf(host)), ...parts]),
    ...(scope === "full" ? [workspaceOf(host)] : []),
  ];
  const removed: { readonly from: string; readonly to: string }[] = [];
  try {
    for (const from of wanted) if (existsSync(from)) removed.push(moved(from, stamp));
    return removed;
  } catch (error) {
    for (const { from, to } of removed.toReversed()) renameSync(to, from);
    throw error;
  }
}

function moved(from: string, stamp: string): { readonly from: string; readonly to: string } {
  const to = `${from}.removed-${stamp}`;
  try {
    renameSync(from, to);
    return { from, to };
  } catch (error) {
    throw fileError(from, "could not put away", error);
  }
}
