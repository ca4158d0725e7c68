import { dirname } from "node:path";
import { createLazyCron, createLazyInternalHooks, loadCron, type CronEvent, type CronJob, type LazyCron, type LazyInternalHooks } from "../automation/index.ts";
import { messageOf } from "../base/errors.ts";
import { lazy } from "../base/lazy.ts";
import { isRecord } from "../base/records.ts";
import type { Conversation } from "../conversation/index.ts";
import { queueSystemEvent } from "../gateway/index.ts";
import type { LazyModels } from "../models/index.ts";
import { loadJournal, type Plugins } from "../plugins/index.ts";
import type { Tool } from "../tools/index.ts";
import type { Core } from "./core.ts";

export interface AutomationDeps {
  readonly core: Core;
  readonly plugins: Pick<Plugins, "hooks" | "importFile" | "internalHooks">;
  readonly models: LazyModels;
  readonly conversation: () => Pick<Conversation, "accept" | "outcome">;
  /** Announces what happens to jobs. */
  readonly broadcast: (event: CronEvent) => void;
  /** The last messages of a session. */
  readonly history: (sessionKey: string, limit: number) => Promise<{ readonly messages: readonly unknown[] }>;
}

export interface Automation {
  readonly cron: LazyCron;
  /** Hooks from files. */
  readonly hooks: LazyInternalHooks;
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
function notifyPlugins(plugins: AutomationDeps["plugins"], event: CronEvent, job: CronJob): void {
  const hooks = plugins.hooks();
  if (!hooks?.has("cron_changed")) return;
  const { action, jobId, status, nextRunAtMs } = event;
  const about = { ...(status === undefined ? {} : { status }), ...(nextRunAtMs === undefined ? {} : { nextRunAtMs }) };
  void hooks.run("cron_changed", { reason: action, action, jobId, job, ...about }, {});
}

/** Hooks from files of the user and the workspace. */
function openInternalHooks({ core, plugins, models, conversation }: AutomationDeps): LazyInternalHooks {
  const { config, store, clock, ids, env, workspaceOf } = core;
  return createLazyInternalHooks({
    config,
    store,
    clock,
    ids,
    env,
    models,
    workspaceOf,
    log: core.log.subsystem("hooks"),
    registry: plugins.internalHooks,
    stateDir: config.paths.state,
    home: config.paths.home,
    configDir: dirname(config.paths.file),
    platform: process.platform,
    runs: { accept: (request) => conversation().accept(request), outcome: (...args) => conversation().outcome(...args) },
    recover: async () => (await loadJournal()).recoverInstalls({ stateDir: config.paths.state, config: () => config.current, now: clock.now(), what: "hooks" }),
    importModule: ({ name, file, rootDir }) => plugins.importFile({ id: name, source: file, rootDir, noun: "hook" }),
  });
}

/** Work that starts by itself. */
export function openAutomation(deps: AutomationDeps, stack: AsyncDisposableStack): Automation {
  const { core, plugins, conversation, broadcast, history } = deps;
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
  const hooks = stack.use(openInternalHooks(deps));
  const reconciled = (reason: "startup" | "reload"): void => {
    const hooks = plugins.hooks();
    if (hooks?.has("cron_reconciled")) void hooks.run("cron_reconciled", { reason, enabled: isEnabled() }, {});
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
    hooks,
    tool,
    async start() {
      // Messages are answered whatever is wrong with jobs.
      await cron.start().catch((error: unknown) => log.error(`scheduled jobs could not be started: ${messageOf(error)}`, { error }));
      reconciled("startup");
    },
    async reload() {
      await cron.reconsider();
      reconciled("reload");
    },
  };
}
