import type { StatementSync } from "node:sqlite";
import type * as Zlib from "node:zlib";
import { AppError } from "../../base/errors.ts";
import { firstRow } from "../rows.ts";

/**
 * Lines of transcripts that were not used for a long time are stored compressed: several of them as one gzip member in `transcript_packs`, with an
 * empty
 * text in place of each line. Ids, parents and types stay where they are, so that only reading a line differs. Members can be concatenated: the
 * compressed file of a transcript consists of the same bytes.
 */
export const PACKED_LINE = "";

/** Loaded when the first compressed line is read: most stores have none. */
const zlib = (): typeof Zlib => process.getBuiltinModule("node:zlib");

/** One gzip member with these bytes. */
export function compress(bytes: Buffer): Buffer {
  return zlib().gzipSync(bytes);
}

/** Decompresses all members of a file or pack. Throws when they are damaged, or larger than `most` bytes. */
export function uncompress(data: Uint8Array, most: number): Buffer {
  return zlib().gunzipSync(data, { maxOutputLength: most });
}

/** A pack is far smaller; a damaged one must not take all memory. */
const MOST_PACK_BYTES = 64 * 1024 * 1024;

export const packLines = (lines: readonly string[]): Buffer => compress(Buffer.from(`${lines.join("\n")}\n`));

/** The lines of one pack, without their ends. */
export function unpackLines(data: Uint8Array): string[] {
  return uncompress(data, MOST_PACK_BYTES).toString("utf8").split("\n").slice(0, -1);
}

/** Reads lines that may be compressed. */
export interface LineReader {
  /** The line at a position, given the text in its row. */
  read(tid: number, seq: number, stored: unknown): string;
}

/** A row of `transcript_packs`: the lines `first` to `last`. */
export interface Pack {
  readonly first: number;
  readonly last: number;
  readonly data: Uint8Array;
}

const PACK = "SELECT first, last, data FROM transcript_packs WHERE tid = ? AND first <= ? ORDER BY first DESC LIMIT 1";

/** Replaces one compressed line. */
export function replacePacked(sql: (text: string) => StatementSync, tid: number, seq: number, line: string): void {
  const row = firstRow<Pack>(sql(PACK), tid, seq);
  if (!row || row.last < seq)
    throw new AppError("STORE_FAILED", `line ${seq} of transcript ${tid} is compressed, and its compressed block is missing; run openclaw doctor`);
  const lines = unpackLines(row.data).with(seq - row.first, line);
  sql("UPDATE transcript_packs SET data = ? WHERE tid = ? AND first = ?").run(packLines(lines), tid, row.first);
}

/** Caches the pack that was read last: neighbours are read together. Create one per request, so that nothing outdated is cached. */
export function createLineReader(sql: (text: string) => StatementSync): LineReader {
  let held: { readonly tid: number; readonly first: number; readonly lines: readonly string[] } | undefined;

  function packed(tid: number, seq: number): string | undefined {
    const known = held?.tid === tid ? held.lines[seq - held.first] : undefined;
    if (known !== undefined) return known;
    const row = firstRow<Pack>(sql(PACK), tid, seq);
    if (!row || row.last < seq) return undefined;
    held = { tid, first: row.first, lines: unpackLines(row.data) };
    return held.lines[seq - held.first];
  }

  return {
    read(tid, seq, stored) {
      if (stored !== PACKED_LINE) return String(stored);
      const line = packed(tid, seq);
      if (line !== undefined) return line;
      throw new AppError("STORE_FAILED", `line ${seq} of transcript ${tid} is compressed, and its compressed block is missing; run openclaw doctor`);
    },
  };
}
