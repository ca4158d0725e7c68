/** Up to where each conversation was read: what came later while nobody was there is read from the history. */
import type { Waiting } from "openclaw/plugin-sdk/channel-kit";
import { fieldsOf, textOf } from "openclaw/plugin-sdk/channel-kit";

interface KeyedStore {
  lookup(key: string): Promise<unknown>;
  register(key: string, value: unknown): Promise<void>;
}

export interface Position {
  readonly channel: string;
  readonly thread: string | undefined;
  readonly ts: string;
}

export interface Positions {
  /** Newest first. */
  list(): readonly Position[];
  /** Everything up to this message is stored. */
  reached(channel: string, thread: string | undefined, ts: string): void;
  moved(from: string, to: string): void;
  flush(): Promise<void>;
}

const MOST = 100;
const EVERY_MS = 1000;

/** Opens what the process before this one left. */
export async function openPositions(
  store: KeyedStore | undefined,
  key: string,
  waiting: Pick<Waiting, "now">,
  failed: (error: unknown) => void,
): Promise<Positions> {
  const found = fieldsOf(await store?.lookup(key)) ?? {};
  const known = new Map(Object.entries(found).flatMap(([name, ts]): [string, string][] => (textOf(ts) === undefined ? [] : [[name, String(ts)]])));
  let writtenAt = 0;
  let isWritten = true;
  let writing: Promise<void> = Promise.resolve();

  function flush(): Promise<void> {
    if (isWritten || !store) return writing;
    isWritten = true;
    writtenAt = waiting.now();
    const stored = Object.fromEntries(known);
    writing = writing.then(() => store.register(key, stored)).catch(failed);
    return writing;
  }

  return {
    list: () =>
      [...known]
        .map(([name, ts]) => {
          const [channel = "", thread] = name.split("/", 2);
          return { channel, thread, ts };
        })
        .sort((a, b) => (a.ts < b.ts ? 1 : -1)),
    reached(channel, thread, ts) {
      const name = thread === undefined ? channel : `${channel}/${thread}`;
      if ((known.get(name) ?? "") >= ts) return;
      known.delete(name);
      known.set(name, ts);
      for (const oldest of known.size > MOST ? known.keys() : []) {
        known.delete(oldest);
        break;
      }
      isWritten = false;
      if (waiting.now() - writtenAt >= EVERY_MS) void flush();
    },
    moved(from, to) {
      const before = [...known];
      for (const [name, ts] of before) {
        const [channel, thread] = name.split("/", 2);
        if (channel !== from) continue;
        known.delete(name);
        known.set(thread === undefined ? to : `${to}/${thread}`, ts);
        isWritten = false;
      }
    },
    flush,
  };
}
