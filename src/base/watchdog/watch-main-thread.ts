import { writeSync } from "node:fs";
import { sep } from "node:path";
import { leaveExitNote } from "./exit-note.ts";
import { viewLoop, type LoopLabel, type LoopView } from "./loop-monitor.ts";
import { mainStack, type StackFrame } from "./main-stack.ts";
import { watchStopSignals } from "../runtime-internals.ts";

/** What a thread needs to watch the main one. Crosses threads as it is. */
export interface WatchRequest {
  readonly buffer: SharedArrayBuffer;
  readonly stateDir: string;
  readonly pid: number;
  /** Seconds without a turn of the event loop, counted in ticks of the watching thread: time that the whole process sleeps does not count. */
  readonly warnSeconds: number;
  /** After this many the process is ended; 0 for never. */
  readonly limitSeconds: number;
  /** The same once the process was asked to stop. */
  readonly graceSeconds: number;
}

const TICK_MS = 1000;
/** A tick that comes later than this came after a sleep, or after the watching thread was busy itself: it says nothing about the main thread. */
const LATE_MS = 2500;

/** The code that most likely blocks the main thread. */
export interface Suspect {
  readonly pluginId?: string | undefined;
  readonly what?: string | undefined;
  /** File and line. */
  readonly at?: string | undefined;
}

const formatLocation = ({ file, line }: StackFrame): string => `${file}:${line}`;

/** From the stack, if there is one; else from the last call that has not returned, else from pending calls. */
export function suspectOf(view: LoopView, stack: readonly StackFrame[] | undefined): Suspect {
  const current = view.current();
  const running = view.running();
  const owned = (stack ?? []).flatMap((frame) => {
    const label = view.labels().find(({ rootDir }) => rootDir !== "" && frame.file.startsWith(rootDir.endsWith(sep) ? rootDir : rootDir + sep));
    return label ? [{ frame, pluginId: label.pluginId }] : [];
  })[0];
  const own = stack?.find(({ file }) => file !== "" && !file.startsWith("node:"));
  const pluginId = owned?.pluginId ?? current?.pluginId ?? (stack ? undefined : onlyPlugin(running));
  const at = owned ? formatLocation(owned.frame) : own && formatLocation(own);
  if (pluginId === undefined) return { at };
  const mine = running.filter((label) => label.pluginId === pluginId).map(({ what }) => what);
  const what = current?.pluginId === pluginId ? current.what : mine.length > 0 ? mine.join(" or ") : undefined;
  return { pluginId, what, at };
}

function onlyPlugin(running: readonly LoopLabel[]): string | undefined {
  const ids = new Set(running.map(({ pluginId }) => pluginId));
  return ids.size === 1 ? [...ids][0] : undefined;
}

function blame({ pluginId, what, at }: Suspect): string {
  const place = at === undefined ? "" : ` at ${at}`;
  if (pluginId === undefined) return `no plugin is known to run${place}`;
  return `the plugin ${pluginId} runs${what === undefined ? "" : ` (${what})`}${place}`;
}

/** Result of one tick of the watching thread. */
export type Judgement = { readonly kind: "fine" } | { readonly kind: "warn" | "end"; readonly seconds: number; readonly signal?: string | undefined };

const FINE: Judgement = { kind: "fine" };

/** Counts ticks without a heartbeat of the main thread. Time is passed in; a late tick does not count. */
export function createBlockCounter({ warnSeconds, limitSeconds, graceSeconds }: Omit<WatchRequest, "buffer" | "stateDir" | "pid">) {
  let beat: number | undefined;
  let last: number | undefined;
  let blocked = 0;
  let asked: { readonly signal: string; readonly at: number } | undefined;
  return {
    /** The process was asked to stop. */
    stopAsked(signal: string): void {
      asked ??= { signal, at: blocked };
    },
    /** Once a second; `now` in monotonic milliseconds. */
    tick(now: number, heartbeat: number): Judgement {
      const isLate = last !== undefined && now - last > LATE_MS;
      last = now;
      if (heartbeat !== beat) {
        beat = heartbeat;
        blocked = 0;
        if (asked) asked = { ...asked, at: 0 };
        return FINE;
      }
      if (isLate) return FINE;
      blocked += 1;
      if (asked && blocked - asked.at >= graceSeconds) return { kind: "end", seconds: blocked, signal: asked.signal };
      if (limitSeconds > 0 && blocked >= limitSeconds) return { kind: "end", seconds: blocked };
      return blocked === warnSeconds ? { kind: "warn", seconds: blocked } : FINE;
    },
  };
}

/** Reports what blocks the main thread, and ends the process when that lasts too long, so that a supervisor restarts it. */
export function watchMainThread(request: WatchRequest, log: (message: string, details: Readonly<Record<string, unknown>>) => void): void {
  const { stateDir, pid } = request;
  const view = viewLoop(request.buffer);
  const counter = createBlockCounter(request);
  let ending = false;

  async function warn(seconds: number): Promise<void> {
    const found = suspectOf(view, await mainStack());
    const message = `the gateway has not answered anything for ${seconds} s: ${blame(found)}`;
    say(message);
    // Written when the main thread runs again.
    log(message, { ...found });
  }

  async function end(seconds: number, signal: string | undefined): Promise<void> {
    ending = true;
    const found = suspectOf(view, await mainStack());
    const why = signal === undefined ? "" : ` and was asked to stop (${signal})`;
    const message = `the gateway was ended because it had not answered anything for ${seconds} s${why}: ${blame(found)}`;
    say(message);
    leaveExitNote(stateDir, { at: Date.now(), pid, message, pluginId: found.pluginId, what: found.what });
    process.kill(process.pid, "SIGKILL");
  }

  function tick(): void {
    const judged = counter.tick(performance.now(), view.heartbeat());
    if (judged.kind === "fine" || ending) return;
    if (judged.kind === "warn") void warn(judged.seconds);
    else void end(judged.seconds, judged.signal);
  }

  watchStopSignals(counter.stopAsked);
  setInterval(tick, TICK_MS).unref();
}

function say(line: string): void {
  try {
    writeSync(2, `${line}\n`);
  } catch {
    // Stderr is closed.
  }
}
