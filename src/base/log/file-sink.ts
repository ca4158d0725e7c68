import { appendFile, mkdir, readdir, rename, stat, unlink } from "node:fs/promises";
import { appendFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Clock } from "../clock.ts";
import { messageOf } from "../errors.ts";
import { formatJson } from "./console-sink.ts";
import type { LogSink } from "./logger.ts";

export interface FileSinkDeps {
  readonly clock: Clock;
  /** Path of the file to append to at a given time; a dated name changes at midnight. */
  readonly file: (time: number) => string;
  /** A file that grows past this many bytes is renamed to `<file>.1` and a new one started. */
  readonly maxBytes: number;
  /** Dated siblings older than this are removed when a new file starts. Undefined keeps them. */
  readonly keepMs?: number;
  /** Called once when the file cannot be written; the other sinks go on. */
  readonly onProblem: (message: string) => void;
}

/** Bytes of lines that may wait for a slow disk; lines beyond that are dropped, and their number is logged. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

const DATED = /-\d{4}-\d{2}-\d{2}\.log(\.1)?$/;

export interface FileSink extends LogSink {
  /** Writes pending lines synchronously, just before the process ends. */
  flushNow(): void;
}

/** Creates the folder of a log file and removes dated siblings that are too old. Returns the size of the existing file. */
async function begin(file: string, { clock, keepMs }: FileSinkDeps): Promise<number> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  if (keepMs !== undefined) await prune(file, clock.now() - keepMs);
  return stat(file).then(
    (found) => found.size,
    () => 0,
  );
}

async function prune(file: string, before: number): Promise<void> {
  const folder = dirname(file);
  const stem = basename(file).replace(DATED, "");
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (path === file || !DATED.test(name) || name.replace(DATED, "") !== stem) continue;
    if ((await stat(path)).mtimeMs < before) await unlink(path);
  }
}

/** JSON lines to a rotating file. Writing never blocks the caller; lines of one tick go out in one call. */
export function createFileSink(deps: FileSinkDeps): FileSink {
  let waiting: string[] = [];
  let waitingBytes = 0;
  let dropped = 0;
  let writing: Promise<void> | undefined;
  let current: { file: string; size: number } | undefined;
  let broken = false;

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const text = waiting.join("");
      waiting = [];
      waitingBytes = 0;
      try {
        const file = deps.file(deps.clock.now());
        if (current?.file !== file) current = { file, size: await begin(file, deps) };
        if (current.size > 0 && current.size + text.length > deps.maxBytes) {
          await rename(file, `${file}.1`);
          current.size = 0;
        }
        await appendFile(file, text, { mode: 0o600 });
        current.size += text.length;
      } catch (error) {
        current = undefined;
        if (!broken) deps.onProblem(`the log file cannot be written: ${messageOf(error)}; logging goes on without it`);
        broken = true;
      }
    }
    writing = undefined;
  }

  return {
    write(record) {
      const line = `${formatJson(record)}\n`;
      if (waitingBytes + line.length > MAX_WAITING_BYTES) {
        dropped += 1;
        return;
      }
      if (dropped > 0) {
        waiting.push(
          `${formatJson({ time: record.time, level: "warn", subsystem: "log", message: "lines were dropped: the disk is too slow", fields: { dropped } })}\n`,
        );
        dropped = 0;
      }
      waiting.push(line);
      waitingBytes += line.length;
      writing ??= Promise.resolve().then(drain);
    },
    flush: async () => writing,
    flushNow() {
      if (waiting.length === 0) return;
      const text = waiting.join("");
      waiting = [];
      try {
        appendFileSync(deps.file(deps.clock.now()), text, { mode: 0o600 });
      } catch {
        // The process is ending, and the other sinks have shown these lines.
      }
    },
  };
}
