export interface ImportOptions {
  readonly stateDir: string;
  readonly now: () => number;
  readonly log: (message: string, details?: Readonly<Record<string, unknown>>) => void;
  /** Session indexes at other locations than the standard one (`session.store`), absolute paths. */
  readonly indexes?: readonly { readonly agentId: string; readonly path: string }[];
  /** Bytes of a transcript taken in one transaction; default 1 MiB. */
  readonly chunkBytes?: number;
}

/** One transaction of an import. */
export interface ImportStep {
  readonly kind: "sessions" | "cron" | "devices" | "subagents" | "transcript";
  /** Path of the file, relative to the state folder when it lies inside. */
  readonly source: string;
  readonly rows: number;
  /** False when more of the same file follows. */
  readonly done: boolean;
}

/** Something that was not imported, or not unchanged. */
export interface ImportProblem {
  readonly source: string;
  readonly problem: string;
}

export interface ImportReport {
  readonly sessions: number;
  readonly transcripts: number;
  readonly entries: number;
  readonly cronJobs: number;
  readonly devices: number;
  readonly subagentRuns: number;
  readonly problems: readonly ImportProblem[];
  /** Files that stay files (credentials, archived transcripts): found, not read. */
  readonly left: readonly string[];
}
