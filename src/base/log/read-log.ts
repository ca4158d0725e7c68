import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";

export interface LogChunk {
  readonly lines: readonly string[];
  /** Where the next read continues. */
  readonly cursor: number;
  readonly size: number;
  /** Older lines were left out because of the size limit. */
  readonly truncated: boolean;
  /** The file is shorter than the cursor: it was rotated, and this read began at its start. */
  readonly rotated: boolean;
}

/** Reads whole lines from `cursor` on, at most the last `maxBytes`. Without a cursor: the end of the file. Undefined when there is no file. */
export function readLog(file: string, options: { readonly cursor?: number; readonly maxBytes: number }): LogChunk | undefined {
  if (!existsSync(file)) return undefined;
  const fd = openSync(file, "r");
  try {
    const { size } = fstatSync(fd);
    const rotated = options.cursor !== undefined && options.cursor > size;
    const from = rotated ? 0 : (options.cursor ?? 0);
    const start = Math.max(from, size - options.maxBytes);
    const buffer = Buffer.alloc(size - start);
    const read = readSync(fd, buffer, 0, buffer.length, start);
    const end = buffer.subarray(0, read).lastIndexOf(0x0a) + 1;
    const lines = buffer.toString("utf8", 0, end).split("\n").slice(0, -1);
    const truncated = start > from;
    // A read that starts inside the file starts inside a line.
    return { lines: truncated ? lines.slice(1) : lines, cursor: start + end, size, truncated, rotated };
  } finally {
    closeSync(fd);
  }
}
