import { dirname } from "node:path";
import {
  createLazyCron,
  createLazyInternalHooks,
  createLazyWebhooks,
  loadCron,
  loadSubagents,
  loadWebhooks,
  type CronEvent,
  type CronJob,
  type LazyCron,
  type LazyInternalHooks,
  type LazyWebhooks,
  type Subagents,
} from "../automation/index.ts";
import { messageOf } from "../base/errors.ts";
import { lazy } from "../base/lazy.ts";
import { isRecord } from "../base/records.ts";
import type { Conversation, RunRequest } from "../conversation/index.ts";
import { queueSystemEvent, type HeartbeatPort } from "../gateway/index.ts";
import type { LazyModels } from "../models/index.ts";
import { loadJournal, type Plugins } from "../plugins/index.ts";
import type { ChannelPlugin, EventPayload } from "../protocol/index.ts";
import type { Tool } from "../tools/index.ts";
import type { Core } from "./core.ts";
import { openHeartbeat, type OpenHeartbeat } from "./open-heartbeat.ts";
import { openSubagents, type OpenSubagentsDeps } from "./open-subagents.ts";

export interface AutomationDeps {
  readonly core: Core;
  readonly plugins: Pick<Plugins, "hooks" | "importFile" | "internalHooks">;
  readonly models: LazyModels;
  readonly conversation: () => Pick<Conversation, "accept" | "outcome" | "abort" | "isBusy" | "exclusively" | "onAbort" | "addressOf">;
  /** The gateway's. */
  readonly port: () => number;
  readonly delivery: OpenSubagentsDeps["delivery"];
  readonly deleteSession: OpenSubagentsDeps["deleteSession"];
  readonly killProcesses: OpenSubagentsDeps["killProcesses"];
  /** Announces what happens to jobs. */
  readonly broadcast: (event: CronEvent) => void;
  /** Announces how a heartbeat went. */
  readonly beat: (event: EventPayload<"heartbeat">) => void;
  readonly channelOf: (id: string) => ChannelPlugin | undefined;
  /** Removes a session and leaves its transcript. */
  readonly removeSession: (sessionKey: string) => Promise<unknown>;
  /** The last messages of a session. */
  readonly history: (sessionKey: string, limit: number) => Promise<{ readonly messages: readonly unknown[] }>;
}

export interface Automation {
  readonly cron: LazyCron;
  readonly heartbeat: HeartbeatPort;
  readonly notify: OpenHeartbeat["notify"];
  readonly wakeAgents: OpenHeartbeat["wakeAgents"];
  /** Hooks from files. */
  readonly hooks: LazyInternalHooks;
  readonly webhooks: Pick<LazyWebhooks, "handle">;
  readonly subagents: Subagents;
  /** The tools with which agents schedule work and hand it to others; loaded with the first turn that has them. */
  readonly tools: () => Promise<readonly Tool[]>;
  /** Starts what is scheduled. */
  start(): Promise<void>;
  /** The configuration changed: agents may be woken at other times. */
  follow(): void;
  /** The configuration of jobs changed. */
  reload(): Promise<void>;
  /** The configuration of hooks changed: mail may be watched now, or no longer. */
  reloadHooks(): Promise<void>;
}

type OutcomeOf = Parameters<Conversation["outcome"]>;

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

/** Requests of other programs. */
function openWebhooks({ core }: AutomationDeps, runs: HookRuns, notify: HookNotify): LazyWebhooks {
  const { config, store, clock, ids } = core;
  return createLazyWebhooks({ config, store, clock, ids, log: core.log.subsystem("webhooks"), runs, notify });
}

type HookRuns = Parameters<typeof createLazyWebhooks>[0]["runs"];
type HookNotify = Parameters<typeof createLazyWebhooks>[0]["notify"];

/** Work that starts by itself. */
export function openAutomation(deps: AutomationDeps, stack: AsyncDisposableStack): Automation {
  const { core, plugins, port, conversation, broadcast, beat, channelOf, history, removeSession } = deps;
  const { config, store, clock, ids, env } = core;
  const subagents = openSubagents(deps, stack);
  const log = core.log.subsystem("automation");
  const disabledBy = (): string | undefined =>
    env["OPENCLAW_SKIP_CRON"] === "1" ? "OPENCLAW_SKIP_CRON" : config.current.cron?.enabled === false ? "cron.enabled" : undefined;
  const notify = (event: Parameters<typeof queueSystemEvent>[1]): Promise<string> => queueSystemEvent({ config, store, ids }, event);
  const runs = { accept: (request: RunRequest) => conversation().accept(request), outcome: (...args: OutcomeOf) => conversation().outcome(...args) };
  const heartbeat = openHeartbeat({ core, runs, notify, isBusy: (sessionKey) => conversation().isBusy(sessionKey), beat, channelOf }, stack);
  const cron = stack.use(
    createLazyCron({
      config,
      store,
      clock,
      ids,
      log,
      notify,
      runs,
      removeSession,
      disabledBy,
      onEvent(event, job) {
        broadcast(event);
        notifyPlugins(plugins, event, job);
      },
    }),
  );
  const hooks = stack.use(openInternalHooks(deps));
  const reconciled = (reason: "startup" | "reload"): void => {
    const hooks = plugins.hooks();
    if (hooks?.has("cron_reconciled")) void hooks.run("cron_reconciled", { reason, enabled: disabledBy() === undefined }, {});
  };
  const webhooks = stack.use(
    openWebhooks(deps, runs, ({ wake, reason = "hook", ...event }) =>
      wake === undefined ? notify(event) : heartbeat.wake({ ...event, wake: { source: "hook", now: wake === "now" } }, reason),
    ),
  );
  const gmail = lazy(async () => {
    const { createGmailWatcher } = await loadWebhooks();
    return createGmailWatcher({ config, clock, log: core.log.subsystem("gmail"), cwd: config.paths.state, port });
  });
  stack.defer(async () => (await gmail.started())?.[Symbol.asyncDispose]());
  const reloadHooks = async (): Promise<void> => {
    if (config.current.hooks?.gmail?.account !== undefined || gmail.started()) await (await gmail()).reconsider();
  };
  const tools = lazy(async () => {
    const [{ cronTool }, { spawnTool, subagentsTool }] = await Promise.all([loadCron(), loadSubagents()]);
    const own = { subagents, addressOf: (runId: string) => conversation().addressOf(runId) };
    const scheduling = cronTool({
      cron,
      recent: async (sessionKey, count) => (await history(sessionKey, count)).messages.flatMap(shownMessage),
      async wake({ sessionKey, text, mode }) {
        await heartbeat.wake({ sessionKey, text, wake: { source: "wake", now: mode === "now" } }, "wake");
        return { ok: true };
      },
    });
    return [scheduling, spawnTool(own), subagentsTool(own)];
  });
  return {
    cron,
    heartbeat: heartbeat.port,
    notify: heartbeat.notify,
    wakeAgents: heartbeat.wakeAgents,
    hooks,
    webhooks,
    subagents,
    tools,
    async start() {
      // Messages are answered whatever is wrong with jobs.
      const failed = (error: unknown): void => log.error(`scheduled jobs could not be started: ${messageOf(error)}`, { error });
      const started = await cron.start().catch(failed);
      void started?.running.catch(failed).then(() => reconciled("startup"));
      await subagents.start().catch((error: unknown) => log.error(`sub-agents of the previous process could not be resumed: ${messageOf(error)}`, { error }));
      await webhooks
        .start()
        .catch((error: unknown) => log.error(`webhook runs of the previous process could not be continued: ${messageOf(error)}`, { error }));
      await heartbeat.start().catch((error: unknown) => log.error(`heartbeats could not be started: ${messageOf(error)}`, { error }));
      void reloadHooks().catch((error: unknown) => log.error(`mail is not watched: ${messageOf(error)}`, { error }));
    },
    follow: heartbeat.follow,
    reloadHooks,
    async reload() {
      await cron.reconsider();
      reconciled("reload");
    },
  };
}
