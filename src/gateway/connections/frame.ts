import { isUtf8 } from "node:buffer";
import { LIMITS } from "../../protocol/index.ts";

const SHORT = 126;
const LONG = 65_536;

/** A whole WebSocket text frame as a server sends it: unmasked, final. Built once, it can be written to any number of sockets. */
export function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const head = length < SHORT ? 2 : length < LONG ? 4 : 10;
  const frame = Buffer.allocUnsafe(head + length);
  frame[0] = 0x81;
  if (head === 2) frame[1] = length;
  else if (head === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeUInt32BE(0, 2);
    frame.writeUInt32BE(length, 6);
  }
  frame.write(text, head, "utf8");
  return frame;
}

/** Cut to `max` bytes of UTF-8 without splitting a character: what fits into the reason of a close frame. */
export function clipBytes(text: string, max: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= max) return text;
  let end = max;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end);
}

/** A whole close frame as a server sends it. A reason that is too long is cut. */
export function closeFrame(code: number, reason: string): Buffer {
  const text = Buffer.from(clipBytes(reason, LIMITS.closeReasonBytes));
  const frame = Buffer.allocUnsafe(4 + text.length);
  frame[0] = 0x88;
  frame[1] = 2 + text.length;
  frame.writeUInt16BE(code, 2);
  text.copy(frame, 4);
  return frame;
}

const FINAL_TEXT = 0x81;
const MASKED = 0x80;
const MASK_BYTES = 4;

/** Bits and opcodes that mean nothing, a continuation of nothing, or a frame that is not masked: no client sends that. */
function isBroken(first: number, second: number): boolean {
  const opcode = first & 0x0f;
  return (first & 0x70) !== 0 || opcode === 0 || (opcode > 2 && opcode < 8) || opcode > 10 || (second & MASKED) === 0;
}

/** The text of the first frame, when the first bytes of a client hold all of it. Undefined: it takes a reader of frames to say what this is. */
export function readFirstChunk(chunk: Buffer): { readonly text: string } | "broken" | undefined {
  if (chunk.length < 2) return undefined;
  if (isBroken(chunk[0]!, chunk[1]!)) return "broken";
  const short = chunk[1]! & 0x7f;
  const at = short === SHORT ? 4 : 2;
  if (chunk[0] !== FINAL_TEXT || short > SHORT || chunk.length < at + MASK_BYTES) return undefined;
  const start = at + MASK_BYTES;
  const length = short === SHORT ? chunk.readUInt16BE(2) : short;
  if (chunk.length < start + length) return undefined;
  const text = Buffer.allocUnsafe(length);
  for (let i = 0; i < length; i += 1) text[i] = chunk[start + i]! ^ chunk[at + (i & 3)]!;
  return isUtf8(text) ? { text: text.toString("utf8") } : undefined;
}
