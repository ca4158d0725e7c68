import { homedir } from "node:os";
import { systemClock } from "../base/clock.ts";
import { createIds } from "../base/ids.ts";
import { systemRandom } from "../base/random.ts";
import {
  diffPaths,
  openConfig,
  touchesPluginSettings,
  type Config,
  type ConfigEdit,
  type LocatedIssue,
  type ReviewWrite,
  stateLockPath,
} from "../config/index.ts";
import { lockHolder } from "../base/instance-lock.ts";
import { describeAnswer, gatewayAnswer, type GatewayAnswer } from "./gateway-answer.ts";
import type { Io } from "./io.ts";

export interface EditResult {
  readonly path: string;
  /** Files that were written; empty when nothing changed. */
  readonly files: readonly string[];
  readonly hash: string;
  /** A gateway runs on this configuration. */
  readonly gatewayRunning: boolean;
  /** What it makes of the change. */
  readonly gateway: GatewayAnswer;
}

/** The configuration, open for edits of one command. */
export interface ConfigEditing extends Disposable {
  readonly config: Config;
  /** What the edits since the opening came to. */
  result(files: readonly string[]): EditResult;
}

/** Opens the configuration on behalf of a command that changes it. */
export async function openForEditing(io: Io): Promise<ConfigEditing> {
  const config = await openConfig({
    env: io.env,
    cwd: io.cwd,
    osHome: homedir(),
    version: io.version,
    clock: systemClock,
    ids: createIds(systemRandom),
    purpose: "inspect",
    warn: (text) => io.err(`${text}\n`),
    reviewWrite: (write) => refusedByPlugins(io, write),
  });
  const before = config.current;
  return {
    config,
    result(files) {
      const snapshot = config.snapshot();
      const pid = lockHolder(stateLockPath(config.paths.state))?.pid;
      const paths = diffPaths(before, snapshot.config).filter((path) => !path.startsWith("meta."));
      return { path: snapshot.path, files, hash: snapshot.hash, gatewayRunning: pid !== undefined, gateway: gatewayAnswer(pid, paths, snapshot.config) };
    },
    [Symbol.dispose]: () => config[Symbol.dispose](),
  };
}

/** Changes the configuration file on behalf of a command. */
export async function editConfig(io: Io, edit: ConfigEdit, by: string): Promise<EditResult> {
  using editing = await openForEditing(io);
  const { files } = await editing.config.edit(edit, { by });
  return editing.result(files);
}

/** What an edit changes to what the manifests of plugins refuse. None of their code is loaded, and no manifest is read for other edits. */
async function refusedByPlugins(io: Io, write: Parameters<ReviewWrite>[0]): Promise<readonly LocatedIssue[]> {
  if (!touchesPluginSettings(write)) return [];
  const { inventoryOf, refusedSettings } = await import("./plugin-source.ts");
  return refusedSettings(write, await inventoryOf(io, write.after));
}

/** What follows from an edit, for people. */
export function describeEdit(what: string, { path, files, gateway }: EditResult): string {
  if (files.length === 0) return `No changes: ${path} already has this value (${what})\n`;
  return `${what} in ${files.join(", ")}${gateway === "not running" ? "" : `; ${describeAnswer(gateway)}`}\n`;
}
