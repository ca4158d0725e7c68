import type { ErrorCode } from "../../base/errors.ts";
import type { EmbeddingSettings, EmbeddingStatus, EmbeddingUsage } from "../embeddings/types.ts";
import type { IndexCounts, NoteIssue, SearchAnswer, SearchRequest, SyncReport } from "../types.ts";
import type { FoundMessages, MessagesRequest } from "../search/messages.ts";
import type { ExportedPassage } from "./export.ts";
import type { FindRequest, FoundTexts } from "./find.ts";
import type { LibrarySettings } from "./library-settings.ts";
import type { Recall } from "./recalls.ts";

/** What the thread can be asked, with what it answers. */
export interface Requests {
  search: { readonly input: SearchRequest; readonly result: SearchAnswer };
  /** Words in the messages of transcripts. */
  messages: { readonly input: MessagesRequest; readonly result: FoundMessages & { readonly indexing: boolean } };
  sync: { readonly input: { readonly rebuild?: boolean | undefined; readonly force?: boolean | undefined }; readonly result: SyncReport };
  status: { readonly input: { readonly deep?: boolean | undefined }; readonly result: ThreadStatus };
  /** Nothing of deleted text is left in the files of the index. */
  purge: { readonly input: { readonly files?: readonly string[] | undefined }; readonly result: null };
  find: { readonly input: FindRequest; readonly result: FoundTexts };
  recalls: { readonly input: { readonly limit: number }; readonly result: readonly Recall[] };
  export: {
    readonly input: { readonly after: number; readonly limit: number };
    readonly result: { readonly passages: readonly ExportedPassage[]; readonly next?: number };
  };
}
export type RequestKind = keyof Requests;

export interface ThreadStatus extends EmbeddingStatus {
  readonly counts: IndexCounts;
  readonly dirty: boolean;
  readonly indexing: boolean;
  /** Lines of transcripts that are known to be left to index. */
  readonly left: number;
  readonly issues: readonly NoteIssue[];
}

export type ToThread =
  | {
      readonly type: "request";
      readonly id: number;
      readonly kind: RequestKind;
      readonly settings: LibrarySettings;
      readonly embeddings: EmbeddingSettings;
      readonly input: unknown;
    }
  /** Transcripts grew; without files, any of them may have changed. */
  | { readonly type: "touched"; readonly agentId: string; readonly files?: readonly string[] }
  | { readonly type: "notesChanged"; readonly agentId: string }
  | { readonly type: "close" };

export type FromThread =
  | { readonly type: "answer"; readonly id: number; readonly result: unknown }
  | { readonly type: "failure"; readonly id: number; readonly code: ErrorCode; readonly message: string }
  /** What embeddings cost. */
  | { readonly type: "usage"; readonly agentId: string; readonly usage: EmbeddingUsage }
  | { readonly type: "notice"; readonly message: string };
