/** Sends what is in the outbox: one row at a time for each target, in order. The rows on disk are the truth; this holds what is known of them. */
import { AppError, messageOf } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import type { OutboxRow } from "../../store/index.ts";
import type { LiveTargets } from "./attempt.ts";
import type { DeliveryDeps, DeliveryLimits } from "./delivery.ts";
import { createRecovery } from "./recovery.ts";
import { notifySentRow } from "./message-hooks.ts";
import { type OpenRow, createStep, type StepResult } from "./step.ts";
import { waitsForAccount } from "./row-facts.ts";

/** The rows of one target, oldest first. */
interface Lane {
  readonly key: string;
  readonly account: string;
  readonly entries: LaneEntry[];
  /** `idle`: nothing to do; `ready`: stands in line; `busy`: its first row is being sent; `waiting`: for a time; `absent`: for its channel. */
  state: "idle" | "ready" | "busy" | "waiting" | "absent";
  timer: Disposable | undefined;
  /** Something changed for its account while its first row was looked at. */
  wasWoken: boolean;
}

/** A row that waits; its content may be on disk only. */
interface LaneEntry {
  readonly id: number;
  open: OpenRow | undefined;
  /** The answer to a command: it does not wait for the rest of a long answer. */
  readonly isCommand?: boolean;
}

interface LaneLimits {
  readonly atOnce: number;
  readonly atOncePerAccount: number;
}

/** Lanes that can go, in line for their account; accounts take turns. */
class Lanes {
  readonly all = new Map<string, Lane>();
  private readonly lines = new Map<string, Lane[]>();
  private readonly busy = new Map<string, number>();
  private total = 0;
  private readonly limits: LaneLimits;
  private readonly isInTrouble: (account: string) => boolean;

  /** An account in trouble sends one message at a time: attempts that hang must not block other accounts. */
  constructor(limits: LaneLimits, isInTrouble: (account: string) => boolean = () => false) {
    this.limits = limits;
    this.isInTrouble = isInTrouble;
  }

  /** Adds a row to its lane, which is made when it is missing. */
  add(target: { readonly channel: string; readonly account: string; readonly target: string }, entry: LaneEntry): Lane {
    const account = `${target.channel}\0${target.account}`;
    const key = `${account}\0${target.target}`;
    let lane = this.all.get(key);
    if (!lane) this.all.set(key, (lane = { key, account, entries: [], state: "idle", timer: undefined, wasWoken: false }));
    const isBefore = ({ id, isCommand = false }: LaneEntry): boolean => (isCommand === (entry.isCommand ?? false) ? id < entry.id : isCommand);
    const at = lane.entries.findLastIndex(isBefore) + 1;
    // What is being sent, or is to be tried again, stays where it is.
    lane.entries.splice(at === 0 && lane.state !== "idle" && lane.state !== "ready" ? 1 : at, 0, entry);
    return lane;
  }

  /** Puts a lane in line, unless it stands there or is at work. */
  ready(lane: Lane): void {
    if (lane.state === "ready" || lane.state === "busy") return;
    lane.timer?.[Symbol.dispose]();
    lane.timer = undefined;
    if (lane.entries.length === 0) {
      this.all.delete(lane.key);
      return;
    }
    lane.state = "ready";
    const line = this.lines.get(lane.account);
    if (line) line.push(lane);
    else this.lines.set(lane.account, [lane]);
  }

  /** The next lane that may send, if there is one; it is busy from now on. */
  next(): Lane | undefined {
    if (this.total >= this.limits.atOnce) return undefined;
    for (const [account, line] of this.lines) {
      const busy = this.busy.get(account) ?? 0;
      if (busy >= (this.isInTrouble(account) ? 1 : this.limits.atOncePerAccount)) continue;
      const lane = line.shift();
      this.lines.delete(account);
      if (!lane) continue;
      if (line.length > 0) this.lines.set(account, line);
      this.busy.set(account, busy + 1);
      this.total += 1;
      lane.state = "busy";
      lane.wasWoken = false;
      return lane;
    }
    return undefined;
  }

  /** A busy lane has nothing to do for the moment. */
  rest(lane: Lane, state: "idle" | "waiting" | "absent"): void {
    const busy = (this.busy.get(lane.account) ?? 1) - 1;
    if (busy === 0) this.busy.delete(lane.account);
    else this.busy.set(lane.account, busy);
    this.total -= 1;
    lane.state = state;
  }

  /** Attempts under way. */
  get underWay(): number {
    return this.total;
  }
}

const PAGE = 1000;
const TROUBLE_MS = 1000;

interface Worker {
  /** Rows were added, or a channel came: looks for what there is. */
  kick(): void;
  readonly open: number;
  /** Whether rows for a target are not at their end, or may have been added. */
  isBusy(target: Pick<OutboxRow, "channel" | "account" | "target">): boolean;
  /** What is known of a row that is not at its end. */
  standing(id: number): OutboxRow | undefined;
  /** No new attempts; resolves when those under way are over, or the grace is. */
  stop(): Promise<void>;
}

interface WorkerParts {
  readonly live?: Pick<LiveTargets, "adapterFor">;
  /** Called with a row that waits for the credential of its account. */
  readonly onWaiting?: (row: OutboxRow) => void;
}

/** See {@link Worker}. */
export class OutboxWorker implements Worker {
  private readonly deps: DeliveryDeps;
  private readonly limits: DeliveryLimits;
  private readonly listeners: ReadonlySet<(row: OutboxRow) => void>;
  private readonly onWaiting: WorkerParts["onWaiting"];
  private readonly lanes: Lanes;
  private readonly known = new Map<number, LaneEntry>();
  private readonly stopping = new AbortController();
  private readonly step: ReturnType<typeof createStep>;
  private cursor = 0;
  private held = 0;
  private reading = false;
  private isRecovered = false;
  private again = false;
  private closed = false;
  private expiring: Promise<void> | undefined;
  private idle: (() => void) | undefined;

  constructor(deps: DeliveryDeps, limits: DeliveryLimits, listeners: ReadonlySet<(row: OutboxRow) => void>, { live, onWaiting }: WorkerParts = {}) {
    this.deps = deps;
    this.limits = limits;
    this.listeners = listeners;
    this.onWaiting = onWaiting;
    const recovery = createRecovery(deps, limits, (account, target) => this.wake(account, target));
    this.lanes = new Lanes(limits, recovery.isInTrouble);
    this.step = createStep(deps, limits, { stopping: this.stopping.signal, recovery, live });
  }

  private take(row: OutboxRow): void {
    if (this.known.has(row.id)) return;
    const keeps = this.held < this.limits.held;
    const isCommand = isRecord(row.payload) && row.payload["kind"] === "command";
    const entry: LaneEntry = { id: row.id, open: keeps ? { row, asked: 0 } : undefined, isCommand };
    if (keeps) this.held += 1;
    this.known.set(row.id, entry);
    const lane = this.lanes.add(row, entry);
    if (lane.state === "idle") this.lanes.ready(lane);
  }

  /** A row is at its end. */
  private leave(lane: Lane, entry: LaneEntry): void {
    const at = lane.entries.indexOf(entry);
    if (at >= 0) lane.entries.splice(at, 1);
    if (this.known.delete(entry.id) && entry.open) this.held -= 1;
  }

  private wait(lane: Lane, state: "waiting" | "absent", ms: number): void {
    lane.state = state;
    lane.timer?.[Symbol.dispose]();
    lane.timer = this.deps.clock.after(Math.max(ms, 0), () => {
      lane.timer = undefined;
      this.lanes.ready(lane);
      this.pump();
    });
  }

  /** Lanes of an account that wait for it look again, or the one of a target. */
  private wake(account: string, target?: string): void {
    const own = target === undefined ? undefined : this.lanes.all.get(`${account}\0${target}`);
    for (const lane of target === undefined ? this.lanes.all.values() : own ? [own] : []) {
      if (lane.account !== account) continue;
      if (lane.state === "absent") this.lanes.ready(lane);
      else if (lane.state === "busy") lane.wasWoken = true;
    }
    this.pump();
  }

  /** All rows that nobody has seen yet, one page after the other. What a process before left half-way comes first: later messages wait behind it. */
  private async read(): Promise<void> {
    if (!this.isRecovered) await this.deps.store.write("outbox.recover", { why: "the process ended while this was being sent" });
    this.isRecovered = true;
    do {
      this.again = false;
      for (;;) {
        const rows = await this.deps.store.read("outbox.due", { now: Number.MAX_SAFE_INTEGER, after: this.cursor, limit: PAGE });
        for (const row of rows) this.take(row);
        this.cursor = Math.max(this.cursor, rows.at(-1)?.id ?? 0);
        this.pump();
        if (rows.length < PAGE || this.closed) break;
      }
    } while (this.again && !this.closed);
  }

  readonly kick = (): void => {
    if (this.closed) return;
    for (const lane of this.lanes.all.values()) if (lane.state === "absent") this.lanes.ready(lane);
    this.again = true;
    if (this.reading) return;
    this.reading = true;
    this.read().then(
      () => {
        this.reading = false;
        this.pump();
        if (this.again) this.kick();
      },
      (error: unknown) => {
        this.reading = false;
        this.trouble("the outbox could not be read", error, this.kick);
      },
    );
  };

  /** Something of our own failed: it is logged, and tried again later. */
  private trouble(what: string, error: unknown, retry: () => void): void {
    if (this.closed) return;
    this.deps.log.error(`${what}: ${messageOf(error)}`);
    this.deps.clock.after(TROUBLE_MS, () => {
      if (!this.closed) retry();
    });
  }

  private pump(): void {
    while (!this.closed) {
      const lane = this.lanes.next();
      if (!lane) return;
      void this.work(lane);
    }
  }

  /** Reads the content of a row that is not in memory; undefined when it has come to its end without us. */
  private async load(entry: LaneEntry): Promise<OpenRow | undefined> {
    const row = await this.deps.store.read("outbox.get", { id: entry.id });
    if (!row || row.settledAt !== null) return undefined;
    this.held += 1;
    return (entry.open = { row, asked: 0 });
  }

  private async work(lane: Lane): Promise<void> {
    const [entry] = lane.entries;
    if (!entry) {
      // Its rows expired while it stood in line.
      this.lanes.rest(lane, "idle");
      return this.lanes.ready(lane);
    }
    try {
      const open = entry.open ?? (await this.load(entry));
      this.finish(lane, entry, open ? await this.step(open) : undefined);
    } catch (error) {
      await this.failed(lane, entry, error);
    }
    this.pump();
    if (this.closed && this.lanes.underWay === 0) this.idle?.();
  }

  /** `undefined`: the row ended elsewhere. */
  private finish(lane: Lane, entry: LaneEntry, result: StepResult | undefined): void {
    if (result?.kind === "wait" && entry.open && waitsForAccount(entry.open.row)) this.onWaiting?.(entry.open.row);
    if (result?.kind === "wait" && result.absent && lane.wasWoken) {
      this.lanes.rest(lane, "absent");
      this.lanes.ready(lane);
      return;
    }
    if (result?.kind === "wait") {
      this.lanes.rest(lane, result.absent ? "absent" : "waiting");
      this.wait(lane, result.absent ? "absent" : "waiting", result.ms);
      return;
    }
    if (result?.kind === "expired") {
      this.lanes.rest(lane, "waiting");
      void this.expire();
      return;
    }
    const isNotified = !this.known.has(entry.id);
    this.leave(lane, entry);
    this.lanes.rest(lane, "idle");
    this.lanes.ready(lane);
    if (result && !isNotified) this.settle(result.row);
  }

  private settle(row: OutboxRow): void {
    for (const listener of this.listeners) {
      try {
        listener(row);
      } catch (error) {
        this.deps.log.error(`a listener for delivery ${row.id} failed: ${messageOf(error)}`);
      }
    }
  }

  /** The store refused a mark: the row is not where it was thought to be, or the store has trouble of its own. */
  private async failed(lane: Lane, entry: LaneEntry, error: unknown): Promise<void> {
    if (!this.closed) this.deps.log.error(`delivery ${entry.id} could not be continued: ${messageOf(error)}`);
    if (error instanceof AppError && error.code === "CONFLICT" && !this.closed) {
      const row = await this.deps.store.read("outbox.get", { id: entry.id }).catch(() => undefined);
      if (row && row.settledAt !== null) {
        this.finish(lane, entry, { kind: "ended", row });
        return;
      }
      if (row && entry.open) entry.open.row = row;
    }
    this.lanes.rest(lane, "waiting");
    this.wait(lane, "waiting", TROUBLE_MS);
  }

  /** Ends everything whose time is over, in one commit. */
  private expire(): Promise<void> {
    this.expiring ??= this.deps.store
      .write("outbox.expire", {})
      .then(async (ids) => {
        const rows = await Promise.all(ids.map((id) => this.deps.store.read("outbox.get", { id })));
        for (const row of rows) if (row) this.expired(row);
      })
      .catch((error: unknown) => this.deps.log.error(`expired deliveries could not be closed: ${messageOf(error)}`))
      .finally(() => {
        this.expiring = undefined;
        const now = this.deps.clock.now();
        for (const lane of this.lanes.all.values()) {
          if (lane.state !== "waiting" || lane.timer) continue;
          const stuck = (lane.entries[0]?.open?.row.expiresAt ?? Infinity) <= now;
          if (stuck) this.wait(lane, "waiting", TROUBLE_MS);
          else this.lanes.ready(lane);
        }
        this.pump();
      });
    return this.expiring;
  }

  private expired(row: OutboxRow): void {
    const entry = this.known.get(row.id);
    if (entry) {
      const lane = this.lanes.all.get(`${row.channel}\0${row.account}\0${row.target}`);
      if (lane) this.leave(lane, entry);
    }
    notifySentRow(this.deps, row, row.payload ?? {}, { success: false, error: row.why ?? "expired" });
    this.settle(row);
  }

  get open(): number {
    return this.known.size;
  }

  isBusy({ channel, account, target }: Pick<OutboxRow, "channel" | "account" | "target">): boolean {
    return this.reading || this.lanes.all.has(`${channel}\0${account}\0${target}`);
  }

  standing(id: number): OutboxRow | undefined {
    return this.known.get(id)?.open?.row;
  }

  async stop(): Promise<void> {
    const { lanes, deps, limits } = this;
    this.closed = true;
    for (const lane of lanes.all.values()) lane.timer?.[Symbol.dispose]();
    if (lanes.underWay === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.idle = resolve;
    using _timer = deps.clock.after(limits.graceMs, resolve);
    await promise;
    this.stopping.abort();
    if (lanes.underWay > 0) deps.log.warn(`${lanes.underWay} deliveries were in progress when the process stopped; they may have arrived`);
  }
}
