/** A tool call that is decided on. */
export interface PlannedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What the model does next: says something, calls tools, or both. */
export interface Reply {
  readonly text?: string;
  readonly calls?: readonly PlannedCall[];
  /** Sent as these pieces instead of in words, with a pause of `gapMs` between them. */
  readonly measured?: { readonly pieces: readonly string[]; readonly gapMs: number };
}

export const say = (text: string): Reply => ({ text });
