import { homedir, hostname, release, type as systemName } from "node:os";
import { join } from "node:path";
import { createAgents, createSkills, skillsOfAgent, trustedPrograms, type Agents } from "../agent/index.ts";
import type { Logger } from "../base/log/logger.ts";
import { bundledSkillsFolder, docsPlace } from "../base/program-folders.ts";
import { defaultAgentId, sameValue } from "../config/index.ts";
import { commandsFolder } from "../conversation/index.ts";
import { currentHooks } from "../hooks/index.ts";
import { lazyImageFitter } from "../media/index.ts";
import { createSeenFiles } from "../memory/index.ts";
import type { Models } from "../models/index.ts";
import { pluginTools, recoverSkills } from "../plugins/index.ts";
import {
  createApprovals,
  createBroker,
  createCommandRecords,
  createExecRules,
  createMarkUntrusted,
  createProcesses,
  createRecall,
  createRemembered,
  createSandboxes,
  createTaint,
  createToolSet,
  distinctTools,
  explainNamed,
  explainTools,
  openFileAccess,
  unasked,
  pendingWork,
  sessionLoops,
  sessionPast,
  shellName,
  type Approvals,
  type Broker,
  type ExecRules,
  type FileAccess,
  type Processes,
  type RememberedCommands,
  type Sandboxes,
  type ToolContext,
  type ToolSet,
} from "../tools/index.ts";
import type { AgentDeps } from "./lazy-agent.ts";

/** The agent and what its tools need. */
export interface OpenAgent extends AsyncDisposable {
  readonly agents: Agents;
  readonly broker: Broker;
  readonly approvals: Approvals;
  readonly execRules: ExecRules;
  readonly fileAccess: FileAccess;
  readonly remembered: RememberedCommands;
  readonly sandboxes: Sandboxes;
  readonly skills: ReturnType<typeof createSkills>;
  readonly tools: ToolSet;
  /** How tools are explained; loaded with the agent's code. */
  readonly explaining: { readonly explainTools: typeof explainTools; readonly distinctTools: typeof distinctTools; readonly explainNamed: typeof explainNamed };
  readonly models: Models;
  workspaceOf(agentId: string): string;
  /** Why nobody can be asked about a call; undefined when someone can. */
  unasked(context: ToolContext): string | undefined;
  /** Ends what a session left running in the background, with all it started. Returns how many. */
  killProcesses(sessionKey: string): number;
  /** What a session has running in the background: name and command. */
  runningCommands(sessionKey: string): readonly string[];
}

/** Skills of the workspaces, of this machine, and of plugins that run. Installs that were interrupted are completed or taken back first. */
function openSkills({ core: { config, currentConfig, clock, env, log, workspaceOf }, plugins, nodePrograms }: AgentDeps, home: string): OpenAgent["skills"] {
  const agents = [defaultAgentId(currentConfig()), ...(currentConfig().agents?.list ?? []).map(({ id }) => id)];
  for (const folder of new Set([config.paths.state, ...agents.map((id) => workspaceOf(id))])) {
    for (const done of recoverSkills(join(folder, "skills"))) log.subsystem("agent").warn(`skill ${done}`);
  }
  const skills = createSkills({
    config: currentConfig,
    places: () => ({ home, stateFolder: config.paths.state, bundled: bundledSkillsFolder(env), plugins: plugins.agent()?.skillFolders() ?? [] }),
    env,
    platform: process.platform,
    clock,
    ...(nodePrograms ? { remote: nodePrograms.programs } : {}),
    onProblem: ({ path, message }) => log.subsystem("agent").warn(`skill ${path}: ${message}`),
  });
  // Both listen for as long as there is a configuration; a change after the end does nothing.
  plugins.onChange(skills.changed);
  nodePrograms?.onChange(skills.changed);
  config.onEvent((event) => {
    if (event.kind === "changed" && !sameValue(event.before.config.skills, event.after.config.skills)) skills.changed();
  });
  return skills;
}

function openSandboxes(
  { core }: AgentDeps,
  { home, log, skills }: { readonly home: string; readonly log: Logger; readonly skills: OpenAgent["skills"] },
): Sandboxes {
  const { config, currentConfig, env, clock, ids, workspaceOf } = core;
  return createSandboxes({
    config: currentConfig,
    stateDir: config.paths.state,
    ownFiles: () => config.sources(),
    env,
    home,
    uid: process.getuid?.(),
    clock,
    ids,
    log,
    async skills(agentId) {
      const { skills: found } = await skills.status(workspaceOf(agentId));
      const own = skillsOfAgent(currentConfig(), agentId);
      return found.flatMap(({ name, baseDir, eligible }) => (eligible && (own?.includes(name) ?? true) ? [{ name, folder: baseDir }] : []));
    },
  });
}

/** What tools work with. */
function openToolParts(deps: AgentDeps, { home, log }: { readonly home: string; readonly log: Logger }, stack: AsyncDisposableStack) {
  const { config, store, clock, ids, random, env, redactor, workspaceOf } = deps.core;
  const approvals = stack.use(createApprovals({ store, clock, ids, notify: deps.notify }));
  const execRules = createExecRules({ path: join(config.paths.state, "exec-approvals.json"), clock, ids, random });
  const { askable } = deps;
  const fileAccess = openFileAccess(
    { config, env, home, clock, ids, log: deps.core.log.subsystem("tools"), workspaceOf, approvals, execRules, askable, register: redactor.register },
    stack,
  );
  const records = createCommandRecords({ folder: commandsFolder(config.paths.state), redact: redactor.secrets, warn: log.warn });
  const processes = stack.use(createProcesses({ clock, random, secrets: redactor.stream, records }));
  const skills = stack.use(openSkills(deps, home));
  const sandboxes = openSandboxes(deps, { home, log, skills });
  return { approvals, execRules, remembered: createRemembered({ store, clock, ids }), fileAccess, processes, skills, sandboxes };
}

type Parts = ReturnType<typeof openToolParts> & { readonly home: string; readonly log: Logger; readonly fitImages: ReturnType<typeof lazyImageFitter> };

function openTools({ core, models, memory, voice, imaging, plugins, ...deps }: AgentDeps, parts: Parts): ToolSet {
  const { config, store, clock, ids, env, version, redactor, documents } = core;
  const { approvals, execRules, remembered, fileAccess, processes, sandboxes, skills, home, log, fitImages } = parts;
  return createToolSet({
    config,
    store,
    clock,
    ids,
    log,
    env,
    home,
    version,
    redact: redactor.text,
    models: models.models,
    memory,
    voice,
    imaging,
    hooks: currentHooks(plugins.hooks),
    fitImages,
    documents,
    approvals,
    execRules,
    fileAccess,
    remembered,
    processes,
    sandboxes,
    async skillPrograms({ agentId, workspaceDir }) {
      const own = skillsOfAgent(config.current, agentId);
      const { skills: found } = await skills.status(workspaceDir);
      return trustedPrograms(
        found.filter(({ name }) => own?.includes(name) ?? true),
        workspaceDir,
      );
    },
    isOwner: deps.isOwner,
    channelOf: deps.channelOf,
    pluginTools(context, facts) {
      const agent = plugins.agent();
      return agent ? pluginTools(agent, context, facts) : [];
    },
    gatewayTools: deps.gatewayTools,
    sessionPost: deps.sessionPost,
    announce: deps.announce,
    nodes: deps.nodes,
    asked: deps.asked,
  });
}

const nobodyFor =
  (deps: Parameters<typeof unasked>[0]) =>
  (context: ToolContext): string | undefined =>
    unasked(deps, context);

function openBroker({ core, plugins, askable }: AgentDeps, tools: ToolSet, { approvals, fitImages, log }: Parts): Broker {
  const { config, currentConfig, store, clock, redactor } = core;
  return createBroker({
    clock,
    ready: plugins.settled,
    refusal: () => plugins.missingGuards()[0]?.message,
    log: core.log.subsystem("tools"),
    config: currentConfig,
    tools: tools.tools,
    facts: tools.facts,
    hooks: currentHooks(plugins.hooks),
    policies: { evaluate: (...args) => plugins.agent()?.policies.evaluate(...args) ?? Promise.resolve(undefined) },
    askApproval: approvals.ask,
    unasked: nobodyFor({ config, askable }),
    redact: redactor.secrets,
    fitImages,
    taint: createTaint({ settings: () => config.current.tools?.taint, past: (sessionKey) => sessionPast(store, sessionKey) }),
    ...sessionLoops({ config: currentConfig, log }),
  });
}

function openAgents({ core, models, memory, plugins }: AgentDeps, broker: Broker, { skills, processes, approvals, sandboxes, fitImages, log }: Parts): Agents {
  const { config, currentConfig, store, clock, ids, env, redactor, workspaceOf, fileVersions } = core;
  return createAgents({
    models: models.models,
    budgets: models.budgets,
    ready: plugins.settled,
    store,
    clock,
    ids,
    log,
    config,
    env,
    hooks: currentHooks(plugins.hooks),
    internalHooks: plugins.internalHooks,
    redactor,
    fitImages,
    broker,
    skills,
    recall: createRecall({ memory, config: currentConfig, store, isSandboxed: sandboxes.isSandboxed, clock, log, mark: createMarkUntrusted(ids) }),
    workspaceOf,
    files: createSeenFiles(fileVersions),
    stateDir: config.paths.state,
    host: { host: hostname(), os: `${systemName()} ${release()}`, arch: process.arch, node: process.version, shell: shellName(env["SHELL"], env["PATH"]) },
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    pendingWork: (sessionKey) => pendingWork(processes.list(sessionKey), approvals.open(sessionKey)),
    ...docsPlace(),
    sandbox: ({ agentId, sessionKey }) => sandboxes.state({ agentId, sessionKey, workspaceDir: workspaceOf(agentId) }),
  });
}

function killAll(processes: ReturnType<Processes["list"]>): number {
  const alive = processes.filter(({ end }) => end === undefined);
  for (const process of alive) {
    // The user asked for it, so no turn reports it.
    process.isEndSeen = true;
    process.kill();
  }
  return alive.length;
}

export async function openAgent(deps: AgentDeps): Promise<OpenAgent> {
  await using stack = new AsyncDisposableStack();
  const { currentConfig, workspaceOf, env } = deps.core;
  const log: Logger = deps.core.log.subsystem("agent");
  const home = homedir();
  const parts: Parts = { ...openToolParts(deps, { home, log }, stack), home, log, fitImages: lazyImageFitter(currentConfig, log, env) };
  const tools = openTools(deps, parts);
  const broker = openBroker(deps, tools, parts);
  const agents = openAgents(deps, broker, parts);
  const { approvals, execRules, fileAccess, remembered, sandboxes, skills, processes } = parts;
  const former = await approvals.denyFormer();
  if (former > 0) log.info(`${former} approval requests of the previous process were denied: their callers are gone`);
  const models = await deps.models.models();
  const opened = stack.move();
  return {
    agents,
    tools,
    explaining: { explainTools, distinctTools, explainNamed },
    models,
    broker,
    approvals,
    execRules,
    fileAccess,
    remembered,
    sandboxes,
    skills,
    workspaceOf,
    unasked: nobodyFor({ config: deps.core.config, askable: deps.askable }),
    killProcesses: (sessionKey) => killAll(processes.list(sessionKey)),
    runningCommands: (sessionKey) => processes.list(sessionKey).flatMap(({ id, command, end }) => (end === undefined ? [`${id}: ${command}`] : [])),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
