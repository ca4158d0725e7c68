/** An account from its start to its end: it polls, or opens a webhook. */
import type { ChannelGatewayContext } from "openclaw/plugin-sdk";
import {
  type AccountRun,
  type AccountRunOptions,
  asChannelError,
  createBackoff,
  type Cursor,
  type CursorStore,
  hopeless,
  type Intake,
  keepConnected,
  listOf,
  messageOf,
  openCursor,
  textOf,
  type Waiting,
} from "openclaw/plugin-sdk/channel-kit";
import type { TelegramAccount, WebhookSettings } from "../account.ts";
import type { TelegramClient } from "../api/client.ts";
import { createLongTexts, type Self } from "../inbound/text.ts";
import type { ChannelInboundEvent } from "../types.ts";
import { ALLOWED_UPDATES, chatOf, updateIdOf } from "../inbound/update.ts";
import type { Records } from "../records.ts";
import { createUpdates, type SkippedUpdate, type Updates } from "./intake.ts";
import { openWebhook, requireSecret } from "./webhook.ts";

export interface StartDeps {
  readonly client: TelegramClient;
  /** The next update to ask for. Telegram itself stores what was not confirmed, so this only saves reading it twice. */
  readonly offsets: CursorStore<number>;
  readonly waiting: Waiting;
  /** Who the bot is, once it is known. */
  known(self: Self): void;
  isOurs(chatId: string, messageId: number): boolean;
  readonly records: Pick<Records, "load" | "poll" | "accepted">;
  offers(command: string): boolean;
  migrated(from: string, to: string): Promise<void>;
  /** Default 30. */
  readonly pollSeconds?: number | undefined;
}

/** Telegram keeps updates for a day; after a silent week the numbering restarts. An older offset would hide new ones. */
export const OFFSET_LIFETIME_MS = 24 * 60 * 60 * 1000;
const POLL_SECONDS = 30;
const LIMIT = 100;
/** Longer without an answer means that nobody is there. */
const GRACE_MS = 15_000;
const SAVE_EVERY_MS = 30_000;
/** Updates that status names; more are only counted. */
const MAX_LISTED = 20;

/** The first update of the batch that is not safe yet, else the one behind the last. */
async function takeAll(batch: readonly unknown[], updates: Updates, intake: Intake, backlog: boolean): Promise<number | undefined> {
  /** Chats with an update that was not taken: those behind it have to come again as well. */
  const stuck = new Set<string>();
  const results = await Promise.all(
    batch.map((update) => {
      const chat = chatOf(update);
      return intake.behind(chat, async () => {
        if (!stuck.has(chat) && (await updates.take(update, backlog))) return true;
        stuck.add(chat);
        return false;
      });
    }),
  );
  const numbered = batch.flatMap((update, index) => {
    const id = updateIdOf(update);
    return id === undefined ? [] : [{ id, isTaken: results[index] === true }];
  });
  const open = numbered.filter(({ isTaken }) => !isTaken).map(({ id }) => id);
  if (open.length > 0) return Math.min(...open);
  return numbered.length === 0 ? undefined : Math.max(...numbered.map(({ id }) => id)) + 1;
}

/** Long polling. An update is confirmed by asking for those behind it, which happens only after the host has stored it. Ends with the signal, or throws. */
async function poll(run: AccountRun, { client, pollSeconds = POLL_SECONDS }: StartDeps, updates: Updates, cursor: Cursor<number>): Promise<void> {
  const { signal } = run;
  /** Until Telegram has answered, polls are short: a long one shows only at its end that the server is reachable. */
  let timeout = 0;
  /** What was written while nobody asked is being fetched: more than one update at once belongs to a back-log. */
  let catchingUp = true;
  while (!signal.aborted) {
    const offset = cursor.position;
    const payload = { ...(offset === undefined ? {} : { offset }), limit: LIMIT, timeout, allowed_updates: ALLOWED_UPDATES };
    const batch = listOf(await client.call("getUpdates", payload, { signal, timeoutMs: timeout * 1000 + GRACE_MS }));
    if (timeout === 0) run.up();
    else run.alive();
    timeout = pollSeconds;
    const next = await takeAll(batch, updates, run.intake, catchingUp && batch.length > 1);
    if (batch.length < LIMIT) catchingUp = false;
    if (next !== undefined && next > (offset ?? -1)) cursor.began(next)();
    else if (batch.length > 0 && !signal.aborted) throw new Error("no update has a number, or all were already received");
  }
}

async function identify(client: TelegramClient, signal: AbortSignal): Promise<Self & { readonly bot: object }> {
  const me = await client.call("getMe", {}, { signal });
  const bot = { id: me.id, username: me.username, canJoinGroups: me.can_join_groups, canReadAllGroupMessages: me.can_read_all_group_messages };
  return { id: me.id, username: textOf(me.username), bot };
}

/** Polling and a webhook exclude each other. */
async function dropWebhook(client: TelegramClient, { log, signal }: AccountRun): Promise<void> {
  const { url } = await client.call("getWebhookInfo", {}, { signal });
  if (textOf(url) === undefined) return;
  log.info("removed the webhook of this bot, because updates are polled");
  await client.call("deleteWebhook", {}, { signal });
}

async function receiveByWebhook(run: AccountRun, { client }: StartDeps, settings: WebhookSettings, updates: Updates): Promise<void> {
  const { log, signal } = run;
  await using listener = await openWebhook({ settings, updates, log, alive: () => run.alive() });
  const { url, secret, path } = settings;
  await client.call("setWebhook", { url, secret_token: secret, allowed_updates: ALLOWED_UPDATES }, { signal });
  run.up({ mode: "webhook", webhookUrl: url, webhookPath: path, port: listener.port });
  await run.stopped();
}

const CONFLICT_FIX = "Stop the other program that receives with this bot token, or use another bot. Sending still works.";

/** What is wrong with receiving, and what to do where it does not mend itself. */
function receivingOf(error: unknown): ReturnType<NonNullable<AccountRunOptions["receiving"]>> {
  return asChannelError(error)?.status === 409 ? { state: "conflict", text: messageOf(error), fix: CONFLICT_FIX } : undefined;
}

/** Counts what was skipped, and names the last. */
function createSkipped(report: (application: object) => void): (skipped: SkippedUpdate) => void {
  const last: SkippedUpdate[] = [];
  let count = 0;
  return (skipped) => {
    count += 1;
    last.push(skipped);
    if (last.length > MAX_LISTED) last.shift();
    report({ skippedUpdates: { count, last: [...last] } });
  };
}

/** Runs the account; settles when it has stopped completely. Rejects with `permanent` where a restart would not help. */
export async function runAccount(ctx: ChannelGatewayContext<TelegramAccount>, deps: StartDeps): Promise<void> {
  const { account, accountId } = ctx;
  const { client, waiting, isOurs, offers, migrated, records } = deps;
  const wrong = account.problems.join("; ");
  if (wrong !== "") throw hopeless(`Telegram account "${accountId}" ${wrong.startsWith("no ") ? "has" : "cannot be started:"} ${wrong}`);
  if (account.webhook) requireSecret(account.webhook);
  const failed = (error: unknown): void => ctx.log?.warn(`the offset could not be stored: ${messageOf(error)}`);
  const cursor = await openCursor({ store: deps.offsets, now: () => waiting.now(), everyMs: SAVE_EVERY_MS, failed });
  const skipped = createSkipped((application) => ctx.setStatus({ accountId, application }));
  let updates: Updates | undefined;
  let isReceiving = false;
  const { inbound } = ctx;
  const observed = inbound && {
    async accept(event: ChannelInboundEvent) {
      const result = await inbound.accept(event);
      if (result.outcome === "accepted") records.accepted(accountId, event);
      return result;
    },
  };

  /** Once in the account's life, however often it takes. */
  async function prepare(run: AccountRun): Promise<Updates> {
    const self = await identify(client, run.signal);
    await records.load(accountId).catch((error: unknown) => run.log.warn(`the polls and stickers from before could not be read: ${messageOf(error)}`));
    deps.known(self);
    run.setStatus({ bot: self.bot, mode: account.webhook ? "webhook" : "polling", lastConnectedAt: waiting.now() });
    if (!account.webhook) await dropWebhook(client, run);
    const facts = { self, account, isOurs, offers, poll: (id: string) => records.poll(accountId, id), longTexts: createLongTexts() };
    return createUpdates({ intake: run.intake, facts, client, log: run.log, signal: run.signal, migrated, skipped });
  }

  await keepConnected(observed ? { ...ctx, inbound: observed } : ctx, {
    waiting,
    backoff: createBackoff({ factor: 1.8 }),
    // Every answer is a sign that all is well.
    goodMs: 0,
    status: { tokenSource: account.tokenSource },
    receiving: receivingOf,
    skipped: (event, why) => skipped({ updateId: updates?.sourceOf(event), why }),
    ends(error) {
      const failure = asChannelError(error);
      if (isReceiving) return failure?.permanent === true;
      // Whatever else Telegram refuses at the start it will refuse again, except that another program may stop receiving.
      return !failure || failure.permanent || (failure.delivery.state === "failed" && failure.status !== 409);
    },
    async connect(run) {
      updates ??= await prepare(run);
      if (account.webhook) return receiveByWebhook(run, deps, account.webhook, updates);
      isReceiving = true;
      await poll(run, deps, updates, cursor);
    },
  });
  await cursor.flush();
}
