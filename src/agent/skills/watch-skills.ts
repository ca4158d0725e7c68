import { watch } from "node:fs";
import { mkdir, readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { SKILL_FILE, skillFolders } from "./load-skills.ts";

/** Reports changes of entries in a folder. `name` is undefined when the platform does not say. */
export type WatchFolder = (folder: string, onChange: (name: string | undefined) => void) => Disposable;

export interface SkillWatchDeps {
  readonly roots: readonly string[];
  readonly clock: Clock;
  /** Quiet time after which changes are looked at. */
  readonly debounceMs: number;
  readonly maxCandidates: number;
  readonly onChange: () => void;
  readonly watchFolder?: WatchFolder | undefined;
}

export interface SkillWatch extends Disposable {
  /** Resolves when all that was noticed so far has been looked at. */
  idle(): Promise<void>;
}

/** Folders that are no skills and change a lot. */
const PASSED_OVER = /^(?:\..*|node_modules|dist|build|venv|__pycache__)$/;

/** Calls `onChange` when a skill below the roots came, went or changed. Roots need not be there yet. */
export function watchSkills(deps: SkillWatchDeps): SkillWatch {
  const watchers = new Map<string, Disposable>();
  let known: string | undefined;
  let pending: Disposable | undefined;
  let closed = false;
  let looking = look();

  /** Looks again as long as there was something new to watch: what happened to it before it was watched was not reported. */
  async function look(): Promise<void> {
    const seen = await survey(deps.roots, deps.maxCandidates);
    const grew = follow(seen.folders);
    if (known !== undefined && known !== seen.marks && !closed) deps.onChange();
    known = seen.marks;
    if (grew) await look();
  }

  function later(): void {
    if (closed) return;
    pending?.[Symbol.dispose]();
    pending = deps.clock.after(deps.debounceMs, () => {
      looking = looking.then(look);
    });
  }

  function follow(folders: ReadonlyMap<string, Wanted>): boolean {
    let grew = false;
    for (const [folder, watcher] of watchers) {
      if (folders.has(folder) && !closed) continue;
      watcher[Symbol.dispose]();
      watchers.delete(folder);
    }
    for (const [folder, wanted] of folders) {
      if (closed || watchers.has(folder)) continue;
      watchers.set(
        folder,
        (deps.watchFolder ?? platformWatch)(folder, (name) => {
          if (name === undefined || wanted(name)) later();
        }),
      );
      grew = true;
    }
    return grew;
  }

  return {
    idle: () => looking,
    [Symbol.dispose]() {
      closed = true;
      pending?.[Symbol.dispose]();
      follow(new Map());
    },
  };
}

/** Makes the last folder of a path; one above it that is missing stays so. */
export async function ensureRoot(folder: string | undefined): Promise<void> {
  if (folder !== undefined) await mkdir(folder, { mode: 0o700 }).catch(() => {});
}

/** Whether a change of this entry matters. */
type Wanted = (name: string) => boolean;

interface Survey {
  readonly folders: ReadonlyMap<string, Wanted>;
  /** A text that differs when a skill's file does. */
  readonly marks: string;
}

async function survey(roots: readonly string[], maxCandidates: number): Promise<Survey> {
  const folders = new Map<string, Wanted>();
  const marks: string[] = [];
  const isSkillFile: Wanted = (name) => name === SKILL_FILE;
  const isCandidate: Wanted = (name) => !PASSED_OVER.test(name);
  for (const root of roots) {
    if (!(await isFolder(root))) {
      const [parent, entry] = await nearestFolder(root);
      const before = folders.get(parent);
      folders.set(parent, (name) => name === entry || (before?.(name) ?? false));
      continue;
    }
    for (const folder of [root, join(root, "skills")]) {
      if (!(await isFolder(folder))) continue;
      folders.set(folder, isCandidate);
      for (const child of await children(folder, maxCandidates)) if (!folders.has(child)) folders.set(child, isSkillFile);
    }
    for (const folder of await skillFolders(root, maxCandidates)) marks.push(await markOf(join(folder, SKILL_FILE)));
  }
  return { folders, marks: marks.join("\n") };
}

async function children(folder: string, max: number): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !PASSED_OVER.test(entry.name)).map((entry) => entry.name);
  const folders = names
    .sort()
    .slice(0, max)
    .map((name) => join(folder, name));
  const held = await Promise.all(folders.map(isFolder));
  return folders.filter((_, index) => held[index]);
}

/** The closest folder above that is there, and the entry below it that is missing. */
async function nearestFolder(path: string): Promise<readonly [folder: string, entry: string]> {
  const parent = dirname(path);
  return parent === path || (await isFolder(parent)) ? [parent, basename(path)] : nearestFolder(parent);
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

async function markOf(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return `${path}:${found ? `${found.ino}:${found.size}:${found.mtimeNs}` : "absent"}`;
}

/** The platform's own watching. Where it cannot, changes show after the next start. */
const platformWatch: WatchFolder = (folder, onChange) => {
  try {
    const watcher = watch(folder, { persistent: false }, (_event, name) => onChange(name ?? undefined));
    watcher.on("error", () => watcher.close());
    return { [Symbol.dispose]: () => watcher.close() };
  } catch {
    return { [Symbol.dispose]: () => {} };
  }
};
