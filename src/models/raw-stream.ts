import { chmod, mkdir, open, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/log/logger.ts";
import type { Redactor } from "../base/redaction.ts";
import type { RawCall } from "./call/driver.ts";

export interface RawStreamDeps {
  readonly file: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly redactor: Pick<Redactor, "text">;
  /** A file that would grow past this many bytes is renamed to `<file>.1` and a new one is started. */
  readonly maxBytes?: number;
}

const MAX_BYTES = 100 * 1024 * 1024;
/** Lines that may wait for a slow disk, in characters; what comes on top is counted and left out. */
const MAX_WAITING = 64 * 1024 * 1024;

/** Every event of every provider as one line of JSON, in the order they came. */
export interface RawStream extends AsyncDisposable {
  readonly rawLog: (call: RawCall) => (event: { readonly event: string; readonly data: string }) => void;
}

/** Writing never holds a call up, and a disk that fails does not fail one. */
export function createRawStream({ file, clock, log, redactor, maxBytes = MAX_BYTES }: RawStreamDeps): RawStream {
  let waiting: string[] = [];
  let size = 0;
  let dropped = 0;
  let writing: Promise<void> | undefined;
  let begun = false;
  let broken = false;

  /** Only its owner may read it, whichever process created it. */
  async function begin(): Promise<void> {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await (await open(file, "a", 0o600)).close();
    await chmod(file, 0o600);
    begun = true;
  }

  async function append(text: string): Promise<void> {
    if (!begun) await begin();
    const bytes = Buffer.from(text);
    const there = (await stat(file)).size;
    if (there > 0 && there + bytes.length > maxBytes) {
      await rename(file, `${file}.1`);
      await begin();
    }
    await using handle = await open(file, "a", 0o600);
    await handle.writeFile(bytes);
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const text = waiting.join("");
      waiting = [];
      size = 0;
      try {
        await append(text);
        broken = false;
      } catch (error) {
        begun = false;
        if (!broken) log.error(`the raw stream cannot be written to ${file}: ${messageOf(error)}; these lines are missing in it`);
        broken = true;
      }
    }
    writing = undefined;
  }

  function add(line: string): void {
    waiting.push(line);
    size += line.length;
    writing ??= Promise.resolve().then(drain);
  }

  return {
    rawLog: (call) => (event) => {
      const ts = clock.now();
      const line = `${JSON.stringify({ ts, ...call, event: event.event, data: redactor.text(event.data) })}\n`;
      if (size + line.length > MAX_WAITING) {
        dropped += 1;
        return;
      }
      if (dropped > 0) add(`${JSON.stringify({ ts, dropped })}\n`);
      dropped = 0;
      add(line);
    },
    [Symbol.asyncDispose]: async () => writing,
  };
}
