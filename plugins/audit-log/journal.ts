import { appendFile, mkdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** A file with a JSON value on every line. */
export interface Journal {
  /** Resolves when the line is in the file. Lines stand in the order of the calls. */
  write(entry: Readonly<Record<string, unknown>>): Promise<void>;
  /** Resolves when everything that was written is in the file. */
  flush(): Promise<void>;
}

/** `audit.jsonl` in the folder. One that is full becomes `audit.1.jsonl`; the oldest is deleted. */
export function openJournal(folder: string, { maxBytes, keep }: { readonly maxBytes: number; readonly keep: number }): Journal {
  const path = join(folder, "audit.jsonl");
  const aside = (number: number): string => join(folder, `audit.${number}.jsonl`);
  let last: Promise<void> = Promise.resolve();
  let size: number | undefined;

  async function setAside(): Promise<void> {
    await rm(keep === 0 ? path : aside(keep), { force: true });
    for (let number = keep - 1; number >= 1; number -= 1) await rename(aside(number), aside(number + 1)).catch(() => {});
    if (keep > 0) await rename(path, aside(1)).catch(() => {});
    size = 0;
  }

  async function add(line: string): Promise<void> {
    if (size === undefined) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      size = await stat(path).then(
        (found) => found.size,
        () => 0,
      );
    }
    const bytes = Buffer.byteLength(line);
    if (size > 0 && size + bytes > maxBytes) await setAside();
    await appendFile(path, line, { mode: 0o600 });
    size += bytes;
  }

  return {
    write(entry) {
      const line = `${JSON.stringify(entry)}\n`;
      const written = last.then(() => add(line));
      // A line that fails is its caller's to hear of; the next one is tried.
      last = written.catch(() => {});
      return written;
    },
    flush: () => last,
  };
}
