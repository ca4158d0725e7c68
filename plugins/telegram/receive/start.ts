/** An account from its start to its end. */
import type { ChannelGatewayContext } from "openclaw/plugin-sdk";
import type { TelegramAccount } from "../account.ts";
import type { TelegramClient } from "../api/client.ts";
import { asTelegramError, TelegramError } from "../api/failure.ts";
import { textOf } from "../fields.ts";
import { createLongTexts, type Self } from "../inbound/text.ts";
import { ALLOWED_UPDATES } from "../inbound/update.ts";
import { createIntake, type IntakeLog, type SkippedUpdate } from "./intake.ts";
import { poll, type OffsetStore } from "./polling.ts";
import { backoffMs, type Waiting } from "./waiting.ts";
import { openWebhook, requireSecret, type WebhookDeps } from "./webhook.ts";

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
