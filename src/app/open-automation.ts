import { createLazyCron, loadCron, type CronEvent, type CronJob, type LazyCron } from "../automation/index.ts";
import { messageOf } from "../base/errors.ts";
import { lazy } from "../base/lazy.ts";
import { isRecord } from "../base/records.ts";
import type { Conversation } from "../conversation/index.ts";
import { queueSystemEvent } from "../gateway/index.ts";
import type { Plugins } from "../plugins/index.ts";
import type { Tool } from "../tools/index.ts";
import type { Core } from "./core.ts";

export interface AutomationDeps {
  readonly core: Core;
  readonly plugins: Pick<Plugins, "hooks">;
  readonly conversation: () => Pick<Conversation, "accept" | "outcome">;
  /** Announces what happens to jobs. */
  readonly broadcast: (event: CronEvent) => void;
  /** Removes a session and leaves its transcript. */
  readonly removeSession: (sessionKey: string) => Promise<unknown>;
  /** The last messages of a session. */
  readonly history: (sessionKey: string, limit: number) => Promise<{ readonly messages: readonly unknown[] }>;
}

export interface Automation {
  readonly cron: LazyCron;
  /** The tool with which an owner's agent schedules work; loaded with the first turn that has it. */
  readonly tool: () => Promise<Tool>;
  /** Starts what is scheduled. */
  start(): Promise<void>;
  /** The configuration of jobs changed. */
  reload(): Promise<void>;
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
function notifyPlugins(plugins: AutomationDeps["plugins"], event: CronEvent, job: CronJob | undefined): void {
  const hooks = plugins.hooks();
  if (!hooks?.has("cron_changed")) return;
  const { action, jobId, status, nextRunAtMs } = event;
  const about = { ...(status === undefined ? {} : { status }), ...(nextRunAtMs === undefined ? {} : { nextRunAtMs }) };
  void hooks.run("cron_changed", { reason: action, action, jobId, ...(job ? { job } : {}), ...about }, {});
}

/** Work that starts by itself. */
export function openAutomation({ core, plugins, conversation, broadcast, history, removeSession }: AutomationDeps, stack: AsyncDisposableStack): Automation {
  const { config, store, clock, ids, env } = core;
  const log = core.log.subsystem("automation");
  const disabledBy = (): string | undefined =>
    env["OPENCLAW_SKIP_CRON"] === "1" ? "OPENCLAW_SKIP_CRON" : config.current.cron?.enabled === false ? "cron.enabled" : undefined;
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
      removeSession,
      disabledBy,
      onEvent(event, job) {
        broadcast(event);
        notifyPlugins(plugins, event, job);
      },
    }),
  );
  const reconciled = (reason: "startup" | "reload"): void => {
    const hooks = plugins.hooks();
    if (hooks?.has("cron_reconciled")) void hooks.run("cron_reconciled", { reason, enabled: disabledBy() === undefined }, {});
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
    tool,
    async start() {
      // Messages are answered whatever is wrong with jobs.
      const failed = (error: unknown): void => log.error(`scheduled jobs could not be started: ${messageOf(error)}`, { error });
      const started = await cron.start().catch(failed);
      void started?.running.catch(failed).then(() => reconciled("startup"));
    },
    async reload() {
      await cron.reconsider();
      reconciled("reload");
    },
  };
}
