import type { Clock } from "../../../base/clock.ts";
import type { EventPayload } from "../../../protocol/index.ts";
import type { RunEvent } from "../../ports.ts";
import type { Broadcast, SendTo } from "../deps.ts";
import { newLivePart, SILENCE, type LivePart } from "./live-part.ts";
import { shownToolEvent } from "./tool-events.ts";

/** What asked for a run. Runs that were taken up again after a restart, and those of HTTP callers, are `other`. */
export type RunKind = "chat" | "agent" | "other";
export type StopReason = "rpc" | "stop" | "timeout";

/** A run that is about to be handed to the responder. */
export interface ExpectedRun {
  readonly sessionKey: string;
  /** The session key as its client wrote it. */
  readonly sentKey: string;
  readonly kind: RunKind;
  /** The connection that asks, when it takes part in the session's tool events: in those of runs that are under way, too. */
  readonly follower?: string | undefined;
  /** Levels of the session. Without `full` nobody is shown what tools answer, without `stream` no reasoning is told. */
  readonly verbose?: string | undefined;
  readonly reasoning?: string | undefined;
}

/** Connections that watch a session: they are told of its tools, with what these answer, and of reasoning where it is shown. */
export interface Watched {
  readonly connIds: ReadonlySet<string>;
  readonly reasoning: boolean;
}

/** A run under way, and what was told of it. */
export interface Run extends ExpectedRun {
  readonly runId: string;
  /** Connections that are told of tools. */
  readonly followers: Set<string>;
  seq: number;
  text: string;
  readonly live: LivePart;
  deltaAt: number;
  startedAt?: number;
  stop?: StopReason;
  /** The client was told of the end. */
  told: boolean;
}

type State = "delta" | "final" | "aborted" | "error";

export interface TellerDeps {
  readonly broadcast: Broadcast;
  /** To one connection; tool events are told to nobody without it. */
  readonly send?: SendTo | undefined;
  readonly clock: Pick<Clock, "now">;
  /** Who watches a session, if somebody does. */
  readonly watched?: ((sessionKey: string) => Watched | undefined) | undefined;
}

/** Says what happens in runs. Each event has the next number of its run. */
export interface Teller {
  /** In the conversation. */
  chat(run: Run, state: State, extra?: { readonly errorMessage?: string; readonly stopReason?: string; readonly sessionKey?: string }): void;
  /** Inside of the run, to all. */
  agent(run: Run, event: RunEvent): void;
  /** Beside the answer: to those who may know. */
  beside(run: Run, event: Exclude<RunEvent, { stream: "assistant" | "lifecycle" }>): void;
}

export function createTeller({ broadcast, send, clock, watched }: TellerDeps): Teller {
  const chat: Teller["chat"] = (run, state, extra = {}) => {
    const silent = state === "error" || run.text === "" || run.text.trim() === SILENCE;
    const message = { role: "assistant" as const, content: [{ type: "text", text: run.text }], timestamp: clock.now() };
    const payload = { runId: run.runId, sessionKey: run.sessionKey, seq: run.seq, state, ...extra, ...(silent ? {} : { message }) };
    broadcast("chat", payload);
  };

  function told(run: Run, { stream, data }: RunEvent): EventPayload<"agent"> {
    run.seq += 1;
    return { runId: run.runId, stream, data, sessionKey: run.sessionKey, seq: run.seq, ts: clock.now() } as EventPayload<"agent">;
  }

  function agent(run: Run, event: RunEvent): void {
    broadcast("agent", told(run, event));
  }

  /** Tools are shown to those who take part; everybody else misses numbers of the run, not of the connection. */
  function tool(run: Run, event: Extract<RunEvent, { stream: "tool" }>): void {
    const payload = told(run, { stream: "tool", data: shownToolEvent(event.data, run.verbose) });
    const watching = watched?.(run.sessionKey)?.connIds;
    for (const connId of run.followers) if (!watching?.has(connId)) send?.(connId, "agent", payload);
    if (!watching) return;
    const whole = { ...payload, data: shownToolEvent(event.data, "full") } as EventPayload<"agent">;
    for (const connId of watching) send?.(connId, "agent", whole);
  }

  function thinking(run: Run, event: Extract<RunEvent, { stream: "thinking" }>): void {
    if (run.reasoning === "stream") return agent(run, event);
    const watching = watched?.(run.sessionKey);
    if (!watching?.reasoning) return;
    const payload = told(run, event);
    for (const connId of watching.connIds) send?.(connId, "agent", payload);
  }

  function beside(run: Run, event: Exclude<RunEvent, { stream: "assistant" | "lifecycle" }>): void {
    if (run.told) return;
    if (event.stream === "tool") return tool(run, event);
    if (event.stream === "thinking") return thinking(run, event);
    if (event.stream === "compaction" && event.data.phase === "end") {
      const { willRetry = false, notice } = event.data;
      return agent(run, { stream: "compaction", data: { phase: "end", willRetry, ...(notice === undefined ? {} : { notice }) } });
    }
    agent(run, event);
  }

  return { chat, agent, beside };
}

export function newRun(run: ExpectedRun & { readonly runId: string }): Run {
  return { ...run, followers: new Set(), seq: 0, text: "", live: newLivePart(), deltaAt: Number.NEGATIVE_INFINITY, told: false };
}
