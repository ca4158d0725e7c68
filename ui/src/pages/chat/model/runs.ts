import type { EventPayload } from "openclaw/client";
import type { PageAnswer } from "./entries.ts";
import { answeredBy, callIds, isEntryOf, resultIds, saidIn } from "./said.ts";
import type { ChatEntry, RunPart, RunView, ToolView } from "./state.ts";

type AgentEvent = EventPayload<"agent">;
type ToolEvent = Extract<AgentEvent, { readonly stream: "tool" }>["data"];
type ShownRun = PageAnswer["runs"][number];
type Said = Extract<RunPart, { readonly kind: "said" }>;

/** A run with when something was last heard of it, counted in things that came over the wire. */
export interface LiveRun extends RunView {
  readonly heard: number;
}

/** The most runs to keep that ended and whose end is shown nowhere else. */
const MOST_LEFT = 20;

const isSaid = (part: RunPart | undefined): part is Said => part?.kind === "said";

/** A run with its short forms made again from its parts. */
function composed(run: LiveRun, parts: readonly RunPart[], extra: Partial<LiveRun> = {}): LiveRun {
  const last = parts.at(-1);
  const tools = parts.flatMap((part) => (part.kind === "tool" ? [part.tool] : []));
  return { ...run, ...extra, parts, tools, text: isSaid(last) ? last.text : "", thinking: isSaid(last) ? last.thinking : "" };
}

function newRun(runId: string, startedAt: number, heard: number): LiveRun {
  return { runId, startedAt, text: "", thinking: "", tools: [], parts: [], compacting: false, heard };
}

/** With the last thing it says as it is now. Texts are cumulative; one that does not continue what is there starts over. */
function saying(run: LiveRun, field: "text" | "thinking", now: string): LiveRun {
  const last = run.parts.at(-1);
  if (!isSaid(last)) return composed(run, [...run.parts, { kind: "said", text: "", thinking: "", [field]: now }]);
  const goesOn = now.startsWith(last[field]);
  if (!goesOn && field === "thinking" && last.text !== "") return composed(run, [...run.parts, { kind: "said", text: "", thinking: now }]);
  const next: Said = { ...last, [field]: now };
  return composed(run, [...run.parts.slice(0, -1), next]);
}

function toolAfter(known: ToolView | undefined, data: ToolEvent, at: number): ToolView {
  const { name, toolCallId } = data;
  const tool: ToolView = known ?? { toolCallId, name, args: undefined, result: undefined, state: "running", startedAt: undefined };
  if (data.phase === "start") return { ...tool, args: data.args, startedAt: at };
  if (data.phase === "update") return { ...tool, result: data.partialResult ?? tool.result };
  return { ...tool, result: data.result ?? tool.result, state: data.isError ? "failed" : "done", endedAt: at };
}

function withTool(run: LiveRun, data: ToolEvent, at: number): LiveRun {
  const place = run.parts.findIndex((part) => part.kind === "tool" && part.tool.toolCallId === data.toolCallId);
  const known = run.parts[place];
  const part: RunPart = { kind: "tool", tool: toolAfter(known?.kind === "tool" ? known.tool : undefined, data, at) };
  return composed(run, place < 0 ? [...run.parts, part] : run.parts.with(place, part));
}

function afterEvent(run: LiveRun, event: AgentEvent): LiveRun {
  if (event.stream === "assistant") return saying(run, "text", event.data.text);
  if (event.stream === "thinking") return saying(run, "thinking", event.data.text);
  if (event.stream === "tool") return withTool(run, event.data, event.ts);
  if (event.stream === "compaction") return { ...run, compacting: event.data.phase === "start" };
  if (event.stream !== "lifecycle") return run;
  const { data } = event;
  if (data.phase === "start") return { ...run, startedAt: data.startedAt };
  if (data.phase === "error") return { ...run, compacting: false, ended: { how: "error", error: data.error } };
  return { ...run, compacting: false, ended: { how: data.aborted ? "aborted" : "final" } };
}

function changed(runs: readonly LiveRun[], runId: string, heard: number, at: number, change: (run: LiveRun) => LiveRun): readonly LiveRun[] {
  const place = runs.findIndex((run) => run.runId === runId);
  const known = runs[place];
  if (known?.ended) return runs;
  const next = { ...change(known ?? newRun(runId, at, heard)), heard };
  return place < 0 ? [...runs, next] : runs.with(place, next);
}

/** What happens inside a run. After its end nothing is taken. */
export function afterAgent(runs: readonly LiveRun[], event: AgentEvent, heard: number): readonly LiveRun[] {
  return changed(runs, event.runId, heard, event.ts, (run) => afterEvent(run, event));
}

/** What a run says in the conversation. Its end counts; its text only for a run that was not heard of, whose beginning was missed. */
export function afterChat(runs: readonly LiveRun[], event: EventPayload<"chat">, heard: number, now: number): readonly LiveRun[] {
  const { runId, state, message, errorMessage } = event;
  const known = runs.some((run) => run.runId === runId);
  if (known ? state === "delta" : state === "final" || state === "aborted") return runs;
  return changed(runs, runId, heard, message?.timestamp ?? now, (run) => {
    if (state === "delta") return saying(run, "text", saidIn(message?.content));
    return { ...run, compacting: false, ended: { how: state, error: errorMessage } };
  });
}

/** Without what the transcript has: calls that are in it, and what was said before them or stands there word for word. */
function withoutWritten(run: LiveRun, entries: readonly ChatEntry[]): LiveRun {
  const calls = callIds(entries);
  const results = resultIds(entries);
  const isWritten = (part: RunPart): boolean => part.kind === "tool" && calls.has(part.tool.toolCallId);
  const lastCall = run.parts.findLastIndex(isWritten);
  const parts = run.parts.filter((part, at) => {
    if (part.kind === "tool") return !results.has(part.tool.toolCallId);
    return at > lastCall && !(part.text !== "" && answeredBy(entries, run, part.text));
  });
  return parts.length === run.parts.length ? run : composed(run, parts);
}

/** The last text as a page has it, combined with what events reported. */
function withShown(run: LiveRun, shown: ShownRun, entries: readonly ChatEntry[], heardSince: boolean): LiveRun {
  let next = run;
  for (const { toolCallId, name, partialResult } of shown.tools ?? []) {
    if (next.tools.some((tool) => tool.toolCallId === toolCallId)) continue;
    next = withTool(next, { phase: "update", name, toolCallId, partialResult }, shown.startedAt);
  }
  for (const field of ["thinking", "text"] as const) {
    const now = shown[field] ?? "";
    const held = next[field];
    if (now === "" || held.startsWith(now) || (field === "text" && answeredBy(entries, run, now))) continue;
    if (now.startsWith(held) || !heardSince) next = saying(next, field, now);
  }
  return next;
}

/** Whether a run that ended still has something to show that the transcript does not tell. */
function isLeft(run: LiveRun, entries: readonly ChatEntry[]): boolean {
  const own = entries.filter((entry) => isEntryOf(entry, run));
  if (run.ended?.how === "error") return !own.some(({ error, stopReason }) => error !== undefined || stopReason === "error");
  if (run.parts.length === 0) return false;
  return !own.some((entry) => entry.kind === "assistant" && entry.runId === run.runId && callIds([entry]).size === 0);
}

/** Runs after a page that was asked for at `asked` and shows the newest entries. */
export function afterPage(
  runs: readonly LiveRun[],
  page: Pick<PageAnswer, "runs">,
  { entries, asked, last }: { readonly entries: readonly ChatEntry[]; readonly asked: number; readonly last: number },
): readonly LiveRun[] {
  const recent = entries.slice(-400);
  const shown = new Map(page.runs.map((run) => [run.runId, run]));
  const kept = runs.flatMap((run): LiveRun[] => {
    const listed = shown.get(run.runId);
    const heardSince = run.heard > asked;
    const rest = withoutWritten(run, recent);
    if (run.ended) {
      if (heardSince || run.after !== undefined) return [rest];
      return isLeft(rest, recent) ? [{ ...rest, after: last }] : [];
    }
    if (!listed) return heardSince ? [rest] : [];
    return [withShown(rest, listed, recent, heardSince)];
  });
  const known = new Set(runs.map(({ runId }) => runId));
  const found = page.runs.filter(({ runId }) => !known.has(runId)).map((run) => withShown(newRun(run.runId, run.startedAt, asked), run, recent, false));
  const left = kept.filter(({ after }) => after !== undefined);
  const spare = new Set(left.slice(0, Math.max(0, left.length - MOST_LEFT)));
  return [...kept.filter((run) => !spare.has(run)), ...found];
}
