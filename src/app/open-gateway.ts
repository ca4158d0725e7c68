import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Logger } from "../base/log/logger.ts";
import type { Random } from "../base/random.ts";
import type { LoopMonitor } from "../base/watchdog/loop-monitor.ts";
import type { Redactor } from "../base/redaction.ts";
import { defaultAgentId as defaultAgentOf, type Config, type Env } from "../config/index.ts";
import {
  RESTARTING,
  createAuth,
  createGateway,
  createHandlers,
  createLoginLink,
  ensureToken,
  sessionDefaults,
  settingsFrom,
  type Auth,
  type Gateway,
  type GatewayServer,
  type Handlers,
  type HealthReport,
  type RestartReport,
  type RestartRequest,
  type SentinelPayload,
  type SetupPort,
} from "../gateway/index.ts";
import type { GuardRecords } from "../plugins/index.ts";
import { observeCommits, type Store } from "../store/index.ts";
import type { Conversation, ReplyAddress } from "../conversation/index.ts";
import { agentPort, lazyApprovals, lazyExecRules, toolFactsPort, toolsPort, type PortDeps } from "./agent/gateway-ports.ts";
import { openAnswering, type Answering } from "./agent/answering.ts";
import type { Logging } from "./logging.ts";
import { openChannels, type AppChannelsRun } from "./conversation/channels.ts";
import { messagesPort, pairingPort } from "./conversation/ports.ts";
import { runnableTexts } from "./runnable.ts";
import { answeringModel, type AnsweringModel } from "../models/index.ts";
import { createAppModels, type AppModels } from "./models.ts";
import { openOverview } from "../overview/index.ts";
import { issuesOfPlugins, pluginAdmin } from "./plugins/admin.ts";
import { judgeNames } from "./plugins/names.ts";
import { pluginPorts } from "./plugins/sections.ts";
import { createPlugins, type Plugins, type PluginsDeps } from "./plugins/index.ts";
import type { TurnCode } from "./turn-code.ts";
import { lazy } from "../base/lazy.ts";
import type { QuickDeps } from "../setup/index.ts";

interface SetupPortDeps extends Omit<QuickDeps, "sessions"> {
  readonly store: Pick<Store, "read">;
}

/** The first steps as methods of this gateway. Their code is loaded when somebody takes one. */
function setupPort({ store, ...deps }: SetupPortDeps): SetupPort {
  const sessions = async (): Promise<number> => (await store.read("sessions.list", { limit: 1 })).total;
  const open = lazy(async () => (await import("../setup/index.ts")).openSetup({ ...deps, sessions }));
  return {
    status: async () => (await open()).status(),
    key: async (given) => (await open()).key(given),
    local: async (given) => (await open()).local(given),
    channel: async (given) => (await open()).channel(given),
    wizard: {
      start: async (asked) => (await open()).wizard.start(asked),
      next: async (asked) => (await open()).wizard.next(asked),
      cancel: async (asked) => (await open()).wizard.cancel(asked),
      status: async (asked) => (await open()).wizard.status(asked),
    },
  };
}

const ANSWER_MS = 250;
/** Beside the bundle that this is a chunk of. */
const UI_FOLDER = join(import.meta.dirname, "..", "ui");

export interface OpenGatewayDeps {
  readonly config: Config;
  readonly store: Store;
  /** Listens already. */
  readonly server: GatewayServer;
  readonly health: () => HealthReport;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly log: Logger;
  readonly redactor: Redactor;
  readonly env: Env;
  readonly version: string;
  /** See `AppOptions`. */
  readonly program?: readonly string[] | undefined;
  readonly cwd: string;
  readonly runSecret: string;
  /** Notes which plugin's code runs. */
  readonly monitor?: LoopMonitor;
  readonly logFile: () => string;
  readonly tapLog: Logging["tap"];
  /** See `AppModelsDeps`. */
  readonly rawStream?: string | undefined;
  readonly requestRestart: (request: RestartRequest, options?: { readonly urgent?: boolean }) => RestartReport;
  readonly leaveSentinel: (payload: SentinelPayload) => Promise<string | null>;
  /** The gateway can no longer be trusted and has to end. */
  readonly failed: (message: string) => void;
}

export interface OpenGateway {
  readonly gateway: Gateway;
  /** What turns load. */
  readonly code: TurnCode;
  readonly plugins: Plugins;
  readonly channels: AppChannelsRun;
  readonly conversation: Pick<Conversation, "running" | "drain">;
  /** Says something in a session's chat. */
  tell(address: ReplyAddress, text: string, sessionKey: string): Promise<unknown>;
  /** The address of a login link: good once, for ten minutes. Undefined when there is no page to log in to. */
  loginLink(): string | undefined;
  /** Which model answers when nobody chooses one. */
  answeringModel(): Promise<AnsweringModel>;
  /** Takes nothing new, and tells the clients that it comes back. */
  announceRestart(): void;
  /** Closes the connections and the port. */
  closeForRestart(): Promise<void>;
}

/** In token mode there is always a token: one that had to be made is kept in the configuration, so that clients can be given it. */
async function openAuth(deps: OpenGatewayDeps): Promise<Auth> {
  const { config, env, ids } = deps;
  const log = deps.log.subsystem("gateway");
  const saveToken = async (token: string): Promise<void> =>
    void (await config.edit({ kind: "set", path: "gateway.auth.token", value: token }, { by: "gateway" }));
  let settings = await ensureToken(settingsFrom(config.current, env), { ids, saveToken, log });
  const { register } = deps.redactor;
  const known = ({ token, password }: typeof settings): void => {
    for (const secret of [token, password]) if (typeof secret === "string") register(secret);
  };
  known(settings);
  const auth = createAuth({ ...deps, log, settings: () => settings, resolveSecret: config.resolveSecret, onSecret: register });
  config.onEvent((event) => {
    if (event.kind !== "changed") return;
    const next = settingsFrom(config.current, env);
    // A token that was made here and could not be saved stays good until the file has one.
    settings = next.mode === "token" && next.token === undefined && settings.token !== undefined ? { ...next, token: settings.token } : next;
    known(settings);
    // Whoever changed the secret over its own connection gets its answer before that is closed.
    deps.clock.after(
      ANSWER_MS,
      () => void auth.update(settings).catch((error: unknown) => log.error("the changed credentials could not be taken over", { error })),
    );
  });
  return auth;
}

/** What methods ask of models. */
const modelPorts = ({ models }: AppModels, defaultAgentId: () => string, agentIds: () => readonly string[]) => ({
  models: {
    choices: async () => (await models()).choices(defaultAgentId()),
    auths: async (agentId: string | undefined) => {
      const { auth } = await models();
      const ids = agentId === undefined ? [...new Set([defaultAgentId(), ...agentIds()])] : [agentId];
      return ids.map((id) => ({ agentId: id, auth: auth(id) }));
    },
  },
  quota: async () => (await models()).quota(defaultAgentId()),
});

/** What methods ask of the agents' room. */
const agentPorts = (ports: PortDeps, { agent, notices, talk, workspaceOf, commands }: Answering) => ({
  running: commands,
  commands: talk.commands,
  approvals: lazyApprovals(agent.open, notices),
  execRules: lazyExecRules(agent.open),
  toolFacts: toolFactsPort(ports),
  agent: agentPort(ports, talk.conversation, workspaceOf),
});

const addressOf = (link: { readonly path: string } | undefined, origin: string): string | undefined => link && new URL(link.path, origin).href;

/** Plugins that guard turns to their end: they are taken down after the conversations. Put them on the stack before those. */
function guardingPlugins(deps: PluginsDeps & { readonly store: Store }, stack: AsyncDisposableStack): Plugins {
  const { store } = deps;
  // Known to the next start also when they fail to load then.
  const guardRecords: GuardRecords = {
    read: () => store.read("meta.get", { key: "plugins.guards" }),
    write: (value) => store.write("meta.set", { key: "plugins.guards", value }),
  };
  const plugins = createPlugins({ ...deps, guardRecords });
  stack.defer(() => plugins.end());
  return plugins;
}

/** Loads plugins; they are notified of the end before anything that was put on the stack earlier goes. */
async function openPlugins({ config, log }: OpenGatewayDeps, plugins: Plugins, gateway: Gateway, stack: AsyncDisposableStack): Promise<void> {
  stack.defer(() => plugins.stop());
  await plugins.open(gateway);
  await judgeNames({ config, plugins, log: log.subsystem("config") });
}

/** What the process before this one accepted goes on. */
async function resumeWork({ talk, endLeftCommands, takeUpCommands }: Answering, plugins: Pick<Plugins, "release">, store: Store, log: Logger): Promise<void> {
  const { allowLists, conversation, delivery } = talk;
  await allowLists.load();
  // Before turns go on: a command that is run again must not meet itself.
  await endLeftCommands();
  const resumed = await conversation.resume();
  const left = await takeUpCommands();
  if (left > 0) log.info(`sessions are told of ${left} commands that waited for approval or ran when the process before this one ended`);
  if (resumed > 0) log.info(`${resumed} messages of the process before this one go on`);
  const { pending, attempting, unknown } = await store.read("outbox.counts", {});
  if (pending + attempting + unknown > 0) await delivery.resume();
  plugins.release();
}

/** Puts the gateway's parts together: who may connect, who answers, and what is listened on. */
export async function openGateway(given: OpenGatewayDeps, stack: AsyncDisposableStack): Promise<OpenGateway> {
  // Whoever watches a session is told what anybody commits in it.
  const deps = { ...given, store: observeCommits(given.store), pluginIssues: issuesOfPlugins(given), runnable: runnableTexts(given.env) };
  const { config } = deps;
  const log = deps.log.subsystem("gateway");
  const auth = await openAuth(deps);
  const defaultAgentId = (): string => defaultAgentOf(config.current);
  let answering: Answering | undefined;
  const plugins = guardingPlugins({ ...deps, pairing: auth.pairing, talk: () => answering?.talk }, stack);
  const models = stack.use(createAppModels({ ...deps, hooks: plugins.hooks, providers: plugins.providers }));
  const answers = () => answeringModel(models.models, defaultAgentId());
  let handlers: Handlers | undefined;
  const askable = (): boolean => gateway.hub.audience("exec.approval.requested") > 0;
  answering = openAnswering({ ...deps, models, plugins, defaultAgentId, askable, handlers: () => handlers }, stack);
  const { agent, talk, sessions, care, code } = answering;
  const responder = talk.conversation;
  const channelsRun = openChannels({ ...deps, plugins }, talk, stack);
  const overview = openOverview({ ...deps, plugins, models, defaultAgentId }, responder, channelsRun.channels, stack);
  const ports: PortDeps = { open: agent.open, deps, defaultAgentId, refusal: () => plugins.missingGuards()[0]?.message };
  const gateway = stack.use(
    createGateway({
      ...deps,
      ...plugins.gateway,
      log,
      auth,
      responder,
      platform: process.platform,
      sessionDefaults: () => sessionDefaults(config.current),
      paths: { config: config.paths.file, state: config.paths.state },
      touched: care.touched,
      uiFolder: UI_FOLDER,
      workspaceOf: answering.workspaceOf,
      tools: toolsPort(ports),
      fetchFile: async (url, limits) => (await import("./agent/web-files.ts")).fetchFile(url, limits, deps.clock),
      handlers(hub) {
        handlers = createHandlers(
          {
            ...deps,
            log,
            responder,
            ...pluginPorts({ ...deps, plugins }),
            endings: sessions,
            ...modelPorts(models, defaultAgentId, () => config.current.agents?.list?.map(({ id }) => id) ?? []),
            ...agentPorts(ports, answering),
            channels: channelsRun.channels,
            channelPairing: pairingPort(talk, deps),
            messages: messagesPort(talk),
            setup: setupPort({ ...deps, models: models.models, providers: plugins.providers, channel: talk.channels.get, answering: answers }),
            overview,
            plugins: { plugins: plugins.port, admin: pluginAdmin({ ...deps, plugins }) },
            auth,
            commits: deps.store,
          },
          hub,
        );
        return handlers;
      },
    }),
  );
  await openPlugins(deps, plugins, gateway, stack);
  let stopping: "shutdown" | "restart" = "shutdown";
  stack.defer(() => sessions.stop(stopping));
  await resumeWork(answering, plugins, deps.store, log);
  return {
    gateway,
    plugins,
    code,
    channels: channelsRun,
    conversation: responder,
    tell: (address, text, sessionKey) => talk.delivery.send(address, [{ text }], { kind: "send", sessionKey }, 0),
    loginLink: () => addressOf(createLoginLink({ auth, config }), gateway.url),
    answeringModel: answers,
    announceRestart() {
      stopping = "restart";
      gateway.drain(RESTARTING);
    },
    closeForRestart: () => gateway.stop(RESTARTING),
  };
}
