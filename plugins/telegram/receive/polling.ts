/** Long polling. An update is confirmed by asking for those behind it, which happens only after the host has stored it. */
import type { TelegramClient } from "../api/client.ts";
import { asTelegramError } from "../api/failure.ts";
import { listOf, wholeOf } from "../fields.ts";
import { ALLOWED_UPDATES, chatOf, updateIdOf } from "../inbound/update.ts";
import type { Intake, IntakeLog } from "./intake.ts";
import { backoffMs, type Waiting } from "./waiting.ts";

/** Where reading goes on after a restart. Telegram itself stores what was not confirmed, so this only saves reading it twice. */
export interface OffsetStore {
  /** The next update to ask for, if it is known. */
  load(accountId: string): Promise<number | undefined>;
  save(accountId: string, offset: number): Promise<void>;
}

interface KeyedStore {
  lookup(key: string): Promise<unknown>;
  register(key: string, value: unknown, options?: { ttlMs?: number }): Promise<void>;
}

/** Telegram keeps updates for a day; after a silent week the numbering restarts. An older offset would hide new ones. */
const OFFSET_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Offsets by account and bot, in a store of the host. */
export function createOffsets(open: () => KeyedStore | undefined, botId: number | undefined): OffsetStore {
  const keyOf = (accountId: string): string => `${accountId}:${botId ?? ""}`;
  return {
    async load(accountId) {
      return wholeOf(await open()?.lookup(keyOf(accountId)));
    },
    async save(accountId, offset) {
      await open()?.register(keyOf(accountId), offset, { ttlMs: OFFSET_LIFETIME_MS });
    },
  };
}

export interface PollingDeps {
  readonly accountId: string;
  readonly client: TelegramClient;
  readonly intake: Intake;
  readonly offsets: OffsetStore;
  readonly log: IntakeLog;
  readonly waiting: Waiting;
  readonly signal: AbortSignal;
  /** Telegram answered; `updates` of it were new. */
  alive(updates: number): void;
  /** The connection is gone; it is tried again. */
  failed(error: unknown, attempt: number): void;
  /** Default 30. */
  readonly pollSeconds?: number | undefined;
}

const POLL_SECONDS = 30;
const LIMIT = 100;
/** Longer without an answer means that nobody is there. */
const GRACE_MS = 15_000;
const SAVE_EVERY_MS = 30_000;

/** The first update of the batch that is not safe yet, else the one behind the last. */
async function takeAll(updates: readonly unknown[], intake: Intake, backlog: boolean): Promise<number | undefined> {
  const lanes = new Map<string, Promise<boolean>>();
  const taken = updates.map((update) => {
    const chat = chatOf(update);
    const before = lanes.get(chat) ?? Promise.resolve(true);
    const mine = before.then((ok) => ok && intake.take(update, { backlog }));
    lanes.set(chat, mine);
    return mine;
  });
  const results = await Promise.all(taken);
  let open: number | undefined;
  let last: number | undefined;
  for (const [index, update] of updates.entries()) {
    const id = updateIdOf(update);
    if (id === undefined) continue;
    last = Math.max(id, last ?? id);
    if (!results[index]) open = Math.min(id, open ?? id);
  }
  return open ?? (last === undefined ? undefined : last + 1);
}

/** Runs until the signal fires. Rejects when going on is useless. */
export async function poll(deps: PollingDeps): Promise<void> {
  const { accountId, client, intake, offsets, log, waiting, signal } = deps;
  let failures = 0;
  const seconds = deps.pollSeconds ?? POLL_SECONDS;
  let offset = await offsets.load(accountId).catch(() => undefined);
  let saved = { offset, at: waiting.now() };
  /** Telegram answered last. Until it has, polls are short: a long one shows only at its end that the server is reachable. */
  let answered = false;
  /** What was written while nobody asked is being fetched: more than one update at once belongs to a back-log. */
  let catchingUp = true;

  async function save(): Promise<void> {
    if (offset === undefined || offset === saved.offset) return;
    saved = { offset, at: waiting.now() };
    await offsets.save(accountId, offset).catch((error: unknown) => log.warn(`the offset could not be stored: ${String(error)}`));
  }

  async function ask(): Promise<void> {
    const timeout = answered ? seconds : 0;
    const payload = { ...(offset === undefined ? {} : { offset }), limit: LIMIT, timeout, allowed_updates: ALLOWED_UPDATES };
    const updates = listOf(await client.call("getUpdates", payload, { signal, timeoutMs: timeout * 1000 + GRACE_MS }));
    answered = true;
    deps.alive(updates.length);
    const next = await takeAll(updates, intake, catchingUp && updates.length > 1);
    if (updates.length < LIMIT) catchingUp = false;
    if (next !== undefined && next > (offset ?? -1)) offset = next;
    else if (updates.length > 0 && !signal.aborted) throw new Error("none of the updates that came has a number, or all came before");
    if (waiting.now() - saved.at >= SAVE_EVERY_MS) await save();
  }

  while (!signal.aborted) {
    try {
      await ask();
      failures = 0;
    } catch (error) {
      if (signal.aborted) break;
      answered = false;
      catchingUp = true;
      const failure = asTelegramError(error);
      if (failure?.permanent) throw failure;
      const why = error instanceof Error ? error.message : String(error);
      failures += 1;
      const ms = Math.max(backoffMs(failures, waiting), failure?.delivery.retryAfterMs ?? 0);
      deps.failed(error, failures);
      log.warn(`${why}; the next attempt is in ${ms} ms`);
      await waiting.sleep(ms, signal);
    }
  }
  await save();
}
