import { watch } from "node:fs";

/** Tells of changes in a folder itself, not below it. Undefined where the system cannot. It does not keep the process alive. */
export function watchFolder(folder: string, onChange: () => void): Disposable | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, onChange);
    // A folder that goes away, or a watch that fails later: from then on everything counts as changed.
    watcher.on("error", onChange);
    return { [Symbol.dispose]: () => watcher.close() };
  } catch {
    return undefined;
  }
}
