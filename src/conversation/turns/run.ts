import type { TurnEnd } from "../../agent/index.ts";
import type { RunOutcome } from "./contract.ts";
import type { AcceptedRow } from "./run-log.ts";

export type AbortReason = "rpc" | "stop" | "timeout" | "interrupt";

/** How an abort is told. */
export const ORIGINS = { rpc: "rpc", stop: "stop-command", timeout: "timeout", interrupt: "interrupt" } as const satisfies Record<AbortReason, string>;

/** A run that a client waits for. */
export interface ClientRun {
  readonly row: AcceptedRow;
  /** The message as it was sent. */
  readonly said: string;
  /** It was accepted by a process before this one. */
  readonly resumed: boolean;
  readonly abort: AbortController;
  readonly ended: Promise<RunOutcome>;
  readonly end: (outcome: RunOutcome) => void;
  reason?: AbortReason;
  /** Once the turn is over. */
  turnEnd?: TurnEnd;
}

export function newClientRun(row: AcceptedRow, resumed: boolean): ClientRun {
  const { promise, resolve } = Promise.withResolvers<RunOutcome>();
  return { row, said: row.message, resumed, abort: new AbortController(), ended: promise, end: resolve };
}
