import type { Clock } from "../base/clock.ts";
import type { MethodResult } from "../protocol/index.ts";
import type { Store } from "../store/index.ts";
import type { GatewayRun, StateChange, StateLog } from "./state-log.ts";

export type History = MethodResult<"overview.history">;
type Part = History["parts"][number];
type Span = Part["spans"][number];

const HOUR = 3_600_000;
/** An answer is given again for this long. */
const GOOD_FOR_MS = 5000;
/** Failures of calls and jobs are drawn in pieces of a step. */
const PIECES = 4;

export interface HistoryDeps {
  readonly store: Pick<Store, "read">;
  readonly clock: Pick<Clock, "now">;
  readonly states: Pick<StateLog, "read">;
  /** For so long messages are stored. */
  readonly keptMs: () => number;
}

interface Window {
  readonly from: number;
  readonly to: number;
}

const stepOf = (hours: number): number => (hours <= 48 ? HOUR : hours <= 168 ? 6 * HOUR : 24 * HOUR);

/** The part of a span inside of the window; nothing when it is outside. */
function within({ from, to, state }: Span, window: Window): readonly Span[] {
  const cut = { from: Math.max(from, window.from), to: Math.min(to, window.to), state };
  return cut.to > cut.from ? [cut] : [];
}

/** One after the other with the same state are one. */
function joined(spans: readonly Span[]): Span[] {
  const all: Span[] = [];
  for (const span of spans) {
    const last = all.at(-1);
    if (last?.state === span.state && last.to === span.from) all[all.length - 1] = { ...last, to: span.to };
    else all.push(span);
  }
  return all;
}

/** When the gateway ran, and between that when it was stopped, or when nobody knows. */
export function gatewaySpans(runs: readonly GatewayRun[], window: Window): readonly Span[] {
  const spans = runs.flatMap(({ from, to = window.to, clean }, at): Span[] => {
    const next = runs[at + 1];
    return [{ from, to, state: "ok" }, ...(next ? [{ from: to, to: next.from, state: clean === false ? ("unknown" as const) : ("down" as const) }] : [])];
  });
  return joined(spans.flatMap((span) => within(span, window)));
}

/** States of a part while the gateway ran; what it did before its first report in a run is not known. */
export function partSpans(changes: readonly StateChange[], runs: readonly GatewayRun[], window: Window): readonly Span[] {
  const spans = runs.flatMap(({ from, to = window.to }): Span[] => {
    const here = changes.filter(([at]) => at >= from && at < to);
    return here.map(([at, state], index) => ({ from: at, to: here[index + 1]?.[0] ?? to, state }));
  });
  return joined(spans.flatMap((span) => within(span, window)));
}

interface Outcome {
  readonly from: number;
  readonly all: number;
  readonly failed: number;
}

/** Good while the gateway ran, but where calls or jobs failed: some of them, or all. */
export function outcomeSpans(outcomes: readonly Outcome[], runs: readonly GatewayRun[], pieceMs: number, window: Window): readonly Span[] {
  const bad = outcomes
    .filter(({ failed }) => failed > 0)
    .map(({ from, all, failed }): Span => ({ from, to: Math.min(from + pieceMs, window.to), state: failed < all ? "slow" : "down" }));
  const spans: Span[] = [];
  for (const { from, to, state } of gatewaySpans(runs, window)) {
    if (state !== "ok") continue;
    let at = from;
    for (const piece of bad.flatMap((one) => within(one, { from, to }))) {
      if (piece.from > at) spans.push({ from: at, to: piece.from, state });
      spans.push(piece);
      at = piece.to;
    }
    if (to > at) spans.push({ from: at, to, state });
  }
  return joined(spans);
}

async function messagesOf({ store, keptMs }: HistoryDeps, { from, to }: Window, stepMs: number): Promise<History["messages"]> {
  // Messages that ended are deleted after their retention: steps before that would show nothing where there was something.
  const kept = from + Math.max(0, Math.ceil((to - keptMs() - from) / stepMs)) * stepMs;
  const arrivals = await store.read("inbox.arrivals", { since: kept, stepMs });
  const steps = Math.floor((to - kept) / stepMs) + 1;
  const channels = new Map<string, number[]>();
  for (const { from: at, channel, count } of arrivals) {
    const counts = channels.get(channel) ?? Array.from({ length: steps }, () => 0);
    const step = (at - kept) / stepMs;
    // What came while this was read belongs to the next answer.
    if (step < steps) counts[step] = (counts[step] ?? 0) + count;
    channels.set(channel, counts);
  }
  const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);
  return {
    from: kept,
    total: sum(arrivals.map(({ count }) => count)),
    answered: sum(arrivals.map(({ answered }) => answered)),
    failed: sum(arrivals.map(({ failed }) => failed)),
    channels: [...channels].map(([channel, counts]) => ({ channel, counts })).sort((a, b) => sum(b.counts) - sum(a.counts)),
  };
}

/** How the parts of the gateway did, and how many messages came, from what is on disk. Read only when asked. */
export function createHistory(deps: HistoryDeps): (hours: number) => Promise<History> {
  const { store, clock, states } = deps;
  const known = new Map<number, { readonly at: number; readonly history: Promise<History> }>();

  async function look(hours: number, to: number): Promise<History> {
    const stepMs = stepOf(hours);
    const steps = Math.ceil((hours * HOUR) / stepMs);
    // The last step is the present one.
    const window = { from: (Math.floor(to / stepMs) - steps + 1) * stepMs, to };
    const pieceMs = stepMs / PIECES;
    const since = { since: window.from, stepMs: pieceMs };
    const [{ runs, parts }, calls, jobs, messages] = await Promise.all([
      states.read(),
      store.read("usage.outcomes", since),
      store.read("cron.slot.outcomes", since),
      messagesOf(deps, window, stepMs),
    ]);
    const modelCalls = calls.map(({ from, calls: all, failed }) => ({ from, all, failed }));
    const jobRuns = jobs.map(({ from, runs: all, failed }) => ({ from, all, failed }));
    const channels = Object.entries(parts).map(([id, changes]): Part => ({ id, kind: "channel", spans: [...partSpans(changes, runs, window)] }));
    return {
      ...window,
      stepMs,
      parts: [
        { id: "gateway", kind: "gateway", spans: [...gatewaySpans(runs, window)] },
        { id: "models", kind: "models", spans: [...outcomeSpans(modelCalls, runs, pieceMs, window)] },
        ...channels.filter(({ spans }) => spans.length > 0),
        ...(jobs.length === 0 ? [] : [{ id: "automation", kind: "automation" as const, spans: [...outcomeSpans(jobRuns, runs, pieceMs, window)] }]),
      ],
      messages,
    };
  }

  return (hours) => {
    const now = clock.now();
    const before = known.get(hours);
    if (before && now - before.at < GOOD_FOR_MS) return before.history;
    const history = look(hours, now);
    known.set(hours, { at: now, history });
    history.catch(() => known.delete(hours));
    return history;
  };
}
