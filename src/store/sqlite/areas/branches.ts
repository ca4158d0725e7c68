import type { EntryRow, SiblingRow, TranscriptsReads } from "../../areas/transcripts.ts";
import { createLineReader } from "../../projection/index.ts";
import { allRows, firstRow } from "../../rows.ts";
import { createTree, type Fork, type TranscriptTree } from "../../transcript-tree.ts";
import type { ReadContext, ReadHandlers } from "../handlers.ts";

interface Transcript {
  readonly tid: number;
  readonly lines: number;
  readonly leaf: string | null;
  readonly createdAt: number;
}

const COLUMNS = "tid, next_seq AS lines, leaf_id AS leaf, created_at AS createdAt";
const TRANSCRIPT = `SELECT ${COLUMNS} FROM transcripts WHERE file = ?`;
const POSITION = "SELECT max(seq) AS seq FROM transcript_entries INDEXED BY transcript_entries_id WHERE tid = ? AND entry_id = ?";
const ENTRY = "SELECT seq, entry_id AS id, parent_id AS parentId, type, line FROM transcript_entries WHERE tid = ? AND seq = ?";

/** The parent of a line stands above it; of an id that is there twice, the nearest. */
const parentSeq = (entries: string): string => `SELECT e.seq, (SELECT max(p.seq) FROM transcript_entries p INDEXED BY transcript_entries_id
  WHERE p.tid = e.tid AND p.entry_id = e.parent_id AND p.seq < e.seq) AS parent FROM ${entries}`;
const FORKS = parentSeq("transcript_forks f JOIN transcript_entries e ON e.tid = f.tid AND e.seq = f.seq WHERE f.tid = ?");
const SCANNED = parentSeq(`transcript_entries e WHERE e.tid = ? AND e.seq > 1 AND e.seq >= ? AND e.entry_id IS NOT NULL
  AND e.parent_id IS NOT (SELECT entry_id FROM transcript_entries b WHERE b.tid = e.tid AND b.seq = e.seq - 1)`);
/** Transcripts up to this number were there before forks were recorded: they are looked through once, and then only what they grew by. */
const UNFORKED = "SELECT 1 FROM meta WHERE key = 'transcripts.unforked' AND CAST(value AS INTEGER) >= ?";

/** What is shown as a message or in the place of some; everything else is bookkeeping between them. */
const SHOWN: ReadonlySet<string> = new Set(["message", "compaction", "branch_summary", "custom_message"]);

const MOST_TREES = 64;

function treeOf({ sql, trees }: ReadContext, { tid, lines, createdAt }: Transcript): TranscriptTree {
  const former = trees?.get(tid);
  const known = former && former.createdAt === createdAt && former.lines <= lines ? former : undefined;
  if (known?.lines === lines) return known.tree;
  const isOld = sql(UNFORKED).get(tid) !== undefined;
  const forks = isOld ? [...(known?.tree.forks ?? []), ...allRows<Fork>(sql(SCANNED), tid, known?.lines ?? 0)] : allRows<Fork>(sql(FORKS), tid);
  const tree = createTree(forks, lines);
  if (trees && trees.size >= MOST_TREES) trees.clear();
  trees?.set(tid, { lines, createdAt, tree });
  return tree;
}

function entryAt({ sql }: ReadContext, tid: number, seq: number): EntryRow | undefined {
  const row = firstRow<EntryRow>(sql(ENTRY), tid, seq);
  return row && { ...row, line: createLineReader(sql).read(tid, seq, row.line) };
}

function roleOf({ type, line }: EntryRow): string | undefined {
  if (type !== "message") return undefined;
  try {
    const { message }: { readonly message?: { readonly role?: unknown } | null } = JSON.parse(line);
    return typeof message?.role === "string" ? message.role : undefined;
  } catch {
    return undefined;
  }
}

/** The nearest shown entries below a position, or below the beginning. */
function following(context: ReadContext, { tid }: Transcript, tree: TranscriptTree, from: number | null): readonly SiblingRow[] {
  const found: SiblingRow[] = [];
  const lines = createLineReader(context.sql);
  const entry = context.sql(ENTRY);
  const left = [...(from === null ? tree.roots : tree.childrenOf(from))];
  for (let seq = left.pop(); seq !== undefined; seq = left.pop()) {
    const row = firstRow<EntryRow>(entry, tid, seq);
    if (!row || row.id === null || !SHOWN.has(row.type)) left.push(...tree.childrenOf(seq));
    else found.push({ seq, id: row.id, role: roleOf({ ...row, line: lines.read(tid, seq, row.line) }) });
  }
  return found.sort((a, b) => a.seq - b.seq);
}

/** The nearest shown entry at a position or above it; null when there is none. */
function nearestShown({ sql }: ReadContext, { tid }: Transcript, tree: TranscriptTree, from: number | null): number | null {
  const typeOf = sql("SELECT type FROM transcript_entries WHERE tid = ? AND seq = ?");
  let at = from;
  while (at !== null && !SHOWN.has(String(typeOf.get(tid, at)?.["type"]))) at = tree.parentOf(at);
  return at;
}

const positionOf = ({ sql }: ReadContext, tid: number, id: string): number | undefined =>
  firstRow<{ seq: number | null }>(sql(POSITION), tid, id)?.seq ?? undefined;

/** Positions of the first entries of the branch in use. Undefined where nothing branches: they are the first lines of the file. */
export function firstOnBranch(context: ReadContext, tid: number, most: number): readonly number[] | undefined {
  if (!context.sql("SELECT 1 FROM transcript_forks WHERE tid = ? LIMIT 1").get(tid)) return undefined;
  const transcript = firstRow<Transcript>(context.sql(`SELECT ${COLUMNS} FROM transcripts WHERE tid = ?`), tid);
  const leaf = transcript?.leaf ? positionOf(context, tid, transcript.leaf) : undefined;
  if (!transcript || leaf === undefined) return undefined;
  const tree = treeOf(context, transcript);
  const isUsed = (seq: number): boolean => tree.isOnPath(seq, leaf);
  const found: number[] = [];
  for (let seq = tree.roots.find(isUsed); seq !== undefined && found.length < most; seq = tree.childrenOf(seq).find(isUsed)) found.push(seq);
  return found;
}

/** Where a transcript branches, and which branch is in use. */
export const branchReads = {
  "transcripts.siblings"(context, { file, seqs }) {
    const transcript = firstRow<Transcript>(context.sql(TRANSCRIPT), file);
    if (!transcript) return [];
    const tree = treeOf(context, transcript);
    /** Only where something branches, on one of its ways, can there be several. */
    const parents = new Set(tree.forks.map(({ parent }) => parent));
    const forked = new Set([...parents].map((parent) => nearestShown(context, transcript, tree, parent)));
    if (forked.size === 0) return [];
    /** By the entry above: all versions of a message are asked for at once. */
    const known = new Map<number | null, readonly SiblingRow[]>();
    return seqs.flatMap((seq) => {
      const above = nearestShown(context, transcript, tree, tree.parentOf(seq));
      const siblings = forked.has(above) ? (known.get(above) ?? following(context, transcript, tree, above)) : [];
      known.set(above, siblings);
      return siblings.length > 1 ? [{ seq, siblings }] : [];
    });
  },
  "transcripts.following"(context, { file, id }) {
    const transcript = firstRow<Transcript>(context.sql(TRANSCRIPT), file);
    const from = !transcript || id === null ? null : positionOf(context, transcript.tid, id);
    return !transcript || from === undefined ? [] : following(context, transcript, treeOf(context, transcript), from);
  },
  "transcripts.newestBelow"(context, { file, id }) {
    const transcript = firstRow<Transcript>(context.sql(TRANSCRIPT), file);
    const from = transcript && positionOf(context, transcript.tid, id);
    if (!transcript || from === undefined) return undefined;
    const newest = treeOf(context, transcript).newestBelow(from);
    for (let seq = newest; seq >= from; seq -= 1) {
      const row = entryAt(context, transcript.tid, seq);
      if (row?.id) return row;
    }
    return undefined;
  },
  "transcripts.onBranch"(context, { file, seqs }) {
    const transcript = firstRow<Transcript>(context.sql(TRANSCRIPT), file);
    const leaf = transcript?.leaf ? positionOf(context, transcript.tid, transcript.leaf) : undefined;
    // A file of the first format has no branches.
    if (!transcript || leaf === undefined) return seqs.map(() => transcript !== undefined);
    const tree = treeOf(context, transcript);
    return seqs.map((seq) => tree.isOnPath(seq, leaf));
  },
} satisfies Partial<ReadHandlers<TranscriptsReads>>;
