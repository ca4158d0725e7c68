/** How an accepted input or a turn ended. There is no other exit. */
export type Outcome =
  /** A reply was committed to the outbox. */
  | "answered"
  /** Nothing was said, on purpose. */
  | "silent"
  /** A gate or policy said no. */
  | "refused"
  /** It went wrong and the sender was told. */
  | "failed"
  /** It became part of another turn. */
  | "merged"
  /** Somebody stopped it. */
  | "cancelled";
