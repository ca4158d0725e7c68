import type { Clock } from "../../../src/base/clock.ts";
import { Refusal } from "./objects.ts";

/** What goes wrong with calls of a method. */
export interface Fault {
  readonly status?: number;
  /** Instead of the usual error object. */
  readonly body?: unknown;
  /** With `status`: the call has its effect all the same. */
  readonly applied?: true;
  /** With `status`, without `body`. */
  readonly description?: string;
  /** 429 with this many seconds. */
  readonly retryAfter?: number;
  readonly delayMs?: number;
  /** The connection is reset before the call had an effect, or after it. */
  readonly drop?: "before" | "after";
  /** The connection stays open and nothing comes: without an effect, or after it. */
  readonly silent?: "before" | "after";
  /** How often. Default once. */
  readonly times?: number;
  /** Only calls that this fits. */
  readonly when?: (params: Readonly<Record<string, unknown>>) => boolean;
}

export interface Faults {
  /** Of `*`: any method. */
  add(method: string, fault: Fault): void;
  take(method: string, params: Readonly<Record<string, unknown>>): Fault | undefined;
  clear(): void;
}

export function createFaults(): Faults {
  let waiting: { readonly method: string; readonly fault: Fault; left: number }[] = [];
  return {
    add: (method, fault) => void waiting.push({ method: method.toLowerCase(), fault, left: fault.times ?? 1 }),
    take(method, params) {
      const found = waiting.find((one) => (one.method === "*" || one.method === method.toLowerCase()) && (one.fault.when?.(params) ?? true));
      if (!found) return undefined;
      found.left -= 1;
      if (found.left <= 0) waiting = waiting.filter((one) => one !== found);
      return found.fault;
    },
    clear() {
      waiting = [];
    },
  };
}

/** How many messages a chat may get in how much time. */
export interface Rate {
  readonly messages: number;
  readonly perMs: number;
}

export interface FloodGate {
  limit(rate: Rate | undefined): void;
  /** Counts a message, or refuses it with the time to wait. */
  pass(chatId: string): void;
}

export function createFloodGate(clock: Clock): FloodGate {
  let rate: Rate | undefined;
  const sent = new Map<string, number[]>();
  return {
    limit(next) {
      rate = next;
      sent.clear();
    },
    pass(chatId) {
      if (!rate) return;
      const { messages, perMs } = rate;
      const now = clock.now();
      const recent = (sent.get(chatId) ?? []).filter((at) => at > now - perMs);
      if (recent.length >= messages) {
        const wait = Math.max(1, Math.ceil((recent[0]! + perMs - now) / 1000));
        throw new Refusal(429, `Too Many Requests: retry after ${wait}`, { retry_after: wait });
      }
      sent.set(chatId, [...recent, now]);
    },
  };
}
