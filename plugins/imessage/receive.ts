/** An account from its start to its end: `imsg rpc` is started, and started again when it ends, behind the last row that is stored. */
import type { ChannelGatewayContext } from "openclaw/plugin-sdk";
import {
  type AccountRun,
  type Cursor,
  type CursorStore,
  createRecent,
  type Fields,
  keepConnected,
  openCursor,
  realWaiting,
  type Recent,
  textOf,
  type Waiting,
} from "openclaw/plugin-sdk/channel-kit";
import type { IMessageAccount } from "./account.ts";
import type { Echoes } from "./echoes.ts";
import { endOf, type Environment, type Imsg, openImsg } from "./imsg.ts";
import { eventOf, readRow, type Row, type RowDeps } from "./inbound.ts";
import { handleOf } from "./target.ts";

/** A program that says nothing may wait for messages, or hang behind a connection that is gone: this often it is asked. */
const CHECK_MS = 30_000;
/** Messages that answers may refer to. */
const RECENT = 500;
/** How far back a message that an answer refers to is looked up. */
const HISTORY = 100;
/** What is shown of such a message. */
const QUOTED_CHARS = 4000;

export interface RunDeps {
  readonly store: CursorStore<number>;
  readonly echoes: Echoes;
  readonly waiting?: Waiting | undefined;
  readonly env?: Environment | undefined;
  readonly sendTimeoutMs?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly checkMs?: number | undefined;
  /** The program that runs now; undefined: none does. */
  live(imsg: Imsg | undefined): void;
}

/** Texts by guid, of both sides. */
type Quotable = Recent<{ readonly text: string; readonly sender: string }>;

interface SessionDeps {
  readonly ctx: ChannelGatewayContext<IMessageAccount>;
  readonly run: AccountRun;
  readonly cursor: Cursor<number>;
  readonly echoes: Echoes;
  readonly recent: Quotable;
  imsg(): Imsg | undefined;
}

/** One process. `newest` is the last row that was there before it watched. */
function createSession({ ctx, run, cursor, echoes, recent, imsg }: SessionDeps) {
  const { account, cfg } = ctx;
  let newest = 0;
  let at = 0;

  async function find(chatId: number, guid: string) {
    const known = recent.get(guid);
    if (known || chatId <= 0) return known;
    const found = (await imsg()?.history(chatId, HISTORY))?.find((fields) => fields["guid"] === guid);
    const row = found && readRow(found, account);
    return row && { text: row.text.slice(0, QUOTED_CHARS), sender: row.isFromMe ? "me" : handleOf(row.sender) };
  }
  const deps: RowDeps = { cfg, account, echoes, find };

  async function handOver(row: Row, done: () => void): Promise<void> {
    try {
      const lane = row.isGroup ? String(row.chatId) : row.sender;
      if (await run.intake.addLater(lane, () => eventOf(row, deps, row.id <= newest))) done();
    } catch (error) {
      void imsg()?.close(error as Error);
    }
  }

  return {
    begin(row: number, position: number): void {
      newest = row;
      at = position;
    },
    row(fields: Fields): void {
      const row = readRow(fields, account);
      if (!row) return run.log.warn(`imsg reported a message without an id: ${textOf(fields["guid"]) ?? "no details"}`);
      // One that comes again does not lead back.
      at = Math.max(at, row.id);
      const done = cursor.began(at);
      if (row.fields["is_reaction"] !== true) recent.set(row.guid, { text: row.text.slice(0, QUOTED_CHARS), sender: row.isFromMe ? "me" : row.sender });
      void handOver(row, done);
    },
  };
}

/** Asks from time to time whether the program still answers. */
async function watchSilence(imsg: Imsg, run: AccountRun, ms: number, isOver: AbortSignal): Promise<void> {
  while (!isOver.aborted) {
    await run.waiting.sleep(ms, isOver);
    if (isOver.aborted) return;
    try {
      await imsg.chats(1);
    } catch (error) {
      return void imsg.close(error as Error);
    }
  }
}

/** Runs the account; settles when it has stopped completely. Rejects with `permanent` where a restart would not help. */
export async function runAccount(ctx: ChannelGatewayContext<IMessageAccount>, deps: RunDeps): Promise<void> {
  const { account } = ctx;
  const { store, echoes, waiting = realWaiting, env, sendTimeoutMs, timeoutMs, checkMs = CHECK_MS, live } = deps;
  const recent: Quotable = createRecent(RECENT);
  const cursor = await openCursor<number>({
    store,
    now: waiting.now,
    failed: (error) => ctx.log?.warn(`the position could not be stored: ${String(error)}`),
  });
  let imsg: Imsg | undefined;

  async function connect(run: AccountRun): Promise<unknown> {
    const session = createSession({ ctx, run, cursor, echoes, recent, imsg: () => imsg });
    const opened = await openImsg(account, {
      env,
      signal: run.signal,
      sendTimeoutMs,
      timeoutMs,
      onMessage: session.row,
      onError: (error) => void opened.close(error),
      onAlive: run.alive,
      onNoise: (text) => run.log.warn(`imsg: ${text.slice(0, 300)}`),
    });
    imsg = opened;
    const over = new AbortController();
    try {
      const newest = await opened.newestRow();
      // Nothing is read of the time before the first start; rows are counted from 1 again where the database is another one.
      const position = Math.min(cursor.position ?? newest, newest);
      cursor.reset(position);
      await cursor.flush();
      session.begin(newest, position);
      await opened.watch(position);
      live(opened);
      run.up({ mode: "stdio" });
      void watchSilence(opened, run, checkMs, over.signal);
      return endOf(await opened.ended, account);
    } catch (error) {
      void opened.close();
      const end = await opened.ended;
      // Where it ended by itself, that is the reason.
      const known = endOf(end, account);
      throw (known as { permanent?: boolean }).permanent === true ? known : error;
    } finally {
      over.abort();
      live(undefined);
      imsg = undefined;
    }
  }

  try {
    await keepConnected(ctx, {
      waiting,
      connect,
      flow: (isOpen) => imsg?.flow(isOpen),
      status: { cliPath: account.cliPath, dbPath: account.dbPath ?? null },
    });
  } finally {
    await cursor.flush();
  }
}
