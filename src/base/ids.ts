import type { Random } from "./random.ts";

/** Makes identifiers, all from one source of randomness. */
export interface Ids {
  /** A version 4 UUID: sessions, runs, devices. */
  uuid(): string;
  /** Lower-case hexadecimal of `bytes` random bytes; transcript entries use 4. */
  hex(bytes: number): string;
}

/** Bytes drawn at a time: each draw is a system call, and a turn makes a handful of ids. */
const POOL_BYTES = 512;

function drawFrom(random: Random): (size: number) => Buffer {
  let pool: Buffer = Buffer.alloc(0);
  return (size) => {
    if (size > POOL_BYTES) return random.bytes(size);
    if (size > pool.length) pool = random.bytes(POOL_BYTES);
    const drawn = pool.subarray(0, size);
    pool = pool.subarray(size);
    return drawn;
  };
}

export function createIds(random: Random): Ids {
  const draw = drawFrom(random);
  return {
    uuid() {
      const bytes = draw(16);
      bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
      bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
      const hex = bytes.toString("hex");
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
    },
    hex: (bytes) => draw(bytes).toString("hex"),
  };
}
