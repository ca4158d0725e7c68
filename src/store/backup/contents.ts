import { lstatSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { fileError, systemCode } from "../../base/errors.ts";
import { isInside } from "../../base/files.ts";
import { isSafeName } from "./tar.ts";
import type { Manifest } from "./types.ts";

/** The database is copied as a snapshot, not as a file. */
export const DATABASE = "openclaw.db";

/** Names at the top of the state folder that a backup leaves out. Restoring carries `workspace*`, `browser` and `sandboxes` over. */
const LEFT_OUT: readonly [RegExp, string][] = [
  [/^openclaw\.db-(?:wal|shm|journal)$/, "part of the database snapshot"],
  [/^openclaw-backup-/, "a backup"],
  [/^restore\.json$/, "tells where this folder came from"],
  [/^backups$/, "backups"],
  [/^logs?$/, "logs"],
  [/^damaged$/, "set aside as damaged"],
  [/^(?:tmp|cache)$/, "can be made again"],
  [/^(?:browser|sandboxes)$/, "can be made again"],
];
const WORKSPACE = /^workspace(?:-|$)/;
/** Names at any depth that mean nothing outside of the running process. */
const PASSING = /\.(?:lock|sock|pid)$|\.tmp(?:$|[.-])/;

export interface SourceFile {
  readonly path: string;
  /** Name in the backup. */
  readonly name: string;
  readonly size: number;
  readonly mode: number;
}

export interface Contents {
  readonly files: readonly SourceFile[];
  readonly left: Manifest["left"];
}

/** True for what a restore takes over from the state folder it replaces, unless the backup has it. */
export function isCarried(name: string): boolean {
  return WORKSPACE.test(name) || name === "browser" || name === "sandboxes";
}

function reasonToLeave(name: string, depth: number, includeWorkspace: boolean): string | undefined {
  if (PASSING.test(name)) return "of the running process";
  if (depth > 0) return undefined;
  if (WORKSPACE.test(name) && !includeWorkspace) return "workspace: include it with --include-workspace";
  return LEFT_OUT.find(([pattern]) => pattern.test(name))?.[1];
}

/** Everything a backup of this folder holds besides the database. Links and special files are named as left out, never followed. */
export function stateContents(stateDir: string, includeWorkspace: boolean): Contents {
  const files: SourceFile[] = [];
  const left: { path: string; reason: string }[] = [];
  function walk(folder: string, depth: number): void {
    for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      const name = relative(stateDir, path).split(sep).join("/");
      if (name === DATABASE) continue;
      const reason = reasonToLeave(entry.name, depth, includeWorkspace);
      if (reason !== undefined) left.push({ path: name, reason });
      else if (!isSafeName(`state/${name}`)) left.push({ path: name, reason: "its name cannot be restored everywhere" });
      else if (entry.isDirectory()) walk(path, depth + 1);
      else if (!entry.isFile()) left.push({ path: name, reason: entry.isSymbolicLink() ? "a link" : "not a file" });
      else add(path, `state/${name}`);
    }
  }
  function add(path: string, name: string): void {
    try {
      const { size, mode } = lstatSync(path);
      files.push({ path, name, size, mode: mode & 0o700 });
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw fileError(path, "could not read", error);
    }
  }
  walk(stateDir, 0);
  return { files, left };
}

/** Configuration files outside of the state folder, below `config/` as they lie to the main one. */
export function configContents(stateDir: string, configFiles: readonly string[]): SourceFile[] {
  const [main] = configFiles;
  if (main === undefined) return [];
  return configFiles
    .filter((path) => !isInside(stateDir, path))
    .map((path) => {
      const inMain = isInside(dirname(main), path) ? relative(dirname(main), path).split(sep).join("/") : basename(path);
      const { size, mode } = lstatSync(path);
      return { path, name: `config/${inMain}`, size, mode: mode & 0o700 };
    });
}
