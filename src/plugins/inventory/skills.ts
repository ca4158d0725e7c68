import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { PluginManifest } from "../record.ts";
import { isInside } from "./safety.ts";

/** Folders of skills that a manifest names, and what is wrong with the others. `rootDir` has its links resolved. */
export function skillFolders(rootDir: string, manifest: PluginManifest): { readonly folders: readonly string[]; readonly problems: readonly string[] } {
  const folders: string[] = [];
  const problems: string[] = [];
  for (const name of manifest.skills ?? []) {
    const folder = folderAt(resolve(rootDir, name));
    if (folder === undefined) problems.push(`"skills" names ${JSON.stringify(name)}, which is no folder in the plugin`);
    else if (!isInside(rootDir, folder)) problems.push(`"skills" names ${JSON.stringify(name)}, which lies outside of the plugin's folder`);
    else folders.push(folder);
  }
  return { folders, problems };
}

function folderAt(path: string): string | undefined {
  try {
    return statSync(path).isDirectory() ? realpathSync.native(path) : undefined;
  } catch {
    return undefined; // Not there, or not to be looked at: both are no folder to serve skills from.
  }
}
