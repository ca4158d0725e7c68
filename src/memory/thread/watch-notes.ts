import { existsSync, watch, type FSWatcher } from "node:fs";
import { join } from "node:path";
import type { NoteRoots } from "./note-files.ts";

/** Notices changes of notes. */
export interface NoteWatch extends Disposable {
  /** False where the platform cannot watch: then every search looks at the files. */
  readonly works: boolean;
}

/** Calls `changed` at once for every change, and `settled` when there was none for a while. */
export function watchNotes(
  { workspace, extraPaths }: NoteRoots,
  debounceMs: number,
  on: { readonly changed: () => void; readonly settled: () => void },
): NoteWatch {
  const watchers: FSWatcher[] = [];
  let timer: NodeJS.Timeout | undefined;
  let works = true;

  function notice(): void {
    on.changed();
    clearTimeout(timer);
    timer = setTimeout(on.settled, debounceMs);
    timer.unref();
  }

  function follow(path: string, recursive: boolean, concerns: (name: string | null) => boolean): void {
    if (!existsSync(path)) return;
    try {
      const watcher = watch(path, { recursive, persistent: false }, (_event, name) => {
        if (concerns(name)) notice();
      });
      // A folder that is removed, or too many watches: searches look for themselves from then on.
      watcher.on("error", () => {
        works = false;
        watcher.close();
        notice();
      });
      watchers.push(watcher);
    } catch {
      works = false;
    }
  }

  const isNote = (name: string | null): boolean => name === null || !/\.[a-z0-9]+$/i.test(name) || /\.md$/i.test(name);
  // The folder of notes may not be there yet: its coming is a change of the workspace.
  const hasNotes = existsSync(join(workspace, "memory"));
  works = hasNotes;
  follow(workspace, false, (name) => name === null || /^(?:memory(?:\.md)?)$/i.test(name));
  follow(join(workspace, "memory"), true, isNote);
  for (const path of extraPaths) follow(path, !/\.md$/i.test(path), isNote);
  return {
    get works() {
      return works;
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}
