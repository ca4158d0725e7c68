import {
  createLazyCron,
  createLazySubagents,
  loadCron,
  loadSubagents,
  type CronEvent,
  type CronJob,
  type LazyCron,
  type Subagents,
  type SubagentsDeps,
} from "../automation/index.ts";
import { messageOf } from "../base/errors.ts";
import { lazy } from "../base/lazy.ts";
import { isRecord } from "../base/records.ts";
import type { Conversation } from "../conversation/index.ts";
import { queueSystemEvent } from "../gateway/index.ts";
import type { LazyModels } from "../models/index.ts";
import type { Plugins } from "../plugins/index.ts";
import type { Tool } from "../tools/index.ts";
import type { Core } from "./core.ts";

export interface AutomationDeps {
  readonly core: Core;
  readonly plugins: Pick<Plugins, "hooks">;
  readonly conversation: () => Pick<Conversation, "accept" | "outcome" | "abort" | "isBusy" | "exclusively" | "onAbort" | "addressOf">;
  readonly delivery: SubagentsDeps["delivery"];
  readonly models: Pick<LazyModels, "models" | "budgets">;
  readonly deleteSession: SubagentsDeps["deleteSession"];
  readonly killProcesses: SubagentsDeps["killProcesses"];
  /** Announces what happens to jobs. */
  readonly broadcast: (event: CronEvent) => void;
  /** The last messages of a session. */
  readonly history: (sessionKey: string, limit: number) => Promise<{ readonly messages: readonly unknown[] }>;
}

export interface Automation {
  readonly cron: LazyCron;
  readonly subagents: Subagents;
  /** The tools with which agents schedule work and hand it to others; loaded with the first turn that has them. */
  readonly tools: () => Promise<readonly Tool[]>;
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

function openSubagents(
  { core, plugins, conversation, delivery, models, deleteSession, killProcesses }: AutomationDeps,
  stack: AsyncDisposableStack,
): Subagents {
  const { config, store, clock, ids } = core;
  const select = async (agentId: string, override?: string) =>
    (await (await models.models()).select({ agentId, ...(override === undefined ? {} : { override }) })).entry;
  return stack.use(
    createLazySubagents({
      config,
      store,
      clock,
      ids,
      log: core.log.subsystem("automation"),
      hooks: plugins.hooks,
      conversation,
      delivery,
      model: select,
      async overspent(agentId, senderId) {
        if (!config.current.usage?.budgets?.length) return undefined;
        const { provider } = await select(agentId);
        const { state, text } = await (await models.budgets()).check({ agentId, provider, senderId });
        return state === "stop" ? text : undefined;
      },
      deleteSession,
      killProcesses,
    }),
  );
}

/** Work that starts by itself. */
export function openAutomation(deps: AutomationDeps, stack: AsyncDisposableStack): Automation {
  const { core, plugins, conversation, broadcast, history } = deps;
  const { config, store, clock, ids, env } = core;
  const subagents = openSubagents(deps, stack);
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
  const tools = lazy(async () => {
    const [{ cronTool }, { spawnTool, subagentsTool }] = await Promise.all([loadCron(), loadSubagents()]);
    const own = { subagents, addressOf: (runId: string) => conversation().addressOf(runId) };
    const scheduling = cronTool({
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
    return [scheduling, spawnTool(own), subagentsTool(own)];
  });
  return {
    cron,
    subagents,
    tools,
    async start() {
      // Messages are answered whatever is wrong with jobs.
      await cron.start().catch((error: unknown) => log.error(`scheduled jobs could not be started: ${messageOf(error)}`, { error }));
      await subagents.start().catch((error: unknown) => log.error(`sub-agents of the previous process could not be resumed: ${messageOf(error)}`, { error }));
      reconciled("startup");
    },
    async reload() {
      await cron.reconsider();
      reconciled("reload");
    },
  };
}
