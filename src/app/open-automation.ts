import {
  createLazyCron,
  createLazyWebhooks,
  loadCron,
  loadWebhooks,
  type CronEvent,
  type CronJob,
  type LazyCron,
  type LazyWebhooks,
} from "../automation/index.ts";
import { messageOf } from "../base/errors.ts";
import { lazy } from "../base/lazy.ts";
import { isRecord } from "../base/records.ts";
import type { Conversation } from "../conversation/index.ts";
import { mainSession, queueSystemEvent } from "../gateway/index.ts";
import type { Plugins } from "../plugins/index.ts";
import { deliveryOf } from "../sessions/index.ts";
import type { Tool } from "../tools/index.ts";
import type { Core } from "./core.ts";

export interface AutomationDeps {
  readonly core: Core;
  readonly plugins: Pick<Plugins, "hooks">;
  /** The gateway's. */
  readonly port: () => number;
  readonly conversation: () => Pick<Conversation, "accept" | "outcome">;
  /** Announces what happens to jobs. */
  readonly broadcast: (event: CronEvent) => void;
  /** The last messages of a session. */
  readonly history: (sessionKey: string, limit: number) => Promise<{ readonly messages: readonly unknown[] }>;
}

export interface Automation {
  readonly cron: LazyCron;
  readonly webhooks: Pick<LazyWebhooks, "handle">;
  /** The tool with which an owner's agent schedules work; loaded with the first turn that has it. */
  readonly tool: () => Promise<Tool>;
  /** Starts what is scheduled. */
  start(): Promise<void>;
  /** The configuration of jobs changed. */
  reload(): Promise<void>;
  /** The configuration of hooks changed: mail may be watched now, or no longer. */
  reloadHooks(): Promise<void>;
}

const WAKE_MESSAGE = "The system line above has just come in. Act on it if it needs something; otherwise answer NO_REPLY.";

/** A message of the history as a reminder quotes it. */
function shownMessage(message: unknown): readonly { readonly role: string; readonly text: string }[] {
  if (!isRecord(message) || (message["role"] !== "user" && message["role"] !== "assistant")) return [];
  const { role, content } = message;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [{ text: content }];
  const text = parts
    .map((part) => (isRecord(part) && typeof part["text"] === "string" ? part["text"] : ""))
    .join(" ")
    .trim();
  return text === "" ? [] : [{ role, text }];
}

/** Plugins are notified about jobs; nothing waits for them. */
function notifyPlugins(plugins: AutomationDeps["plugins"], event: CronEvent, job: CronJob): void {
  const hooks = plugins.hooks();
  if (!hooks?.has("cron_changed")) return;
  const { action, jobId, status, nextRunAtMs } = event;
  const about = { ...(status === undefined ? {} : { status }), ...(nextRunAtMs === undefined ? {} : { nextRunAtMs }) };
  void hooks.run("cron_changed", { reason: action, action, jobId, job, ...about }, {});
}

type Webhooks = Pick<AutomationDeps, "core" | "conversation"> & {
  readonly notify: (event: { readonly text: string; readonly idempotencyKey?: string }) => Promise<string>;
};

/** Requests of other programs. */
function openWebhooks({ core, conversation, notify }: Webhooks): LazyWebhooks {
  const { config, store, clock, ids } = core;
  const log = core.log.subsystem("webhooks");
  return createLazyWebhooks({
    config,
    store,
    clock,
    ids,
    log,
    notify,
    runs: { accept: (request) => conversation().accept(request), outcome: (...args) => conversation().outcome(...args) },
    async wake({ id }) {
      const sessionKey = mainSession(config.current);
      const last = deliveryOf((await store.read("sessions.get", { key: sessionKey }))?.entry);
      const { channel = "webchat", to, accountId = "default", threadId } = last ?? {};
      const isChat = channel !== "webchat" && to !== undefined && config.current.channels?.[channel] !== undefined;
      const reply = isChat ? { reply: { channel, accountId, to, chatType: "direct" as const, ...(threadId === undefined ? {} : { threadId }) } } : {};
      // Where too much waits in the session, what is queued there is seen by the next turn anyway.
      await conversation()
        .accept({ runId: id, kind: "webhook", sessionKey, message: WAKE_MESSAGE, channel, ...reply })
        .catch((error: unknown) => log.warn(`the main session was not woken: ${messageOf(error)}`));
    },
  });
}

/** Work that starts by itself. */
export function openAutomation({ core, plugins, port, conversation, broadcast, history }: AutomationDeps, stack: AsyncDisposableStack): Automation {
  const { config, store, clock, ids, env } = core;
  const log = core.log.subsystem("automation");
  const isEnabled = (): boolean => config.current.cron?.enabled !== false && env["OPENCLAW_SKIP_CRON"] !== "1";
  const notify = (event: Parameters<typeof queueSystemEvent>[1]): Promise<string> => queueSystemEvent({ config, store, ids }, event);
  const cron = stack.use(
    createLazyCron({
      config,
      store,
      clock,
      ids,
      log,
      notify,
      runs: { accept: (request) => conversation().accept(request), outcome: (...args) => conversation().outcome(...args) },
      enabled: isEnabled,
      onEvent(event, job) {
        broadcast(event);
        notifyPlugins(plugins, event, job);
      },
    }),
  );
  const reconciled = (reason: "startup" | "reload"): void => {
    const hooks = plugins.hooks();
    if (hooks?.has("cron_reconciled")) void hooks.run("cron_reconciled", { reason, enabled: isEnabled() }, {});
  };
  const webhooks = stack.use(openWebhooks({ core, conversation, notify }));
  const gmail = lazy(async () => {
    const { createGmailWatcher } = await loadWebhooks();
    return createGmailWatcher({ config, clock, log: core.log.subsystem("gmail"), cwd: config.paths.state, port });
  });
  stack.defer(async () => (await gmail.started())?.[Symbol.asyncDispose]());
  const reloadHooks = async (): Promise<void> => {
    if (config.current.hooks?.gmail?.account !== undefined || gmail.started()) await (await gmail()).reconsider();
  };
  const tool = lazy(async () => {
    const { cronTool } = await loadCron();
    return cronTool({
      cron,
      recent: async (sessionKey, count) => (await history(sessionKey, count)).messages.flatMap(shownMessage),
      async wake({ sessionKey, text, mode }) {
        if (mode === "next-heartbeat") await notify({ sessionKey, text });
        else
          await conversation().accept({
            runId: ids.uuid(),
            kind: "cron",
            sessionKey,
            message: WAKE_MESSAGE,
            events: [{ text, at: clock.now() }],
            channel: "webchat",
          });
        return { ok: true };
      },
    });
  });
  return {
    cron,
    webhooks,
    tool,
    async start() {
      // Messages are answered whatever is wrong with jobs.
      await cron.start().catch((error: unknown) => log.error(`scheduled jobs could not be started: ${messageOf(error)}`, { error }));
      await webhooks
        .start()
        .catch((error: unknown) => log.error(`webhook runs of the previous process could not be continued: ${messageOf(error)}`, { error }));
      reconciled("startup");
      void reloadHooks().catch((error: unknown) => log.error(`mail is not watched: ${messageOf(error)}`, { error }));
    },
    reloadHooks,
    async reload() {
      await cron.reconsider();
      reconciled("reload");
    },
  };
}
