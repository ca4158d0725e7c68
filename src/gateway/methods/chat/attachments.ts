import { AppError } from "../../../base/errors.ts";
import { textEncoding } from "../../../base/binary.ts";
import { isRecord } from "../../../base/records.ts";
import { sniffMediaType } from "../../../media/index.ts";
import type { ImageContent } from "../../../protocol/index.ts";

/** Bytes of one attachment. */
const MAX_BYTES = 5_000_000;
const DATA_URL = /^data:([^;,]*)(?:;[^,]*)?;base64,/i;

/** Looks for a character that does not belong: a pattern for the whole text would need a stack as deep as the text is long. */
export function isBase64(data: string): boolean {
  const padding = data.indexOf("=");
  return data.length % 4 === 0 && !/[^A-Za-z0-9+/=]/.test(data) && (padding < 0 || padding >= data.length - 2) && !/=[^=]/.test(data.slice(-2));
}

/** Bytes of a base64 text. */
export const sizeOf = (data: string): number => (data.length / 4) * 3 - (data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0);

/** Enough to tell a type: 96 bytes. */
const HEAD_CHARS = 128;

const headOf = (data: string): Buffer => Buffer.from(data.slice(0, HEAD_CHARS), "base64");

/** The type of a base64 text by its first bytes, whatever its sender says. Undefined when they are not known. */
export const sniffedType = (data: string): string | undefined => sniffMediaType(headOf(data));

/** A file that is no image, as it was attached. */
export interface AttachedFile {
  readonly fileName?: string;
  readonly mimeType?: string;
  readonly data: Buffer;
}

interface Read {
  readonly name: string;
  readonly fileName: string | undefined;
  /** By its first bytes, else as its sender declared it. */
  readonly type: string | undefined;
  readonly declared: string | undefined;
  /** Base64. */
  readonly data: string;
}

/** What was attached, checked. Throws for what cannot be read or is larger than `maxBytes`. */
function read(attachment: unknown, index: number, maxBytes: (type: string | undefined) => number): Read {
  const { mimeType, fileName, content } = isRecord(attachment) ? attachment : {};
  const named = typeof fileName === "string" && fileName !== "" ? fileName : undefined;
  const name = named ?? `attachment-${index + 1}`;
  if (content === "") throw new AppError("INVALID_INPUT", `attachment ${name} is empty; send a file with content`);
  if (typeof content !== "string") throw new AppError("INVALID_INPUT", `attachment ${name}: content must be base64 text`);
  const head = DATA_URL.exec(content);
  const data = content.slice(head?.[0].length ?? 0).replaceAll(/\s/g, "");
  if (data === "") throw new AppError("INVALID_INPUT", `attachment ${name} is empty; send a file with content`);
  if (!isBase64(data)) throw new AppError("INVALID_INPUT", `attachment ${name}: content is not valid base64`);
  const bytes = sizeOf(data);
  const declared = typeof mimeType === "string" && mimeType !== "" ? mimeType : head?.[1];
  // A page that is called cat.png is a text.
  const isMisnamed = declared?.toLowerCase().startsWith("image/") === true && textEncoding(headOf(data)) !== undefined;
  const type = sniffedType(data) ?? (isMisnamed ? "text/plain" : declared);
  const most = maxBytes(type);
  if (bytes > most) throw new AppError("INVALID_INPUT", `attachment ${name}: ${bytes} bytes; the limit is ${most}`);
  return { name, fileName: named, type: type?.toLowerCase(), declared: declared?.toLowerCase(), data };
}

const isImage = ({ type }: Read): boolean => type?.startsWith("image/") === true;
const imagesIn = (all: readonly Read[]): readonly ImageContent[] =>
  all.flatMap(({ type, data }) => (type?.startsWith("image/") ? [{ type: "image", mimeType: type, data }] : []));

/** The images among what was attached. What is no image is left out; what cannot be read, or is too large, fails. */
export function imagesOf(attachments: readonly unknown[]): readonly ImageContent[] {
  return imagesIn(attachments.map((attachment, index) => read(attachment, index, () => MAX_BYTES)));
}

/** Files of one message. */
const MOST_FILES = 20;

export interface Attached {
  readonly images: readonly ImageContent[];
  readonly files: readonly AttachedFile[];
}

/** Images, and the other files, of at most `maxFileBytes` each. */
export function attachedTo(attachments: readonly unknown[], maxFileBytes: number): Attached {
  const all = attachments.map((attachment, index) => read(attachment, index, (type) => (type?.toLowerCase().startsWith("image/") ? MAX_BYTES : maxFileBytes)));
  const files = all.filter((one) => !isImage(one));
  if (all.length > MOST_FILES) throw new AppError("INVALID_INPUT", `${all.length} files; one message may have at most ${MOST_FILES}`);
  return {
    images: imagesIn(all),
    files: files.map(({ fileName, declared, data }) => ({
      data: Buffer.from(data, "base64"),
      ...(fileName === undefined ? {} : { fileName }),
      ...(declared ? { mimeType: declared } : {}),
    })),
  };
}
