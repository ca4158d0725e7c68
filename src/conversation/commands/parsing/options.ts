/** `key=value` and `key:value` words behind `/exec` and `/queue`. */
import type { QueueMode } from "../../../sessions/index.ts";
import { readQueueDrop, readQueueMode } from "./levels.ts";

export interface ExecChange {
  readonly execHost?: string;
  readonly execSecurity?: string;
  readonly execAsk?: string;
  readonly execNode?: string;
}

export interface QueueChange {
  readonly queueMode?: QueueMode;
  /** Milliseconds. */
  readonly queueDebounceMs?: number;
  readonly queueCap?: number;
  readonly queueDrop?: "old" | "new" | "summarize";
}

/** What was understood, and words whose key is known but whose value is none. */
export interface ReadOptions<T> {
  readonly change: T;
  readonly wrong: readonly string[];
  /** Go back to what the configuration says. */
  readonly reset: boolean;
  /** Where the first word begins that is not one of these. */
  readonly end: number;
}

const EXEC: Readonly<Record<string, { readonly field: keyof ExecChange; readonly values?: readonly string[] }>> = {
  host: { field: "execHost", values: ["sandbox", "gateway", "node"] },
  security: { field: "execSecurity", values: ["deny", "allowlist", "full"] },
  ask: { field: "execAsk", values: ["off", "on-miss", "always"] },
  node: { field: "execNode" },
};

const WORD = /\s*(\S{1,256})(?=\s|$)/y;
const PAIR = /^([a-z]+)[=:](.+)$/is;

type Understood = { readonly field?: string; readonly value?: unknown; readonly wrong?: true; readonly reset?: true } | undefined;

function read<T>(text: string, from: number, understand: (word: string) => Understood): ReadOptions<T> {
  const change: Record<string, unknown> = {};
  const wrong: string[] = [];
  let reset = false;
  let end = from;
  for (;;) {
    WORD.lastIndex = end;
    const [whole = "", word = ""] = WORD.exec(text) ?? [];
    const found = word === "" ? undefined : understand(word);
    if (!found) return { change: change as T, wrong, reset, end };
    end += whole.length;
    if (found.wrong) wrong.push(word);
    else if (found.reset) reset = true;
    else if (found.field !== undefined) change[found.field] = found.value;
  }
}

export function readExec(text: string, from: number): ReadOptions<ExecChange> {
  return read(text, from, (word) => {
    const [, key = "", value = ""] = PAIR.exec(word) ?? [];
    const known = Object.hasOwn(EXEC, key.toLowerCase()) ? EXEC[key.toLowerCase()] : undefined;
    if (!known) return undefined;
    if (!known.values) return { field: known.field, value };
    return known.values.includes(value.toLowerCase()) ? { field: known.field, value: value.toLowerCase() } : { wrong: true };
  });
}

export function readQueue(text: string, from: number): ReadOptions<QueueChange> {
  return read(text, from, (word) => {
    const plain = word.toLowerCase();
    if (plain === "default" || plain === "reset" || plain === "clear") return { reset: true };
    const mode = readQueueMode(plain);
    if (mode) return { field: "queueMode", value: mode };
    const [, key, value = ""] = PAIR.exec(plain) ?? [];
    if (key === "debounce") return numbered("queueDebounceMs", milliseconds(value));
    if (key === "cap") return numbered("queueCap", /^[1-9]\d{0,5}$/.test(value) ? Number(value) : undefined);
    if (key !== "drop") return undefined;
    const drop = readQueueDrop(value);
    return drop ? { field: "queueDrop", value: drop } : { wrong: true };
  });
}

const numbered = (field: string, value: number | undefined): Understood => (value === undefined ? { wrong: true } : { field, value });

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };
const LONGEST_MS = 24 * 3_600_000;

/** `500`, `500ms`, `2s`, `1.5m`. */
function milliseconds(text: string): number | undefined {
  const [, amount, unit = "ms"] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m)?$/.exec(text) ?? [];
  const value = amount === undefined ? Number.NaN : Math.round(Number(amount) * (UNITS[unit] ?? Number.NaN));
  return value <= LONGEST_MS ? value : undefined;
}
