/** What a database's write-ahead log holds: which pages were written, in how many transactions. */
import { openSync, readSync, closeSync, fstatSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

const HEADER = 32;
const FRAME_HEADER = 24;

export interface WalFacts {
  /** Bytes of all frames. */
  readonly bytes: number;
  readonly frames: number;
  readonly transactions: number;
  /** Page number and how often it was written. */
  readonly pages: ReadonlyMap<number, number>;
}

/** Reads the frames of the log's present generation. */
export function readWal(file: string): WalFacts {
  const fd = openSync(file, "r");
  try {
    const head = Buffer.alloc(HEADER);
    readSync(fd, head, 0, HEADER, 0);
    const step = FRAME_HEADER + head.readUInt32BE(8);
    const salt = head.subarray(16, 24);
    const pages = new Map<number, number>();
    let frames = 0;
    let transactions = 0;
    const frame = Buffer.alloc(FRAME_HEADER);
    for (let at = HEADER; at + step <= fstatSync(fd).size; at += step) {
      readSync(fd, frame, 0, FRAME_HEADER, at);
      if (!frame.subarray(8, 16).equals(salt)) break;
      const page = frame.readUInt32BE(0);
      pages.set(page, (pages.get(page) ?? 0) + 1);
      frames += 1;
      if (frame.readUInt32BE(4) !== 0) transactions += 1;
    }
    return { bytes: frames * step, frames, transactions, pages };
  } finally {
    closeSync(fd);
  }
}

/** While this is open the log is not written over from its beginning: every page that is written stays in it. */
export function holdWal(database: string): Disposable {
  const db = new DatabaseSync(database, { readOnly: true });
  db.exec("BEGIN");
  db.prepare("SELECT count(*) FROM sqlite_schema").get();
  return { [Symbol.dispose]: () => db.close() };
}

/** Frames by table or index, the most written first. */
export function framesByTree(database: string, { pages }: WalFacts): readonly (readonly [name: string, frames: number])[] {
  const db = new DatabaseSync(database, { readOnly: true });
  try {
    const owners = new Map(
      (db.prepare("SELECT name, pageno FROM dbstat").all() as { name: string; pageno: number }[]).map(({ name, pageno }) => [pageno, name]),
    );
    const frames = new Map<string, number>();
    for (const [page, count] of pages) {
      const name = owners.get(page) ?? "(none)";
      frames.set(name, (frames.get(name) ?? 0) + count);
    }
    return [...frames].toSorted(([, a], [, b]) => b - a);
  } finally {
    db.close();
  }
}
