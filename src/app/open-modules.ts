import { join } from "node:path";
import { runnableTexts } from "../base/program-name.ts";
import { createLazyBrowser, type LazyBrowser } from "../browser/index.ts";
import { agentWorkspaces, defaultAgentId } from "../config/index.ts";
import { runChannels, type Conversation, type ReplyAddress, type RunningChannels } from "../conversation/index.ts";
import {
  RESTARTING,
  createGateway,
  createHandlers,
  createLoginLink,
  ownCaller,
  openAuth,
  sessionDefaults,
  type Auth,
  type Gateway,
  type GatewayHub,
  type Handlers,
  type OverviewPort,
} from "../gateway/index.ts";
import { lazyDocuments } from "../media/index.ts";
import { answeringModel, createLazyModels, type AnsweringModel, type AuthProfiles, type LazyModels } from "../models/index.ts";
import { createFileVersions, createMemory, type Memory } from "../memory/index.ts";
import { openOverview } from "../overview/index.ts";
import { createPlugins, issuesOfPlugins, judgeNames, pluginAdmin, pluginPorts, type Plugins, type PluginsDeps } from "../plugins/index.ts";
import { createLazyVoice, type Voice } from "../voice/index.ts";
import { mediaSpending } from "./media-spending.ts";
import { openAnswering, type Answering } from "./answering.ts";
import type { Core, Started } from "./core.ts";
import type { Canvas, Nodes } from "../nodes/index.ts";
import { openAutomation, type Automation } from "./open-automation.ts";
import { browserRequests, openCanvas, openNodes } from "./open-nodes.ts";
import {
  agentPort,
  backupsPort,
  budgetsPort,
  execRulesPort,
  lazyApprovals,
  lazySetup,
  memoryPort,
  messagesPort,
  sentFilePort,
  modelsPort,
  pairingPort,
  programPort,
  quotaPort,
  securityPort,
  toolFactsPort,
  toolsPort,
  type PortDeps,
} from "./gateway-ports.ts";
import type { TurnCode } from "./turn-code.ts";
import { openSessionTitles } from "./session-titles.ts";

/** Beside the bundle that this is a chunk of. */
const UI_FOLDER = join(import.meta.dirname, "..", "ui");

/** The modules of a gateway that runs. */
export interface OpenModules {
  readonly gateway: Gateway;
  readonly cron: Pick<Automation, "reload" | "follow" | "reloadHooks">;
  readonly hooks: Pick<Automation["hooks"], "started">;
  /** What turns load. */
  readonly code: TurnCode;
  readonly plugins: Plugins;
  readonly memory: Pick<Memory, "start">;
  readonly browser: Pick<LazyBrowser, "reload">;
  readonly channels: RunningChannels;
  readonly conversation: Pick<Conversation, "running" | "drain">;
  /** Sends a text to a session's chat. */
  send(address: ReplyAddress, text: string, sessionKey: string): Promise<unknown>;
  /** The address of a login link: good once, for ten minutes. Undefined when there is no page to log in to. */
  loginLink(): string | undefined;
  /** The model that answers when nobody chooses one. */
  answeringModel(): Promise<AnsweringModel>;
  /** Takes nothing new, and announces to the clients that it comes back. */
  announceRestart(): void;
  /** Closes the connections and the port. */
  closeForRestart(): Promise<void>;
}

function createCore(started: Started): Core {
  const { config, env, clock, ids } = started;
  return {
    ...started,
    currentConfig: () => config.current,
    defaultAgentId: () => defaultAgentId(config.current),
    documents: lazyDocuments(started.clock),
    workspaceOf: agentWorkspaces(config, env),
    fileVersions: createFileVersions({ clock, ids, log: started.log.subsystem("agent"), stateDir: config.paths.state }),
    runnable: runnableTexts(env),
  };
}

function openMemory({ config, store, clock, log, workspaceOf, version }: Core, auth: Parameters<typeof createMemory>[0]["auth"]): Memory {
  return createMemory({ config, store, clock, log: log.subsystem("memory"), home: config.paths.home, workspaceOf, auth, version });
}

/** Opens every module, each with its dependencies; the stack takes them down in reverse order. */
export async function openModules(started: Started, stack: AsyncDisposableStack): Promise<OpenModules> {
  const core = createCore(started);
  const { config, store, clock, ids, random, log, redactor, env, version, runSecret } = core;

  const auth = await openAuth({ config, store, clock, ids, random, env, log: log.subsystem("gateway"), runSecret, register: redactor.register });
  let answering: Answering | undefined;
  let handlers: Handlers | undefined;
  const plugins = openPlugins(
    core,
    {
      auth,
      handlers: () => handlers,
      talk: () => answering?.talk,
      memory: () => memory,
      voice: () => voice(),
      wake: (request) => automation.wakeAgents(request),
    },
    stack,
  );
  const { hooks, providers } = plugins;
  const models = stack.use(createLazyModels({ config, store, clock, ids, random, log, env, version, redactor, hooks, providers, rawStream: core.rawStream }));
  const keysOf = async (agentId: string) => (await models.models()).auth(agentId);
  const memory = stack.use(openMemory(core, keysOf));
  const voice = openVoice(core, models, keysOf);
  const browser = stack.use(createLazyBrowser({ config, clock, ids, log: log.subsystem("browser"), gatewayPort: () => gateway.port }));
  const askable = (): boolean => gateway.hub.audience("exec.approval.requested") > 0;
  const automation: Automation = openAutomation(
    {
      core,
      plugins,
      models,
      port: () => gateway.port,
      conversation: () => opened.talk.conversation,
      delivery: () => opened.talk.delivery,
      deleteSession: async (key) => (handlers ? ownCaller(() => handlers, "subagents")("sessions.delete", { key, deleteTranscript: true }) : undefined),
      killProcesses: async (key) => (await opened.agent.open()).killProcesses(key),
      runningCommands: async (key) => (await opened.agent.open()).runningCommands(key),
      broadcast: (event, payload) => gateway.hub.broadcast(event, payload),
      channelOf: (id) => opened.talk.channels.get(id),
      removeSession: (key) => ownCaller(() => handlers, "cron")("sessions.delete", { key, deleteTranscript: false }),
      history: async (sessionKey, limit) => (handlers ? ownCaller(() => handlers, "cron-tool")("chat.history", { sessionKey, limit }) : { messages: [] }),
    },
    stack,
  );
  const nodes = openNodes({ core, auth, conversation: () => opened.talk.conversation, automation: () => automation });
  const canvas: Canvas = stack.use(openCanvas({ core, conversation: () => opened.talk.conversation, send: (...args) => gateway.hub.send(...args) }));
  const tools = { automation, browser, nodes, canvas, nodePairing: auth.nodes };
  const opened = (answering = openAnswering({ core, models, memory, voice, plugins, askable, handlers: () => handlers, ...tools }, stack));
  const { conversation, delivery, commands, routing, channels: table, activity } = opened.talk;
  const channels = runChannels({ config, clock, random, env, log, redactor, plugins, table, activity, routing, conversation, delivery, commands }, stack);
  const seen = { ...core, conversation };
  stack.use(openSessionTitles(core, models, conversation));
  const overview = openOverview({ ...seen, plugins: plugins.facts, models: models.models, channels: channels.channels, onChannels: channels.onHealth }, stack);
  const modules: Modules = { core, auth, plugins, models, memory, voice, browser, answering: opened, channels, overview, automation, nodes, canvas };
  const gateway = stack.use(openGateway(modules, (made) => (handlers = made)));
  await startPlugins(core, plugins, gateway, stack);
  await automation.hooks.load();
  let stopping: "shutdown" | "restart" = "shutdown";
  stack.defer(() => opened.sessions.stop(stopping));
  await resumeWork(core, opened, plugins);
  await automation.start();
  return {
    gateway,
    plugins,
    memory,
    browser,
    cron: automation,
    hooks: automation.hooks,
    code: opened.code,
    channels,
    conversation,
    send: (address, text, sessionKey) => delivery.send(address, [{ text }], { kind: "send", sessionKey }, 0),
    loginLink: () => addressOf(createLoginLink({ auth, config }), gateway.url),
    answeringModel: () => answeringModel(models.models, core.defaultAgentId()),
    announceRestart() {
      stopping = "restart";
      gateway.drain(RESTARTING);
    },
    closeForRestart: () => gateway.stop(RESTARTING),
  };
}

function openVoice(core: Core, models: LazyModels, keysOf: (agentId: string) => Promise<AuthProfiles>): () => Promise<Voice> {
  const { config, clock, ids, log, defaultAgentId: usual } = core;
  return createLazyVoice({
    config,
    clock,
    ids,
    log: log.subsystem("voice"),
    auth: (agentId) => keysOf(agentId ?? usual()),
    spending: mediaSpending(core, models),
    summarise: async (request) => (await import("./speech-summary.ts")).speechSummary(core, models)(request),
  });
}

const addressOf = (link: { readonly path: string } | undefined, origin: string): string | undefined => link && new URL(link.path, origin).href;

/** Plugins guard turns to their end, so they are taken down after the conversations: open them first. */
function openPlugins(
  core: Core,
  {
    auth,
    handlers,
    talk,
    memory,
    voice,
    wake,
  }: Pick<PluginsDeps, "talk" | "memory" | "voice" | "wake"> & { readonly auth: Auth; readonly handlers: () => Handlers | undefined },
  stack: AsyncDisposableStack,
): Plugins {
  const { config, store, clock, ids, log, env, version, tapLog, monitor } = core;
  const plugins = createPlugins({
    config,
    store,
    clock,
    ids,
    log,
    env,
    version,
    tapLog,
    monitor,
    pairing: auth.pairing,
    talk,
    memory,
    voice,
    wake,
    call: (pluginId) => ownCaller(handlers, `plugin:${pluginId}`),
    // Known to the next start also when they fail to load then.
    guardRecords: {
      read: () => store.read("meta.get", { key: "plugins.guards" }),
      write: (value) => store.write("meta.set", { key: "plugins.guards", value }),
    },
  });
  stack.defer(() => plugins.end());
  return plugins;
}

/** Loads plugins; they are notified of the end before anything that was put on the stack earlier goes. */
async function startPlugins({ config, log }: Core, plugins: Plugins, gateway: Gateway, stack: AsyncDisposableStack): Promise<void> {
  stack.defer(() => plugins.stop());
  await plugins.open(gateway);
  await judgeNames({ config, plugins, log: log.subsystem("config") });
}

/** Resumes what the previous process accepted. */
async function resumeWork(core: Core, { talk, endLeftCommands, takeUpCommands, resumeExchanges }: Answering, plugins: Pick<Plugins, "release">): Promise<void> {
  const log = core.log.subsystem("gateway");
  const { allowLists, conversation, delivery } = talk;
  await allowLists.load();
  // Before turns go on: a command that is run again must not meet itself.
  await endLeftCommands();
  const resumed = await conversation.resume();
  const left = await takeUpCommands();
  await resumeExchanges();
  if (left > 0) log.info(`sessions are notified about ${left} commands that waited for approval or ran when the previous process ended`);
  if (resumed > 0) log.info(`${resumed} messages of the process before this one go on`);
  const { pending, attempting, unknown } = await core.store.read("outbox.counts", {});
  if (pending + attempting + unknown > 0) delivery.kick();
  plugins.release();
}

/** What the gateway's methods are built on. */
interface Modules {
  readonly core: Core;
  readonly auth: Auth;
  readonly plugins: Plugins;
  readonly models: LazyModels;
  readonly memory: Memory;
  readonly voice: () => Promise<Voice>;
  readonly browser: LazyBrowser;
  readonly answering: Answering;
  readonly channels: RunningChannels;
  readonly overview: OverviewPort;
  readonly automation: Automation;
  readonly nodes: Nodes;
  readonly canvas: Canvas;
}

const portDeps = ({ core, plugins, answering }: Modules): PortDeps => ({
  core,
  agent: answering.agent,
  conversation: answering.talk.conversation,
  refusal: () => plugins.missingGuards()[0]?.message,
});

function openGateway(modules: Modules, made: (handlers: Handlers) => Handlers): Gateway {
  const { core, auth, plugins, answering } = modules;
  const { config, store, clock, ids, version, server, health, runSecret, runnable, workspaceOf } = core;
  return createGateway({
    server,
    config,
    store,
    auth,
    health,
    clock,
    ids,
    log: core.log.subsystem("gateway"),
    version,
    runSecret,
    runnable,
    workspaceOf,
    responder: answering.talk.conversation,
    extraMethods: plugins.gateway.extraMethods,
    unrouted: plugins.gateway.unrouted,
    isStarting: () => modules.channels.isStarting(),
    platform: process.platform,
    sessionDefaults: () => sessionDefaults(config.current),
    paths: { config: config.paths.file, state: config.paths.state },
    touched: answering.care.touched,
    uiFolder: UI_FOLDER,
    webhooks: modules.automation.webhooks,
    nodes: modules.nodes,
    canvas: modules.canvas,
    tools: toolsPort(portDeps(modules)),
    fetchFile: async (url, limits) => (await import("../base/fetch-file.ts")).fetchFile(url, limits, clock),
    documents: core.documents,
    handlers: (hub) => made(openHandlers(modules, hub)),
  });
}

/** Every method of the gateway. */
function openHandlers(modules: Modules, hub: GatewayHub): Handlers {
  const { core, auth, plugins, models, memory, voice, browser, answering, channels, overview, automation, nodes, canvas } = modules;
  const { config, store, clock, ids, redactor, env, version, logFile, requestRestart, leaveSentinel, runnable, program, cwd } = core;
  const { talk } = answering;
  const ports = portDeps(modules);
  return createHandlers(
    {
      config,
      store,
      clock,
      ids,
      log: core.log.subsystem("gateway"),
      redactor,
      version,
      logFile,
      requestRestart,
      leaveSentinel,
      runnable,
      responder: talk.conversation,
      commits: store,
      endings: { ...answering.sessions, stopping: automation.subagents.sessionEnding },
      auth,
      plugins: { plugins: plugins.port, admin: pluginAdmin({ config, clock, ids, log: core.log, env, plugins, requestRestart, program, cwd }) },
      ...pluginPorts({ config, env, plugins }),
      pluginIssues: issuesOfPlugins({ config, env }),
      models: modelsPort(models, core),
      quota: quotaPort(models, core),
      budgets: budgetsPort(models),
      security: securityPort(core),
      backups: backupsPort(core),
      program: programPort(core),
      running: answering.commands,
      commands: talk.commands,
      sentFile: sentFilePort(talk),
      approvals: lazyApprovals(answering.agent, answering.notices),
      execRules: execRulesPort(ports),
      toolFacts: toolFactsPort(ports),
      agent: agentPort(ports, plugins.hooks),
      channels: channels.channels,
      channelPairing: pairingPort(talk, core),
      messages: messagesPort(talk),
      setup: lazySetup({ core, models: models.models, providers: plugins.providers, channel: talk.channels.get }),
      overview,
      memory: memoryPort(core, memory),
      voice,
      browser: browserRequests({ browser, nodes, config, ids: core.ids }),
      cron: automation.cron,
      heartbeat: automation.heartbeat,
      subagents: automation.subagents,
      nodes,
      canvas,
    },
    hub,
  );
}
