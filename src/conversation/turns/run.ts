import type { TurnEnd } from "../../agent/index.ts";
import type { HookLogEntry } from "../../hooks/index.ts";
import type { TurnHints } from "../commands/commands.ts";
import type { RunOutcome } from "./contract.ts";
import type { AcceptedRow } from "./run-log.ts";

export type AbortReason = "rpc" | "stop" | "timeout" | "interrupt";

/** How an abort is told. */
export const ORIGINS = { rpc: "rpc", stop: "stop-command", timeout: "timeout", interrupt: "interrupt" } as const satisfies Record<AbortReason, string>;

/** A run that a client waits for. */
export interface ClientRun {
  readonly row: AcceptedRow;
  /** It was accepted by a process before this one. */
  readonly resumed: boolean;
  /** A process before this one began its turn: who answers was decided then. */
  begun: boolean;
  readonly abort: AbortController;
  readonly ended: Promise<RunOutcome>;
  readonly end: (outcome: RunOutcome) => void;
  /** The message for the model: without commands and directives. */
  text: string;
  /**
   * `command` until it is certain that the message starts a turn. Whatever ends the turns of a session does not reach a run in that phase: it may be the
   * command that does so, and would wait for itself. A stop reaches every run but other stops.
   */
  phase: "command" | "turn";
  /** Texts that were sent beside the answer. */
  asides: readonly string[];
  /** Settings for this run only, from its text. */
  hints?: TurnHints;
  thinking?: AcceptedRow["thinking"];
  /** Runs that end with this one: their messages are answered by the same turn. */
  readonly merged: ClientRun[];
  /** The run whose turn answers this one. */
  into?: ClientRun;
  reason?: AbortReason;
  /** What plugins said about the message on its way to a turn. */
  hooks?: readonly HookLogEntry[];
  /** Once the turn is over. */
  turnEnd?: TurnEnd;
}

export function newClientRun(row: AcceptedRow, resumed: boolean, begun = false): ClientRun {
  const { promise, resolve } = Promise.withResolvers<RunOutcome>();
  return { row, text: row.message, resumed, begun, abort: new AbortController(), ended: promise, end: resolve, phase: "command", asides: [], merged: [] };
}

/** Makes `run` end with the turn of `main`. */
export function mergeInto(main: ClientRun, run: ClientRun): void {
  if (run.into === main) return;
  run.phase = "turn";
  run.into = main;
  main.merged.push(run);
}
