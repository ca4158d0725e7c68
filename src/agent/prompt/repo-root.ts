import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Folders above the workspace that are looked at. */
const MAX_LEVELS = 12;

/** The repository that the prompt names: the configured folder if it is there, else the one that the workspace lies in. */
export function repoRoot(configured: string | undefined, workspaceDir: string): string | undefined {
  const chosen = configured?.trim();
  if (chosen && existsSync(chosen)) return resolve(chosen);
  let folder = resolve(workspaceDir);
  for (let level = 0; level < MAX_LEVELS; level += 1) {
    if (existsSync(join(folder, ".git"))) return folder;
    const above = dirname(folder);
    if (above === folder) return undefined;
    folder = above;
  }
  return undefined;
}
