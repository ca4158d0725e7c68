/** Why the gateway ends, as clients see it. */
export interface StopReason {
  readonly reason: string;
  /** Until it is back; null when it does not come back by itself. */
  readonly restartExpectedMs: number | null;
  /** Of the close frame; `service restart` for every orderly stop, as clients know it. */
  readonly closeReason?: string;
}

export const STOPPING: StopReason = { reason: "gateway stopping", restartExpectedMs: null };
export const RESTARTING: StopReason = { reason: "gateway restarting", restartExpectedMs: 1500 };
/** It cannot go on, such as on a full disk. The details name files and every client gets this, so they are left to the log. */
export const FAILED: StopReason = {
  reason: "gateway failed; see its log",
  restartExpectedMs: null,
  closeReason: "gateway failed; see its log",
};
