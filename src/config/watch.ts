import { existsSync, readdirSync, statSync, watch as watchPath } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Clock } from "../base/clock.ts";

/** Tells changes of entries in a folder, of these at least. `name` is undefined when the platform does not say. */
export type WatchFolder = (folder: string, onChange: (name: string | undefined) => void, names: readonly string[]) => Disposable;

export interface FileWatchDeps {
  readonly clock: Clock;
  /** How long a file must stay the same before it counts as written. */
  readonly stabilityMs?: number;
  /** How long to wait after that for more changes. Asked each time. */
  readonly debounceMs: () => number;
  /** How often files are polled in case the platform reported nothing. */
  readonly pollMs?: number;
  readonly watchFolder?: WatchFolder;
  /** Something that changes when the file does. */
  readonly signature?: (path: string) => string;
  readonly onSettled: () => void;
}

export interface FileWatch extends Disposable {
  /** Watches these files, there or not, instead of those before. */
  follow(paths: readonly string[]): void;
  /** Acts as if a file had changed. */
  poke(): void;
}

const STABILITY_MS = 200;
const POLL_MS = 5000;

/** Calls `onSettled` once after files changed and came to rest. */
export function watchFiles(deps: FileWatchDeps): FileWatch {
  const signature = deps.signature ?? fileSignature;
  /** By folder, for the files that were there. */
  const watchers = new Map<string, Disposable & { readonly marks: string }>();
  /** The state of each file when it was last reported, or first watched. */
  let settled = new Map<string, string>();
  let pending: Disposable | undefined;
  let poll: Disposable | undefined;
  let closed = false;

  const look = (): Map<string, string> => new Map(settled.keys().map((path) => [path, signature(path)]));

  /** Whether the files that are watched now are not as they were seen. */
  function differFrom(seen: Map<string, string>): boolean {
    for (const path of settled.keys()) if (signature(path) !== seen.get(path)) return true;
    return false;
  }

  function wait(ms: number, then: () => void): void {
    pending?.[Symbol.dispose]();
    pending = deps.clock.after(ms, () => {
      pending = undefined;
      then();
    });
  }

  function changed(): void {
    if (closed) return;
    const seen = look();
    wait(deps.stabilityMs ?? STABILITY_MS, () => {
      if (differFrom(seen)) changed();
      else wait(deps.debounceMs(), settle);
    });
  }

  function settle(): void {
    // Taken before the files are read: a change after this moment is a change.
    const before = settled;
    settled = look();
    if (![...settled].some(([path, mark]) => before.get(path) !== mark)) return;
    deps.onSettled();
  }

  function pollLater(): void {
    poll = deps.clock.after(deps.pollMs ?? POLL_MS, () => {
      if (!pending && differFrom(settled)) changed();
      if (!closed) pollLater();
    });
  }

  function follow(next: readonly string[]): void {
    settled = new Map(next.map((path) => [path, settled.get(path) ?? signature(path)]));
    const folders = Map.groupBy(next, (path) => dirname(path));
    // A file that was replaced is another one to the platform.
    const marksOf = (paths: readonly string[]): string => paths.map((path) => `${path}:${signature(path).split(":")[0]}`).join();
    for (const [folder, watcher] of watchers) {
      if (watcher.marks === marksOf(folders.get(folder) ?? [])) continue;
      watcher[Symbol.dispose]();
      watchers.delete(folder);
    }
    for (const [folder, paths] of folders) {
      if (watchers.has(folder)) continue;
      const names = paths.map((path) => basename(path));
      const onChange = (name: string | undefined): void => {
        if (name === undefined || names.includes(name)) changed();
      };
      const watcher = (deps.watchFolder ?? platformWatch)(folder, onChange, names);
      watchers.set(folder, { marks: marksOf(paths), [Symbol.dispose]: () => watcher[Symbol.dispose]() });
    }
  }

  pollLater();
  return {
    follow,
    poke: changed,
    [Symbol.dispose]() {
      closed = true;
      pending?.[Symbol.dispose]();
      poll?.[Symbol.dispose]();
      for (const watcher of watchers.values()) watcher[Symbol.dispose]();
      watchers.clear();
    },
  };
}

function fileSignature(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stat ? `${stat.ino}:${stat.size}:${stat.mtimeNs}` : "absent";
}

/** The platform's own watching. Where it cannot (not there, limit reached) the poll finds the change. */
const platformWatch: WatchFolder = (folder, onChange, names) => {
  const present = names.filter((name) => existsSync(join(folder, name)));
  const single = present.length === names.length || isBusy(folder);
  const watchers = single ? present.map((name) => watchOne(join(folder, name), () => onChange(name))) : [watchOne(folder, (name) => onChange(name))];
  return { [Symbol.dispose]: () => watchers.forEach((watcher) => watcher?.close()) };
};

/** A database in a folder changes with every message, and each change would be reported: files are watched one by one there. */
function isBusy(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => name.endsWith(".db"));
  } catch {
    return false;
  }
}

function watchOne(path: string, onChange: (name: string | undefined) => void): { close(): void } | undefined {
  try {
    const watcher = watchPath(path, { persistent: false }, (_event, name) => onChange(name ?? undefined));
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
