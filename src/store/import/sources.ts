import { readdirSync, statSync, type Dirent } from "node:fs";
import { join, relative, sep } from "node:path";
import { isPathId } from "../projection/transcript-path.ts";

/** A folder that holds the sessions of one agent. */
export interface SessionFolder {
  readonly agentId: string;
  readonly path: string;
  /** From before there were agents: keys get their agent, files stay where they are. */
  readonly legacy: boolean;
}

function list(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    // Missing or unreadable: if it matters, opening a file in it reports the problem.
    return [];
  }
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** The path as used in reports and in the `imports` table: relative with `/` inside the state folder, absolute outside. */
export function sourceName(stateDir: string, path: string): string {
  const name = relative(stateDir, path);
  return name.startsWith("..") || name === "" ? path : name.split(sep).join("/");
}

/** The folders of all agents, then the one from before there were agents. */
export function sessionFolders(stateDir: string): SessionFolder[] {
  const agents = list(join(stateDir, "agents")).filter((entry) => isPathId(entry.name));
  const folders = agents.map(({ name }) => ({ agentId: name, path: join(stateDir, "agents", name, "sessions"), legacy: false }));
  return [...folders, { agentId: "main", path: join(stateDir, "sessions"), legacy: true }];
}

/** Live transcripts, as names in the folder; of compressed ones the name without `.gz`. Archived, backup and lock files have other endings. */
export function liveTranscripts(folder: string): string[] {
  const names = list(folder)
    .filter((entry) => entry.isFile() && /\.jsonl(?:\.gz)?$/.test(entry.name))
    .map((entry) => entry.name.replace(/\.gz$/, ""));
  return [...new Set(names)];
}

/** Most names in a report. */
const MAX_LEFT = 500;

/** Files that stay files: credentials and archived transcripts. Found by name; never opened. */
export function filesLeft(stateDir: string): string[] {
  const agentFolders = [join(stateDir, "agent"), ...list(join(stateDir, "agents")).map((entry) => join(stateDir, "agents", entry.name, "agent"))];
  const credentials = agentFolders.flatMap((folder) => ["auth-profiles.json", "auth.json"].map((name) => join(folder, name)));
  const archived = sessionFolders(stateDir).flatMap(({ path }) =>
    list(path)
      .filter((entry) => /\.jsonl\.(?:reset|deleted)\./.test(entry.name))
      .map((entry) => join(path, entry.name)),
  );
  const found = [...credentials, join(stateDir, "credentials", "oauth.json")].filter(exists);
  return [...found, ...archived].slice(0, MAX_LEFT).map((path) => sourceName(stateDir, path));
}
