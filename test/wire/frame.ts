/** RFC 6455 frames by hand, so that the broken ones can be made too. */

export const OPCODE = { continuation: 0x0, text: 0x1, binary: 0x2, close: 0x8, ping: 0x9, pong: 0xa } as const;

export interface FrameOptions {
  readonly fin?: boolean;
  /** The three reserved bits, 0 to 7. */
  readonly rsv?: number;
  /** False leaves the mask out, which clients may not. */
  readonly mask?: boolean;
  /** The length that is announced, when it is not the payload's. */
  readonly length?: number | bigint;
  /** Bytes the length is written in, when not the shortest form: 1, 3 or 9. */
  readonly lengthBytes?: 1 | 3 | 9;
}

const KEY = Buffer.from([0x37, 0xfa, 0x21, 0x3d]);

function lengthField(length: bigint, masked: boolean, bytes: 1 | 3 | 9): Buffer {
  const bit = masked ? 0x80 : 0;
  if (bytes === 1) return Buffer.from([bit | Number(length)]);
  const field = Buffer.alloc(bytes);
  field[0] = bit | (bytes === 3 ? 126 : 127);
  if (bytes === 3) field.writeUInt16BE(Number(length), 1);
  else field.writeBigUInt64BE(length, 1);
  return field;
}

/** One frame as a client sends it. */
export function clientFrame(opcode: number, payload: Buffer | string = "", options: FrameOptions = {}): Buffer {
  const { fin = true, rsv = 0, mask = true } = options;
  const bytes = typeof payload === "string" ? Buffer.from(payload) : payload;
  const length = BigInt(options.length ?? bytes.length);
  const head = Buffer.from([(fin ? 0x80 : 0) | (rsv << 4) | opcode]);
  const field = lengthField(length, mask, options.lengthBytes ?? (length < 126n ? 1 : length < 65_536n ? 3 : 9));
  if (!mask) return Buffer.concat([head, field, bytes]);
  const hidden = Buffer.allocUnsafe(bytes.length);
  for (let at = 0; at < bytes.length; at += 1) hidden[at] = bytes[at]! ^ KEY[at & 3]!;
  return Buffer.concat([head, field, KEY, hidden]);
}

/** The payload of a close frame. */
export function closePayload(code: number, reason: Buffer | string = ""): Buffer {
  const head = Buffer.alloc(2);
  head.writeUInt16BE(code);
  return Buffer.concat([head, typeof reason === "string" ? Buffer.from(reason) : reason]);
}

export interface ServerFrame {
  readonly fin: boolean;
  readonly rsv: number;
  readonly opcode: number;
  readonly masked: boolean;
  readonly payload: Buffer;
}

/** Takes whole frames off the front of what came. */
export function createFrameReader(onFrame: (frame: ServerFrame) => void): (chunk: Buffer) => void {
  const chunks: Buffer[] = [];
  let held = 0;
  let needed = 2;

  function read(): void {
    const data = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    let at = 0;
    for (;;) {
      const left = data.length - at;
      const short = left < 2 ? 0 : data[at + 1]! & 0x7f;
      const head = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (left < head) {
        needed = head;
        break;
      }
      const length = short < 126 ? short : short === 126 ? data.readUInt16BE(at + 2) : Number(data.readBigUInt64BE(at + 2));
      needed = head + length;
      if (left < needed) break;
      const first = data[at]!;
      const payload = data.subarray(at + head, at + needed);
      onFrame({ fin: (first & 0x80) !== 0, rsv: (first >> 4) & 7, opcode: first & 15, masked: (data[at + 1]! & 0x80) !== 0, payload });
      at += needed;
    }
    chunks.length = 0;
    held = data.length - at;
    if (held > 0) chunks.push(data.subarray(at));
  }

  return (chunk) => {
    chunks.push(chunk);
    held += chunk.length;
    if (held >= needed) read();
  };
}
