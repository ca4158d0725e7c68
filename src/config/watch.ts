import { statSync, watch as watchFolder } from "node:fs";
import { basename, dirname } from "node:path";
import type { Clock } from "../base/clock.ts";

/** Tells changes of entries in a folder. `name` is undefined when the platform does not say. */
export type WatchFolder = (folder: string, onChange: (name: string | undefined) => void) => Disposable;

export interface FileWatchDeps {
  readonly clock: Clock;
  /** How long a file must stay the same before it counts as written. */
  readonly stabilityMs?: number;
  /** How long to wait after that for more changes. Asked each time. */
  readonly debounceMs: () => number;
  /** How often files are looked at in case the platform told nothing. */
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
  const watchers = new Map<string, Disposable>();
  /** What each file was like when it was last told, or first followed. */
  let settled = new Map<string, string>();
  let pending: Disposable | undefined;
  let poll: Disposable | undefined;
  let closed = false;

  const look = (): Map<string, string> => new Map(settled.keys().map((path) => [path, signature(path)]));
  const differ = (a: Map<string, string>, b: Map<string, string>): boolean => a.size !== b.size || a.entries().some(([path, mark]) => b.get(path) !== mark);

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
      if (differ(look(), seen)) changed();
      else wait(deps.debounceMs(), settle);
    });
  }

  function settle(): void {
    // Taken before the files are read: a change after this moment is a change.
    const now = look();
    if (!differ(now, settled)) return;
    settled = now;
    deps.onSettled();
  }

  function pollLater(): void {
    poll = deps.clock.after(deps.pollMs ?? POLL_MS, () => {
      if (!pending && differ(look(), settled)) changed();
      if (!closed) pollLater();
    });
  }

  function follow(next: readonly string[]): void {
    settled = new Map(next.map((path) => [path, settled.get(path) ?? signature(path)]));
    const folders = new Set(next.map((path) => dirname(path)));
    for (const [folder, watcher] of watchers) {
      if (folders.has(folder)) continue;
      watcher[Symbol.dispose]();
      watchers.delete(folder);
    }
    for (const folder of folders) {
      if (watchers.has(folder)) continue;
      const watcher = (deps.watchFolder ?? platformWatch)(folder, (name) => {
        if (name === undefined || settled.keys().some((path) => dirname(path) === folder && basename(path) === name)) changed();
      });
      watchers.set(folder, watcher);
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

/** The platform's own watching. Where it cannot (folder not there, limit reached) the poll finds the change. */
const platformWatch: WatchFolder = (folder, onChange) => {
  try {
    const watcher = watchFolder(folder, { persistent: false }, (_event, name) => onChange(name ?? undefined));
    watcher.on("error", () => watcher.close());
    return { [Symbol.dispose]: () => watcher.close() };
  } catch {
    return { [Symbol.dispose]: () => {} };
  }
};
