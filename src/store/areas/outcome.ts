/** How an accepted input or a turn ended. There are no other outcomes. */
export type Outcome =
  /** A reply was committed to the outbox. */
  | "answered"
  /** No reply, on purpose. */
  | "silent"
  /** A gate or policy refused it. */
  | "refused"
  /** It failed and the sender was notified. */
  | "failed"
  /** It was merged into another turn. */
  | "merged"
  /** It was stopped by a user or a client. */
  | "cancelled";
