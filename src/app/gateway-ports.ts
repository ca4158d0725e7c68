import { homedir } from "node:os";
import { basename, dirname } from "node:path";
import type { AuditDeps } from "../audit/index.ts";
import { AppError, messageOf } from "../base/errors.ts";
import { lazy } from "../base/lazy.ts";
import { packageFolder } from "../base/program-name.ts";
import { isRecord } from "../base/records.ts";
import { createAllowed, namedOwners, withOwner } from "../channels/index.ts";
import { agentPaths, stateLockPath } from "../config/index.ts";
import { loadSentFiles, type Conversation } from "../conversation/index.ts";
import type {
  AgentPort,
  BudgetsPort,
  ChannelPairingPort,
  ExecRulesPort,
  ListedTool,
  MemoryPort,
  MessagesPort,
  ModelsPort,
  QuotaPort,
  SecurityPort,
  SentFilePort,
  SetupPort,
  SkillAdminPort,
  ToolFactsPort,
  ToolsPort,
} from "../gateway/index.ts";
import { createForgetting, createNotebook, type Memory } from "../memory/index.ts";
import { answeringModel, type LazyModels } from "../models/index.ts";
import { loadSkillInstall, type SkillAdminDeps } from "../plugins/index.ts";
import { agentOfKey, type ChannelPlugin } from "../protocol/index.ts";
import type { QuickDeps } from "../setup/index.ts";
import type { ApprovalNotice, Approvals, ToolContext } from "../tools/index.ts";
import type { Core } from "./core.ts";
import type { LazyAgent } from "./lazy-agent.ts";
import type { OpenConversation } from "./open-conversation.ts";

/** Questions to the operator, as the gateway's methods see them. */
export function lazyApprovals({ open }: LazyAgent, listeners: Set<(notice: ApprovalNotice) => void>): Omit<Approvals, "open" | typeof Symbol.dispose> {
  const approvals = async (): Promise<Approvals> => (await open()).approvals;
  return {
    request: async (...args) => (await approvals()).request(...args),
    ask: async (...args) => (await approvals()).ask(...args),
    resolve: async (...args) => (await approvals()).resolve(...args),
    recordOutcome: async (...args) => (await approvals()).recordOutcome(...args),
    list: async (...args) => (await approvals()).list(...args),
    history: async (...args) => (await approvals()).history(...args),
    denyFormer: async () => (await approvals()).denyFormer(),
    onNotice(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}

/** The owner's own main session of an agent. */
async function mainContext(ports: PortDeps, agentId: string): Promise<ToolContext> {
  return contextFor(ports, `agent:${agentId}:main`, { agentId, owner: true });
}

export function execRulesPort(ports: PortDeps): ExecRulesPort {
  const { open } = ports.agent;
  return {
    snapshot: async () => (await open()).execRules.snapshot(),
    replace: async (...args) => (await open()).execRules.replace(...args),
    remembered: async (...args) => (await open()).remembered.list(...args),
    forget: async (...args) => (await open()).remembered.forget(...args),
    restore: async (...args) => (await open()).remembered.restore(...args),
    policy: async (agentId) => (await open()).tools.commandRules.policy(await mainContext(ports, agentId)),
    explain: async (agentId, command) => (await open()).tools.commandRules.explain(await mainContext(ports, agentId), command),
  };
}

export interface PortDeps {
  readonly core: Pick<Core, "store" | "ids" | "config" | "clock" | "defaultAgentId" | "env" | "log" | "workspaceOf" | "fileVersions">;
  readonly agent: LazyAgent;
  readonly conversation: Pick<Conversation, "exclusively">;
  /** Why no tool may run at all, if so. */
  readonly refusal: () => string | undefined;
}

/** Who calls a tool outside of a turn. */
async function contextFor({ agent, core }: PortDeps, sessionKey: string, over: Partial<ToolContext> & Pick<ToolContext, "owner">): Promise<ToolContext> {
  const agentId = over.agentId ?? agentOfKey(sessionKey, { defaultAgentId: core.defaultAgentId() });
  const session = await core.store.read("sessions.get", { key: sessionKey });
  const workspaceDir = (await agent.open()).workspaceOf(agentId);
  return { channel: "webchat", ...over, agentId, sessionKey, sessionId: session?.entry.sessionId ?? "", runId: core.ids.uuid(), workspaceDir };
}

export function toolsPort(ports: PortDeps): ToolsPort {
  return {
    async invoke({ tool, args, action, sessionKey, channel, accountId, owner, signal }) {
      const { broker } = await ports.agent.open();
      const over = { owner, unattended: true, ...(channel === undefined ? {} : { channel }), ...(accountId === undefined ? {} : { accountId }) };
      const toolbox = await broker.open(await contextFor(ports, sessionKey, over));
      const refused = ports.refusal();
      if (refused !== undefined) throw new AppError("UNAVAILABLE", refused);
      const schema = toolbox.schemas.find(({ name }) => name === tool);
      if (!schema) return undefined;
      const { properties } = schema.parameters;
      const takesAction = isRecord(properties) && Object.hasOwn(properties, "action");
      const params = action !== undefined && takesAction && args["action"] === undefined ? { ...args, action } : args;
      return toolbox.run({ id: `invoke_${ports.core.ids.hex(4)}`, name: tool, arguments: params, signal });
    },
  };
}

export function toolFactsPort(ports: PortDeps): ToolFactsPort {
  return {
    async explain({ agentId, sessionKey, tool, owner }) {
      const opened = await ports.agent.open();
      const context = await contextFor(ports, sessionKey, { agentId, owner, ...(await modelOf(ports, agentId)) });
      const [tools, toolbox] = await Promise.all([opened.tools.tools(context), opened.broker.open(context)]);
      const distinct = opened.explaining.distinctTools(tools, () => {});
      const rows = opened.explaining.explainTools(distinct, toolbox.verdicts);
      return tool === undefined ? rows : opened.explaining.explainNamed(tool, rows, { ...context, config: ports.core.config.current });
    },
    async file(agentId, path) {
      const { fileAccess, workspaceOf } = await ports.agent.open();
      return fileAccess.explainFile({ agentId, workspaceDir: workspaceOf(agentId) }, path);
    },
    async catalog(agentId) {
      const opened = await ports.agent.open();
      const context = await contextFor(ports, `agent:${agentId}:main`, { agentId, owner: true });
      const tools = opened.explaining.distinctTools(await opened.tools.tools(context), () => {});
      return tools.map(({ name, label, description, source, ownerOnly, optional, parameters }): ListedTool => {
        const pluginId = source.kind === "core" ? {} : { pluginId: source.id };
        const flags = { ...(ownerOnly === undefined ? {} : { ownerOnly }), ...(optional === undefined ? {} : { optional }) };
        return { name, description, source: source.kind, parameters, ...(label === undefined ? {} : { label }), ...pluginId, ...flags };
      });
    },
  };
}

/** Policies may depend on the model that an agent uses. */
async function modelOf({ agent }: PortDeps, agentId: string): Promise<{ readonly provider?: string; readonly modelId?: string }> {
  const { models } = await agent.open();
  try {
    const { entry } = await models.select({ agentId });
    return { provider: entry.provider, modelId: entry.id };
  } catch {
    // A model that cannot be chosen says nothing about tools.
    return {};
  }
}

/** Adds, changes and removes agents. */
async function openRoster({ config, clock, ids, log, env }: PortDeps["core"]): ReturnType<NonNullable<AgentPort["roster"]>> {
  const { loadRoster } = await import("../agent/index.ts");
  const { createRoster, TEMPLATES } = await loadRoster();
  return { ...createRoster({ config, context: agentPaths(config, env), clock, ids, log }), templates: TEMPLATES };
}

/** Installs, writes and deletes skills. Loaded when it is first asked. */
function skillAdminPort(deps: SkillAdminDeps): SkillAdminPort {
  const admin = lazy(async () => (await loadSkillInstall()).createSkillAdministration(deps));
  return {
    review: async (...args) => (await admin()).review(...args),
    install: async (...args) => (await admin()).install(...args),
    remove: async (...args) => (await admin()).remove(...args),
    create: async (...args) => (await admin()).create(...args),
    installed: async (...args) => (await admin()).installed(...args),
  };
}

export function agentPort({ core, agent, conversation }: PortDeps, hooks: SkillAdminDeps["hooks"]): AgentPort {
  const { workspaceOf, defaultAgentId, config, env, clock, ids } = core;
  return {
    workspace: workspaceOf,
    versions: core.fileVersions,
    roster: () => openRoster(core),
    compact({ sessionKey, instructions, signal }) {
      const agentId = agentOfKey(sessionKey, { defaultAgentId: defaultAgentId() });
      return conversation.exclusively(sessionKey, async (session) => {
        const { agents } = await agent.open();
        return agents.compact({ agentId, sessionKey, session, signal, ...(instructions === undefined ? {} : { instructions }) });
      });
    },
    exclusively: (sessionKey, work) =>
      conversation.exclusively(sessionKey, (session) => {
        // What the lane holds of it may not be so afterwards.
        session.row = undefined;
        return work();
      }),
    skills: {
      status: async (workspace) => (await agent.open()).skills.status(workspace),
      changed: () => void agent.open().then(({ skills }) => skills.changed()),
      managedFolder: `${config.paths.state}/skills`,
      installHost: async () => (await loadSkillInstall()).installHost(config.current, { env, platform: process.platform }),
      async install(request) {
        const { skills } = await (await agent.open()).skills.status(request.workspaceDir);
        const deps = { env, platform: process.platform, toolsDir: `${config.paths.state}/tools`, pid: process.pid, clock, ids, config: config.current };
        return (await loadSkillInstall()).installForSkill({ ...request, skills }, deps);
      },
      admin: skillAdminPort({ config, clock, ids, log: core.log, hooks }),
    },
  };
}

export function modelsPort({ models }: LazyModels, { config, defaultAgentId }: Core): ModelsPort {
  return {
    choices: async () => (await models()).choices(defaultAgentId()),
    async auths(agentId) {
      const { auth } = await models();
      const listed = config.current.agents?.list?.map(({ id }) => id) ?? [];
      const ids = agentId === undefined ? [...new Set([defaultAgentId(), ...listed])] : [agentId];
      return ids.map((id) => ({ agentId: id, auth: auth(id) }));
    },
  };
}

/** Folder of the build that runs; sources have none. */
const BUILD_FOLDER = basename(import.meta.dirname) === "chunks" ? dirname(import.meta.dirname) : undefined;

/** The program itself, for its page. */
export const programPort = ({ env, health }: Core) => ({
  env,
  root: packageFolder(import.meta.dirname),
  build: BUILD_FOLDER,
  startedAtMs: () => Date.parse(health().startedAt),
});

export const backupsPort = ({ config, workspaceOf, defaultAgentId }: Core) => ({
  pid: process.pid,
  async workspaces() {
    const ids = [defaultAgentId(), ...(config.current.agents?.list ?? []).map(({ id }) => id)];
    return [...new Set(ids)].map((id) => workspaceOf(id));
  },
});

/** The audit, as the command line makes it. The code is loaded with the first request. */
export function securityPort({ config, env, clock, runnable }: Core): SecurityPort {
  async function depsOf(deep: boolean): Promise<AuditDeps> {
    const [{ riskyEntries }, { inventoryOptions, readInventory, writtenConfig }] = await Promise.all([
      import("../audit/index.ts"),
      import("../plugins/index.ts"),
    ]);
    return {
      config,
      env,
      osHome: homedir(),
      platform: process.platform,
      uid: process.getuid?.(),
      clock,
      deep,
      inventory: () => readInventory(inventoryOptions({ config, env }, writtenConfig(config.snapshot()))),
      probe: async (timeoutMs) => (await import("../base/lock-probe.ts")).probeLock(stateLockPath(config.paths.state), timeoutMs),
      riskyEntries: () => riskyEntries({ config, env }),
    };
  }
  return {
    async audit({ deep, progress }) {
      const { audit, plannedFixes } = await import("../audit/index.ts");
      const deps = await depsOf(deep);
      const { findings, ...report } = await audit({ ...deps, progress });
      return {
        ...report,
        findings: findings.map((one) => ({ ...one, ...(one.remediation === undefined ? {} : { remediation: runnable(one.remediation) }) })),
        fixes: plannedFixes(deps).map((fix) => ({ id: fix.id, kind: fix.kind, path: fix.path, before: fix.before, after: fix.after })),
      };
    },
    async fix(id) {
      const { applyFix } = await import("../audit/index.ts");
      return applyFix(await depsOf(false), id);
    },
  };
}

export const budgetsPort =
  ({ budgets }: LazyModels): BudgetsPort =>
  async () =>
    (await budgets()).report();

export function quotaPort({ models }: LazyModels, { defaultAgentId }: Core): QuotaPort {
  return async () => (await models()).quota(defaultAgentId());
}

/** Removed notes of an earlier process are erased this long after the start, when their day is over. */
const SWEEP_MS = 60_000;

/** What agents know: the search, notes as files, and removing things for good. */
export function memoryPort({ config, store, clock, ids, log, workspaceOf, fileVersions }: Core, memory: Memory): MemoryPort {
  const own = { clock, stateDir: config.paths.state, workspaceOf, log: log.subsystem("memory") };
  const notes = createNotebook({ ...own, ids, versions: fileVersions, changed: memory.notesChanged });
  clock.after(SWEEP_MS, () => void notes.sweep().catch((error: unknown) => own.log.warn(`removed notes could not be erased: ${messageOf(error)}`)));
  return { memory, notes, forgetting: createForgetting({ ...own, memory, notes, versions: fileVersions, store }), workspaceOf };
}

/** Senders who ask to be let in, as the gateway's methods decide about them. */
export function pairingPort({ pairing, channels }: OpenConversation, { config, log }: Core): ChannelPairingPort {
  return {
    pairing,
    allowed: createAllowed({ pairing, config: () => config.current }),
    owners: {
      list: () => namedOwners(config.current),
      async change({ channel, senderId }, wanted, by) {
        await config.edit({ kind: "change", change: (written) => withOwner(written, channel, senderId, wanted) }, { by });
      },
    },
    async notify({ channel, senderId }) {
      const adapter = channels.get(channel)?.pairing;
      if (!adapter?.notifyApproval) return false;
      try {
        await adapter.notifyApproval({ cfg: structuredClone(config.current), id: senderId });
        return true;
      } catch (error) {
        log.subsystem("channels").warn(`${channel} could not tell a sender of being let in: ${messageOf(error)}`);
        return false;
      }
    },
  };
}

/** Sending on request. */
export function messagesPort({ messages, delivery }: Pick<OpenConversation, "messages" | "delivery">): MessagesPort {
  return {
    send: async (request) => (await messages()).send(request),
    poll: async (request) => (await messages()).poll(request),
    action: async (request) => (await messages()).action(request),
    resend: (rowId) => delivery.resend(rowId),
  };
}

/** Files that answers name. */
export const sentFilePort =
  ({ mediaRoots, mediaReadable }: Pick<OpenConversation, "mediaRoots" | "mediaReadable">): SentFilePort =>
  async (agentId, target, maxBytes) =>
    (await loadSentFiles()).loadSentFile({ roots: mediaRoots, readable: mediaReadable }, agentId, target, maxBytes);

interface SetupDeps extends Pick<QuickDeps, "models" | "providers"> {
  readonly core: Core;
  readonly channel: (id: string) => ChannelPlugin | undefined;
}

/** Setting up a running gateway. The code is loaded with the first request. */
export function lazySetup({ core, models, providers, channel }: SetupDeps): SetupPort {
  const { config, store, env, clock, ids, log, redactor, version, defaultAgentId } = core;
  const answering: QuickDeps["answering"] = () => answeringModel(models, defaultAgentId());
  const sessions = async (): Promise<number> => (await store.read("sessions.list", { limit: 1 })).total;
  const open = lazy(async () =>
    (await import("../setup/index.ts")).openSetup({ config, env, clock, ids, log, redactor, version, models, providers, channel, answering, sessions }),
  );
  return {
    status: async () => (await open()).status(),
    key: async (request) => (await open()).key(request),
    local: async (request) => (await open()).local(request),
    channel: async (request) => (await open()).channel(request),
    wizard: {
      start: async (request) => (await open()).wizard.start(request),
      next: async (request) => (await open()).wizard.next(request),
      cancel: async (request) => (await open()).wizard.cancel(request),
      status: async (request) => (await open()).wizard.status(request),
    },
  };
}
