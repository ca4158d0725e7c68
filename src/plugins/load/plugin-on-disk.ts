/** Plugins on disk for tests: a folder in the system's temporary place with the files given. */
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { PluginEntry } from "../record.ts";

/** Writes `files` (path below the folder to text) and answers the folder's real path. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "openclaw-plugin-")));
  for (const [path, text] of Object.entries(files)) write(join(folder, path), text);
  return folder;
}

export function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** What the inventory says of a plugin in `rootDir`. */
export function entryIn(rootDir: string, source: string, over: Partial<PluginEntry> = {}): PluginEntry {
  const id = over.id ?? "sample";
  return { id, name: id, origin: "config", rootDir, source: join(rootDir, source), manifest: { id, configSchema: {}, rest: {} }, enabled: true, ...over };
}
