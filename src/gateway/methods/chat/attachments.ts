import { AppError } from "../../../base/errors.ts";
import type { ImageContent } from "../../../protocol/index.ts";

/** Bytes of one attachment. */
const MAX_BYTES = 5_000_000;
const DATA_URL = /^data:([^;,]*)(?:;[^,]*)?;base64,/i;

interface Sent {
  readonly type?: unknown;
  readonly mimeType?: unknown;
  readonly fileName?: unknown;
  readonly content?: unknown;
}

/** Looks for a character that does not belong: a pattern for the whole text would need a stack as deep as the text is long. */
export function isBase64(data: string): boolean {
  const padding = data.indexOf("=");
  return data.length % 4 === 0 && !/[^A-Za-z0-9+/=]/.test(data) && (padding < 0 || padding >= data.length - 2) && !/=[^=]/.test(data.slice(-2));
}

/** Bytes of a base64 text. */
export const sizeOf = (data: string): number => (data.length / 4) * 3 - (data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0);

/** How files of a kind begin. Only those a model can look at are images to us; the others are told so that nothing passes for an image. */
const STARTS: readonly (readonly [type: string, at: number, bytes: string])[] = [
  ["image/png", 0, "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", 0, "\xff\xd8\xff"],
  ["image/gif", 0, "GIF87a"],
  ["image/gif", 0, "GIF89a"],
  ["image/webp", 8, "WEBP"],
  ["audio/wav", 8, "WAVE"],
  ["application/pdf", 0, "%PDF-"],
  ["application/zip", 0, "PK\x03\x04"],
];

/** The type of a base64 text by its first bytes, whatever its sender says. Undefined when they are not known. */
export function sniffedType(data: string): string | undefined {
  const head = Buffer.from(data.slice(0, 32), "base64").toString("latin1");
  return STARTS.find(([, at, bytes]) => head.startsWith(bytes, at))?.[0];
}

/** The images among what was attached. What is no image is left out; what cannot be read, or is too large, fails. */
export function imagesOf(attachments: readonly unknown[]): readonly ImageContent[] {
  return attachments.flatMap((attachment, index) => {
    const { mimeType, fileName, content } = (attachment ?? {}) as Sent;
    const name = typeof fileName === "string" && fileName !== "" ? fileName : `attachment-${index + 1}`;
    if (typeof content !== "string" || content === "") throw new AppError("INVALID_INPUT", `attachment ${name}: content must be base64 text`);
    const head = DATA_URL.exec(content);
    const data = content.slice(head?.[0].length ?? 0).replaceAll(/\s/g, "");
    if (!isBase64(data)) throw new AppError("INVALID_INPUT", `attachment ${name}: content is not valid base64`);
    const bytes = sizeOf(data);
    if (bytes > MAX_BYTES) throw new AppError("INVALID_INPUT", `attachment ${name}: ${bytes} bytes are more than the ${MAX_BYTES} that are taken`);
    const type = sniffedType(data) ?? (typeof mimeType === "string" && mimeType !== "" ? mimeType : head?.[1]);
    return type?.toLowerCase().startsWith("image/") ? [{ type: "image" as const, mimeType: type.toLowerCase(), data }] : [];
  });
}
