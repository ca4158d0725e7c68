/** Reads documents. PDFs and office files are read in a thread of their own, with limits of time and memory; texts are decoded here. */
import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { textEncoding } from "../../base/binary.ts";
import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import { loadSharp } from "../images.ts";
import { documentKind } from "./kinds.ts";
import type { DocumentFile, DocumentLimits, DocumentText, RawPicture, ThreadAnswer, ThreadRequest } from "./types.ts";

export interface Documents {
  /** Rejects with `INVALID_INPUT` and a reason for the user when the file cannot be read, and with `TIMEOUT` when it takes too long. */
  read(file: DocumentFile, limits: DocumentLimits, signal?: AbortSignal): Promise<DocumentText>;
}

const TIMEOUT_MS = 30_000;
const MEMORY_MB = 256;
const MOST_AT_ONCE = 2;
const MOST_WAITING = 50;
const PICTURE_PIXELS = 4_000_000;
/** Where a bundle has the thread's file, relative to the chunk that contains this code. */
const BUNDLED = ["./document-worker.js", "../document-worker.js"];

function threadFile(): URL {
  if (import.meta.url.endsWith(".ts")) return new URL("./thread/worker.ts", import.meta.url);
  const found = BUNDLED.map((path) => new URL(path, import.meta.url)).find((url) => existsSync(url));
  if (!found) throw new AppError("UNAVAILABLE", `document-worker.js is missing beside ${import.meta.url}; the installation is incomplete, install it again`);
  return found;
}

async function inThread(
  clock: Clock,
  request: ThreadRequest,
  signal: AbortSignal | undefined,
): Promise<Exclude<ThreadAnswer, { problem: string } | { error: string }>> {
  const { promise, resolve, reject } = Promise.withResolvers<ThreadAnswer>();
  const timeoutMs = request.limits.timeoutMs ?? TIMEOUT_MS;
  signal?.throwIfAborted();
  const worker = new Worker(threadFile(), {
    name: "document",
    workerData: request,
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    stdout: true,
    stderr: true,
  });
  // What libraries print about odd files is of no use to anyone.
  worker.stdout.resume();
  worker.stderr.resume();
  const onAbort = (): void => reject(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  using _timer = clock.after(timeoutMs, () => reject(new AppError("TIMEOUT", `the document could not be read within ${timeoutMs / 1000} s`)));
  worker.once("message", resolve);
  worker.once("error", (error: unknown) => {
    const isMemory = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
    reject(
      new AppError("INVALID_INPUT", isMemory ? `the document takes more than ${MEMORY_MB} MB to be read` : `the document cannot be read: ${messageOf(error)}`),
    );
  });
  worker.once("exit", () => reject(new AppError("INVALID_INPUT", "the document cannot be read")));
  try {
    const answer = await promise;
    if ("problem" in answer) throw new AppError("INVALID_INPUT", answer.problem);
    if ("error" in answer) throw new AppError("INVALID_INPUT", `the document cannot be read: ${answer.error}`);
    return answer;
  } finally {
    signal?.removeEventListener("abort", onAbort);
    await worker.terminate();
  }
}

async function asJpeg({ data, width, height, channels }: RawPicture, maxPixels: number): Promise<readonly Uint8Array[]> {
  try {
    const sharp = await loadSharp();
    const share = Math.min(1, Math.sqrt(maxPixels / (width * height)));
    const image = sharp(data, { raw: { width, height, channels } }).flatten({ background: "#ffffff" });
    return [
      await image
        .resize({ width: Math.max(1, Math.floor(width * share)) })
        .jpeg({ quality: 80 })
        .toBuffer(),
    ];
  } catch {
    return []; // The library has no build for this machine, or the pixels are not what the file says.
  }
}

function decodeText({ data }: DocumentFile, maxChars: number): DocumentText {
  const encoding = textEncoding(data);
  if (encoding === undefined) throw new AppError("INVALID_INPUT", "the file is no text");
  const text = new TextDecoder(encoding).decode(data.subarray(0, maxChars * 4 + 4)).trim();
  return { text: text.slice(0, maxChars), truncated: text.length > maxChars || data.length > maxChars * 4 + 4 };
}

/** Runs at most so many at a time; the others wait in order. */
function createQueue() {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= MOST_AT_ONCE) {
      if (waiting.length >= MOST_WAITING) throw new AppError("OVERLOADED", `${waiting.length} documents wait to be read; send it again shortly`);
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      await promise;
    } else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

export function createDocuments({ clock }: { readonly clock: Clock }): Documents {
  const queued = createQueue();
  return {
    async read(file, limits, signal) {
      if (file.data.length === 0) throw new AppError("INVALID_INPUT", "the file is empty");
      const kind = documentKind(file.mimeType, file.data);
      if (kind === undefined) throw new AppError("INVALID_INPUT", `files of type ${file.mimeType} are not read`);
      if (kind === "old-office") throw new AppError("INVALID_INPUT", "old office files are not read; save it as docx, xlsx or pptx");
      if (kind === "text") return decodeText(file, limits.maxChars);
      const data = new Uint8Array(file.data);
      const { text, pictures } = await queued(() => inThread(clock, { kind, data, limits }, signal));
      const shown = (await Promise.all(pictures.map((picture) => asJpeg(picture, limits.maxPixels ?? PICTURE_PIXELS)))).flat();
      return shown.length === 0 ? text : { ...text, pictures: shown };
    },
  };
}
