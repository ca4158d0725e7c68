import { createHash } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { Transform } from "node:stream";

/**
 * An archive ends with a seal: a second gzip member that unpacks to nothing and whose comment is the SHA-256 of every byte in front of it. The checksum
 * of gzip covers the content alone: its header, and the unused bits behind the last compressed block, could change unnoticed.
 */
const HEAD = Buffer.from([0x1f, 0x8b, 8, 0x10, 0, 0, 0, 0, 0, 0xff]);
/** An empty block, its checksum, its length. */
const TAIL = Buffer.from([3, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
const HEX_LENGTH = 64;

function sealOf(sha256: string): Buffer {
  return Buffer.concat([HEAD, Buffer.from(`sha256:${sha256}\0`, "latin1"), TAIL]);
}

const SEAL_LENGTH = sealOf("0".repeat(HEX_LENGTH)).length;

/** Passes an archive through and adds its seal. */
export function sealing(): Transform {
  const hash = createHash("sha256");
  return new Transform({
    transform(piece: Buffer, _, done) {
      hash.update(piece);
      done(null, piece);
    },
    flush(done) {
      done(null, sealOf(hash.digest("hex")));
    },
  });
}

/** Whether a file ends with the seal of what it holds. */
export async function isSealed(path: string): Promise<boolean> {
  const end = statSync(path).size - SEAL_LENGTH;
  if (end < 0) return false;
  const hash = createHash("sha256");
  const seal: Buffer[] = [];
  let at = 0;
  for await (const piece of createReadStream(path, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
    const own = Math.min(Math.max(end - at, 0), piece.length);
    hash.update(piece.subarray(0, own));
    seal.push(piece.subarray(own));
    at += piece.length;
  }
  return Buffer.concat(seal).equals(sealOf(hash.digest("hex")));
}
