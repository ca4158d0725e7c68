/** As much of a file as has to be looked at. */
export const BINARY_HEAD_BYTES = 8192;
/** Share of bytes that are no text above which the whole is none. */
const MOST_ODD = 0.1;

/** Whether bytes are no text, by their beginning: a zero, or many that are no UTF-8. Texts in UTF-16 begin with a mark. */
export function looksBinary(bytes: Uint8Array): boolean {
  const head = bytes.subarray(0, BINARY_HEAD_BYTES);
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)) return false;
  if (head.includes(0)) return true;
  if (head.length === 0) return false;
  // Half a character at the end is no fault.
  const text = new TextDecoder().decode(head, { stream: true });
  // eslint-disable-next-line no-control-regex -- what no text has
  const odd = text.match(/[\uFFFD\x01-\x08\x0E-\x1A\x1C-\x1F]/g)?.length ?? 0;
  return odd > head.length * MOST_ODD;
}

/** How a text is written. */
export type TextEncoding = "utf-8" | "utf-16le" | "utf-16be" | "windows-1252";

/** Above this share of bytes outside of ASCII a text in a one-byte encoding is not believed. */
const MOST_HIGH = 0.5;

/** The encoding of a text by its beginning; undefined when it is no text. What is no UTF-8 but has only characters of Latin-1 is that. */
export function textEncoding(bytes: Uint8Array): TextEncoding | undefined {
  const head = bytes.subarray(0, BINARY_HEAD_BYTES);
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
  const text = new TextDecoder().decode(head, { stream: true });
  const wrong = text.match(/\uFFFD/g)?.length ?? 0;
  const others = text.match(/[\u0080-\uFFFC]/g)?.length ?? 0;
  // A text in UTF-8 with a damaged character here and there stays one.
  if (wrong > others && isLatin(head)) return "windows-1252";
  return looksBinary(head) ? undefined : "utf-8";
}

function isLatin(head: Uint8Array): boolean {
  const text = Buffer.from(head).toString("latin1");
  // eslint-disable-next-line no-control-regex -- what no text has, and what windows-1252 leaves free
  if (/[\0-\x08\x0E-\x1A\x1C-\x1F\x7F\x81\x8D\x8F\x90\x9D]/.test(text)) return false;
  return (text.match(/[\x80-\xFF]/g)?.length ?? 0) <= head.length * MOST_HIGH;
}
