/** Why the gateway ends, as clients are told. */
export interface StopReason {
  readonly reason: string;
  /** Until it is back; null when it does not come back by itself. */
  readonly restartExpectedMs: number | null;
}

export const STOPPING: StopReason = { reason: "gateway stopping", restartExpectedMs: null };
export const RESTARTING: StopReason = { reason: "gateway restarting", restartExpectedMs: 1500 };
