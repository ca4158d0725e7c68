/** What the main thread writes down about itself, for a thread that watches it. */

/** Cells of the shared buffer, as 32-bit numbers. */
export const HEARTBEAT = 0;
/** Label of the plugin code that runs right now; 0 for none. */
export const CURRENT = 1;
const USED = 2;
/** From here on: how many calls of each label have not ended. */
export const RUNNING = 3;

const MOST_LABELS = 512;
const LABEL_BYTES = 384;
const LONGEST_WHAT = 80;
const TEXTS = (RUNNING + MOST_LABELS) * 4;
const BEAT_MS = 1000;

/** Code that can hold up the main thread. */
export interface LoopLabel {
  readonly pluginId: string;
  /** `hook before_tool_call`, `tool work`, … */
  readonly what: string;
  /** The folder of the plugin's code. */
  readonly rootDir: string;
}

/** Notes what the main thread does. A note costs a few writes to memory. Disposing stops the heartbeat. */
export interface LoopMonitor extends Disposable {
  /** For the thread that watches. */
  readonly buffer: SharedArrayBuffer;
  readonly cells: Int32Array;
  /** The number of a label; 0 when there are too many. The same label has the same number. */
  label(label: LoopLabel): number;
}

export function createLoopMonitor(): LoopMonitor {
  const buffer = new SharedArrayBuffer(TEXTS + MOST_LABELS * LABEL_BYTES);
  const cells = new Int32Array(buffer, 0, RUNNING + MOST_LABELS);
  const bytes = new Uint8Array(buffer);
  const known = new Map<string, number>();
  const beating = setInterval(() => void Atomics.add(cells, HEARTBEAT, 1), BEAT_MS);
  beating.unref();
  return {
    buffer,
    cells,
    label({ pluginId, what, rootDir }) {
      const text = [pluginId, what.slice(0, LONGEST_WHAT), rootDir].join("\0");
      const found = known.get(text);
      if (found !== undefined) return found;
      const number = known.size + 1;
      if (number >= MOST_LABELS) return 0;
      known.set(text, number);
      bytes.set(Buffer.from(text, "utf8").subarray(0, LABEL_BYTES), TEXTS + number * LABEL_BYTES);
      Atomics.store(cells, USED, number);
      return number;
    },
    [Symbol.dispose]: () => clearInterval(beating),
  };
}

/** What the thread that watches sees. */
export interface LoopView {
  /** Changes about every second while the main thread's event loop turns. */
  heartbeat(): number;
  /** The plugin code that was called and has not returned. */
  current(): LoopLabel | undefined;
  /** Calls that have not ended: their code may run whenever what they wait for comes. */
  running(): readonly LoopLabel[];
  /** Everything that was ever labelled. */
  labels(): readonly LoopLabel[];
}

export function viewLoop(buffer: SharedArrayBuffer): LoopView {
  const cells = new Int32Array(buffer, 0, RUNNING + MOST_LABELS);
  const read = (number: number): LoopLabel => {
    const from = TEXTS + number * LABEL_BYTES;
    const text = Buffer.from(buffer.slice(from, from + LABEL_BYTES)).toString("utf8");
    const [pluginId = "", what = "", rootDir = ""] = text.split("\0");
    return { pluginId, what, rootDir };
  };
  const numbers = (): number[] => Array.from({ length: Atomics.load(cells, USED) }, (_, at) => at + 1);
  return {
    heartbeat: () => Atomics.load(cells, HEARTBEAT),
    current: () => (Atomics.load(cells, CURRENT) > 0 ? read(Atomics.load(cells, CURRENT)) : undefined),
    running: () => numbers().flatMap((number) => (Atomics.load(cells, RUNNING + number) > 0 ? [read(number)] : [])),
    labels: () => numbers().map(read),
  };
}
