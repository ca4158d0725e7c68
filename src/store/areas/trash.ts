import type { SessionEntry } from "../../protocol/index.ts";
import type { ExtensionRow } from "./extensions.ts";

/** Deletions of longer ago cannot be undone. */
export const UNDO_MS: number = 30 * 86_400_000;

/** A session that was deleted, as it was: its transcripts are archived beside it. What a turn finds out again (prompt report, skills) is left out. */
export interface DeletedSession {
  /** Names the deletion. */
  readonly id: string;
  readonly key: string;
  readonly agentId: string;
  readonly entry: SessionEntry;
  /** State of plugins in it. */
  readonly extensions: readonly Pick<ExtensionRow, "pluginId" | "namespace" | "value">[];
  readonly deletedAt: number;
}

export interface TrashWrites {
  /** Stores what a deletion removes, so that it can be undone. */
  "trash.put": { input: Omit<DeletedSession, "deletedAt">; result: void };
  /** The deletion was undone. `CONFLICT` when it is not there any more. */
  "trash.take": { input: { readonly id: string }; result: void };
}

export interface TrashReads {
  "trash.get": { input: { readonly id: string }; result: DeletedSession | undefined };
}
