import { createHash } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { Transform } from "node:stream";

/**
 * An archive ends with a seal: a second, empty gzip member whose comment is the SHA-256 of every byte before it. The checksum
 * of gzip covers only the content: its header, and the unused bits after the last compressed block, could change unnoticed.
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

/** A damaged seal, or one with data after it, is searched for in this many bytes. */
const NEAR_END = 4096;

/** How many of the bytes that are the same in every seal match at this position. */
function likeness(bytes: Buffer, at: number): number {
  const fixed = sealOf("0".repeat(HEX_LENGTH));
  const isDigest = (index: number): boolean => index >= HEAD.length + 7 && index < HEAD.length + 7 + HEX_LENGTH;
  return fixed.reduce((sum, byte, index) => sum + (!isDigest(index) && bytes[at + index] === byte ? 1 : 0), 0);
}

/** Whether a file ends with a valid seal, a wrong one, or has none because another program packed it. */
export async function sealState(path: string): Promise<"whole" | "broken" | "none"> {
  const end = statSync(path).size - SEAL_LENGTH;
  if (end < 0) return "none";
  const hash = createHash("sha256");
  let tail = Buffer.alloc(0);
  let at = 0;
  const pieces: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: 256 * 1024 });
  for await (const piece of pieces) {
    hash.update(piece.subarray(0, Math.min(Math.max(end - at, 0), piece.length)));
    tail = Buffer.concat([tail, piece]).subarray(-NEAR_END);
    at += piece.length;
  }
  if (tail.subarray(-SEAL_LENGTH).equals(sealOf(hash.digest("hex")))) return "whole";
  const positions = Array.from({ length: Math.max(0, tail.length - SEAL_LENGTH + 1) }, (_, index) => index);
  return positions.some((position) => likeness(tail, position) >= 20) ? "broken" : "none";
}
