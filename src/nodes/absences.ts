/** Nodes that went away: when, and what the sessions that used them are notified of. */
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/log/logger.ts";
import { isRecord } from "../base/records.ts";
import type { Store } from "../store/index.ts";

export interface AbsencesDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Queues a line for a session's next turn, on disk. It starts no turn. */
  readonly queueLine: (event: { readonly text: string; readonly sessionKey: string }) => Promise<unknown>;
  readonly isConnected: (nodeId: string) => boolean;
}

export interface Absences {
  /** A session used a node. */
  used(nodeId: string, sessionKey: string): void;
  gone(nodeId: string): void;
  /** When nodes that are away disconnected, as far as this gateway saw it. */
  times(): Promise<Readonly<Record<string, number>>>;
}

const TIMES = "nodes.away";
const MOST_NODES = 1000;
const MOST_SESSIONS = 20;
/** A node that is back by then only lost its connection. */
const GRACE_MS = 60_000;
/** Sessions that used the node longer ago do not count on it. */
const USED_MS = 24 * 60 * 60_000;

const isTime = (entry: readonly [string, unknown]): entry is [string, number] => typeof entry[1] === "number";

export function createAbsences({ store, clock, log, queueLine, isConnected }: AbsencesDeps): Absences {
  /** When sessions last used nodes. */
  const uses = new Map<string, Map<string, number>>();
  let stored: Promise<unknown> = Promise.resolve();

  async function times(): Promise<Readonly<Record<string, number>>> {
    const value = await store.read("meta.get", { key: TIMES });
    return Object.fromEntries(Object.entries(isRecord(value) ? value : {}).filter(isTime));
  }

  async function write(nodeId: string, at: number): Promise<void> {
    const others = Object.entries(await times()).filter(([id]) => id !== nodeId);
    await store.write("meta.set", { key: TIMES, value: Object.fromEntries([...others.slice(-MOST_NODES + 1), [nodeId, at]]) });
  }

  async function report(nodeId: string, at: number): Promise<void> {
    if (isConnected(nodeId)) return;
    const sessions = [...(uses.get(nodeId) ?? [])].filter(([, usedAt]) => at - usedAt < USED_MS);
    // One line: the next is for those who use it again.
    uses.delete(nodeId);
    const text = `Node offline (node=${nodeId.slice(0, 12)}) since ${new Date(at).toISOString()}: its commands fail until it connects again.`;
    for (const [sessionKey] of sessions) await queueLine({ text, sessionKey });
  }

  const warn = (what: string) => (error: unknown) => log.warn(`${what}: ${messageOf(error)}`);
  return {
    used(nodeId, sessionKey) {
      const sessions = uses.get(nodeId) ?? new Map<string, number>();
      uses.delete(nodeId);
      uses.set(nodeId, sessions);
      sessions.delete(sessionKey);
      sessions.set(sessionKey, clock.now());
      for (const oldest of [...sessions.keys()].slice(0, -MOST_SESSIONS)) sessions.delete(oldest);
      for (const oldest of [...uses.keys()].slice(0, -MOST_NODES)) uses.delete(oldest);
    },
    gone(nodeId) {
      const at = clock.now();
      // One after the other: each reads what the former wrote.
      stored = stored.then(() => write(nodeId, at)).catch(warn("when a node disconnected could not be stored"));
      if (uses.has(nodeId)) clock.after(GRACE_MS, () => void report(nodeId, at).catch(warn("a session could not be notified about a node")));
    },
    times,
  };
}
