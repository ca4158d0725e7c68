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
