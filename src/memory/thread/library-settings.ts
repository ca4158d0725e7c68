import type { Source } from "../types.ts";

/** The memory of one agent: where it is, and what belongs to it. */
export interface LibrarySettings {
  readonly agentId: string;
  /** The index. */
  readonly file: string;
  readonly stateDir: string;
  readonly workspace: string;
  readonly extraPaths: readonly string[];
  readonly sources: readonly Source[];
  readonly chunking: { readonly tokens: number; readonly overlap: number };
  readonly watch: boolean;
  readonly watchDebounceMs: number;
}
