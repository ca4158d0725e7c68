import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Random } from "../../base/random.ts";
import { formatDuration } from "../../base/text.ts";
import type { ChannelAccountSnapshot, ChannelDirection, ChannelInbound, ChannelPlugin, HostConfig } from "../../protocol/index.ts";
import type { AccountView } from "./account.ts";
import { receivingOf, sendingOf, type SendTrouble } from "./directions.ts";
import type { Judgement } from "./health.ts";
import { createRecord, type AccountRecord } from "./record.ts";
import { startRun, type Run, type RunEnd } from "./run.ts";
import { settledWithin } from "./within.ts";

const FIRST_MS = 5000;
const MOST_MS = 5 * 60_000;
const JITTER = 0.1;
/** Restarts in a row; then an account stays down. */
const MAX_RESTARTS = 10;
/** A run of this length was a good one: the next restarts are counted anew. */
const GOOD_RUN_MS = 60_000;

/** How long to wait before the restart with this number, counted from 1. `least`: what the platform asked for. */
function restartDelay(attempt: number, random: Pick<Random, "float">, least = 0): number {
  const delay = Math.min(FIRST_MS * 2 ** (attempt - 1), MOST_MS);
  return Math.max(least, Math.round(delay * (1 + JITTER * (2 * random.float() - 1))));
}

interface Marked {
  readonly permanent?: unknown;
  readonly delivery?: { readonly state?: unknown; readonly retryAfterMs?: unknown } | undefined;
  readonly cause?: unknown;
}

const DEPTH = 4;

/** The error and what caused it. */
function chain(error: unknown): Marked[] {
  const found: Marked[] = [];
  for (let at: unknown = error; typeof at === "object" && at !== null && found.length < DEPTH; at = (at as Marked).cause) found.push(at);
  return found;
}

/** Trying again is useless: wrong credentials and the like. */
function isPermanent(error: unknown): boolean {
  return chain(error).some(({ permanent, delivery }) => permanent === true || delivery?.state === "failed");
}

/** How long the platform asks to be left alone; 0 when it does not say. */
function retryAfterMs(error: unknown): number {
  const given = chain(error).find(({ delivery }) => typeof delivery?.retryAfterMs === "number")?.delivery?.retryAfterMs;
  return typeof given === "number" && given > 0 ? given : 0;
}

/** How long a connection may take to end when it is told to. */
const STOP_MS = 10_000;
const HELD = "stopped by hand";

/** What a connection is started from: the plugin and the settings as they are now. Undefined: there is no such account any more. */
export type Ready = { readonly plugin: ChannelPlugin; readonly view: AccountView; readonly cfg: HostConfig } | undefined;

export interface ConnectionDeps {
  readonly channel: string;
  readonly accountId: string;
  readonly prepare: () => Promise<Ready>;
  readonly inbound: () => ChannelInbound;
  readonly clock: Clock;
  readonly random: Pick<Random, "float">;
  readonly log: Logger;
  readonly onInbound: () => void;
  /** When something was last sent over the account, as far as it is known. */
  readonly sentAt: () => number | null;
  /** What went wrong with the last attempt to send over it. */
  readonly trouble?: () => SendTrouble | undefined;
  readonly onChange: (health: Judgement) => void;
}

/** The connections of one account: at most one at a time, each under a number of its own. */
export interface Connection {
  /** What it was last started with. */
  readonly plugin: ChannelPlugin | undefined;
  /** It was started, and nobody stopped it. */
  readonly isWanted: boolean;
  /** Somebody stopped it by hand: it stays so until somebody starts it, whatever becomes of its settings. */
  readonly isHeld: boolean;
  start(): Promise<void>;
  stop(why: string): Promise<void>;
  /** Stops it by hand. One that is off stays off. */
  hold(): Promise<void>;
  /** Stops it if it runs, then starts it. */
  restart(why: string): Promise<void>;
  snapshot(): ChannelAccountSnapshot;
  /** Merged into what is known. */
  note(facts: Partial<ChannelAccountSnapshot>): void;
  /** Undefined: it is not meant to run. */
  health(): Judgement | undefined;
  /** Receiving and sending, each for itself; nothing of an account that is not meant to run. */
  directions(): { readonly receiving?: ChannelDirection; readonly sending?: ChannelDirection };
}

type Phase =
  /** Never started, switched off, or not configured. */
  | { readonly kind: "off" }
  /** The channel has nothing to run: it only sends. */
  | { readonly kind: "idle" }
  | { readonly kind: "running" | "stopping" | "stuck"; readonly run: Run }
  | { readonly kind: "waiting"; readonly timer: Disposable; readonly dueAt: number; readonly why: string }
  | { readonly kind: "down"; readonly why: string };

/** What the functions below share about one account. */
interface Seat extends ConnectionDeps {
  readonly name: string;
  readonly record: AccountRecord;
  /** Starting and stopping happen one after the other, in the order in which they were asked for. */
  order(work: () => Promise<void>): Promise<void>;
  phase: Phase;
  plugin: ChannelPlugin | undefined;
  wanted: boolean;
  held: boolean;
  generation: number;
  /** Since the last good run. */
  restarts: number;
  /** What `onChange` was told last. */
  told: string;
}

function healthOf(seat: Seat): Judgement | undefined {
  const judged = connectionHealth(seat);
  return judged && seat.phase.kind === "running" ? withTrouble(judged, seat.trouble?.(), seat.clock.now()) : judged;
}

/** Of the connection alone, whatever becomes of sending. */
function connectionHealth({ phase, wanted, clock, record }: Seat): Judgement | undefined {
  switch (phase.kind) {
    case "off":
      return wanted ? { state: "starting", why: "" } : undefined;
    case "idle":
      return { state: "ok", why: "" };
    case "waiting":
      return { state: "degraded", why: `restarts in ${formatDuration(Math.max(0, phase.dueAt - clock.monotonic()))}: ${phase.why}` };
    case "down":
      return { state: "down", why: phase.why };
    case "stuck":
      return { state: "down", why: "did not stop" };
    case "stopping":
      return { state: "degraded", why: "stopping" };
    default:
      return record.judge(phase.run);
  }
}

/** An attempt that failed longer ago says little about now. */
const TROUBLE_MS = 15 * 60_000;

/** An account that receives and cannot send is not well. */
function withTrouble(judged: Judgement, trouble: SendTrouble | undefined, now: number): Judgement {
  if (judged.state !== "ok" || judged.why !== "" || !trouble || now - trouble.at > TROUBLE_MS) return judged;
  return { state: "degraded", why: `sending fails: ${trouble.why}` };
}

function change(seat: Seat, next: Phase = seat.phase): void {
  seat.phase = next;
  const health = healthOf(seat) ?? { state: "down", why: "off" };
  const key = `${next.kind} ${health.state}`;
  if (key === seat.told) return;
  seat.told = key;
  seat.onChange(health);
}

function giveUp(seat: Seat, why: string): void {
  seat.log.error(`${seat.name} stays down: ${why}`);
  change(seat, { kind: "down", why });
}

/** A connection, or the look at the settings before it, failed. */
function fail(seat: Seat, error: unknown, why: string): void {
  const { record, clock, name } = seat;
  record.note({ running: false, connected: false, lastStopAt: clock.now(), lastError: why });
  const { lastDisconnect } = record.snapshot();
  if (typeof lastDisconnect === "object" && lastDisconnect?.loggedOut === true) return giveUp(seat, `logged out: ${why}`);
  if (isPermanent(error)) return giveUp(seat, why);
  if (seat.restarts >= MAX_RESTARTS) return giveUp(seat, `gave up after ${MAX_RESTARTS} restarts: ${why}`);
  seat.restarts += 1;
  const delay = restartDelay(seat.restarts, seat.random, retryAfterMs(error));
  const again = async (): Promise<void> => (seat.wanted && seat.phase.kind === "waiting" ? begin(seat) : undefined);
  const timer = clock.after(delay, () => void seat.order(again).catch(() => {}));
  record.note({ reconnectAttempts: seat.restarts });
  seat.log.warn(`${name} has no connection and restarts in ${formatDuration(delay)} (${seat.restarts} of ${MAX_RESTARTS}): ${why}`);
  change(seat, { kind: "waiting", timer, dueAt: clock.monotonic() + delay, why });
}

function ended(seat: Seat, run: Run, end: RunEnd): void {
  if (seat.phase.kind !== "running" || seat.phase.run !== run) return;
  if (seat.clock.monotonic() - run.startedAt >= GOOD_RUN_MS) seat.restarts = 0;
  const error = end.kind === "ended" ? end.error : undefined;
  fail(seat, error, error === undefined ? (seat.record.snapshot().lastError ?? "it ended by itself, without an error") : messageOf(error));
}

/** Starts a connection. Runs within an order. */
async function begin(seat: Seat): Promise<void> {
  const { phase, record, name } = seat;
  if (phase.kind === "running" || phase.kind === "idle") return;
  if (phase.kind === "stuck") {
    throw new AppError("CONFLICT", `${name} was not started: its connection ${phase.run.generation} has not ended yet. It starts as soon as that one has`);
  }
  if (phase.kind === "waiting") phase.timer[Symbol.dispose]();
  let ready: Ready;
  try {
    ready = await seat.prepare();
  } catch (error) {
    return fail(seat, error, messageOf(error));
  }
  if (!ready || !ready.view.enabled || !ready.view.configured) {
    seat.wanted = false;
    record.note({ ...ready?.view.description, running: false, connected: false });
    return change(seat, { kind: "off" });
  }
  const { plugin, view } = ready;
  seat.plugin = plugin;
  record.note(view.description);
  if (!plugin.gateway?.startAccount) return change(seat, { kind: "idle" });
  seat.generation += 1;
  record.begin(plugin, seat.restarts);
  const run = startRun({
    ...seat,
    ...ready,
    account: view.account,
    inbound: seat.inbound(),
    getStatus: record.snapshot,
    onStatus(next) {
      record.said(next);
      change(seat);
    },
    onInbound() {
      record.heard();
      seat.onInbound();
      change(seat);
    },
  });
  change(seat, { kind: "running", run });
  void run.ended.then((end) => ended(seat, run, end));
}

/** Ends the connection, if there is one. Runs within an order. */
async function halt(seat: Seat, why: string): Promise<void> {
  const { phase, record, clock, log, name } = seat;
  if (phase.kind === "stuck" || phase.kind === "off") return;
  if (phase.kind === "waiting") phase.timer[Symbol.dispose]();
  if (phase.kind !== "running") return change(seat, { kind: "down", why });
  const { run } = phase;
  change(seat, { kind: "stopping", run });
  const inTime = await settledWithin(clock, STOP_MS, [run.ended, run.stop(why)]);
  run.disown();
  record.note({ running: false, connected: false, lastStopAt: clock.now() });
  if (run.isOver) {
    if (!inTime) log.warn(`${name}: stopAccount did not end within ${STOP_MS} ms; its connection has`);
    return change(seat, { kind: "down", why });
  }
  log.error(`${name} did not stop within ${STOP_MS} ms: connection ${run.generation} still runs, and nothing is started in its place until it ends`);
  record.note({ lastError: "did not stop" });
  change(seat, { kind: "stuck", run });
  void run.ended.then(() => seat.order(() => freed(seat, run)).catch(() => {}));
}

/** A connection that did not stop in time has ended. */
async function freed(seat: Seat, run: Run): Promise<void> {
  if (seat.phase.kind !== "stuck" || seat.phase.run !== run) return;
  seat.log.warn(`${seat.name}: connection ${run.generation} has ended after all`);
  change(seat, { kind: "down", why: seat.held ? HELD : "stopped" });
  if (seat.wanted) await begin(seat);
}

/** Somebody asked for it, so restarts are counted anew. */
function startAnew(seat: Seat): Promise<void> {
  seat.wanted = true;
  seat.held = false;
  seat.restarts = 0;
  return begin(seat);
}

export function createConnection(deps: ConnectionDeps): Connection {
  const record = createRecord(deps.accountId, deps.clock);
  let orders: Promise<unknown> = Promise.resolve();
  const seat: Seat = {
    ...deps,
    name: `${deps.channel}:${deps.accountId}`,
    record,
    order(work) {
      const next = orders.then(work);
      orders = next.catch(() => {});
      return next;
    },
    phase: { kind: "off" },
    plugin: undefined,
    wanted: false,
    held: false,
    generation: 0,
    restarts: 0,
    told: "",
  };
  return {
    get plugin() {
      return seat.plugin;
    },
    get isWanted() {
      return seat.wanted;
    },
    get isHeld() {
      return seat.held;
    },
    start: () => seat.order(() => startAnew(seat)),
    stop: (why) =>
      seat.order(() => {
        seat.wanted = false;
        return halt(seat, why);
      }),
    hold: () =>
      seat.order(() => {
        // From here on nothing is sent any more.
        seat.held = seat.phase.kind !== "off";
        seat.wanted = false;
        return halt(seat, HELD);
      }),
    restart: (why) =>
      seat.order(async () => {
        await halt(seat, why);
        await startAnew(seat);
      }),
    snapshot() {
      const known = record.snapshot();
      const sentAt = deps.sentAt();
      const held = seat.held ? { stoppedByHand: true } : {};
      return sentAt === null ? { ...known, ...held } : { ...known, ...held, lastOutboundAt: Math.max(sentAt, known.lastOutboundAt ?? 0) };
    },
    note: record.note,
    health: () => healthOf(seat),
    directions() {
      const facts = {
        snapshot: record.snapshot(),
        health: connectionHealth(seat),
        held: seat.held,
        independent: seat.plugin?.outbound?.independent === true,
        trouble: deps.trouble?.(),
      };
      const [receiving, sending] = [seat.phase.kind === "idle" ? undefined : receivingOf(facts), sendingOf(facts)];
      return { ...(receiving ? { receiving } : {}), ...(sending ? { sending } : {}) };
    },
  };
}
