import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../base/errors.ts";
import { ensureFolder } from "../../base/files.ts";
import { createRootedFiles, type RootedFiles } from "../../base/rooted-files.ts";

/** Files of the agent that a sandbox begins with. */
const COPIED = ["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "BOOTSTRAP.md", "HEARTBEAT.md"];
/** More than this of a skill is left out. */
const MOST_FILES = 2000;
const MOST_BYTES = 5 * 1024 * 1024;

export interface SkillFolder {
  readonly name: string;
  readonly folder: string;
}

export interface SandboxWorkspace {
  /** The sandbox's own workspace. */
  readonly folder: string;
  /** The agent's. */
  readonly workspaceDir: string;
  readonly skills: readonly SkillFolder[];
  readonly unique: () => string;
}

/**
 * Makes a sandbox's own workspace ready. The agent inside may put links in the way at any moment: nothing is written, replaced or removed
 * outside of the folder.
 */
export async function seedSandbox({ folder, workspaceDir, skills, unique }: SandboxWorkspace): Promise<void> {
  ensureFolder(folder);
  const inside = createRootedFiles({ root: folder, unique });
  const own = createRootedFiles({ root: workspaceDir, unique });
  for (const name of COPIED) {
    if (await isThere(join(folder, name))) continue;
    const content = await contentOf(own, join(workspaceDir, name));
    if (content) await inside.write(join(folder, name), content);
  }
  for (const skill of skills) await copySkill(skill, folder, inside, unique);
}

async function copySkill(skill: SkillFolder, folder: string, inside: RootedFiles, unique: () => string): Promise<void> {
  const source = createRootedFiles({ root: skill.folder, unique });
  const entries = await readdir(skill.folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries.filter((found) => found.isFile()).slice(0, MOST_FILES)) {
    const from = join(entry.parentPath, entry.name);
    const to = join(folder, "skills", skill.name, from.slice(skill.folder.length));
    const content = await contentOf(source, from);
    if (content && !(await contentOf(inside, to))?.equals(content)) await inside.write(to, content);
  }
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Undefined when there is no such file, or none that may be had. */
async function contentOf(files: RootedFiles, path: string): Promise<Buffer | undefined> {
  try {
    await using file = await files.open(path);
    return (await file.stat()).size > MOST_BYTES ? undefined : await file.readFile();
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}
