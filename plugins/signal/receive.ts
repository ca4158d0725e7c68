/** An account from its start to its end: signal-cli where it has to be started, and what it brings. */
import type { ChannelGatewayContext, ChannelInboundEvent } from "openclaw/plugin-sdk";
import {
  type AccountRun,
  createBackoff,
  type CursorStore,
  fieldsOf,
  keepConnected,
  messageOf,
  openCursor,
  realWaiting,
  textOf,
  type Waiting,
  wholeOf,
} from "openclaw/plugin-sdk/channel-kit";
import type { SignalAccount } from "./account.ts";
import type { Listener, Self, SignalApi } from "./api.ts";
import type { SignalClient } from "./client.ts";
import { createDaemon } from "./daemon.ts";
import { eventOf } from "./inbound.ts";
import { createNative } from "./native.ts";

/** Everything before it is stored. */
export interface Position {
  /** Of the last event. None: the daemon gives events no ids, or there was no event yet. */
  readonly id: string | undefined;
  /** When the account listened for the first time. */
  readonly since: number;
}

export function readPosition(stored: unknown): Position | undefined {
  const fields = fieldsOf(stored) ?? {};
  const since = wholeOf(fields["since"]);
  return since === undefined ? undefined : { id: textOf(fields["id"]), since };
}

/** No event has this id: a daemon that keeps events brings all of them. */
const BEFORE_ALL = "0";
/** Clocks differ by this much. */
const MARGIN_MS = 10_000;

export interface RunDeps {
  readonly client: SignalClient;
  readonly store: CursorStore<Position>;
  readonly programStore: CursorStore<unknown>;
  readonly waiting?: Waiting | undefined;
  /** Who the account is, once it is known. */
  known(self: Self): void;
  /** A message that came. */
  seen(event: ChannelInboundEvent): void;
}

/** Who is let in sees that their message was read. */
function withReceipts(ctx: ChannelGatewayContext<SignalAccount>, client: SignalClient): ChannelGatewayContext<SignalAccount> {
  const { inbound, account, log } = ctx;
  if (!inbound || !account.sendReadReceipts) return ctx;
  const markRead = async ({ sender, at }: ChannelInboundEvent): Promise<void> => {
    if (at !== undefined) await (await client.get()).markRead(sender.id, at);
  };
  return {
    ...ctx,
    inbound: {
      async accept(event) {
        const result = await inbound.accept(event);
        if (event.kind === "message" && event.chat.type === "direct" && result.outcome === "accepted" && !result.duplicate)
          markRead(event).catch((error: unknown) => log?.debug?.(`a read receipt was not sent: ${messageOf(error)}`));
        return result;
      },
    },
  };
}

/** The position moves on when the event is stored. */
async function whenStored(stored: Promise<boolean>, done: () => void): Promise<void> {
  if (await stored) done();
}

/** Runs the account; settles when it has stopped completely. Rejects with `permanent` where a restart would not help. */
export async function runAccount(ctx: ChannelGatewayContext<SignalAccount>, deps: RunDeps): Promise<void> {
  const { client, store, programStore, waiting = realWaiting, known, seen } = deps;
  const { account } = ctx;
  const cursor = await openCursor<Position>({
    store,
    now: waiting.now,
    failed: (error) => ctx.log?.warn(`the position could not be stored: ${messageOf(error)}`),
  });
  const probe = createNative(account);
  const daemon = createDaemon(account.program, { check: (signal) => probe.check(signal), store: programStore });
  let listener: Listener | undefined;

  /** The connection stands when the position from which another could go on is stored. */
  async function begin(run: AccountRun, api: SignalApi): Promise<void> {
    if (cursor.position === undefined) cursor.reset({ id: undefined, since: waiting.now() });
    await cursor.flush();
    run.up({ mode: api.form });
  }

  async function connect(run: AccountRun): Promise<unknown> {
    await daemon.ready(run);
    const api = await client.detect(run.signal);
    const self = await api.self(run.signal);
    known(self);
    run.setStatus({ baseUrl: account.baseUrl, ...(self.number === undefined ? {} : { bot: { number: self.number } }) });
    // What was read and is not stored yet comes again.
    const from = cursor.position;
    cursor.reset(from);
    const openedAt = waiting.now();
    /** Kept by the daemon from before this account was ever connected. */
    const isOld = ({ at = openedAt }: ChannelInboundEvent): boolean => from !== undefined && from.id === undefined && at < from.since - MARGIN_MS;
    const since = from?.since ?? openedAt;
    const take = (message: unknown, id: string | undefined): void => {
      const done = id === undefined ? () => {} : cursor.began({ id, since });
      const event = eventOf(message, { account, self, openedAt });
      if (!event || isOld(event)) return done();
      seen(event);
      void whenStored(run.intake.add(event), done);
    };
    listener = api.listen({
      self,
      signal: run.signal,
      lastId: from === undefined ? undefined : (from.id ?? BEFORE_ALL),
      opened: () => void begin(run, api),
      alive: run.alive,
      event: take,
      garbage: (what) => run.log.warn(`${what} from signal-cli was skipped`),
    });
    return listener.ended;
  }

  try {
    await keepConnected(withReceipts(ctx, client), {
      waiting,
      connect,
      backoff: createBackoff({ firstMs: 1000, lastMs: 10_000 }),
      flow: (isOpen) => listener?.flow(isOpen),
      status: { baseUrl: account.baseUrl, ...(account.program ? { cliPath: account.program.cliPath } : {}) },
    });
  } finally {
    await cursor.flush();
    await daemon.stop();
    probe.close();
  }
}
