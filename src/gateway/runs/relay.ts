import type { Clock } from "../../base/clock.ts";
import type { ShownRun } from "../../protocol/index.ts";
import type { Responder, RunEvent } from "../ports.ts";
import {
  createAnnouncer,
  closeTexts,
  SILENCE,
  type Announcer,
  type AnnouncerDeps,
  type ExpectedRun,
  type Run,
  type RunKind,
  type StopReason,
} from "./announcer.ts";
import { shownValue } from "./tool-events.ts";

export type { ExpectedRun, RunKind, StopReason, Watched } from "./announcer.ts";

/** How a run ended. */
export interface EndedRun {
  readonly status: "ok" | "error" | "aborted";
  readonly startedAt?: number;
  readonly endedAt: number;
  readonly error?: string;
}

/** Runs that ended in the last ten minutes. */
interface EndedRuns {
  add(runId: string, ended: EndedRun): void;
  get(runId: string): EndedRun | undefined;
  /** The listener is called when a run ends. */
  onEnd(listener: (runId: string, ended: EndedRun) => void): Disposable;
}

/** Follows runs from the request to the end, and turns their events into those of clients. */
export interface RunRelay extends Disposable {
  /** A run is about to be accepted. False when it is known already. */
  expect(runId: string, run: ExpectedRun): boolean;
  /** The run of `expect` was not started after all. */
  forget(runId: string): void;
  /** Runs without an end, of one session or all. */
  active(sessionKey?: string): readonly { readonly runId: string; readonly sessionKey: string; readonly kind: RunKind }[];
  find(runId: string): { readonly sessionKey: string; readonly kind: RunKind } | undefined;
  /** Runs of a session that have begun, with what they wrote since their last entry. */
  shown(sessionKey: string, thinking: boolean): readonly ShownRun[];
  /** What a run wrote so far is in the transcript. */
  written(runId: string): void;
  /** Sets why a run is being stopped, before it is. */
  stopping(runId: string, reason: StopReason): void;
  /** Announces the stop of a run that takes its time to end. */
  announceStop(runId: string): void;
  /** Runs that have ended. */
  readonly ended: Pick<EndedRuns, "get" | "onEnd">;
}

export interface RunRelayDeps extends AnnouncerDeps {
  readonly responder: Pick<Responder, "onEvent">;
}

const ENDED_MS = 10 * 60_000;
const MOST_ENDED = 1000;

function createEndedRuns(clock: Pick<Clock, "now">): EndedRuns {
  /** Oldest first. */
  const runs = new Map<string, EndedRun>();
  const listeners = new Set<(runId: string, ended: EndedRun) => void>();
  return {
    add(runId, ended) {
      runs.delete(runId);
      runs.set(runId, ended);
      for (const [id, { endedAt }] of runs) {
        if (runs.size <= MOST_ENDED && clock.now() - endedAt < ENDED_MS) break;
        runs.delete(id);
      }
      for (const listener of listeners) listener(runId, ended);
    },
    get: (runId) => runs.get(runId),
    onEnd(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}

function newRun(run: ExpectedRun & { readonly runId: string }): Run {
  return {
    ...run,
    followers: new Set(),
    seq: { whole: 0, deltas: 0 },
    text: "",
    mayBeSilent: true,
    live: { text: "", thinking: "", tools: new Map() },
    texts: {},
    announced: false,
  };
}

function shownRun({ runId, live }: Run, startedAt: number, thinking: boolean): ShownRun {
  const tools = [...live.tools.values()].map((event) => ({
    toolCallId: event.toolCallId,
    name: event.name,
    ...(event.phase === "update" ? { partialResult: shownValue(event.partialResult) } : {}),
  }));
  return {
    runId,
    startedAt,
    ...(live.text === "" || SILENCE.startsWith(live.text.trim()) ? {} : { text: live.text }),
    ...(thinking && live.thinking !== "" ? { thinking: live.thinking } : {}),
    ...(tools.length === 0 ? {} : { tools }),
  };
}

/** What a relay is made of. */
interface Parts {
  readonly runs: Map<string, Run>;
  readonly ended: EndedRuns;
  readonly announcer: Announcer;
}

function announceAbort({ announcer }: Parts, run: Run): void {
  if (run.announced) return;
  closeTexts(run);
  run.announced = true;
  announcer.chat(run, "aborted", { stopReason: run.stop ?? "timeout", sessionKey: run.sentKey });
}

function onLifecycle(parts: Parts, run: Run, event: Extract<RunEvent, { stream: "lifecycle" }>): void {
  const { runs, ended, announcer } = parts;
  const { data } = event;
  if (data.phase === "start") {
    run.startedAt = data.startedAt;
    return announcer.agent(run, event);
  }
  const times = { endedAt: data.endedAt, ...(run.startedAt === undefined ? {} : { startedAt: run.startedAt }) };
  let end: EndedRun;
  if (data.phase === "error") {
    announcer.agent(run, event);
    announcer.chat(run, "error", { errorMessage: data.error });
    end = { status: "error", error: data.error, ...times };
  } else {
    const { reason, shown, ...shared } = data;
    if (reason !== undefined) run.stop ??= reason === "interrupt" ? "stop" : reason;
    if (shown !== undefined) run.text = shown;
    if (data.aborted && run.kind !== "agent") announceAbort(parts, run);
    else if (!run.announced) {
      announcer.agent(run, { stream: "lifecycle", data: shared });
      announcer.chat(run, "final");
    }
    end = { status: data.aborted ? "aborted" : "ok", ...times };
  }
  closeTexts(run);
  runs.delete(run.runId);
  ended.add(run.runId, end);
}

export function createRunRelay({ responder, ...deps }: RunRelayDeps): RunRelay {
  const runs = new Map<string, Run>();
  const ended = createEndedRuns(deps.clock);
  const announcer = createAnnouncer(deps);
  const parts: Parts = { runs, ended, announcer };

  const subscription = responder.onEvent(({ runId, sessionKey }, event) => {
    let run = runs.get(runId);
    if (!run) runs.set(runId, (run = newRun({ runId, sessionKey, sentKey: sessionKey, kind: "other" })));
    if (event.stream === "lifecycle") return onLifecycle(parts, run, event);
    if (event.stream === "assistant") run.text = run.live.text = event.data.text;
    else if (event.stream === "thinking") run.live.thinking = event.data.text;
    else if (event.stream === "tool" && event.data.phase === "result") run.live.tools.delete(event.data.toolCallId);
    else if (event.stream === "tool") run.live.tools.set(event.data.toolCallId, event.data);
    if (!run.announced) announcer.progress(run, event);
  });

  return {
    expect(runId, run) {
      const known = runs.has(runId);
      if (!known) runs.set(runId, newRun({ runId, ...run }));
      if (run.follower !== undefined) for (const other of runs.values()) if (other.sessionKey === run.sessionKey) other.followers.add(run.follower);
      return !known;
    },
    forget(runId) {
      const run = runs.get(runId);
      if (run) closeTexts(run, true);
      runs.delete(runId);
    },
    active: (sessionKey) => [...runs.values()].filter((run) => sessionKey === undefined || run.sessionKey === sessionKey),
    find: (runId) => runs.get(runId),
    shown: (sessionKey, thinking) =>
      [...runs.values()].flatMap((run) => (run.sessionKey === sessionKey && run.startedAt !== undefined ? [shownRun(run, run.startedAt, thinking)] : [])),
    written(runId) {
      const run = runs.get(runId);
      if (run) run.live.text = run.live.thinking = "";
    },
    stopping(runId, reason) {
      const run = runs.get(runId);
      if (run) run.stop = reason;
    },
    announceStop(runId) {
      const run = runs.get(runId);
      if (run) announceAbort(parts, run);
    },
    ended,
    [Symbol.dispose]() {
      subscription[Symbol.dispose]();
      for (const run of runs.values()) closeTexts(run, true);
    },
  };
}
