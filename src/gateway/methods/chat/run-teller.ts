import type { Clock } from "../../../base/clock.ts";
import type { EventPayload } from "../../../protocol/index.ts";
import type { RunEvent, ToolEvent } from "../../ports.ts";
import { TEXT_FORMS, type TextForm } from "../../fanout.ts";
import type { Broadcast, SendPiece, SendTo } from "../deps.ts";
import { SILENCE, newLivePart, type LivePart } from "./live-part.ts";
import { createTextStream, type TextStream, type TextStreamDeps } from "./text-stream.ts";
import { shownToolEvent } from "./tool-events.ts";

type Update = Extract<ToolEvent, { phase: "update" }>;

/** At least between two updates of one call. */
const EVERY_MS = 150;

interface Call {
  at: number;
  /** The newest, when it came too soon. */
  held?: Update | undefined;
  timer?: Disposable | undefined;
}

/** Updates of tools at a bounded rate. Each says how its call stands now, so that only the newest counts; a result ends them. */
interface ToolUpdates extends Disposable {
  push(update: Update): void;
  /** The call has its result. */
  end(toolCallId: string): void;
}

function createToolUpdates(clock: Pick<Clock, "monotonic" | "after">, tell: (update: Update) => void): ToolUpdates {
  const calls = new Map<string, Call>();

  function send(call: Call, update: Update): void {
    call.at = clock.monotonic();
    call.held = undefined;
    tell(update);
  }

  return {
    push(update) {
      let call = calls.get(update.toolCallId);
      if (!call) calls.set(update.toolCallId, (call = { at: Number.NEGATIVE_INFINITY }));
      const known = call;
      const waitMs = known.at + EVERY_MS - clock.monotonic();
      if (waitMs <= 0 && !known.timer) return send(known, update);
      known.held = update;
      known.timer ??= clock.after(waitMs, () => {
        known.timer = undefined;
        if (known.held) send(known, known.held);
      });
    },
    end(toolCallId) {
      calls.get(toolCallId)?.timer?.[Symbol.dispose]();
      calls.delete(toolCallId);
    },
    [Symbol.dispose]() {
      for (const { timer } of calls.values()) timer?.[Symbol.dispose]();
      calls.clear();
    },
  };
}

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
  /** Number of the last event, for connections of each form. */
  readonly seq: Record<TextForm, number>;
  text: string;
  /** The text so far may still become `NO_REPLY`. */
  mayBeSilent: boolean;
  readonly live: LivePart;
  /** What it says and thinks, from the first piece on. */
  readonly texts: { assistant?: TextStream; thinking?: TextStream };
  /** What its tools report while they run, from the first report on. */
  updates?: ToolUpdates;
  startedAt?: number;
  stop?: StopReason;
  /** The client was told of the end. */
  told: boolean;
}

type State = "delta" | "final" | "aborted" | "error";
type TextEvent = Extract<RunEvent, { stream: "assistant" | "thinking" }>;

export interface TellerDeps {
  readonly broadcast: Broadcast;
  readonly piece: SendPiece;
  /** How a connection takes texts. */
  readonly form: (connId: string) => TextForm;
  /** To one connection; tool events are told to nobody without it. */
  readonly send?: SendTo | undefined;
  readonly clock: Clock;
  /** Who watches a session, if somebody does. */
  readonly watched?: ((sessionKey: string) => Watched | undefined) | undefined;
}

/** Says what happens in runs. Each event has the next number of its run. */
export interface Teller {
  /** In the conversation. */
  chat(run: Run, state: State, extra?: { readonly errorMessage?: string; readonly stopReason?: string; readonly sessionKey?: string }): void;
  /** Inside of the run, to all. */
  agent(run: Run, event: RunEvent): void;
  /** More of the answer. */
  said(run: Run, event: Extract<RunEvent, { stream: "assistant" }>): void;
  /** Beside the answer: to those who may know. */
  beside(run: Run, event: Exclude<RunEvent, { stream: "assistant" | "lifecycle" }>): void;
  /** What waits of its texts is sent; nothing more comes. The whole text follows in a `chat` event. */
  close(run: Run): void;
}

/** The payload for connections of a form, with the next number that they get. */
function told(run: Run, form: TextForm, ts: number): (stream: RunEvent["stream"], data: unknown) => EventPayload<"agent"> {
  const seq = (run.seq[form] += 1);
  const { runId, sessionKey } = run;
  return (stream, data) => ({ runId, stream, data, sessionKey, seq, ts }) as EventPayload<"agent">;
}

/** What waits of its texts. `last`: the whole text follows in another event. */
function flush({ texts }: Run, last = false): void {
  texts.thinking?.flush(last);
  texts.assistant?.flush(last);
}

/** Nothing of what the run wrote so far counts: those who show it are notified now, not with the next piece. */
function retract(run: Run, broadcast: Broadcast, ts: number): void {
  run.mayBeSilent = true;
  run.texts.assistant?.push("", "");
  for (const form of TEXT_FORMS) {
    const data = form === "deltas" ? { delta: "", at: 0 } : { text: "", delta: "" };
    broadcast("agent", told(run, form, ts)("assistant", data), { form });
  }
}

export function createTeller({ broadcast, piece, form: formOf, send, clock, watched }: TellerDeps): Teller {
  function chat(run: Run, state: State, extra: Parameters<Teller["chat"]>[2] = {}): void {
    const silent = state === "error" || run.text === "" || run.text.trim() === SILENCE;
    const message = { role: "assistant" as const, content: [{ type: "text", text: run.text }], timestamp: clock.now() };
    for (const form of TEXT_FORMS) {
      if (state === "delta" && form === "deltas") continue;
      const payload = { runId: run.runId, sessionKey: run.sessionKey, seq: run.seq[form], state, ...extra, ...(silent ? {} : { message }) };
      broadcast("chat", payload, { form, replaceable: state === "delta" });
    }
  }

  function agent(run: Run, { stream, data }: RunEvent): void {
    flush(run, stream === "lifecycle");
    for (const form of TEXT_FORMS) broadcast("agent", told(run, form, clock.now())(stream, data), { form });
  }

  /** Connections with a cap or a right of their own; everybody else misses numbers of the run, not of the connection. */
  function tellSome(connIds: Iterable<string>, event: Record<TextForm, EventPayload<"agent">>): void {
    for (const connId of connIds) send?.(connId, "agent", event[formOf(connId)]);
  }

  function tool(run: Run, event: Extract<RunEvent, { stream: "tool" }>): void {
    const { data } = event;
    if (data.phase === "update") return (run.updates ??= createToolUpdates(clock, (update) => tellTool(run, update))).push(data);
    if (data.phase === "result") run.updates?.end(data.toolCallId);
    tellTool(run, data);
  }

  function tellTool(run: Run, event: ToolEvent): void {
    flush(run);
    const payload = { whole: told(run, "whole", clock.now()), deltas: told(run, "deltas", clock.now()) };
    const shown = (verbose: string | undefined) => {
      const data = shownToolEvent(event, verbose);
      return { whole: payload.whole("tool", data), deltas: payload.deltas("tool", data) };
    };
    const watching = watched?.(run.sessionKey)?.connIds;
    tellSome(run.followers.difference(watching ?? new Set()), shown(run.verbose));
    if (watching) tellSome(watching, shown("full"));
  }

  function openText(run: Run, stream: "assistant" | "thinking", more: Pick<TextStreamDeps, "only" | "beside">): TextStream {
    return createTextStream({
      piece,
      clock,
      ...more,
      payload(form) {
        const event = told(run, form, clock.now());
        return (data) => event(stream, data);
      },
    });
  }

  /** A piece of one text. What waits of the other came before it. */
  function pushText(run: Run, { stream, data }: TextEvent, more: Pick<TextStreamDeps, "only" | "beside">): void {
    const other = run.texts[stream === "assistant" ? "thinking" : "assistant"];
    if (other?.waiting) other.giveWay();
    (run.texts[stream] ??= openText(run, stream, more)).push(data.text, data.delta);
  }

  function said(run: Run, event: Extract<RunEvent, { stream: "assistant" }>): void {
    const { text, delta } = event.data;
    if (text === "") return retract(run, broadcast, clock.now());
    run.mayBeSilent = (run.mayBeSilent || text.length === delta.length) && SILENCE.startsWith(text.trim());
    pushText(run, event, { only: () => undefined, beside: () => !run.mayBeSilent && (chat(run, "delta"), true) });
  }

  function thinking(run: Run, event: Extract<RunEvent, { stream: "thinking" }>): void {
    const isForAll = run.reasoning === "stream";
    if (!isForAll && !watched?.(run.sessionKey)?.reasoning) return;
    pushText(run, event, { only: () => (isForAll ? undefined : (watched?.(run.sessionKey)?.connIds ?? new Set())) });
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

  function close(run: Run): void {
    if (!run.told) flush(run, true);
    dropTexts(run);
  }

  return { chat, agent, said, beside, close };
}

/** Ends the timers of its texts and tools. */
export function dropTexts({ texts, updates }: Pick<Run, "texts" | "updates">): void {
  updates?.[Symbol.dispose]();
  texts.assistant?.[Symbol.dispose]();
  texts.thinking?.[Symbol.dispose]();
}

export function newRun(run: ExpectedRun & { readonly runId: string }): Run {
  const seq = { whole: 0, deltas: 0 };
  return { ...run, followers: new Set(), seq, text: "", mayBeSilent: true, live: newLivePart(), texts: {}, told: false };
}
