/** Reads `multipart/form-data` of requests to a fake platform. */

export interface SentPart {
  readonly name: string;
  readonly fileName: string | undefined;
  readonly mimeType: string | undefined;
  readonly data: Buffer;
}

export function readMultipart(contentType: string, body: Buffer): SentPart[] {
  const [, boundary] = /boundary="?([^";]+)"?/i.exec(contentType) ?? [];
  if (boundary === undefined) return [];
  const parts: SentPart[] = [];
  const mark = Buffer.from(`--${boundary}`);
  let at = body.indexOf(mark);
  while (at >= 0) {
    const from = at + mark.length + 2;
    const next = body.indexOf(mark, from);
    if (next < 0) break;
    const section = body.subarray(from, next - 2);
    const end = section.indexOf("\r\n\r\n");
    const head = section.subarray(0, end).toString("utf8");
    const [, name = ""] = /name="([^"]*)"/i.exec(head) ?? [];
    const [, fileName] = /filename="([^"]*)"/i.exec(head) ?? [];
    const [, mimeType] = /content-type:\s*([^\r\n]+)/i.exec(head) ?? [];
    parts.push({ name, fileName, mimeType, data: section.subarray(end + 4) });
    at = next;
  }
  return parts;
}
