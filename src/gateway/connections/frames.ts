import { isRecord } from "../../base/records.ts";

/** Deeper than any documented parameter, shallow enough for every recursive walk. */
const MAX_DEPTH = 128;
/** Values in one frame. More take hundreds of megabytes once they are parsed. */
const MAX_VALUES = 2_000_000;
/** Texts shorter than this cannot be nested too deeply. */
const SHALLOW = MAX_DEPTH * 2;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** How far the id of a frame that is not parsed is looked for. */
const ID_WITHIN = 65_536;

export type Message =
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "not-json" }
  /** `id` is the one of the request, when it can be read. */
  | { readonly kind: "hostile"; readonly issue: string; readonly id: string | undefined };

/** Position after the string that opens at `start`. */
function afterString(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
}

/** What is wrong with the shape of a text, looked at before it is parsed. */
function hostileShape(text: string): string | undefined {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = afterString(text, at) - 1;
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      values += 1;
      if (depth > MAX_DEPTH) return `nested deeper than ${MAX_DEPTH} levels`;
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
    else if (code === 0x2c) values += 1;
    if (values > MAX_VALUES) return `more than ${MAX_VALUES} values`;
  }
  return undefined;
}

/** The id of a request whose text is not parsed: a text under the key `id` of the outermost object, near its start. */
function outermostId(text: string): string | undefined {
  const end = Math.min(text.length, ID_WITHIN);
  let depth = 0;
  for (let at = 0; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) depth -= 1;
    if (code !== QUOTE) continue;
    const after = afterString(text, at);
    const value = depth === 1 && text.slice(at, after) === '"id"' ? /^\s*:\s*(?=")/.exec(text.slice(after, after + SHALLOW)) : null;
    if (value) {
      const start = after + value[0].length;
      return readString(text.slice(start, Math.min(afterString(text, start), ID_WITHIN)));
    }
    at = after - 1;
  }
  return undefined;
}

function readString(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The id of a request that was parsed, if it has one. */
export function idOf(value: unknown): string | undefined {
  const id = isRecord(value) ? value["id"] : undefined;
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** A key that would reach a prototype when an object is copied carelessly, however it is spelled. A search: a reviver takes seconds for a large text. */
const PROTOTYPE_KEY = /"(?:_|\\u005[fF]){2}(?:p|\\u0070)(?:r|\\u0072)(?:o|\\u006[fF])(?:t|\\u0074)(?:o|\\u006[fF])(?:_|\\u005[fF]){2}"\s*:/;

/** Reads one text frame. What would exhaust the stack or poison a prototype is named instead of parsed into a value that travels on. */
export function parseMessage(text: string): Message {
  const shape = text.length < SHALLOW ? undefined : hostileShape(text);
  if (shape !== undefined) return { kind: "hostile", issue: shape, id: outermostId(text) || undefined };
  try {
    const value: unknown = JSON.parse(text);
    return PROTOTYPE_KEY.test(text) ? { kind: "hostile", issue: "unexpected property '__proto__'", id: idOf(value) } : { kind: "json", value };
  } catch {
    return { kind: "not-json" };
  }
}

/** Lengths that fit into the first byte, and into two more. */
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
  while (end > 0 && (bytes.readUInt8(end) & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end);
}
