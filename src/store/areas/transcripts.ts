/** One line to append. The store preserves `line` byte for byte; the other fields are for queries. */
export interface EntryInput {
  readonly id?: string | undefined;
  readonly parentId?: string | null | undefined;
  readonly type: string;
  /** Milliseconds since the epoch. */
  readonly at?: number | undefined;
  /** JSON on one line, without the line end. */
  readonly line: string;
}

export interface EntryRow {
  /** Position in the file; 0 is the header. */
  readonly seq: number;
  readonly id: string | null;
  readonly parentId: string | null;
  readonly type: string;
  readonly line: string;
}

/** A transcript is identified by its file, relative to the state folder, with `/`. */
export interface TranscriptRow {
  readonly file: string;
  readonly agentId: string;
  readonly sessionId: string;
  /** Number of lines, header included. */
  readonly lines: number;
  /** Size of the file. */
  readonly bytes: number;
  /** Parent of the next entry; null in an empty transcript. */
  readonly leafId: string | null;
  readonly createdAt: number;
  readonly archivedAt: number | null;
  /** Position of the newest line that began a branch; 0 while there is one branch. A change of it means that another branch may be in use. */
  readonly fork: number;
}

/** An entry that stands in the place of another: both follow the same message. */
export interface SiblingRow {
  readonly seq: number;
  readonly id: string;
  /** Of its message; undefined for a summary. */
  readonly role?: string | undefined;
}

/** A transcript and the conversation that it is or was a part of. */
export interface ConversationRow {
  /** Its internal number: later ones have higher numbers. */
  readonly n: number;
  readonly file: string;
  readonly sessionId: string;
  /** Number of lines, header included. */
  readonly lines: number;
  readonly archivedAt: number | null;
  /** Null when unknown: the session left this transcript before that was recorded. */
  readonly sessionKey: string | null;
}

export interface Appended {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly bytes: number;
}

export interface TranscriptsWrites {
  /** Creates a transcript with its header line, unless it exists. `CONFLICT` when the file belongs to another session. */
  "transcripts.ensure": {
    input: { readonly file: string; readonly agentId: string; readonly sessionId: string; readonly header: string };
    result: { readonly created: boolean; readonly transcript: TranscriptRow };
  };
  /** Adds lines in order. The last one with an id becomes the leaf. With `expectLeaf`, `CONFLICT` when another writer appended in between. */
  "transcripts.append": {
    input: { readonly file: string; readonly entries: readonly EntryInput[]; readonly expectLeaf?: string | null | undefined };
    result: Appended;
  };
  /** Changes nothing. `CONFLICT` when the transcript does not match, which refuses the whole commit. */
  "transcripts.expect": { input: Pick<TranscriptRow, "file" | "sessionId" | "lines" | "bytes" | "leafId" | "createdAt">; result: void };
  /** Goes back to an earlier entry: the next one branches off there. Null starts at the root. */
  "transcripts.branch": { input: { readonly file: string; readonly leafId: string | null }; result: void };
  /** Archives a transcript: it and its file are renamed to `<file>.<reason>.<time>`, and the old name is free. Returns the new name. */
  "transcripts.archive": { input: { readonly file: string; readonly reason: "reset" | "deleted" }; result: { readonly file: string } };
  /** Undoes `transcripts.archive`: the transcript and its file get their name back. `CONFLICT` when another one has it. */
  "transcripts.restore": { input: { readonly file: string }; result: { readonly file: string } };
  /**
   * Overwrites the line at a position, in the database and in its file: its text is to be gone. `id` is the entry's, `CONFLICT` when another one stands
   * there. Follow it with `store.checkpoint({ truncate: true })` to remove the old line from the log, too.
   */
  "transcripts.redact": { input: { readonly file: string; readonly seq: number; readonly id: string | null; readonly line: string }; result: void };
  /** Removes a transcript from the database, with its file. For long ones: archive now, and let `maintain` remove them. */
  "transcripts.remove": { input: { readonly file: string }; result: { readonly removed: number } };
}

export interface TranscriptsReads {
  "transcripts.get": { input: { readonly file: string }; result: TranscriptRow | undefined };
  "transcripts.ofSession": { input: { readonly agentId: string; readonly sessionId: string }; result: readonly TranscriptRow[] };
  /** Number of messages in the session's newest transcript, archived or not, including unused branches. */
  "transcripts.messages": { input: { readonly agentId: string; readonly sessionId: string }; result: number };
  /** Lines after, or before, a position, in file order. Without either, from the start. It ends with the line that fills `bytes`. */
  "transcripts.page": {
    input: {
      readonly file: string;
      readonly after?: number | undefined;
      readonly before?: number | undefined;
      readonly limit: number;
      readonly bytes?: number | undefined;
    };
    result: readonly EntryRow[];
  };
  /** The last lines in file order, without the header. */
  "transcripts.tail": { input: { readonly file: string; readonly limit: number }; result: readonly EntryRow[] };
  "transcripts.entry": { input: { readonly file: string; readonly id: string }; result: EntryRow | undefined };
  /**
   * The path from an entry (default: the leaf) up to the root, in file order. It ends at `until`, inclusive; `limit` keeps the part nearest to the
   * start entry, and so does `bytes`: the entry that fills it is the last one.
   */
  "transcripts.path": {
    input: {
      readonly file: string;
      readonly from?: string | undefined;
      readonly until?: string | undefined;
      readonly limit?: number | undefined;
      readonly bytes?: number | undefined;
    };
    result: readonly EntryRow[];
  };
  /**
   * Positions after `after` on the branch in use, oldest first, without lines. Walks from the leaf, which may take long: it runs on the thread for
   * heavy reads.
   */
  "transcripts.positions": { input: { readonly file: string; readonly after: number; readonly limit: number }; result: readonly number[] };
  /**
   * For each of these positions at which there are several: the entries that follow the same message, itself included, in file order. Bookkeeping between
   * messages does not count.
   */
  "transcripts.siblings": {
    input: { readonly file: string; readonly seqs: readonly number[] };
    result: readonly { readonly seq: number; readonly siblings: readonly SiblingRow[] }[];
  };
  /** The messages that directly follow an entry (null: the beginning), on all branches, in file order. */
  "transcripts.following": { input: { readonly file: string; readonly id: string | null }; result: readonly SiblingRow[] };
  /** The newest entry on the branches that begin with an entry. Undefined when that entry is not there. */
  "transcripts.newestBelow": { input: { readonly file: string; readonly id: string }; result: EntryRow | undefined };
  /** Which of these positions are on the branch in use. */
  "transcripts.onBranch": { input: { readonly file: string; readonly seqs: readonly number[] }; result: readonly boolean[] };
  /** Transcripts whose files may lack their last lines. Most of them lack none: compare their sizes. */
  "transcripts.unwritten": { input: { readonly limit: number }; result: readonly TranscriptRow[] };
  /** All transcripts of an agent after an internal number, in their order; or the one with a file. */
  "transcripts.conversations": {
    input: { readonly agentId: string; readonly after: number; readonly limit: number } | { readonly file: string };
    result: readonly ConversationRow[];
  };
  "transcripts.list": {
    input: {
      readonly agentId?: string | undefined;
      readonly archived?: boolean | undefined;
      readonly limit?: number | undefined;
      readonly offset?: number | undefined;
    };
    result: readonly TranscriptRow[];
  };
}
