import type { IncomingMessage } from "node:http";
import type { Clock } from "../../base/clock.ts";
import { isRecord } from "../../base/records.ts";

export type BodyFailure = { readonly status: 400 | 408 | 413 | 503; readonly message: string };
export type BodyResult = { readonly ok: true; readonly body: Buffer } | ({ readonly ok: false } & BodyFailure);

/** Time in which a whole body must arrive. */
const BODY_TIMEOUT_MS = 30_000;
/** Memory that all bodies on their way in may take together. */
const TOTAL_BODY_BYTES = 67_108_864;
const FIRST_ALLOCATION = 4096;

export interface BodyReader {
  /** Reads a body of at most `limit` bytes. Never holds more memory than twice what arrived. */
  read(request: IncomingMessage, limit: number): Promise<BodyResult>;
  /** Bytes reserved by bodies that are being read. */
  readonly reserved: number;
}

export interface BodyReaderDeps {
  readonly clock: Clock;
  readonly timeoutMs?: number;
  readonly totalBytes?: number;
}

const tooLarge = (limit: number): BodyFailure => ({ status: 413, message: `Payload too large: the limit is ${limit} bytes` });

export function createBodyReader({ clock, timeoutMs = BODY_TIMEOUT_MS, totalBytes = TOTAL_BODY_BYTES }: BodyReaderDeps): BodyReader {
  let reserved = 0;

  /** Doubles the buffer, out of the memory that all bodies share. */
  function grow(buffer: Buffer, needed: number, limit: number): Buffer | undefined {
    const size = Math.min(Math.max(buffer.length * 2, needed, FIRST_ALLOCATION), Math.max(limit, needed));
    if (reserved + size - buffer.length > totalBytes) return undefined;
    reserved += size - buffer.length;
    const larger = Buffer.allocUnsafeSlow(size);
    buffer.copy(larger);
    return larger;
  }

  function collect(request: IncomingMessage, limit: number): Promise<BodyResult> {
    const { promise, resolve } = Promise.withResolvers<BodyResult>();
    let buffer: Buffer = Buffer.alloc(0);
    let length = 0;
    let settled = false;
    const deadline = clock.after(timeoutMs, () => fail({ status: 408, message: `Request body timeout: it must arrive within ${timeoutMs / 1000} s` }));

    function settle(result: BodyResult): void {
      if (settled) return;
      settled = true;
      deadline[Symbol.dispose]();
      // The listener for errors stays: without one a broken connection would end the process.
      request.off("data", take).off("end", finish).off("close", lost);
      reserved -= buffer.length;
      buffer = Buffer.alloc(0);
      resolve(result);
    }
    function fail(failure: BodyFailure): void {
      request.pause();
      settle({ ok: false, ...failure });
    }
    function take(chunk: Buffer): void {
      const needed = length + chunk.length;
      if (needed > limit) return fail(tooLarge(limit));
      if (needed > buffer.length) {
        const larger = grow(buffer, needed, limit);
        if (larger === undefined) return fail({ status: 503, message: "Too many large requests at once; try again shortly" });
        buffer = larger;
      }
      chunk.copy(buffer, length);
      length = needed;
    }
    function finish(): void {
      settle({ ok: true, body: buffer.subarray(0, length) });
    }
    function lost(): void {
      settle({ ok: false, status: 400, message: "The connection closed before the body was complete" });
    }
    request.on("data", take).on("end", finish).on("close", lost).on("error", lost);
    return promise;
  }

  return {
    get reserved() {
      return reserved;
    },
    async read(request, limit) {
      const declared = Number(request.headers["content-length"] ?? 0);
      if (declared === 0 && request.headers["transfer-encoding"] === undefined) return { ok: true, body: Buffer.alloc(0) };
      if (declared > limit) return { ok: false, ...tooLarge(limit) };
      return collect(request, limit);
    },
  };
}

/** The JSON object in a body, or what is wrong with it. */
export function parseJsonObject(
  body: Buffer,
): { readonly ok: true; readonly value: Readonly<Record<string, unknown>> } | { readonly ok: false; readonly message: string } {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return { ok: false, message: "Invalid JSON: the body must be one JSON object in UTF-8" };
  }
  return isRecord(value) ? { ok: true, value } : { ok: false, message: "Invalid body: expected a JSON object" };
}
