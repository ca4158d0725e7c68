export interface RedactionWrites {
  /**
   * Overwrites every text that contains one of `texts`, in any case and spacing, in the working records of an agent: inbox, turns and their journals,
   * outbox, approvals, sub-agents, plugin data, remembered answers. Transcripts have `transcripts.redact`. Follow it with
   * `store.checkpoint({ truncate: true })` to remove the old text from the log, too.
   */
  "records.redact": { input: { readonly agentId: string; readonly texts: readonly string[] }; result: { readonly records: number } };
}

export interface RedactionReads {
  /** How many records `records.redact` would change. */
  "records.matching": { input: { readonly agentId: string; readonly texts: readonly string[] }; result: number };
}
