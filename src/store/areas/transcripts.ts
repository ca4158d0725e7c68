/** One line to append. The store keeps `line` to the byte; the other fields are what it can be asked by. */
export interface EntryInput {
  readonly id?: string | undefined;
  readonly parentId?: string | null | undefined;
  readonly type: string;
  /** Milliseconds since the epoch. */
  readonly at?: number | undefined;
  /** JSON on one line, without its end. */
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

/** A transcript is named by its file, relative to the state folder and with `/`. */
export interface TranscriptRow {
  readonly file: string;
  readonly agentId: string;
  readonly sessionId: string;
  /** Number of lines, header included. */
  readonly lines: number;
  /** What the file measures. */
  readonly bytes: number;
  /** Where the next entry is to be hung; null in an empty one. */
  readonly leafId: string | null;
  readonly createdAt: number;
  readonly archivedAt: number | null;
}

export interface Appended {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly bytes: number;
}

export interface TranscriptsWrites {
  /** Makes a transcript with its header line, unless it is there. `CONFLICT` when the file belongs to another session. */
  "transcripts.ensure": {
    input: { readonly file: string; readonly agentId: string; readonly sessionId: string; readonly header: string };
    result: { readonly created: boolean; readonly transcript: TranscriptRow };
  };
  /** Adds lines in order. The last one with an id becomes the leaf. With `expectLeaf`, `CONFLICT` when somebody appended in between. */
  "transcripts.append": {
    input: { readonly file: string; readonly entries: readonly EntryInput[]; readonly expectLeaf?: string | null | undefined };
    result: Appended;
  };
  /** Changes nothing. `CONFLICT` when the transcript is not, or no longer, as described: the commit is refused with it. */
  "transcripts.expect": { input: Pick<TranscriptRow, "file" | "sessionId" | "lines" | "bytes" | "leafId" | "createdAt">; result: void };
  /** Goes back to an earlier entry: the next one branches off there. Null starts at the root. */
  "transcripts.branch": { input: { readonly file: string; readonly leafId: string | null }; result: void };
  /** Ends a transcript: it and its file are renamed to `<file>.<reason>.<time>`, and the old name is free. Returns the new name. */
  "transcripts.archive": { input: { readonly file: string; readonly reason: "reset" | "deleted" }; result: { readonly file: string } };
  /** Takes a transcript out of the database, with its file. Long ones: archive now, and let `maintain` remove them. */
  "transcripts.remove": { input: { readonly file: string }; result: { readonly removed: number } };
}

export interface TranscriptsReads {
  "transcripts.get": { input: { readonly file: string }; result: TranscriptRow | undefined };
  "transcripts.ofSession": { input: { readonly agentId: string; readonly sessionId: string }; result: readonly TranscriptRow[] };
  /** How many messages the session's newest transcript holds, put away or not, dead branches included. */
  "transcripts.messages": { input: { readonly agentId: string; readonly sessionId: string }; result: number };
  /** Lines after, or before, a position, in file order. Without either from the start. */
  "transcripts.page": {
    input: { readonly file: string; readonly after?: number | undefined; readonly before?: number | undefined; readonly limit: number };
    result: readonly EntryRow[];
  };
  /** The last lines in file order, header never included. */
  "transcripts.tail": { input: { readonly file: string; readonly limit: number }; result: readonly EntryRow[] };
  "transcripts.entry": { input: { readonly file: string; readonly id: string }; result: EntryRow | undefined };
  /**
   * The way from an entry (default: the leaf) up to the root, in file order. `until` ends it there, that entry included; `limit` keeps the
   * part nearest to the start.
   */
  "transcripts.path": {
    input: { readonly file: string; readonly from?: string | undefined; readonly until?: string | undefined; readonly limit?: number | undefined };
    result: readonly EntryRow[];
  };
  /** Positions of the branch in use, without its lines: those after `after`, oldest first. Walks from the leaf; as long as that is, on a thread of its own. */
  "transcripts.positions": { input: { readonly file: string; readonly after: number; readonly limit: number }; result: readonly number[] };
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
