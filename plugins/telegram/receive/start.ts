/** An account from its start to its end: it polls, or opens a webhook. */
import type { ChannelGatewayContext } from "openclaw/plugin-sdk";
import type { TelegramAccount } from "../account.ts";
import type { TelegramClient } from "../api/client.ts";
import { asTelegramError, TelegramError } from "../api/failure.ts";
import { listOf, textOf, wholeOf } from "../fields.ts";
import { createLongTexts, type Self } from "../inbound/text.ts";
import { ALLOWED_UPDATES, chatOf, updateIdOf } from "../inbound/update.ts";
import { createIntake, type Intake, type IntakeLog, type SkippedUpdate } from "./intake.ts";
import { backoffMs, type Waiting } from "./waiting.ts";
import { openWebhook, requireSecret, type WebhookDeps } from "./webhook.ts";

/** Where reading goes on after a restart. Telegram itself stores what was not confirmed, so this only saves reading it twice. */
interface OffsetStore {
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

interface PollingDeps {
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

/**
 * Long polling. An update is confirmed by asking for those behind it, which happens only after the host has stored it.
 * Runs until the signal fires. Rejects when going on is useless.
 */
async function poll(deps: PollingDeps): Promise<void> {
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

export interface StartDeps {
  readonly client: TelegramClient;
  readonly offsets: OffsetStore;
  readonly waiting: Waiting;
  /** Who the bot is, once it is known. */
  known(self: Self): void;
  isOurs(chatId: string, messageId: number): boolean;
  offers(command: string): boolean;
  migrated(from: string, to: string): Promise<void>;
  readonly pollSeconds?: number | undefined;
}

type Context = ChannelGatewayContext<TelegramAccount>;

/** Updates that status names; more are only counted. */
const MAX_LISTED = 20;

function refused(message: string): TelegramError {
  return new TelegramError(message, { method: "start", delivery: { state: "failed" }, permanent: true, code: "CONFIG_INVALID" });
}

const silent: IntakeLog = { info: () => {}, warn: () => {} };

/** Repeats until it succeeds, the account stops, or trying is useless. */
async function persist<T>(ctx: Context, { waiting }: StartDeps, log: IntakeLog, act: () => Promise<T>): Promise<T | undefined> {
  for (let failures = 1; ; failures += 1) {
    if (ctx.abortSignal.aborted) return undefined;
    try {
      return await act();
    } catch (error) {
      const failure = asTelegramError(error);
      if (ctx.abortSignal.aborted) return undefined;
      // Whatever else Telegram refuses it will refuse again, except that another program may stop receiving.
      if (!failure || failure.permanent || (failure.delivery.state === "failed" && failure.status !== 409)) throw error;
      const ms = Math.max(backoffMs(failures, waiting), failure.delivery.retryAfterMs ?? 0);
      const { message } = failure;
      ctx.setStatus({ accountId: ctx.accountId, connected: false, receiving: receivingOf(failure), reconnectAttempts: failures, lastError: message });
      log.warn(`${failure.message}; the next attempt is in ${ms} ms`);
      await waiting.sleep(ms, ctx.abortSignal);
    }
  }
}

async function identify(client: TelegramClient, signal: AbortSignal): Promise<Self & { readonly bot: object }> {
  const me = await client.call("getMe", {}, { signal });
  const bot = { id: me.id, username: me.username, canJoinGroups: me.can_join_groups, canReadAllGroupMessages: me.can_read_all_group_messages };
  return { id: me.id, username: textOf(me.username), bot };
}

/** Polling and a webhook exclude each other. */
async function dropWebhook(client: TelegramClient, log: IntakeLog, signal: AbortSignal): Promise<true> {
  const { url } = await client.call("getWebhookInfo", {}, { signal });
  if (textOf(url) !== undefined) {
    log.info("a webhook was set for this bot; it is removed, because updates are polled");
    await client.call("deleteWebhook", {}, { signal });
  }
  return true;
}

/** What is wrong with receiving, and what to do where it does not mend itself. */
function receivingOf(error: unknown): { readonly state: "conflict" | "error"; readonly text: string; readonly fix?: string } {
  const text = error instanceof Error ? error.message : String(error);
  if (asTelegramError(error)?.status !== 409) return { state: "error", text };
  return { state: "conflict", text, fix: "Stop the other program that receives with this bot token, or use another bot. Sending works meanwhile." };
}

function reporting({ accountId, setStatus }: Context, { waiting }: StartDeps) {
  const skippedUpdates: SkippedUpdate[] = [];
  let count = 0;
  return {
    alive(updates: number): void {
      const now = waiting.now();
      const inbound = updates > 0 ? { lastInboundAt: now, lastMessageAt: now } : {};
      setStatus({ accountId, running: true, connected: true, receiving: undefined, reconnectAttempts: 0, lastEventAt: now, lastError: null, ...inbound });
    },
    failed(error: unknown, attempt: number): void {
      const receiving = receivingOf(error);
      const why = receiving.text;
      setStatus({ accountId, connected: false, receiving, reconnectAttempts: attempt, lastError: why, lastDisconnect: { at: waiting.now(), error: why } });
    },
    skipped(skipped: SkippedUpdate): void {
      count += 1;
      skippedUpdates.push(skipped);
      if (skippedUpdates.length > MAX_LISTED) skippedUpdates.shift();
      setStatus({ accountId, application: { skippedUpdates: { count, last: [...skippedUpdates] } } });
    },
  };
}

async function receiveByWebhook(ctx: Context, deps: StartDeps, webhook: WebhookDeps): Promise<void> {
  const { settings, log, alive } = webhook;
  const { url, secret } = settings;
  await using listener = await openWebhook(webhook);
  const set = await persist(ctx, deps, log, () =>
    deps.client.call("setWebhook", { url, secret_token: secret, allowed_updates: ALLOWED_UPDATES }, { signal: ctx.abortSignal }),
  );
  if (set === undefined) return;
  alive(0);
  ctx.setStatus({ accountId: ctx.accountId, mode: "webhook", webhookUrl: url, webhookPath: settings.path, port: listener.port });
  const { promise, resolve } = Promise.withResolvers<void>();
  if (ctx.abortSignal.aborted) resolve();
  else ctx.abortSignal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
}

/** Runs the account; settles when it has stopped completely. Rejects with `permanent` where a restart would not help. */
export async function runAccount(ctx: Context, deps: StartDeps): Promise<void> {
  const { account, accountId, abortSignal: signal, inbound } = ctx;
  const log = ctx.log ?? silent;
  if (!account.token) throw refused(`Telegram account "${accountId}" has no bot token; set channels.telegram.botToken, tokenFile or TELEGRAM_BOT_TOKEN`);
  if (!inbound) throw refused("this version of the host takes no messages from channels; update it");
  if (account.webhook) requireSecret(account.webhook);
  const { alive, failed, skipped } = reporting(ctx, deps);
  ctx.setStatus({ accountId, running: true, connected: false, lastStartAt: deps.waiting.now(), lastError: null, tokenSource: account.tokenSource });
  try {
    const self = await persist(ctx, deps, log, () => identify(deps.client, signal));
    if (!self) return;
    deps.known(self);
    ctx.setStatus({ accountId, bot: self.bot, mode: account.webhook ? "webhook" : "polling", lastConnectedAt: deps.waiting.now() });
    const facts = { self, account, isOurs: deps.isOurs, offers: deps.offers, longTexts: createLongTexts() };
    const intake = createIntake({ inbound, facts, client: deps.client, log, waiting: deps.waiting, signal, migrated: deps.migrated, skipped });
    if (account.webhook) return await receiveByWebhook(ctx, deps, { settings: account.webhook, intake, log, alive });
    if ((await persist(ctx, deps, log, () => dropWebhook(deps.client, log, signal))) === undefined) return;
    await poll({
      accountId,
      client: deps.client,
      intake,
      offsets: deps.offsets,
      log,
      waiting: deps.waiting,
      signal,
      alive,
      failed,
      pollSeconds: deps.pollSeconds,
    });
  } catch (error) {
    ctx.setStatus({ accountId, lastError: error instanceof Error ? error.message : String(error) });
    throw error;
  } finally {
    ctx.setStatus({ accountId, running: false, connected: false, lastStopAt: deps.waiting.now() });
  }
}
