import { contentText, resultText, type Entry } from "./entry.ts";
import type { TuiEvent } from "./event.ts";
import { reading } from "./session.ts";
import { and, only, type Next, type Run, type Segment, type Sent, type State } from "./state.ts";

type AgentEvent = Extract<TuiEvent, { type: "agent" }>["payload"];
type ChatEvent = Extract<TuiEvent, { type: "chat" }>["payload"];
type ToolData = Extract<AgentEvent, { stream: "tool" }>["data"];

/** Changes a run, which begins with the first that is heard of it. A run that is heard of again has not ended. */
function withRun(state: State, runId: string, at: number, change: (run: Run) => Run): State {
  const known = state.runs.find((run) => run.runId === runId);
  if (known?.outcome) return state;
  const fresh: Run = { runId, startedAt: at, segments: [] };
  const changed = change(known ? { ...known, ended: undefined } : fresh);
  return { ...state, runs: known ? state.runs.map((run) => (run === known ? changed : run)) : [...state.runs, changed] };
}

/** Text of one answer comes whole each time; after a tool another answer begins. */
function withText(run: Run, kind: "text" | "thinking", text: string): Run {
  const before = run.segments.at(-1)?.kind === kind ? run.segments.slice(0, -1) : run.segments;
  return { ...run, segments: [...before, { kind, text }] };
}

function withTool(run: Run, data: ToolData, ts: number): Run {
  const index = run.segments.findIndex((segment) => segment.kind === "tool" && segment.id === data.toolCallId);
  const known = run.segments[index];
  const before: Extract<Segment, { kind: "tool" }> =
    known?.kind === "tool" ? known : { kind: "tool", id: data.toolCallId, name: data.name, args: undefined, output: "", status: "running", startedAt: ts };
  const tool = toolAfter(before, data, ts);
  return { ...run, segments: index < 0 ? [...run.segments, tool] : run.segments.with(index, tool) };
}

function toolAfter(before: Extract<Segment, { kind: "tool" }>, data: ToolData, ts: number): Segment {
  if (data.phase === "start") return { ...before, args: data.args };
  if (data.phase === "update") return data.partialResult === undefined ? before : { ...before, output: resultText(data.partialResult) };
  const output = data.result === undefined ? before.output : resultText(data.result);
  return { ...before, output, status: data.isError ? "failed" : "done", endedAt: ts };
}

/** What happens inside a run. */
export function agentCame(state: State, payload: AgentEvent): Next {
  const { runId, sessionKey, ts } = payload;
  if (sessionKey !== undefined && sessionKey !== state.sessionKey) return only(state);
  if (payload.stream === "error") return reading(state);
  return only(
    withRun(state, runId, ts, (run) => {
      if (payload.stream === "assistant") return withText(run, "text", payload.data.text);
      if (payload.stream === "thinking") return withText(run, "thinking", payload.data.text);
      if (payload.stream === "tool") return withTool(run, payload.data, ts);
      if (payload.stream === "compaction") return { ...run, compacting: payload.data.phase === "start" };
      return payload.data.phase === "start" ? { ...run, startedAt: payload.data.startedAt } : run;
    }),
  );
}

function ended(run: Run, kind: Exclude<ChatEvent["state"], "delta">, { message, errorMessage }: ChatEvent, reads: number): Run {
  const text = contentText(message?.content);
  const isShown = text === "" || run.segments.some((segment) => segment.kind === "text" && segment.text === text);
  const segments = isShown ? run.segments : withText(run, "text", text).segments;
  return { ...run, segments, outcome: { kind, text: errorMessage }, ended: reads };
}

const isCommand = ({ text }: Sent): boolean => /^\s*\//.test(text);

/** A chat event of a run. At its end the history is read, which then has all of it. */
export function chatCame(state: State, payload: ChatEvent): Next {
  const { runId, sessionKey, state: kind, message } = payload;
  const own = state.sent.find((sent) => sent.runId === runId);
  if (sessionKey !== state.sessionKey) {
    // A message of a session that was left: it is through.
    return only(own && kind !== "delta" ? { ...state, sent: state.sent.filter((sent) => sent !== own) } : state);
  }
  const at = message?.timestamp ?? own?.at ?? 0;
  if (kind === "delta") return only(withRun(state, runId, at, (run) => withText(run, "text", contentText(message?.content))));
  const silent = kind === "final" && message === undefined;
  const next = withRun(state, runId, at, (run) => ended(run, kind, payload, state.reads));
  // A run without text, as when a message waits for another run: only the history shows that it is done.
  const through = !silent || own === undefined || isCommand(own);
  const sent = next.sent.map((one) => (one === own ? { ...one, state: "accepted" as const, ...(through ? { ended: state.reads } : {}) } : one));
  const { state: read, effects } = reading({ ...next, sent, aborting: false });
  return and(read, ...effects, { kind: "facts", sessionKey });
}

/** What the history has of a run is not shown twice. */
function trimmed(run: Run, entries: readonly Entry[]): Run {
  const calls = new Map(entries.flatMap((entry) => (entry.kind === "tool" ? [[entry.id, entry] as const] : [])));
  const lastCall = run.segments.findLastIndex((segment) => segment.kind === "tool" && calls.has(segment.id));
  const newest = entries.findLast((entry) => entry.kind === "assistant");
  const segments = run.segments.filter((segment, index) => {
    if (segment.kind === "tool") return calls.get(segment.id)?.output === undefined;
    if (index < lastCall) return false;
    return !(segment.kind === "text" && newest?.text === segment.text && newest.at >= run.startedAt);
  });
  return segments.length === run.segments.length ? run : { ...run, segments };
}

const composed = (text: string): string => text.normalize("NFC").trim();

/** The entry that a sent message became: by its run, else by its text. Several messages that waited may have become one. */
function entryFor(sent: Sent, entries: readonly Entry[], after: number): Extract<Entry, { kind: "user" }> | undefined {
  const text = composed(sent.text);
  const users = entries.filter((entry) => entry.kind === "user");
  const own = users.find(({ runId }) => runId === sent.runId);
  if (own) return own;
  const newer = users.filter(({ at }) => at > after);
  const same = newer.find((entry) => entry.runId === undefined && composed(entry.text) === text);
  return same ?? newer.find((entry) => text !== "" && entry.text.length > text.length && entry.text.includes(text));
}

/** Sent messages that the history does not have yet. An entry is used for one of them only. */
function unread(state: State, entries: readonly Entry[], read: number): readonly Sent[] {
  let after = 0;
  return state.sent.flatMap((sent) => {
    if (sent.sessionKey !== state.sessionKey || sent.state === "failed") return [sent];
    const since = Math.max(after, sent.after);
    const entry = entryFor(sent, entries, since);
    if (entry) {
      // One entry may stand for several messages, as long as it contains more than this one.
      if (composed(entry.text) === composed(sent.text)) after = Math.max(after, entry.at);
      return [];
    }
    if (sent.ended !== undefined && read > sent.ended) return [];
    return [since === sent.after ? sent : { ...sent, after: since }];
  });
}

/** The history came: it replaces what was shown, and local messages are added to it. */
export function historyCame(state: State, event: Extract<TuiEvent, { type: "history" }>): State {
  const { sessionKey, read, entries } = event;
  if (sessionKey !== state.sessionKey || read <= state.read) return state;
  const kept = state.runs.filter((run) => run.ended === undefined || read <= run.ended).map((run) => trimmed(run, entries));
  const others = event.runs
    .filter(({ runId }) => !kept.some((run) => run.runId === runId))
    .map(({ runId, startedAt, text = "" }): Run => ({ runId, startedAt, segments: text === "" ? [] : [{ kind: "text", text }] }));
  return { ...state, read, history: entries, sent: unread(state, entries, read), runs: [...kept, ...others] };
}

/** The connection is new: what is still under way has to show itself again. */
export function doubted(state: State): State {
  return { ...state, runs: state.runs.map((run) => ({ ...run, ended: state.reads })) };
}
