import { withAccountKeys } from "../../base/account-keys.ts";
import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Random } from "../../base/random.ts";
import { formatDuration } from "../../base/text.ts";
import type { ChannelAccountSnapshot, ChannelDirection, ChannelInbound, ChannelPlugin, HostConfig } from "../../protocol/index.ts";
import type { AccountView } from "./account.ts";
import { judgeRun, note, noteStart, receivingOf, sendingOf, type AccountActivity, type AccountRecord, type Judgement } from "./health.ts";
import { settledWithin, startRun, type Run, type RunEnd } from "./run.ts";

const FIRST_MS = 5000;
const MOST_MS = 5 * 60_000;
const JITTER = 0.1;
/** Restarts in a row; then an account stays down. */
const MAX_RESTARTS = 10;
/** After a run of this length the restart counter starts over. */
const GOOD_RUN_MS = 60_000;

/** Delay before the restart with this number, counted from 1. `least`: the platform's minimum. */
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
  for (let at: unknown = error; typeof at === "object" && at !== null && found.length < DEPTH; at = "cause" in at ? at.cause : undefined) found.push(at);
  return found;
}

/** Retrying is useless: wrong credentials and the like. */
function isPermanent(error: unknown): boolean {
  return chain(error).some(({ permanent, delivery }) => permanent === true || delivery?.state === "failed");
}

/** The platform's retry delay; 0 without one. */
function retryAfterMs(error: unknown): number {
  const ms = chain(error).find(({ delivery }) => typeof delivery?.retryAfterMs === "number")?.delivery?.retryAfterMs;
  return typeof ms === "number" && ms > 0 ? ms : 0;
}

/** How long a connection may take to end when it is stopped. */
const STOP_MS = 10_000;
const HELD = "stopped manually";

/** What a connection is started with: the current plugin and settings. Undefined: the account no longer exists. */
export type Ready = { readonly plugin: ChannelPlugin; readonly view: AccountView; readonly cfg: HostConfig } | undefined;

export interface ConnectionDeps {
  readonly channel: string;
  readonly accountId: string;
  readonly prepare: () => Promise<Ready>;
  readonly inbound: () => ChannelInbound;
  readonly clock: Clock;
  readonly random: Pick<Random, "float">;
  readonly log: Logger;
  /** When something was last sent and received over the account, and the error of the last send attempt. */
  readonly activity: AccountActivity;
  readonly onChange: (health: Judgement) => void;
}

/** The connections of one account: at most one at a time, each with a generation number. */
export interface Connection {
  /** The plugin of the last start. */
  readonly plugin: ChannelPlugin | undefined;
  /** It was started, and not stopped. */
  readonly isWanted: boolean;
  /** Stopped by hand: it stays so until it is started by hand, whatever happens to its settings. */
  readonly isHeld: boolean;
  start(): Promise<void>;
  stop(why: string): Promise<void>;
  /** Stops it by hand. A disabled one stays disabled. */
  hold(): Promise<void>;
  /** Stops it if it runs, then starts it. */
  restart(why: string): Promise<void>;
  /** What its plugin and its connections reported. */
  readonly snapshot: ChannelAccountSnapshot;
  /** The snapshot with what is known about sending. */
  status(): ChannelAccountSnapshot;
  /** Merged into the snapshot. */
  note(facts: Partial<ChannelAccountSnapshot>): void;
  /** Undefined: it is not meant to run. */
  health(): Judgement | undefined;
  /** State of receiving and sending; nothing for an account that is not meant to run. */
  directions(): { readonly receiving?: ChannelDirection; readonly sending?: ChannelDirection };
}

type Phase =
  /** Never started, disabled, or not configured. */
  | { readonly kind: "off" }
  /** The channel has nothing to run: it only sends. */
  | { readonly kind: "idle" }
  | { readonly kind: "running" | "stopping" | "stuck"; readonly run: Run }
  | { readonly kind: "waiting"; readonly timer: Disposable; readonly dueAt: number; readonly why: string }
  | { readonly kind: "down"; readonly why: string };

/** State of one account, shared by the functions below. */
interface AccountState extends ConnectionDeps, AccountRecord {
  readonly name: string;
  /** Starts and stops run one after the other, in the order requested. */
  order(work: () => Promise<void>): Promise<void>;
  phase: Phase;
  plugin: ChannelPlugin | undefined;
  isWanted: boolean;
  isHeld: boolean;
  generation: number;
  /** Since the last good run. */
  restarts: number;
  /** The last health passed to `onChange`. */
  reported: string;
}

/** An older failure to send says little about the present. */
const TROUBLE_MS = 15 * 60_000;

/** An account that receives but cannot send is degraded. Undefined: it is not meant to run. */
function healthOf(account: AccountState): Judgement | undefined {
  const health = connectionHealth(account);
  const { trouble } = account.activity;
  const isFine = account.phase.kind === "running" && health?.state === "ok" && health.why === "";
  if (!isFine || !trouble || account.clock.now() - trouble.at > TROUBLE_MS) return health;
  return { state: "degraded", why: `sending fails: ${trouble.why}` };
}

/** Of the connection alone, regardless of sending. */
function connectionHealth(account: AccountState): Judgement | undefined {
  const { phase, isWanted, clock } = account;
  switch (phase.kind) {
    case "off":
      return isWanted ? { state: "starting", why: "" } : undefined;
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
      return judgeRun(account, phase.run);
  }
}

function change(account: AccountState, next: Phase = account.phase): void {
  account.phase = next;
  const health = healthOf(account) ?? { state: "down", why: "off" };
  const key = `${next.kind} ${health.state}`;
  if (key === account.reported) return;
  account.reported = key;
  account.onChange(health);
}

function giveUp(account: AccountState, why: string): void {
  account.log.error(`${account.name} stays down: ${why}`);
  change(account, { kind: "down", why });
}

/** A connection, or reading its settings, failed. */
function fail(account: AccountState, error: unknown, reason: string): void {
  const why = withAccountKeys(reason, account);
  const { clock, name } = account;
  note(account, { running: false, connected: false, lastStopAt: clock.now(), lastError: why });
  const { lastDisconnect } = account.snapshot;
  if (typeof lastDisconnect === "object" && lastDisconnect?.loggedOut === true) return giveUp(account, `logged out: ${why}`);
  if (isPermanent(error)) return giveUp(account, why);
  if (account.restarts >= MAX_RESTARTS) return giveUp(account, `gave up after ${MAX_RESTARTS} restarts: ${why}`);
  account.restarts += 1;
  const delay = restartDelay(account.restarts, account.random, retryAfterMs(error));
  const again = async (): Promise<void> => (account.isWanted && account.phase.kind === "waiting" ? begin(account) : undefined);
  const timer = clock.after(delay, () => void account.order(again).catch(() => {}));
  note(account, { reconnectAttempts: account.restarts });
  account.log.warn(`${name} is not connected and restarts in ${formatDuration(delay)} (${account.restarts} of ${MAX_RESTARTS}): ${why}`);
  change(account, { kind: "waiting", timer, dueAt: clock.monotonic() + delay, why });
}

function ended(account: AccountState, run: Run, end: RunEnd): void {
  if (account.phase.kind !== "running" || account.phase.run !== run) return;
  if (account.clock.monotonic() - run.startedAt >= GOOD_RUN_MS) account.restarts = 0;
  const error = end.kind === "ended" ? end.error : undefined;
  fail(account, error, error === undefined ? (account.snapshot.lastError ?? "it ended on its own without an error") : messageOf(error));
}

/** Logs what the channel warns about when the account starts, such as names on its allow lists. */
async function logWarnings(account: AccountState, { plugin, view, cfg }: NonNullable<Ready>): Promise<void> {
  const { log, name, accountId } = account;
  try {
    const warnings = (await plugin.security?.collectWarnings?.({ cfg, accountId, account: view.account })) ?? [];
    for (const warning of warnings) log.warn(`${name}: ${withAccountKeys(warning.replace(/^-\s*/, ""), account)}`);
  } catch (error) {
    log.warn(`${name}: its warnings could not be read: ${messageOf(error)}`);
  }
}

/** Starts a connection. Runs in the queue. */
async function begin(account: AccountState): Promise<void> {
  const { phase, name } = account;
  if (phase.kind === "running" || phase.kind === "idle") return;
  if (phase.kind === "stuck") {
    throw new AppError("CONFLICT", `${name} was not started: its connection ${phase.run.generation} has not ended yet. It starts as soon as that one ends`);
  }
  if (phase.kind === "waiting") phase.timer[Symbol.dispose]();
  let ready: Ready;
  try {
    ready = await account.prepare();
  } catch (error) {
    return fail(account, error, messageOf(error));
  }
  if (!ready || !ready.view.enabled || !ready.view.configured) {
    account.isWanted = false;
    note(account, { ...ready?.view.description, running: false, connected: false });
    return change(account, { kind: "off" });
  }
  const { plugin, view } = ready;
  account.plugin = plugin;
  note(account, view.description);
  if (!plugin.gateway?.startAccount) return change(account, { kind: "idle" });
  if (account.restarts === 0) void logWarnings(account, ready);
  account.generation += 1;
  noteStart(account, plugin, account.restarts);
  const run = startRun({
    ...account,
    ...ready,
    account: view.account,
    inbound: account.inbound(),
    getStatus: () => ({ ...account.snapshot }),
    onStatus(next) {
      const heard = typeof next.lastEventAt === "number" ? { heardAt: account.clock.monotonic() } : {};
      note(account, next, { hasReported: true, ...heard });
      change(account);
    },
    onInbound() {
      const now = account.clock.now();
      account.activity.inboundAt = now;
      note(account, { lastInboundAt: now, lastEventAt: now }, { heardAt: account.clock.monotonic() });
      change(account);
    },
  });
  change(account, { kind: "running", run });
  void run.ended.then((end) => ended(account, run, end));
}

/** Ends the connection, if there is one. Runs in the queue. */
async function halt(account: AccountState, why: string): Promise<void> {
  const { phase, clock, log, name } = account;
  if (phase.kind === "stuck" || phase.kind === "off") return;
  if (phase.kind === "waiting") phase.timer[Symbol.dispose]();
  if (phase.kind !== "running") return change(account, { kind: "down", why });
  const { run } = phase;
  change(account, { kind: "stopping", run });
  const inTime = await settledWithin(clock, STOP_MS, [run.ended, run.stop(why)]);
  run.disown();
  note(account, { running: false, connected: false, lastStopAt: clock.now() });
  if (run.isOver) {
    if (!inTime) log.warn(`${name}: stopAccount did not finish within ${STOP_MS} ms, but its connection has ended`);
    return change(account, { kind: "down", why });
  }
  log.error(`${name} did not stop within ${STOP_MS} ms: connection ${run.generation} is still running; no new one is started until it ends`);
  note(account, { lastError: "did not stop" });
  change(account, { kind: "stuck", run });
  void run.ended.then(() => account.order(() => freed(account, run)).catch(() => {}));
}

/** A connection that did not stop in time has ended. */
async function freed(account: AccountState, run: Run): Promise<void> {
  if (account.phase.kind !== "stuck" || account.phase.run !== run) return;
  account.log.warn(`${account.name}: connection ${run.generation} has now ended`);
  change(account, { kind: "down", why: account.isHeld ? HELD : "stopped" });
  if (account.isWanted) await begin(account);
}

/** Started by hand: the restart counter starts over. */
function startByHand(account: AccountState): Promise<void> {
  account.isWanted = true;
  account.isHeld = false;
  account.restarts = 0;
  return begin(account);
}

export function createConnection(deps: ConnectionDeps): Connection {
  let orders: Promise<unknown> = Promise.resolve();
  const account: AccountState & Connection = {
    ...deps,
    name: `${deps.channel}:${deps.accountId}`,
    snapshot: { accountId: deps.accountId },
    signs: {},
    phase: { kind: "off" },
    plugin: undefined,
    isWanted: false,
    isHeld: false,
    generation: 0,
    restarts: 0,
    reported: "",
    order(work) {
      const next = orders.then(work);
      orders = next.catch(() => {});
      return next;
    },
    start: () => account.order(() => startByHand(account)),
    stop: (why) =>
      account.order(() => {
        account.isWanted = false;
        return halt(account, why);
      }),
    hold: () =>
      account.order(() => {
        // Nothing is sent from here on.
        account.isHeld = account.phase.kind !== "off";
        account.isWanted = false;
        return halt(account, HELD);
      }),
    restart: (why) =>
      account.order(async () => {
        await halt(account, why);
        await startByHand(account);
      }),
    status() {
      const { snapshot, isHeld, activity } = account;
      const sent = activity.outboundAt === null ? {} : { lastOutboundAt: Math.max(activity.outboundAt, snapshot.lastOutboundAt ?? 0) };
      return { ...snapshot, ...(isHeld ? { stoppedByHand: true } : {}), ...sent };
    },
    note: (facts) => note(account, facts),
    health: () => healthOf(account),
    directions() {
      const { snapshot, isHeld, plugin, activity, phase } = account;
      const facts = {
        snapshot,
        health: connectionHealth(account),
        held: isHeld,
        independent: plugin?.outbound?.independent === true,
        trouble: activity.trouble,
      };
      const [receiving, sending] = [phase.kind === "idle" ? undefined : receivingOf(facts), sendingOf(facts)];
      return { ...(receiving ? { receiving } : {}), ...(sending ? { sending } : {}) };
    },
  };
  return account;
}
