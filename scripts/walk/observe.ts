/**
 * Loaded before a gateway with `NODE_OPTIONS=--import`: the first SIGUSR2 starts recording which functions of the main thread run, the second one
 * writes them, in order, to the file that `WALK_FILE` names. V8's call counts are read before each asynchronous callback: within one callback the order
 * is that of the files.
 */
import { createHook } from "node:async_hooks";
import { renameSync, writeFileSync } from "node:fs";
import { Session, type Profiler } from "node:inspector";
import { isMainThread } from "node:worker_threads";

/** One function that ran: `offset` is its position in the file. */
export interface Visited {
  readonly url: string;
  readonly name: string;
  readonly offset: number;
}

const file = process.env["WALK_FILE"];

function record(): () => readonly Visited[] {
  const session = new Session();
  session.connect();
  const seen = new Set<string>();
  const visited: Visited[] = [];
  let reading = false;

  function take({ result }: Profiler.TakePreciseCoverageReturnType): void {
    for (const { url, functions } of result) {
      if (!url.startsWith("file:") || url.includes("/node_modules/")) continue;
      for (const { functionName: name, ranges } of functions) {
        const { startOffset: offset, count } = ranges[0]!;
        const key = `${url}:${offset}`;
        // Offset 0 is the file itself being loaded.
        if (count === 0 || offset === 0 || seen.has(key)) continue;
        seen.add(key);
        visited.push({ url, name, offset });
      }
    }
  }

  function read(): void {
    if (reading) return;
    reading = true;
    // Answered before `post` returns: the session is in its own thread.
    session.post("Profiler.takePreciseCoverage", (_error, taken) => taken && take(taken));
    reading = false;
  }

  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  const hook = createHook({ before: read }).enable();
  return () => {
    hook.disable();
    read();
    session.disconnect();
    return visited;
  };
}

if (isMainThread && file !== undefined) {
  let finish: (() => readonly Visited[]) | undefined;
  process.on("SIGUSR2", () => {
    if (!finish) {
      finish = record();
      writeFileSync(`${file}.started`, "");
      return;
    }
    const visited = finish();
    finish = undefined;
    writeFileSync(`${file}.new`, JSON.stringify(visited));
    renameSync(`${file}.new`, file);
  });
}
