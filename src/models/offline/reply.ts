/** A planned tool call. */
export interface PlannedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What the model does next: sends text, calls tools, or both. */
export interface Reply {
  readonly text?: string;
  readonly calls?: readonly PlannedCall[];
  /** Sent as these chunks instead of words, with a pause of `gapMs` between them. */
  readonly measured?: { readonly pieces: readonly string[]; readonly gapMs: number };
}

export const say = (text: string): Reply => ({ text });
