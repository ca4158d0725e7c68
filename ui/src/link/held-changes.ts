/**
 * Changes of conversations that the gateway has not answered yet: names, pins, folders, the archive and settings. Each stays in the browser's storage under
 * its own key until the gateway has done or refused it, so that one made without a connection survives a reload and is made once.
 */
import type { MethodParams, MethodResult, RequestOptions } from "openclaw/client";
import { keep } from "../base/keep.ts";
import { randomId } from "../base/random-id.ts";
import { createSignal, type Signal } from "../base/signal.ts";

const METHOD = "sessions.patch";
type Patch = MethodParams<typeof METHOD>;
type Patched = MethodResult<typeof METHOD>;

interface Held {
  readonly id: string;
  readonly params: Patch;
}

/** What became of changes that an earlier page of this browser left. */
export interface Resent {
  readonly done: number;
  /** Why the others were refused. */
  readonly failed: readonly unknown[];
}

export interface HeldChanges {
  /** So many are stored. */
  readonly count: Signal<number>;
  /** Sends it now, or when the connection is back. Rejects when the gateway refuses. */
  send(params: Patch, options?: RequestOptions): Promise<Patched>;
  /** Sends what an earlier page left. Called with the first connection. */
  resend(): Promise<Resent>;
  clear(): void;
}

export interface HeldDeps {
  readonly request: (params: Patch, options?: RequestOptions) => Promise<Patched>;
  readonly isOpen: () => boolean;
  /** Resolves at the next connection. */
  readonly connected: () => Promise<void>;
}

const KEY = "held";

const stored = (): readonly Held[] => keep.json<readonly Held[]>(KEY) ?? [];

interface Failed {
  readonly details?: { readonly protocolCode?: string; readonly closeCode?: number };
}

/** The gateway has not answered: the connection was lost, or is gone for longer than a request waits. */
function isUndecided(error: unknown, isOpen: boolean): boolean {
  const { details } = error as Failed;
  return details?.protocolCode === undefined && (details?.closeCode !== undefined || !isOpen);
}

export function createHeldChanges({ request, isOpen, connected }: HeldDeps): HeldChanges {
  const count = createSignal(stored().length);
  const mine = new Set<string>();
  let cleared = 0;

  function put(change: readonly Held[]): void {
    keep.setJson(KEY, change.length === 0 ? undefined : change);
    count.set(change.length);
  }
  const drop = (id: string): void => put(stored().filter((one) => one.id !== id));

  async function deliver({ id, params }: Held, options?: RequestOptions): Promise<Patched> {
    const before = cleared;
    mine.add(id);
    for (;;) {
      try {
        const done = await request({ ...params, idempotencyKey: id }, options);
        drop(id);
        return done;
      } catch (error) {
        if (!isUndecided(error, isOpen())) {
          drop(id);
          throw error;
        }
        await connected();
        if (before !== cleared) throw error;
      }
    }
  }

  return {
    count,
    send(params, options) {
      const change = { id: params.idempotencyKey ?? randomId(), params };
      put([...stored(), change]);
      return deliver(change, options);
    },
    async resend() {
      const failed: unknown[] = [];
      // In their order: of two changes of one thing the later one counts.
      const left = stored().filter(({ id }) => !mine.has(id));
      for (const change of left) await deliver(change).catch((error: unknown) => failed.push(error));
      return { done: left.length - failed.length, failed };
    },
    clear() {
      cleared += 1;
      put([]);
    },
  };
}
