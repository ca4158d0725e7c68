import type { Clock } from "../../../base/clock.ts";
import type { ShownRun } from "../../../protocol/index.ts";
import type { Responder, RunEvent } from "../../ports.ts";
import type { TextForm } from "../../fanout.ts";
import type { Broadcast, SendPiece, SendTo } from "../deps.ts";
import { keepLive, shownRuns, writtenDown } from "./live-part.ts";
import { createEndedRuns, type EndedRun, type EndedRuns } from "./ended-runs.ts";
import { createTeller, dropTexts, newRun, type ExpectedRun, type Run, type RunKind, type StopReason, type Watched } from "./run-teller.ts";

export type { ExpectedRun, RunKind, StopReason, Watched } from "./run-teller.ts";

export interface RunRelay extends Disposable {
  /** False when the run is known already. */
  expect(runId: string, run: ExpectedRun): boolean;
  /** The run of `expect` was not started after all. */
  forget(runId: string): void;
  /** Runs without an end, of one session or all. */
  active(sessionKey?: string): readonly { readonly runId: string; readonly sessionKey: string; readonly kind: RunKind }[];
  find(runId: string): { readonly sessionKey: string; readonly kind: RunKind } | undefined;
  /** Runs of a session that have begun, with what they said since their last entry. */
  shown(sessionKey: string, thinking: boolean): readonly ShownRun[];
  /** What a run said so far is in the transcript. */
  written(runId: string): void;
  /** Says why a run is being stopped, before it is. */
  stopping(runId: string, reason: StopReason): void;
  /** Announces the stop of a run that takes its time to end. */
  announceStop(runId: string): void;
  /** Runs that have ended. */
  readonly ended: Pick<EndedRuns, "get" | "onEnd">;
}

export interface RunRelayDeps {
  readonly responder: Pick<Responder, "onEvent">;
  readonly broadcast: Broadcast;
  readonly piece: SendPiece;
  /** How a connection takes texts. */
  readonly form: (connId: string) => TextForm;
  /** To one connection; tool events are told to nobody without it. */
  readonly send?: SendTo | undefined;
  readonly clock: Clock;
  readonly watched?: ((sessionKey: string) => Watched | undefined) | undefined;
}

function dropRun(runs: Map<string, Run>, runId: string): void {
  const run = runs.get(runId);
  if (run) dropTexts(run);
  runs.delete(runId);
}

/** Turns what happens in runs into `agent` and `chat` events. */
export function createRunRelay({ responder, clock, ...rest }: RunRelayDeps): RunRelay {
  const runs = new Map<string, Run>();
  const ended = createEndedRuns(clock);

  const { chat, agent, said, beside, close } = createTeller({ ...rest, clock });

  function aborted(run: Run): void {
    if (run.told) return;
    close(run);
    run.told = true;
    const { stop = "timeout" } = run;
    chat(run, "aborted", { stopReason: stop, sessionKey: run.sentKey });
  }

  function finish(run: Run, how: EndedRun): void {
    close(run);
    runs.delete(run.runId);
    ended.add(run.runId, how);
  }

  function answered(run: Run, event: Extract<RunEvent, { stream: "assistant" }>): void {
    run.text = event.data.text;
    run.live.text = event.data.text;
    if (!run.told) said(run, event);
  }

  function lifecycle(run: Run, event: Extract<RunEvent, { stream: "lifecycle" }>): void {
    const { data } = event;
    if (data.phase === "start") {
      run.startedAt = data.startedAt;
      return agent(run, event);
    }
    if (data.phase === "end" && data.reason !== undefined) run.stop ??= data.reason === "interrupt" ? "stop" : data.reason;
    if (data.phase === "end" && data.shown !== undefined) run.text = data.shown;
    const times = { endedAt: data.endedAt, ...(run.startedAt === undefined ? {} : { startedAt: run.startedAt }) };
    if (data.phase === "error") {
      agent(run, event);
      chat(run, "error", { errorMessage: data.error });
      return finish(run, { status: "error", error: data.error, ...times });
    }
    if (data.aborted && run.kind !== "agent") aborted(run);
    else if (!run.told) {
      const { reason: _reason, shown: _shown, ...told } = data;
      agent(run, { stream: "lifecycle", data: told });
      chat(run, "final");
    }
    finish(run, { status: data.aborted ? "aborted" : "ok", ...times });
  }

  const subscription = responder.onEvent(({ runId, sessionKey }, event) => {
    let run = runs.get(runId);
    if (!run) runs.set(runId, (run = newRun({ runId, sessionKey, sentKey: sessionKey, kind: "other" })));
    if (event.stream === "assistant") answered(run, event);
    else if (event.stream === "lifecycle") lifecycle(run, event);
    else {
      keepLive(run.live, event);
      beside(run, event);
    }
  });

  return {
    expect(runId, run) {
      const known = runs.has(runId);
      if (!known) runs.set(runId, newRun({ runId, ...run }));
      if (run.follower !== undefined) for (const other of runs.values()) if (other.sessionKey === run.sessionKey) other.followers.add(run.follower);
      return !known;
    },
    forget: (runId) => dropRun(runs, runId),
    active: (sessionKey) => [...runs.values()].filter((run) => sessionKey === undefined || run.sessionKey === sessionKey),
    find: (runId) => runs.get(runId),
    shown: (sessionKey, thinking) => shownRuns(runs.values(), sessionKey, thinking),
    written: (runId) => writtenDown(runs.get(runId)?.live),
    stopping(runId, reason) {
      const run = runs.get(runId);
      if (run) run.stop = reason;
    },
    announceStop(runId) {
      const run = runs.get(runId);
      if (run) aborted(run);
    },
    ended,
    [Symbol.dispose]() {
      subscription[Symbol.dispose]();
      for (const run of runs.values()) dropTexts(run);
    },
  };
}
