import { AppError } from "../../../base/errors.ts";

/** Bytes of one attachment. */
const MAX_BYTES = 5_000_000;
const DATA_URL = /^data:([^;,]*)(?:;[^,]*)?;base64,/i;

export interface Image {
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
}

interface Sent {
  readonly type?: unknown;
  readonly mimeType?: unknown;
  readonly fileName?: unknown;
  readonly content?: unknown;
}

/** Looks for a character that does not belong: a pattern for the whole text would need a stack as deep as the text is long. */
function isBase64(data: string): boolean {
  const padding = data.indexOf("=");
  return data.length % 4 === 0 && !/[^A-Za-z0-9+/=]/.test(data) && (padding < 0 || padding >= data.length - 2) && !/=[^=]/.test(data.slice(-2));
}

/** Types told by the first bytes, for senders that do not say. */
function sniffed(data: string): string | undefined {
  const starts: readonly (readonly [string, string])[] = [
    ["iVBORw0KGgo", "image/png"],
    ["/9j/", "image/jpeg"],
    ["R0lGOD", "image/gif"],
    ["UklGR", "image/webp"],
  ];
  return starts.find(([start]) => data.startsWith(start))?.[1];
}

/** The images among what was attached. What is no image is left out; what cannot be read, or is too large, fails. */
export function imagesOf(attachments: readonly unknown[]): readonly Image[] {
  return attachments.flatMap((attachment, index) => {
    const { mimeType, fileName, content } = (attachment ?? {}) as Sent;
    const name = typeof fileName === "string" && fileName !== "" ? fileName : `attachment-${index + 1}`;
    if (typeof content !== "string" || content === "") throw new AppError("INVALID_INPUT", `attachment ${name}: content must be base64 text`);
    const head = DATA_URL.exec(content);
    const data = content.slice(head?.[0].length ?? 0).replaceAll(/\s/g, "");
    if (!isBase64(data)) throw new AppError("INVALID_INPUT", `attachment ${name}: content is not valid base64`);
    const bytes = (data.length / 4) * 3 - (data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0);
    if (bytes > MAX_BYTES) throw new AppError("INVALID_INPUT", `attachment ${name}: ${bytes} bytes are more than the ${MAX_BYTES} that are taken`);
    const type = sniffed(data) ?? (typeof mimeType === "string" && mimeType !== "" ? mimeType : head?.[1]);
    return type?.toLowerCase().startsWith("image/") ? [{ mimeType: type.toLowerCase(), data }] : [];
  });
}
