/** Long polling. An update is confirmed by asking for those behind it, which happens only after the host has it on disk. */
import type { TelegramClient } from "../api/client.ts";
import { asTelegramError } from "../api/failure.ts";
import { listOf } from "../fields.ts";
import { ALLOWED_UPDATES, chatOf, updateIdOf } from "../inbound/update.ts";
import type { Intake, IntakeLog } from "./intake.ts";
import type { OffsetStore } from "./offsets.ts";
import { createBackoff, type Waiting } from "./waiting.ts";

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
  const ids = updates.map(updateIdOf);
  const known = ids.filter((id) => id !== undefined);
  const open = ids.filter((id, index) => id !== undefined && !results[index]) as number[];
  if (open.length > 0) return Math.min(...open);
  return known.length > 0 ? Math.max(...known) + 1 : undefined;
}

/** Runs until the signal fires. Rejects when going on is useless. */
export async function poll(deps: PollingDeps): Promise<void> {
  const { accountId, client, intake, offsets, log, waiting, signal } = deps;
  const backoff = createBackoff(waiting);
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
    await offsets.save(accountId, offset).catch((error: unknown) => log.warn(`the offset could not be kept: ${String(error)}`));
  }

  /** One question; false when it is to be asked again later. */
  async function ask(): Promise<boolean> {
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
    return true;
  }

  while (!signal.aborted) {
    try {
      await ask();
      backoff.reset();
    } catch (error) {
      if (signal.aborted) break;
      answered = false;
      catchingUp = true;
      const failure = asTelegramError(error);
      if (failure?.permanent) throw failure;
      const why = error instanceof Error ? error.message : String(error);
      const ms = Math.max(backoff.next(), failure?.delivery.retryAfterMs ?? 0);
      deps.failed(error, backoff.failures);
      log.warn(`${why}; the next attempt is in ${ms} ms`);
      await waiting.sleep(ms, signal);
    }
  }
  await save();
}
