import type { Clock } from "../base/clock.ts";
import { lazy } from "../base/lazy.ts";
import type { Logger } from "../base/log/logger.ts";
import { isRecord } from "../base/records.ts";
import type { Store } from "../store/index.ts";

/** `off`: it is not meant to run. */
export type PartState = "ok" | "slow" | "down" | "off";
const STATES: readonly unknown[] = ["ok", "slow", "down", "off"] satisfies readonly PartState[];

/** From this moment on it was in this state. */
export type StateChange = readonly [at: number, state: PartState];

/** Without `to` it is still running. After a crash `to` is the last sign of life on disk, and `clean` is false. */
export interface GatewayRun {
  readonly from: number;
  readonly to?: number;
  readonly clean?: boolean;
}

export interface StateRecord {
  /** Oldest first. */
  readonly runs: readonly GatewayRun[];
  /** Changes by part, oldest first. */
  readonly parts: Readonly<Record<string, readonly StateChange[]>>;
}

/** When the gateway ran, and when the state of its parts changed: a small value in the store, written only after a change. */
export interface StateLog extends AsyncDisposable {
  /** Something may have changed: looks at all parts, and once more when a lost connection has had its time. */
  changed(): void;
  read(): Promise<StateRecord>;
}

export interface StateLogDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly log: Logger;
  /** The present states. Parts that are just starting are left out of it, with their last state kept. */
  readonly states: () => ReadonlyMap<string, PartState | "starting">;
}

const KEY = "overview.states";
/** Changes in quick succession are one write. */
const WRITE_AFTER_MS = 5000;
/** Longer than an account may be disconnected before it counts as degraded: that happens by time alone. */
const LOOK_AGAIN_MS = 35_000;
const KEPT_MS = 31 * 86_400_000;
const MOST_RUNS = 200;
const MOST_PARTS = 64;
const MOST_CHANGES = 100;

const isTime = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
const isChange = (value: unknown): value is StateChange => Array.isArray(value) && isTime(value[0]) && STATES.includes(value[1]);
const isRun = (value: unknown): value is GatewayRun => isRecord(value) && isTime(value["from"]) && (value["to"] === undefined || isTime(value["to"]));

/** What cannot be read counts as not recorded. */
function parseRecord(value: unknown): StateRecord {
  if (!isRecord(value)) return { runs: [], parts: {} };
  const { runs, parts } = value;
  const changes = isRecord(parts) ? Object.entries(parts).map(([id, list]) => [id, Array.isArray(list) ? list.filter(isChange) : []] as const) : [];
  return { runs: Array.isArray(runs) ? runs.filter(isRun) : [], parts: Object.fromEntries(changes) };
}

/** Drops what is too old or too much. The last change before the limit stays: it is the state at the limit. */
function trimmed({ runs, parts }: StateRecord, now: number): StateRecord {
  const since = now - KEPT_MS;
  const kept = Object.entries(parts)
    .map(([id, changes]) => [id, changes.filter((_, at) => (changes[at + 1]?.[0] ?? now) >= since).slice(-MOST_CHANGES)] as const)
    .filter(([, changes]) => changes.length > 0)
    .toSorted(([, a], [, b]) => (b.at(-1)?.[0] ?? 0) - (a.at(-1)?.[0] ?? 0))
    .slice(0, MOST_PARTS);
  return { runs: runs.filter(({ to }) => to === undefined || to >= since).slice(-MOST_RUNS), parts: Object.fromEntries(kept) };
}

function withChanges({ runs, parts }: StateRecord, changes: readonly (readonly [part: string, change: StateChange])[]): StateRecord {
  const all = { ...parts };
  for (const [part, change] of changes) all[part] = [...(all[part] ?? []), change];
  return { runs, parts: all };
}

export function createStateLog({ store, clock, log, states }: StateLogDeps): StateLog {
  const startedAt = clock.now();
  const known = new Map<string, PartState>();
  let pending: (readonly [string, StateChange])[] = [];
  let record: StateRecord | undefined;
  let writing: Promise<void> = Promise.resolve();
  let again: Disposable | undefined;
  let isClosed = false;

  const load = lazy(async () => {
    const { runs, parts } = parseRecord(await store.read("meta.get", { key: KEY }));
    const last = runs.at(-1);
    if (last && last.to === undefined) {
      const sign = await store.read("inbox.lastBefore", { before: startedAt });
      const changes = Object.values(parts).map((list) => list.at(-1)?.[0] ?? 0);
      const to = Math.min(startedAt, Math.max(last.from, sign ?? 0, ...changes));
      record = { runs: [...runs.slice(0, -1), { ...last, to, clean: false }, { from: startedAt }], parts };
    } else record = { runs: [...runs, { from: startedAt }], parts };
  });

  async function write(end: Pick<GatewayRun, "to" | "clean"> = {}): Promise<void> {
    try {
      await load();
      const changes = pending;
      pending = [];
      const { runs, parts } = withChanges(record ?? { runs: [], parts: {} }, changes);
      record = trimmed({ runs: runs.map((run, at) => (at === runs.length - 1 ? { ...run, ...end } : run)), parts }, clock.now());
      await store.write("meta.set", { key: KEY, value: record });
    } catch (error) {
      log.warn("the history of states could not be stored", { error });
    }
  }

  const schedule = (): Disposable =>
    clock.after(WRITE_AFTER_MS, () => {
      timer = undefined;
      writing = writing.then(() => write());
    });
  let timer: Disposable | undefined = schedule();

  function look(): void {
    const now = clock.now();
    const present = states();
    const put = (part: string, state: PartState): void => {
      if (known.get(part) === state) return;
      known.set(part, state);
      pending.push([part, [now, state]]);
    };
    for (const [part, state] of present) if (state !== "starting") put(part, state);
    for (const part of known.keys()) if (!present.has(part)) put(part, "off");
    if (pending.length > 0) timer ??= schedule();
  }

  return {
    changed() {
      if (isClosed) return;
      look();
      again ??= clock.after(LOOK_AGAIN_MS, () => {
        again = undefined;
        look();
      });
    },
    async read() {
      await load();
      return withChanges(record ?? { runs: [], parts: {} }, pending);
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      timer?.[Symbol.dispose]();
      again?.[Symbol.dispose]();
      await writing;
      await write({ to: clock.now(), clean: true });
    },
  };
}
