/** `multipart/form-data`, streamed. */
import { randomUUID } from "node:crypto";

export interface FilePart {
  readonly data: Uint8Array;
  readonly fileName: string;
  readonly mimeType?: string | undefined;
}

export interface MultipartBody {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/** A name that cannot leave its header. */
export function safeFileName(name: string | undefined, otherwise = "file"): string {
  // oxlint-disable-next-line no-control-regex
  const clean = (name ?? "").replaceAll(/[\u0000-\u001F\u007F"';:\\/=]/g, "_").slice(-120);
  return clean || otherwise;
}

/** Sent in pieces of this size, with a report of progress after each. */
const PIECE_BYTES = 256 * 1024;

export function multipart(
  parts: Readonly<Record<string, string | FilePart | undefined>>,
  onProgress?: (sentBytes: number, allBytes: number) => void,
): MultipartBody {
  const boundary = `openclaw-${randomUUID()}`;
  const sections = Object.entries(parts).flatMap(([name, part]) => {
    if (part === undefined) return [];
    const key = safeFileName(name, "field");
    if (typeof part === "string")
      return [{ head: Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${key}"\r\n\r\n`), data: Buffer.from(part) }];
    const type = /^[\w.+-]+\/[\w.+-]+$/.test(part.mimeType ?? "") ? part.mimeType : "application/octet-stream";
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${key}"; filename="${safeFileName(part.fileName)}"\r\ncontent-type: ${type}\r\n\r\n`;
    return [{ head: Buffer.from(head), data: part.data }];
  });
  const end = Buffer.from(`--${boundary}--\r\n`);
  const all = sections.reduce((sum, { head, data }) => sum + head.length + data.length + 2, end.length);

  async function* body(): AsyncGenerator<Uint8Array> {
    let sent = 0;
    const report = (bytes: number): void => onProgress?.((sent += bytes), all);
    for (const { head, data } of sections) {
      yield head;
      report(head.length);
      for (let from = 0; from < data.length; from += PIECE_BYTES) {
        const piece = data.subarray(from, from + PIECE_BYTES);
        yield piece;
        report(piece.length);
      }
      yield Buffer.from("\r\n");
      report(2);
    }
    yield end;
    report(end.length);
  }

  return { headers: { "content-type": `multipart/form-data; boundary=${boundary}`, "content-length": String(all) }, body: body() };
}
