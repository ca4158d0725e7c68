import type { Clock } from "../../base/clock.ts";
import type { EventPayload } from "../../protocol/index.ts";
import { TEXT_FORMS, type Fanout, type TextForm } from "../fanout.ts";
import type { RunEvent, ToolEvent } from "../ports.ts";
import { createTextStream, type TextStream } from "./text-stream.ts";
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

/** Updates of tools at a bounded rate. Each holds the whole state of its call, so that only the newest counts; a result ends them. */
interface ToolUpdates extends Disposable {
  push(update: Update): void;
  /** The call has its result. */
  end(toolCallId: string): void;
}

function createToolUpdates(clock: Pick<Clock, "monotonic" | "after">, announce: (update: Update) => void): ToolUpdates {
  const calls = new Map<string, Call>();

  function send(call: Call, update: Update): void {
    call.at = clock.monotonic();
    call.held = undefined;
    announce(update);
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

/** What asked for a run. Runs that were resumed after a restart, and those of HTTP callers, are `other`. */
export type RunKind = "chat" | "agent" | "other";
export type StopReason = "rpc" | "stop" | "timeout";

/** A run that is about to be handed to the responder. */
export interface ExpectedRun {
  readonly sessionKey: string;
  /** The session key as its client wrote it. */
  readonly sentKey: string;
  readonly kind: RunKind;
  /** The connection that asks, when it takes tool events: it gets those of the session's other runs, too. */
  readonly follower?: string | undefined;
  /** Levels of the session. Without `full` nobody is shown the results of tools, without `stream` no reasoning is sent. */
  readonly verbose?: string | undefined;
  readonly reasoning?: string | undefined;
}

/** Connections that watch a session: they get its tool events with their results, and reasoning where it is shown. */
export interface Watched {
  readonly connIds: ReadonlySet<string>;
  readonly reasoning: boolean;
}

/** A run under way, and what was sent of it. */
export interface Run extends ExpectedRun {
  readonly runId: string;
  /** Connections that get tool events. */
  readonly followers: Set<string>;
  /** Number of the last event, for connections of each form. */
  readonly seq: Record<TextForm, number>;
  text: string;
  /** The text so far may still become `NO_REPLY`. */
  mayBeSilent: boolean;
  /** What it wrote since its last entry in the transcript, and its open tool calls with their newest events: for clients that connect in the middle. */
  readonly live: { text: string; thinking: string; readonly tools: Map<string, ToolEvent> };
  /** Answer and reasoning, from the first piece on. */
  readonly texts: { assistant?: TextStream; thinking?: TextStream };
  /** What its tools report while they run, from the first report on. */
  updates?: ToolUpdates;
  startedAt?: number;
  stop?: StopReason;
  /** Its end was announced to the client. */
  announced: boolean;
}

type State = "delta" | "final" | "aborted" | "error";

export interface AnnouncerDeps extends Pick<Fanout, "piece" | "form">, Partial<Pick<Fanout, "hasListeners">> {
  readonly broadcast: Fanout["broadcast"];
  /** To one connection; tool events are sent to nobody without it. */
  readonly send?: Fanout["send"] | undefined;
  readonly clock: Clock;
  /** Watched sessions by their keys. */
  readonly watched?: ReadonlyMap<string, Watched> | undefined;
}

/** Sends what happens in runs to clients. Each event has the next number of its run. */
export interface Announcer {
  /** In the conversation. */
  chat(run: Run, state: State, extra?: { readonly errorMessage?: string; readonly stopReason?: string; readonly sessionKey?: string }): void;
  /** Inside of the run, to all. */
  agent(run: Run, event: RunEvent): void;
  /** Between start and end: more of the answer, reasoning, tools, compaction. */
  progress(run: Run, event: Exclude<RunEvent, { stream: "lifecycle" }>): void;
}

/** An answer that means "send nothing". */
export const SILENCE = "NO_REPLY";

/** The payload for connections of a form, with the next number that they get. */
function agentEvent(
  run: Run,
  form: TextForm,
  { stream, data }: { readonly stream: RunEvent["stream"]; readonly data: unknown },
  ts: number,
): EventPayload<"agent"> {
  const { runId, sessionKey } = run;
  return { runId, stream, data, sessionKey, seq: (run.seq[form] += 1), ts } as EventPayload<"agent">;
}

/** Sends what waits of its texts. `last`: the whole text follows in another event. */
function flush({ texts }: Run, last = false): void {
  texts.thinking?.flush(last);
  texts.assistant?.flush(last);
}

/** Ends the timers of its texts and tools. What waits is sent first, unless it is dropped: the whole text follows in a `chat` event. */
export function closeTexts(run: Run, isDropped = run.announced): void {
  if (!isDropped) flush(run, true);
  run.updates?.[Symbol.dispose]();
  run.texts.assistant?.[Symbol.dispose]();
  run.texts.thinking?.[Symbol.dispose]();
}

export function createAnnouncer({ broadcast, piece, form: formOf, hasListeners, send, clock, watched }: AnnouncerDeps): Announcer {
  function chat(run: Run, state: State, extra: Parameters<Announcer["chat"]>[2] = {}): void {
    if (hasListeners?.() === false) return;
    const silent = state === "error" || run.text === "" || run.text.trim() === SILENCE;
    const message = { role: "assistant" as const, content: [{ type: "text", text: run.text }], timestamp: clock.now() };
    for (const form of TEXT_FORMS) {
      if (state === "delta" && form === "deltas") continue;
      const payload = { runId: run.runId, sessionKey: run.sessionKey, seq: run.seq[form], state, ...extra, ...(silent ? {} : { message }) };
      broadcast("chat", payload, { form, replaceable: state === "delta" });
    }
  }

  function agent(run: Run, event: RunEvent): void {
    if (hasListeners?.() === false) return;
    flush(run, event.stream === "lifecycle");
    for (const form of TEXT_FORMS) broadcast("agent", agentEvent(run, form, event, clock.now()), { form });
  }

  /** To connections with a capability or a right of their own; all others miss numbers of the run, not of the connection. */
  function announceTool(run: Run, event: ToolEvent): void {
    flush(run);
    const { runId, sessionKey } = run;
    const seq = { whole: (run.seq.whole += 1), deltas: (run.seq.deltas += 1) };
    const ts = clock.now();
    const sendTo = (connIds: Iterable<string>, verbose: string | undefined): void => {
      const data = shownToolEvent(event, verbose);
      for (const connId of connIds) send?.(connId, "agent", { runId, stream: "tool", data, sessionKey, seq: seq[formOf(connId)], ts });
    };
    const watching = watched?.get(sessionKey)?.connIds;
    sendTo(watching ? run.followers.difference(watching) : run.followers, run.verbose);
    if (watching) sendTo(watching, "full");
  }

  function tool(run: Run, event: ToolEvent): void {
    if (event.phase === "update") return (run.updates ??= createToolUpdates(clock, (update) => announceTool(run, update))).push(event);
    if (event.phase === "result") run.updates?.end(event.toolCallId);
    announceTool(run, event);
  }

  function openText(run: Run, stream: "assistant" | "thinking"): TextStream {
    const { runId, sessionKey } = run;
    return createTextStream({
      piece,
      clock,
      next: (form) => ({ runId, stream, sessionKey, seq: (run.seq[form] += 1), ts: clock.now() }),
      only: stream === "assistant" || run.reasoning === "stream" ? undefined : () => watched?.get(sessionKey)?.connIds ?? new Set(),
      beside: stream === "assistant" ? () => !run.mayBeSilent && (chat(run, "delta"), true) : undefined,
    });
  }

  /** A piece of one text. What waits of the other came before it. */
  function pushText(run: Run, { stream, data }: Extract<RunEvent, { stream: "assistant" | "thinking" }>): void {
    const other = run.texts[stream === "assistant" ? "thinking" : "assistant"];
    if (other?.waiting) other.giveWay();
    (run.texts[stream] ??= openText(run, stream)).push(data.text, data.delta);
  }

  /** Nothing of what the run wrote so far counts: clients that show it are notified now, not with the next piece. */
  function retract(run: Run): void {
    run.mayBeSilent = true;
    run.texts.assistant?.push("", "");
    for (const form of TEXT_FORMS) {
      const data = form === "deltas" ? { delta: "", at: 0 } : { text: "", delta: "" };
      broadcast("agent", agentEvent(run, form, { stream: "assistant", data }, clock.now()), { form });
    }
  }

  function progress(run: Run, event: Exclude<RunEvent, { stream: "lifecycle" }>): void {
    if (event.stream === "assistant") {
      const { text, delta } = event.data;
      if (text === "") return retract(run);
      run.mayBeSilent = (run.mayBeSilent || text.length === delta.length) && SILENCE.startsWith(text.trim());
      // Clients that connect later get the whole text with the next piece.
      if (hasListeners?.() !== false) pushText(run, event);
    } else if (event.stream === "thinking") {
      if (run.reasoning === "stream" || watched?.get(run.sessionKey)?.reasoning) pushText(run, event);
    } else if (event.stream === "tool") tool(run, event.data);
    else if (event.data.phase === "end") {
      const { willRetry = false, notice } = event.data;
      agent(run, { stream: "compaction", data: { phase: "end", willRetry, ...(notice === undefined ? {} : { notice }) } });
    } else agent(run, event);
  }

  return { chat, agent, progress };
}
