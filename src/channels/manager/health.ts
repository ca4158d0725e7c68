/** What is known of an account while the gateway runs, and how well it does. */
import type { Clock } from "../../base/clock.ts";
import { formatDuration } from "../../base/text.ts";
import type { ChannelAccountSnapshot, ChannelDirection, ChannelPlugin } from "../../protocol/index.ts";
import type { Run } from "./run.ts";
import type { AccountState } from "./types.ts";

interface AccountRef {
  readonly channel: string;
  readonly accountId?: string | null | undefined;
}

/** A send attempt failed, in a way that concerns the account and not one message. */
export interface SendTrouble {
  readonly why: string;
  readonly at: number;
}

/** When an account last sent and received something. */
export interface AccountActivity {
  inboundAt: number | null;
  outboundAt: number | null;
  /** The last send attempt failed. The next success clears it. */
  trouble: SendTrouble | undefined;
}

/** When accounts last sent and received something. In memory only. */
export interface ChannelActivity {
  record(event: AccountRef & { readonly direction: "inbound" | "outbound"; readonly at?: number | undefined }): void;
  get(account: AccountRef): { inboundAt: number | null; outboundAt: number | null };
  sendFailed(event: AccountRef & { readonly why: string }): void;
  /** The same object for an account: it follows what happens, and may be written to. */
  of(account: AccountRef): AccountActivity;
}

export function createChannelActivity(clock: Pick<Clock, "now">): ChannelActivity {
  const rows = new Map<string, AccountActivity>();

  function rowOf({ channel, accountId }: AccountRef): AccountActivity {
    const key = `${channel}\0${accountId?.trim() || "default"}`;
    const row = rows.get(key) ?? { inboundAt: null, outboundAt: null, trouble: undefined };
    rows.set(key, row);
    return row;
  }

  return {
    record(event) {
      const row = rowOf(event);
      const at = event.at ?? clock.now();
      if (event.direction === "inbound") row.inboundAt = at;
      else Object.assign(row, { outboundAt: at, trouble: undefined });
    },
    get(account) {
      const { inboundAt, outboundAt } = rowOf(account);
      return { inboundAt, outboundAt };
    },
    sendFailed(event) {
      rowOf(event).trouble = { why: event.why, at: clock.now() };
    },
    of: rowOf,
  };
}

/** Signs of life of one connection, in monotonic time. */
interface Signs {
  /** When it was last connected. */
  readonly upAt?: number;
  /** When it reported a disconnect. */
  readonly lostAt?: number;
  /** When something from the platform last arrived. */
  readonly heardAt?: number;
  /** The plugin has reported a status. */
  readonly hasReported?: boolean;
}

/** The known state of one account. */
export interface AccountRecord {
  readonly accountId: string;
  readonly clock: Clock;
  snapshot: ChannelAccountSnapshot;
  signs: Signs;
}

/** Merges facts into the snapshot, and adds signs of life. */
export function note(account: AccountRecord, facts: Partial<ChannelAccountSnapshot>, signs: Signs = {}): void {
  const { clock, snapshot, accountId } = account;
  const isNew = facts.connected !== undefined && facts.connected !== snapshot.connected;
  account.signs = { ...account.signs, ...signs };
  if (facts.connected === true) account.signs = { ...account.signs, upAt: clock.monotonic() };
  else if (facts.connected === false && isNew) account.signs = { ...account.signs, lostAt: clock.monotonic() };
  account.snapshot = { ...snapshot, ...(facts.connected === true && isNew ? { lastConnectedAt: clock.now() } : {}), ...facts, accountId };
}

/** A new connection starts: the previous one's status no longer applies. */
export function noteStart(account: AccountRecord, plugin: ChannelPlugin, restarts: number): void {
  account.signs = {};
  account.snapshot = {
    ...plugin.status?.defaultRuntime,
    ...account.snapshot,
    accountId: account.accountId,
    running: true,
    connected: undefined,
    receiving: undefined,
    lastError: null,
    lastDisconnect: null,
  };
  note(account, { lastStartAt: account.clock.now(), reconnectAttempts: restarts });
}

/** An account may be disconnected this long before it counts as degraded. */
const PATIENCE_MS = 30_000;

export interface Judgement {
  readonly state: AccountState;
  /** Empty when there is nothing to report. */
  readonly why: string;
}

/** A connection is ok when its transport says so and, where declared, there was recent traffic. */
export function judgeRun({ clock, snapshot, signs }: AccountRecord, { startedAt, plugin }: Run): Judgement {
  const now = clock.monotonic();
  if (snapshot.connected === false) {
    const since = now - (signs.lostAt ?? startedAt);
    const cause = snapshot.lastError ? `: ${snapshot.lastError}` : "";
    // Another program uses the account: waiting does not help.
    if (snapshot.receiving?.state === "conflict") return { state: "degraded", why: `not receiving${cause}` };
    if (since > PATIENCE_MS) return { state: "degraded", why: `not connected for ${formatDuration(since)}${cause}` };
    return { state: signs.upAt === undefined ? "starting" : "ok", why: `not connected${cause}` };
  }
  const quiet = now - (signs.heardAt ?? startedAt);
  const staleAfterMs = plugin.status?.staleAfterMs;
  if (staleAfterMs !== undefined && quiet > staleAfterMs) return { state: "degraded", why: `connected, but nothing received for ${formatDuration(quiet)}` };
  // A plugin that never reports its connection counts as ok.
  const silent = snapshot.connected === undefined && signs.hasReported !== true && signs.heardAt === undefined;
  return { state: silent && now - startedAt <= PATIENCE_MS ? "starting" : "ok", why: "" };
}

/** Facts about receiving and sending, which are judged separately: one can fail while the other works. */
export interface DirectionFacts {
  readonly snapshot: ChannelAccountSnapshot;
  /** Undefined: it is not meant to run. */
  readonly health: Judgement | undefined;
  readonly held: boolean;
  /** It sends without the receiving connection. */
  readonly independent: boolean;
  readonly trouble: SendTrouble | undefined;
}

const HELD: ChannelDirection = { state: "stopped", text: "stopped manually", fix: "openclaw channels start" };

/** The channel's own report comes first; else the state of the connection. */
export function receivingOf({ snapshot, health, held }: DirectionFacts): ChannelDirection | undefined {
  const { receiving, connected, lastError } = snapshot;
  if (held) return HELD;
  if (!health) return undefined;
  if (health.state === "down") return { state: "error", text: health.why };
  if (connected === false && receiving && receiving.state !== "ok") return receiving;
  if (connected === false && lastError) return { state: "error", text: lastError };
  if (connected === false || health.state === "starting") return { state: "starting" };
  return health.state === "degraded" ? { state: "error", text: health.why } : { state: "ok" };
}

/** The result of the last attempt. Over a connection shared with receiving nothing is attempted while it is down. */
export function sendingOf({ snapshot, health, held, independent, trouble }: DirectionFacts): ChannelDirection | undefined {
  if (held) return { ...HELD, text: "stopped manually: outgoing messages are waiting" };
  if (!health) return undefined;
  if (trouble) return { state: "error", text: trouble.why, since: trouble.at };
  if (independent || health.state === "down" || snapshot.connected !== false) return { state: "ok" };
  return { state: "waiting", text: "waiting for the connection" };
}
