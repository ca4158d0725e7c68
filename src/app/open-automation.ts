import {
  createLazyCron,
  loadCron,
  loadSubagents,
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
import { sessionMessage, type Conversation } from "../conversation/index.ts";
import { queueSystemEvent, systemEventWrite, type HeartbeatPort } from "../gateway/index.ts";
import type { LazyModels } from "../models/index.ts";
import { jobSnapshot, type Plugins } from "../plugins/index.ts";
import type { ChannelPlugin, EventPayload } from "../protocol/index.ts";
import type { Tool } from "../tools/index.ts";
import type { Core } from "./core.ts";
import { openHeartbeat, type OpenHeartbeat } from "./open-heartbeat.ts";
import { openInternalHooks } from "./open-internal-hooks.ts";
import { openSubagents, type OpenSubagentsDeps } from "./open-subagents.ts";
import { openWebhooks } from "./open-webhooks.ts";

export interface AutomationDeps {
  readonly core: Core;
  readonly plugins: Pick<Plugins, "gatewayContext" | "hooks" | "importFile" | "internalHooks">;
  readonly models: LazyModels;
  readonly conversation: () => Pick<
    Conversation,
    "accept" | "outcome" | "abort" | "isBusy" | "exclusively" | "onAbort" | "withoutSlot" | "addressOf" | "isForClient"
  >;
  /** The gateway's. */
  readonly port: () => number;
  readonly delivery: OpenSubagentsDeps["delivery"];
  readonly deleteSession: OpenSubagentsDeps["deleteSession"];
  readonly killProcesses: OpenSubagentsDeps["killProcesses"];
  readonly runningCommands: OpenSubagentsDeps["runningCommands"];
  /** Announces to clients what happens. */
  readonly broadcast: <E extends "chat" | "cron" | "heartbeat" | "subagent">(event: E, payload: EventPayload<E>) => void;
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

type AcceptOf = Parameters<Conversation["accept"]>;
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

/** Whether the answer of a run got to where its job sends it. What a webhook makes of it is not known yet. */
function deliveryStatusOf({ delivered, summary }: CronEvent, job: CronJob | undefined): "not-requested" | "delivered" | "not-delivered" | "unknown" {
  if (delivered === true) return "delivered";
  const { mode = "none" } = job?.delivery ?? {};
  if (mode === "none") return "not-requested";
  return mode === "webhook" && summary !== undefined ? "unknown" : "not-delivered";
}

type JobChange = Omit<CronEvent, "action"> & { readonly action: CronEvent["action"] | "scheduled" };

/** Plugins are notified about jobs; nothing waits for them. */
function notifyPlugins(plugins: AutomationDeps["plugins"], event: JobChange, job: CronJob | undefined): void {
  const hooks = plugins.hooks();
  if (!hooks?.has("cron_changed")) return;
  const { action, jobId, status, nextRunAtMs } = event;
  const about = { ...(status === undefined ? {} : { status }), ...(nextRunAtMs === undefined ? {} : { nextRunAtMs }) };
  const delivery = action === "finished" ? { deliveryStatus: deliveryStatusOf({ ...event, action }, job) } : {};
  const change = { reason: action, action, jobId, ...(job ? { job: jobSnapshot(job) } : {}), ...about, ...delivery };
  void hooks.run("cron_changed", change, plugins.gatewayContext() ?? {});
}

interface Parts {
  readonly cron: LazyCron;
  readonly subagents: Subagents;
  readonly heartbeat: Pick<OpenHeartbeat, "wake">;
}

/** The tools with which agents schedule work and hand it to others. */
async function makeTools({ core: { config, store }, conversation, history }: AutomationDeps, { cron, subagents, heartbeat }: Parts): Promise<readonly Tool[]> {
  const [{ cronTool }, { agentRefusal, spawnTool, subagentsTool }] = await Promise.all([loadCron(), loadSubagents()]);
  const addressOf = (runId: string): ReturnType<Conversation["addressOf"]> => conversation().addressOf(runId);
  const own = { subagents, addressOf };
  const scheduling = cronTool({
    cron,
    config,
    store,
    addressOf,
    isForClient: (runId) => conversation().isForClient(runId),
    refusedAgent: (agentId, other) => agentRefusal(config.current, agentId, other, "cron"),
    recent: async (sessionKey, count) => (await history(sessionKey, count)).messages.flatMap(shownMessage),
    async wake({ sessionKey, text, mode }) {
      await heartbeat.wake({ sessionKey, text, wake: { source: "wake", now: mode === "now" } }, "wake");
      return { ok: true };
    },
  });
  return [scheduling, spawnTool(own), subagentsTool(own)];
}

/** What a sub-agent left running may end after it: then the session that it reported to is notified. */
async function notifyReader(
  event: Parameters<OpenHeartbeat["notify"]>[0],
  subagents: Pick<Subagents, "readerOf">,
  heartbeat: Pick<OpenHeartbeat, "notify">,
): Promise<void> {
  const { sessionKey, name } = await subagents.readerOf(event.sessionKey ?? "");
  await heartbeat.notify(name === undefined ? event : { ...event, sessionKey, text: `Sub-agent ${JSON.stringify(name)}: ${event.text}` });
}

/** Puts the answer of a job into a session, and shows it to clients. */
function postIn({ core: { store, ids, clock }, broadcast }: AutomationDeps): Parameters<typeof createLazyCron>[0]["post"] {
  return async ({ sessionKey, agentId, text, id }) => {
    const writes = await sessionMessage({ store, ids, clock }, { sessionKey, agentId }, text);
    const message = { role: "assistant" as const, content: [{ type: "text" as const, text }], timestamp: clock.now() };
    return writes && { writes, posted: () => broadcast("chat", { runId: id, sessionKey, seq: 0, state: "final", message }) };
  };
}

type CronParts = Pick<Parameters<typeof createLazyCron>[0], "runs" | "disabledBy">;

/** Scheduled jobs; clients and plugins are notified about them. */
function openCron(deps: AutomationDeps, { runs, disabledBy }: CronParts): ReturnType<typeof createLazyCron> {
  const { core, plugins, broadcast, removeSession } = deps;
  const { config, store, clock, ids, runnable } = core;
  return createLazyCron({
    config,
    store,
    clock,
    ids,
    log: core.log.subsystem("automation"),
    note: (event) => systemEventWrite({ config, ids }, event).write,
    post: postIn(deps),
    runnable,
    runs,
    removeSession,
    imported: () => store.imported(),
    disabledBy,
    onEvent(event, job) {
      broadcast("cron", event);
      notifyPlugins(plugins, event, job);
    },
    scheduled(job) {
      const { nextRunAtMs } = job.state;
      notifyPlugins(plugins, { jobId: job.id, action: "scheduled", ...(nextRunAtMs === undefined ? {} : { nextRunAtMs }) }, job);
    },
  });
}

/** Work that starts by itself. */
export function openAutomation(deps: AutomationDeps, stack: AsyncDisposableStack): Automation {
  const { core, plugins, port, conversation, broadcast, channelOf } = deps;
  const { config, store, ids, env } = core;
  const subagents = openSubagents({ ...deps, changed: (event) => broadcast("subagent", event) }, stack);
  const log = core.log.subsystem("automation");
  const disabledBy = (): string | undefined =>
    env["OPENCLAW_SKIP_CRON"] === "1" ? "OPENCLAW_SKIP_CRON" : config.current.cron?.enabled === false ? "cron.enabled" : undefined;
  const notify = (event: Parameters<typeof queueSystemEvent>[1]): Promise<string> => queueSystemEvent({ config, store, ids }, event);
  const runs = { accept: (...args: AcceptOf) => conversation().accept(...args), outcome: (...args: OutcomeOf) => conversation().outcome(...args) };
  const heartbeat = openHeartbeat(
    { core, runs, notify, isBusy: (sessionKey) => conversation().isBusy(sessionKey), beat: (event) => broadcast("heartbeat", event), channelOf },
    stack,
  );
  const cron = stack.use(openCron(deps, { runs, disabledBy }));
  const hooks = stack.use(openInternalHooks({ core, plugins, models: deps.models, runs }));
  const reconciled = (reason: "startup" | "reload"): void => {
    const hooks = plugins.hooks();
    if (hooks?.has("cron_reconciled")) void hooks.run("cron_reconciled", { reason, enabled: disabledBy() === undefined }, plugins.gatewayContext() ?? {});
  };
  const { webhooks, reload: reloadHooks } = openWebhooks(
    {
      core,
      port,
      runs,
      notify: ({ wake, reason = "hook", ...event }) =>
        wake === undefined ? notify(event) : heartbeat.wake({ ...event, wake: { source: "hook", now: wake === "now" } }, reason),
    },
    stack,
  );
  const tools = lazy(() => makeTools(deps, { cron, subagents, heartbeat }));
  return {
    cron,
    heartbeat: { ...heartbeat.port, hooks: hooks.loaded },
    notify: (event) => notifyReader(event, subagents, heartbeat),
    wakeAgents: heartbeat.wakeAgents,
    hooks,
    webhooks,
    subagents,
    tools,
    async start() {
      // Messages are answered whatever is wrong with jobs.
      const failed =
        (what: string) =>
        (error: unknown): void =>
          log.error(`${what}: ${messageOf(error)}`, { error });
      const started = await cron.start().catch(failed("scheduled jobs could not be started"));
      void started?.running.catch(failed("scheduled jobs could not be started")).then(() => reconciled("startup"));
      await subagents.start().catch(failed("sub-agents of the previous process could not be resumed"));
      await webhooks.start().catch(failed("webhook runs of the previous process could not be continued"));
      await heartbeat.start().catch(failed("heartbeats could not be started"));
      void reloadHooks().catch(failed("mail is not watched"));
    },
    follow: heartbeat.follow,
    reloadHooks,
    async reload() {
      await cron.reconsider();
      reconciled("reload");
    },
  };
}
