import type { Clock } from "../../../base/clock.ts";
import type { Responder, RunEvent } from "../../ports.ts";
import type { Broadcast } from "../deps.ts";
import { createEndedRuns, type EndedRun, type EndedRuns } from "./ended-runs.ts";

/** What asked for a run. Runs that were taken up again after a restart, and those of HTTP callers, are `other`. */
export type RunKind = "chat" | "agent" | "other";
export type StopReason = "rpc" | "stop" | "timeout";

export interface RunRelay extends Disposable {
  /** A run is about to be handed to the responder. `sentKey` is the session key as its client wrote it. False when it is known already. */
  expect(runId: string, run: { readonly sessionKey: string; readonly sentKey: string; readonly kind: RunKind }): boolean;
  /** The run of `expect` was not started after all. */
  forget(runId: string): void;
  /** Runs without an end, of one session or all. */
  active(sessionKey?: string): readonly { readonly runId: string; readonly sessionKey: string; readonly kind: RunKind }[];
  find(runId: string): { readonly sessionKey: string; readonly kind: RunKind } | undefined;
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
  readonly clock: Clock;
}

interface Run {
  readonly runId: string;
  readonly sessionKey: string;
  readonly sentKey: string;
  readonly kind: RunKind;
  seq: number;
  text: string;
  deltaAt: number;
  startedAt?: number;
  stop?: StopReason;
  /** The client was told of the end. */
  told: boolean;
}

const DELTA_EVERY_MS = 150;
/** An answer that means "say nothing". */
const SILENCE = "NO_REPLY";

type State = "delta" | "final" | "aborted" | "error";

/** Turns what happens in runs into `agent` and `chat` events. */
export function createRunRelay({ responder, broadcast, clock }: RunRelayDeps): RunRelay {
  const runs = new Map<string, Run>();
  const ended = createEndedRuns(clock);

  function chat(run: Run, state: State, extra: { readonly errorMessage?: string; readonly stopReason?: string; readonly sessionKey?: string } = {}): void {
    const silent = state === "error" || run.text === "" || run.text.trim() === SILENCE;
    const message = { role: "assistant" as const, content: [{ type: "text", text: run.text }], timestamp: clock.now() };
    const payload = { runId: run.runId, sessionKey: run.sessionKey, seq: run.seq, state, ...extra, ...(silent ? {} : { message }) };
    broadcast("chat", payload);
  }

  function agent(run: Run, { stream, data }: RunEvent): void {
    run.seq += 1;
    broadcast("agent", { runId: run.runId, stream, data, sessionKey: run.sessionKey, seq: run.seq, ts: clock.now() } as Parameters<
      typeof broadcast<"agent">
    >[1]);
  }

  function aborted(run: Run): void {
    if (run.told) return;
    run.told = true;
    chat(run, "aborted", { stopReason: run.stop ?? "timeout", sessionKey: run.sentKey });
  }

  function finish(run: Run, how: EndedRun): void {
    runs.delete(run.runId);
    ended.add(run.runId, how);
  }

  function said(run: Run, event: Extract<RunEvent, { stream: "assistant" }>): void {
    run.text = event.data.text;
    if (run.told) return;
    agent(run, event);
    const now = clock.monotonic();
    if (now - run.deltaAt < DELTA_EVERY_MS || SILENCE.startsWith(run.text.trim())) return;
    run.deltaAt = now;
    chat(run, "delta");
  }

  function lifecycle(run: Run, event: Extract<RunEvent, { stream: "lifecycle" }>): void {
    const { data } = event;
    if (data.phase === "start") {
      run.startedAt = data.startedAt;
      return agent(run, event);
    }
    const times = { endedAt: data.endedAt, ...(run.startedAt === undefined ? {} : { startedAt: run.startedAt }) };
    if (data.phase === "error") {
      agent(run, event);
      chat(run, "error", { errorMessage: data.error });
      return finish(run, { status: "error", error: data.error, ...times });
    }
    if (data.aborted && run.kind !== "agent") aborted(run);
    else if (!run.told) {
      agent(run, event);
      chat(run, "final");
    }
    finish(run, { status: data.aborted ? "aborted" : "ok", ...times });
  }

  const subscription = responder.onEvent(({ runId, sessionKey }, event) => {
    let run = runs.get(runId);
    if (!run) runs.set(runId, (run = newRun({ runId, sessionKey, sentKey: sessionKey, kind: "other" })));
    if (event.stream === "assistant") said(run, event);
    else lifecycle(run, event);
  });

  return {
    expect(runId, run) {
      if (runs.has(runId)) return false;
      runs.set(runId, newRun({ runId, ...run }));
      return true;
    },
    forget: (runId) => void runs.delete(runId),
    active: (sessionKey) => [...runs.values()].filter((run) => sessionKey === undefined || run.sessionKey === sessionKey),
    find: (runId) => runs.get(runId),
    stopping(runId, reason) {
      const run = runs.get(runId);
      if (run) run.stop = reason;
    },
    announceStop(runId) {
      const run = runs.get(runId);
      if (run) aborted(run);
    },
    ended,
    [Symbol.dispose]: () => subscription[Symbol.dispose](),
  };
}

function newRun(run: Pick<Run, "runId" | "sessionKey" | "sentKey" | "kind">): Run {
  return { ...run, seq: 0, text: "", deltaAt: Number.NEGATIVE_INFINITY, told: false };
}
