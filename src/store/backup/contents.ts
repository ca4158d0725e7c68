import { existsSync, lstatSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { fileError, systemCode } from "../../base/errors.ts";
import { isInside } from "../../base/files.ts";
import { isSafeName } from "./tar.ts";
import type { Manifest, ManifestWorkspace } from "./types.ts";

/** Where the gateway makes backups, in the state folder. */
export const BACKUPS = "backups";

/** The database is copied as a snapshot, not as a file. */
export const DATABASE = "openclaw.db";

/** Top-level names of the state folder that a backup leaves out. A restore copies `workspace*`, `browser`, `sandboxes` and `backups` from the old state. */
const LEFT_OUT: readonly [RegExp, string][] = [
  [/^openclaw\.db-(?:wal|shm|journal)$/, "part of the database snapshot"],
  [/^openclaw-backup-/, "a backup"],
  [/^(?:restore|restored-from)\.json$/, "records where this folder came from"],
  [/^backups$/, "backups"],
  [/^logs?$/, "logs"],
  [/^damaged$/, "moved aside as damaged"],
  [/^(?:tmp|cache)$/, "can be recreated"],
  [/^(?:browser|sandboxes)$/, "can be recreated"],
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

/** True for entries that a restore copies from the state folder it replaces, unless the backup has them. */
export function isCarried(name: string): boolean {
  return WORKSPACE.test(name) || name === "browser" || name === "sandboxes" || name === BACKUPS;
}

function reasonToSkip(name: string, depth: number, includeWorkspace: boolean): string | undefined {
  if (PASSING.test(name)) return "of the running process";
  if (depth > 0) return undefined;
  if (WORKSPACE.test(name) && !includeWorkspace) return "workspace: include it with --include-workspace";
  return LEFT_OUT.find(([pattern]) => pattern.test(name))?.[1];
}

/** Files below a folder, with their names in the backup. Links and special files are listed as left out, never followed. */
function filesBelow(root: string, prefix: string, reasonToSkip: (name: string, depth: number) => string | undefined): Contents {
  const files: SourceFile[] = [];
  const left: { path: string; reason: string }[] = [];
  const shown = (name: string): string => (prefix === STATE ? name : `${prefix}/${name}`);
  function walk(folder: string, depth: number): void {
    for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      const name = relative(root, path).split(sep).join("/");
      if (prefix === STATE && name === DATABASE) continue;
      const reason = reasonToSkip(entry.name, depth);
      if (reason !== undefined) left.push({ path: shown(name), reason });
      else if (!isSafeName(`${prefix}/${name}`)) left.push({ path: shown(name), reason: "its name cannot be restored everywhere" });
      else if (entry.isDirectory()) walk(path, depth + 1);
      else if (!entry.isFile()) left.push({ path: shown(name), reason: entry.isSymbolicLink() ? "a link" : "not a file" });
      else add(path, `${prefix}/${name}`);
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
  walk(root, 0);
  return { files, left };
}

const STATE = "state";

/** Everything in a backup of this folder besides the database. */
export const stateContents = (stateDir: string, includeWorkspace: boolean): Contents =>
  filesBelow(stateDir, STATE, (name, depth) => reasonToSkip(name, depth, includeWorkspace));

/** Workspaces outside of the state folder, each under its own name; without `include` they are listed as left out. */
export function workspaceContents(
  stateDir: string,
  folders: readonly string[],
  include: boolean,
): Contents & { readonly workspaces: readonly ManifestWorkspace[] } {
  const outside = [...new Set(folders.map((folder) => resolve(folder)))].filter((folder) => !isInside(stateDir, folder) && existsSync(folder));
  if (!include) return { files: [], left: outside.map((path) => ({ path, reason: "workspace: include it with --include-workspace" })), workspaces: [] };
  const workspaces = outside.map((path, at) => ({ name: `workspaces/${at + 1}`, path }));
  const parts = workspaces.map(({ name, path }) => filesBelow(path, name, (entry) => (PASSING.test(entry) ? "of the running process" : undefined)));
  return { files: parts.flatMap(({ files }) => files), left: parts.flatMap(({ left }) => left), workspaces };
}

/** Configuration files outside of the state folder, below `config/`, relative to the main one. */
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
