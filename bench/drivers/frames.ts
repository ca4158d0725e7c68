/** What the browser's main thread did in each frame, from a trace. */

/** An event as Chromium writes it; times in microseconds that the thread was running: what else the machine does is not the page's. */
interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly tts?: number;
  readonly tdur?: number;
  readonly pid: number;
  readonly tid: number;
  readonly args?: { readonly name?: string };
}

/** Categories that have to be recorded. */
export const FRAME_CATEGORIES = ["devtools.timeline", "disabled-by-default-devtools.timeline", "devtools.timeline.frame", "v8", "__metadata"];

const SCRIPT = /^(?:FunctionCall|EvaluateScript|RunMicrotasks|FireAnimationFrame|TimerFire|EventDispatch|WebSocketReceive|MinorGC|MajorGC|v8\.callFunction)$/;

export interface MainThread {
  /** Milliseconds of script in each frame. Work between two frames counts for the later one. */
  readonly frames: readonly number[];
  /** Milliseconds of each task, from script to layout and paint: as long as one lasts the page answers nothing. */
  readonly tasks: readonly number[];
}

/** What the page did that did most. */
export function readTrace(trace: Buffer): MainThread {
  const { traceEvents } = JSON.parse(trace.toString("utf8")) as { readonly traceEvents: readonly TraceEvent[] };
  const mains = traceEvents.filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain");
  const perThread = mains.map(({ pid, tid }) => {
    const events = traceEvents.filter((event) => event.pid === pid && event.tid === tid);
    return { frames: framesOf(events), tasks: tasksOf(events) };
  });
  const total = ({ tasks }: MainThread): number => tasks.reduce((sum, ms) => sum + ms, 0);
  return perThread.sort((a, b) => total(b) - total(a))[0] ?? { frames: [], tasks: [] };
}

const tasksOf = (events: readonly TraceEvent[]): readonly number[] =>
  events.filter(({ name, ph }) => name === "RunTask" && ph === "X").map(({ tdur = 0 }) => tdur / 1000);

function framesOf(events: readonly TraceEvent[]): readonly number[] {
  const timed = events.map((event) => ({ ...event, at: event.tts ?? 0, took: event.tdur ?? 0 })).sort((a, b) => a.at - b.at);
  const ends = timed.filter(({ name }) => name === "BeginCommitCompositorFrame").map(({ at }) => at);
  const frames = ends.map(() => 0);
  let until = 0;
  let frame = 0;
  for (const { at, took } of timed.filter(({ name, ph }) => ph === "X" && SCRIPT.test(name))) {
    const from = Math.max(at, until);
    const to = at + took;
    if (to <= from) continue;
    until = to;
    while (frame < ends.length && ends[frame]! < from) frame += 1;
    if (frame < ends.length) frames[frame]! += (to - from) / 1000;
  }
  return frames;
}
