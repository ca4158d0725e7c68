import type { DatabaseSync } from "node:sqlite";
import { parseTranscriptLine } from "../../protocol/index.ts";
import { isBlank, readLines, readTranscriptLine } from "./lines.ts";
import { appendLines, expectedLine, transaction, type TranscriptRow } from "./rows.ts";
import { firstRow, need } from "../rows.ts";

/** Where a file stops matching the database: the line at `offset` is not the one with the number `seq`. */
export interface Divergence {
  readonly offset: number;
  readonly seq: number;
}

export interface Merged {
  readonly added: number;
  /** Entries that were added but are not part of the conversation. */
  readonly apart: number;
}

interface Source extends Divergence {
  readonly db: DatabaseSync;
  readonly transcript: TranscriptRow;
  readonly fd: number;
}

interface ForeignEntry {
  readonly id: string;
  readonly parent: string | null;
  readonly text: string;
}

/** True when the file's first line is a header of the same session: only then do its other lines belong here. */
function isSameSession({ transcript, fd }: Source): boolean {
  for (const line of readLines(fd)) {
    if (isBlank(line.bytes) && !line.tooLong) continue;
    const read = readTranscriptLine(line.bytes);
    return read?.parsed.kind === "header" && read.parsed.header.id === transcript.sessionId;
  }
  return false;
}

/** A line that was torn when its writer was killed, and to which another program added its own: the bytes of the latter. */
function afterTornLine({ db, transcript, seq }: Source, line: Buffer): Buffer {
  const ours = expectedLine(db, transcript.tid, seq) ?? Buffer.alloc(0);
  let shared = 0;
  while (shared < line.length && line[shared] === ours[shared]) shared += 1;
  return line.subarray(Math.max(0, line.lastIndexOf('{"type":', shared)));
}

/** Entries with an id, from the divergence on. */
function* entriesOf(source: Source): Generator<ForeignEntry> {
  for (const { offset, bytes, tooLong } of readLines(source.fd, source.offset)) {
    if (tooLong) continue;
    const read = readTranscriptLine(bytes) ?? (offset === source.offset ? readTranscriptLine(afterTornLine(source, bytes)) : undefined);
    if (read?.parsed.kind !== "entry") continue;
    const { id, parentId } = read.parsed.entry;
    if (typeof id === "string") yield { id, parent: typeof parentId === "string" ? parentId : null, text: read.text };
  }
}

/** The last entry before the line `seq`; null when there is none. */
function entryBefore({ db, transcript }: Source, seq: number): string | null {
  const text = "SELECT entry_id AS id FROM transcript_entries WHERE tid = ? AND seq < ? AND entry_id IS NOT NULL ORDER BY seq DESC LIMIT 1";
  return firstRow<{ id: string }>(db.prepare(text), transcript.tid, seq)?.id ?? null;
}

/** Where the entries that only the file has begin. */
interface Branch {
  readonly size: number;
  /** The entry of ours that the other program continued. */
  readonly root: string | null;
  /** It was the last one in the file. */
  readonly isFromEnd: boolean;
}

function findBranch(source: Source, knows: (id: string) => boolean): Branch {
  const parents = new Map<string, string | null>();
  let seen = entryBefore(source, source.seq);
  let root: string | null = null;
  for (const { id, parent } of entriesOf(source)) {
    if (!knows(id)) parents.set((root = id), parent);
    else if (parents.size === 0) seen = id;
  }
  // Each parent is visited once: ids may form a circle.
  const left = new Map(parents);
  while (root !== null && left.has(root)) {
    const parent: string | null = left.get(root) ?? null;
    left.delete(root);
    root = parent;
  }
  // The line at the divergence may lack nothing but its end.
  return { size: parents.size, root, isFromEnd: root === seen || root === entryBefore(source, source.seq + 1) };
}

function withParent(text: string, parentId: string): string {
  const entry: object = JSON.parse(text);
  return JSON.stringify({ ...entry, parentId });
}

/**
 * Imports the entries that only the file has. Another program mostly continued a file that lacked our last lines, since this process was killed
 * before it wrote them: what it added is put after them, and the conversation continues there. When it continued from some other entry, its entries
 * stay a branch.
 */
export function mergeEntries(source: Source): Merged {
  const { db, transcript } = source;
  if (!isSameSession(source)) return { added: 0, apart: 0 };
  return transaction(db, () => {
    const lines = appendLines(db, transcript);
    const branch = findBranch(source, lines.knows);
    const leaf = transcript.leafId ?? null;
    const isLast = branch.root === leaf;
    const isJoined = branch.size > 0 && (isLast || branch.isFromEnd);
    const moved = isJoined && !isLast ? leaf : null;
    for (const { id, parent, text } of entriesOf(source)) {
      if (lines.knows(id)) continue;
      const line = moved !== null && parent === branch.root ? withParent(text, moved) : text;
      lines.add(line, need(parseTranscriptLine(line)));
    }
    lines.finish(isJoined);
    return { added: lines.added, apart: isJoined ? 0 : lines.added };
  });
}
