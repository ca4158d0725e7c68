import { mkdtemp, open, rm, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Most of an output that is written to a file. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** With more than this waiting for the disk in memory, the writer has to wait. */
const MAX_WAITING_BYTES = 2 * 1024 * 1024;

/** All that a command wrote, on disk: in a file without a name, which is gone with the process. */
export interface OutputFile extends AsyncDisposable {
  /** A promise when too much waits for the disk: nothing more is to be added until it resolves. */
  add(text: string): Promise<void> | undefined;
  /** What was written, up to the limit; undefined when the disk did not take it. */
  content(): Promise<Buffer | undefined>;
  /** More came than was written. */
  readonly full: boolean;
}

export function createOutputFile(): OutputFile {
  const opened = openUnnamed();
  let bytes = 0;
  let waiting = 0;
  let full = false;
  let failed = false;
  let writing: Promise<unknown> = opened;
  opened.catch(() => (failed = true));

  return {
    get full() {
      return full;
    },
    add(text) {
      if (full || failed) return undefined;
      const data = Buffer.from(text);
      const left = MAX_FILE_BYTES - bytes;
      full = data.length > left;
      const piece = full ? data.subarray(0, left) : data;
      bytes += piece.length;
      waiting += piece.length;
      writing = writing
        .then(async () => (await opened).appendFile(piece))
        .then(
          () => (waiting -= piece.length),
          () => (failed = true),
        );
      return waiting > MAX_WAITING_BYTES ? writing.then(() => undefined) : undefined;
    },
    async content() {
      await writing;
      if (failed) return undefined;
      const data = Buffer.alloc(bytes);
      const { bytesRead } = await (await opened).read(data, 0, bytes, 0);
      return data.subarray(0, bytesRead);
    },
    async [Symbol.asyncDispose]() {
      await writing.catch(() => {});
      await opened.then((handle) => handle.close()).catch(() => {});
    },
  };
}

async function openUnnamed(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), "openclaw-output-"));
  try {
    return await open(join(folder, "all"), "wx+", 0o600);
  } finally {
    await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}
