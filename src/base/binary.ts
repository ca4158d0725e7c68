/** Bytes at the start of a file that are inspected. */
export const BINARY_HEAD_BYTES = 8192;
/** Above this share of non-text bytes, the whole file counts as binary. */
const MOST_ODD = 0.1;

/** Whether bytes are binary, judged by their start: a zero byte, or many bytes that are not UTF-8. UTF-16 texts start with a byte order mark. */
export function looksBinary(bytes: Uint8Array): boolean {
  const head = bytes.subarray(0, BINARY_HEAD_BYTES);
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)) return false;
  if (head.includes(0)) return true;
  if (head.length === 0) return false;
  // A character cut in half at the end is not an error.
  const text = new TextDecoder().decode(head, { stream: true });
  // eslint-disable-next-line no-control-regex -- control characters that do not occur in text
  const odd = text.match(/[\uFFFD\x01-\x08\x0E-\x1A\x1C-\x1F]/g)?.length ?? 0;
  return odd > head.length * MOST_ODD;
}

/** Character encoding of a text. */
export type TextEncoding = "utf-8" | "utf-16le" | "utf-16be" | "windows-1252";

/** Above this share of non-ASCII bytes, a text is not taken for a one-byte encoding. */
const MOST_HIGH = 0.5;

/**
 * The encoding of a text, judged by its start; undefined for binary data. Bytes that are not UTF-8 but contain only Latin-1 characters are
 * windows-1252.
 */
export function textEncoding(bytes: Uint8Array): TextEncoding | undefined {
  const head = bytes.subarray(0, BINARY_HEAD_BYTES);
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
  const text = new TextDecoder().decode(head, { stream: true });
  const wrong = text.match(/\uFFFD/g)?.length ?? 0;
  const others = text.match(/[\u0080-\uFFFC]/g)?.length ?? 0;
  // A UTF-8 text with a few damaged characters is still UTF-8.
  if (wrong > others && isLatin(head)) return "windows-1252";
  return looksBinary(head) ? undefined : "utf-8";
}

function isLatin(head: Uint8Array): boolean {
  const text = Buffer.from(head).toString("latin1");
  // eslint-disable-next-line no-control-regex -- control characters, and code points that windows-1252 leaves undefined
  if (/[\0-\x08\x0E-\x1A\x1C-\x1F\x7F\x81\x8D\x8F\x90\x9D]/.test(text)) return false;
  return (text.match(/[\x80-\xFF]/g)?.length ?? 0) <= head.length * MOST_HIGH;
}
