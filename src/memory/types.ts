import type { Feature } from "./search/features.ts";

export type Source = "memory" | "sessions";

/** Which conversations and notes a search may see. */
export interface Scope {
  /** `all`: every conversation of the agent. Otherwise those with these session keys. */
  readonly sessions: "all" | "none" | readonly string[];
  readonly notes: boolean;
}

export interface SearchRequest {
  readonly query: string;
  readonly maxResults: number;
  readonly minScore: number;
  readonly sources: readonly Source[];
  readonly scope: Scope;
  /** When it is asked, in milliseconds since the epoch; and seconds east of UTC of the person who asks. */
  readonly now: number;
  readonly zoneSeconds: number;
  /** Id of the session whose last message is being answered: that message is no evidence. */
  readonly answering?: string | undefined;
  /** Also says what put each hit where it is. */
  readonly explain?: boolean | undefined;
  /** With the weights set by hand instead of the trained ones, to compare. */
  readonly fixed?: boolean | undefined;
  readonly ranking: RankingSettings;
}

/** `memorySearch.query.hybrid`. */
export interface RankingSettings {
  /** Weights that the configuration names itself; then the two sides are added as documented. */
  readonly weights?: { readonly vector: number; readonly text: number } | undefined;
  /** `hybrid.enabled: false`: hits are ranked by their embeddings alone, where there are any. */
  readonly vectorsOnly?: boolean | undefined;
  readonly candidateMultiplier: number;
  /** From 0, only variety, to 1, only relevance. */
  readonly mmrLambda?: number | undefined;
  readonly halfLifeDays?: number | undefined;
}

export interface ContextLine {
  readonly role: "user" | "assistant" | "note";
  readonly speaker?: string;
  readonly text: string;
}

export interface SearchHit {
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
  /** From 0 to 1: the chance that this passage or one beside it holds the answer. */
  readonly score: number;
  readonly snippet: string;
  readonly source: Source;
  /** ISO time, where it is known. */
  readonly at?: string;
  readonly role?: "user" | "assistant";
  readonly speaker?: string;
  /** The headings above a passage of a note. */
  readonly heading?: string;
  readonly sessionId?: string;
  readonly sessionKey?: string;
  readonly entryId?: string;
  /** What was said just before and after. */
  readonly before?: ContextLine;
  readonly after?: ContextLine;
  /** An older statement that this one replaces, and the other way round, as citations. */
  readonly supersedes?: string;
  readonly supersededBy?: string;
  readonly why?: Explanation;
}

/** What put a hit where it is. */
export interface Explanation {
  /** Words of the question in its text, and those that are only in its heading or the name of its speaker. */
  readonly words: readonly string[];
  readonly about: readonly string[];
  readonly related: readonly string[];
  /** What moved the score most: how much the score would change without it, and what was measured. */
  readonly effects: readonly { readonly feature: Feature; readonly effect: number; readonly value: number }[];
  /** The score by the evidence alone. */
  readonly ranked: number;
  /** Why the score that is shown is another one: it has all of the question, it stands before others, it is old, or vectors alone decide. */
  readonly adjusted?: "question" | "order" | "age" | "vectors";
}

/** How a question was understood. */
export interface Understood {
  readonly language: string;
  readonly terms: readonly string[];
  readonly exact: readonly string[];
  readonly kind: string;
  /** ISO times. */
  readonly span?: { readonly from: string; readonly to: string };
  readonly wants?: "newest" | "oldest";
}

export interface SearchAnswer {
  readonly hits: readonly SearchHit[];
  readonly mode: "hybrid" | "fts-only" | "vector";
  /** Who computed the embeddings, where some were used. */
  readonly provider?: string;
  readonly model?: string;
  readonly ranker: "learned" | "fixed";
  /** The index is still being made: more may be found later. */
  readonly indexing: boolean;
  readonly ms: number;
  readonly understood?: Understood;
}

export interface NoteIssue {
  readonly path: string;
  readonly why: string;
}

export interface IndexCounts {
  readonly files: number;
  readonly chunks: number;
  readonly bySource: readonly { readonly source: Source; readonly files: number; readonly chunks: number }[];
  readonly bytes: number;
  /** Text and what is indexed of it, for the size that an index has per text. */
  readonly textBytes: number;
  readonly vectors: number;
  readonly cached: number;
}

export interface SyncReport {
  readonly files: number;
  readonly changed: number;
  readonly removed: number;
  readonly messages: number;
  readonly issues: readonly NoteIssue[];
  readonly ms: number;
}

/** `path#L1-L3`, as hits are cited. */
export const citationOf = ({ path, startLine, endLine }: Pick<SearchHit, "path" | "startLine" | "endLine">): string =>
  startLine === endLine ? `${path}#L${startLine}` : `${path}#L${startLine}-L${endLine}`;

/** The path by which a transcript is cited: `sessions/<file name>`. */
export const sessionPath = (file: string): string => `sessions/${file.slice(file.lastIndexOf("/") + 1)}`;
