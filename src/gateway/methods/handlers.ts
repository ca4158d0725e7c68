import type { OpenClawConfig } from "../../config/index.ts";
import type { Canvas, Nodes } from "../../nodes/index.ts";
import type { HelloOk } from "../../protocol/index.ts";
import type { GatewayHub } from "../create-gateway.ts";
import type { AgentPort, ApprovalsPort, ExecRulesPort, Responder, ToolFactsPort } from "../ports.ts";
import { createTurns } from "../turns.ts";
import { backupsHandlers, type BackupsDeps } from "./backups.ts";
import { browserHandlers, type BrowserMethodDeps } from "./browser.ts";
import { agentFilesHandlers } from "./agent-files.ts";
import { agentHandlers } from "./agent.ts";
import { agentsHandlers, rosterHandlers } from "./agents.ts";
import { approvalHandlers, execRulesHandlers } from "./approvals.ts";
import { createApprovalBoard } from "./approvals/board.ts";
import { canvasHandlers } from "./canvas.ts";
import { channelPairingHandlers, type ChannelPairingPort } from "./channels-pairing.ts";
import { chatHandlers } from "./chat.ts";
import { createMessageOrder } from "./chat/incoming.ts";
import { createRunRelay } from "../runs/relay.ts";
import { channelsHandlers, type ChannelsPort } from "./channels.ts";
import { cronHandlers, type CronPort } from "./cron.ts";
import { heartbeatHandlers, type HeartbeatPort } from "./heartbeat.ts";
import { configHandlers, createWriteBudget, type ConfigDeps } from "./config.ts";
import type { MethodDeps } from "./deps.ts";
import { devicesHandlers, type DevicesDeps } from "./devices.ts";
import { unavailable, type AllHandlers, type Handlers } from "./handler.ts";
import { loginHandlers, type LoginDeps } from "./login.ts";
import { logsHandlers, type LogsDeps } from "./logs.ts";
import { memoryHandlers, messageSearchHandlers, type MemoryPort } from "./memory.ts";
import { nodesHandlers } from "./nodes.ts";
import { modelsHandlers, type ModelsPort } from "./models.ts";
import { overviewHandlers, type OverviewPort } from "./overview.ts";
import { pluginsHandlers, type PluginsDeps } from "./plugins.ts";
import { promptsHandlers } from "./prompts.ts";
import { routeHandlers } from "./route.ts";
import { securityHandlers, type SecurityPort } from "./security.ts";
import { sendHandlers, type MessagesPort } from "./send.ts";
import { sessionsHandlers } from "./sessions.ts";
import { setupHandlers, type SetupPort } from "./setup.ts";
import { keySettings, mainSessionKey } from "./sessions/keys.ts";
import { skillsHandlers } from "./skills.ts";
import { subagentsHandlers, type SubagentsPort } from "./subagents.ts";
import { systemHandlers } from "./system.ts";
import { speechHandlers, talkHandlers, talkingHandlers, type SpeechDeps } from "./talk.ts";
import { toolsHandlers } from "./tools.ts";
import { whyHandlers } from "./why.ts";
import { updateHandlers, type UpdateDeps } from "./update.ts";
import { usageHandlers, type UsageDeps } from "./usage.ts";
import { createWatchers, viewHandlers, type ViewDeps } from "./view.ts";

export interface HandlersDeps
  extends
    MethodDeps,
    LogsDeps,
    Pick<ConfigDeps, "version" | "requestRestart" | "leaveSentinel" | "pluginIssues" | "pluginSections">,
    Pick<ViewDeps, "commits" | "commands" | "running" | "sentFile"> {
  readonly responder: Responder;
  /** Without it `models.list` is not answered. */
  readonly models?: ModelsPort | undefined;
  /** How much of each provider's allowance is used. */
  readonly quota?: UsageDeps["quota"];
  /** Without it `usage.budgets` is not answered. */
  readonly budgets?: UsageDeps["budgets"];
  /** Without it `security.*` is not answered. */
  readonly security?: SecurityPort | undefined;
  /** Without it `backup.*` is not answered. */
  readonly backups?: Pick<BackupsDeps, "pid" | "workspaces"> | undefined;
  /** Without it `update.*` is not answered. */
  readonly program?: Pick<UpdateDeps, "env" | "root" | "build" | "startedAtMs"> | undefined;
  /** Without it `exec.approval.*` is not answered. */
  readonly approvals?: ApprovalsPort | undefined;
  /** Without it `exec.approvals.get` and `.set` are not answered. */
  readonly execRules?: ExecRulesPort | undefined;
  /** Without it `channels.pairing.*` is not answered. */
  readonly channelPairing?: ChannelPairingPort | undefined;
  /** Without it `send`, `poll` and `message.action` are not answered. */
  readonly messages?: MessagesPort | undefined;
  /** Without it `tools.*` is not answered. */
  readonly toolFacts?: ToolFactsPort | undefined;
  /** Without it `agents.create`, `.update`, `.delete`, `agents.files.*` and `skills.*` are not answered, and sessions are compacted by cutting lines. */
  readonly agent?: AgentPort | undefined;
  /** Without it `memory.*` is not answered. */
  readonly memory?: MemoryPort | undefined;
  /** Without it `tts.*` is not answered. */
  readonly voice?: SpeechDeps["voice"] | undefined;
  /** Without it `browser.request` is not answered. */
  readonly browser?: BrowserMethodDeps["request"] | undefined;
  /** Without it `cron.*` is not answered. */
  readonly cron?: CronPort | undefined;
  /** Without it `wake`, `hooks.status`, `last-heartbeat` and `set-heartbeats` are not answered. */
  readonly heartbeat?: HeartbeatPort | undefined;
  /** Without it `subagents.*` is not answered. */
  readonly subagents?: SubagentsPort | undefined;
  /** Without it `overview` and `overview.history` are not answered. */
  readonly overview?: OverviewPort | undefined;
  /** Without it `setup.*` and `wizard.*` are not answered. */
  readonly setup?: SetupPort | undefined;
  /** Without it `plugins.*` and `sessions.pluginPatch` are not answered. */
  readonly plugins?: Omit<PluginsDeps, "config"> | undefined;
  /** Without it `device.*`, `node.pair.*`, `node.rename` and `login.code` are not answered. */
  readonly auth?: (DevicesDeps["auth"] & LoginDeps["auth"]) | undefined;
  /** Without it `node.list`, `.describe`, `.invoke` and `.event` are not answered. */
  readonly nodes?: Nodes | undefined;
  /** Without it, and where it is not served, `canvas.*` is not answered. */
  readonly canvas?: Canvas | undefined;
  /** Without it `channels.*` and `web.login.*` are not answered, and health knows of no channels. */
  readonly channels?: ChannelsPort | undefined;
}

/** What clients need to know to name sessions, for `hello-ok`. */
export function sessionDefaults(config: OpenClawConfig): NonNullable<HelloOk["snapshot"]["sessionDefaults"]> {
  const settings = keySettings(config);
  return { ...settings, mainSessionKey: mainSessionKey(settings) };
}

/** Methods of what may not be there: the ports in `deps` say which of them are answered. */
function optionalHandlers(deps: HandlersDeps, hub: Pick<GatewayHub, "broadcast" | "send" | "stopping" | "clients">) {
  const { broadcast, send, stopping } = hub;
  const { config, store, ids, clock, models, approvals, execRules, toolFacts, agent, auth, channels, canvas } = deps;
  const board = approvals && createApprovalBoard({ approvals, broadcast, clock });
  if (board) stopping.addEventListener("abort", () => board[Symbol.dispose](), { once: true });
  const skills = agent?.skills;
  return {
    ...(models ? modelsHandlers({ config, models }) : unavailable("models")),
    ...(approvals && board ? approvalHandlers({ approvals, board, clock }) : unavailable("exec.approval")),
    ...(execRules
      ? execRulesHandlers({ rules: execRules, config })
      : unavailable(
          "exec.approvals.get",
          "exec.approvals.set",
          "exec.approvals.remembered",
          "exec.approvals.forget",
          "exec.approvals.restore",
          "exec.approvals.policy",
          "exec.approvals.explain",
        )),
    ...(deps.security ? securityHandlers(deps.security) : unavailable("security")),
    ...(deps.backups ? backupsHandlers({ ...deps, ...deps.backups, stopping }) : unavailable("backup")),
    ...(deps.program ? updateHandlers({ ...deps, ...deps.program }) : unavailable("update")),
    ...(deps.channelPairing ? channelPairingHandlers(deps.channelPairing) : unavailable("channels.pairing")),
    ...(deps.messages ? sendHandlers(deps.messages) : unavailable("send", "poll", "message.action", "message.resend")),
    ...(toolFacts ? toolsHandlers({ config, toolFacts }) : unavailable("tools")),
    ...(agent ? agentFilesHandlers({ config, ids, clock, agent }) : unavailable("agents.files")),
    ...(channels ? channelsHandlers(channels) : unavailable("channels.status", "channels.logout", "channels.start", "channels.stop", "web")),
    ...(deps.setup ? setupHandlers(deps.setup) : unavailable("setup", "wizard")),
    ...(deps.memory ? memoryHandlers({ config, store, memory: deps.memory }) : unavailable("memory")),
    ...(deps.memory ? messageSearchHandlers({ config, store, memory: deps.memory }) : unavailable("chat.search")),
    ...(deps.voice
      ? { ...speechHandlers({ voice: deps.voice, config }), ...talkingHandlers({ voice: deps.voice, config }) }
      : unavailable("tts", "talk.ready", "talk.transcribe", "talk.speak")),
    ...(deps.browser ? browserHandlers({ request: deps.browser }) : unavailable("browser")),
    ...(deps.cron ? cronHandlers(deps.cron, clock) : unavailable("cron")),
    ...(deps.heartbeat ? heartbeatHandlers(deps.heartbeat) : unavailable("hooks.status", "last-heartbeat", "set-heartbeats", "wake")),
    ...(deps.subagents ? subagentsHandlers(deps.subagents) : unavailable("subagents")),
    ...(deps.overview ? overviewHandlers(deps.overview) : unavailable("overview", "overview.history")),
    ...(agent && skills ? skillsHandlers({ config, ids: deps.ids, agent: { ...agent, skills }, send }) : unavailable("skills")),
    ...nodesHandlers({ ...deps, send }),
    ...(canvas && canvas.off() === undefined ? canvasHandlers({ canvas, config, isThere: (connId) => hub.clients.has(connId) }) : unavailable("canvas")),
    ...(auth ? devicesHandlers({ auth, broadcast }) : unavailable("device", "node.pair")),
    ...(auth ? loginHandlers({ auth, config }) : unavailable("login")),
  } satisfies Handlers;
}

/** What this version does not have. */
const notBuilt = () => unavailable("push");

/** Every method of the protocol, with its handler or with `unavailable`. Runs are announced until the gateway stops. */
export function createHandlers(
  deps: HandlersDeps,
  hub: Pick<GatewayHub, "broadcast" | "piece" | "form" | "hasListeners" | "send" | "presence" | "stopping" | "clients">,
): AllHandlers {
  const { broadcast, piece, form, hasListeners, send, presence, stopping } = hub;
  const watchers = createWatchers();
  const relay = createRunRelay({
    responder: deps.responder,
    broadcast,
    piece,
    form,
    hasListeners,
    send,
    clock: deps.clock,
    watched: watchers.sessions,
  });
  stopping.addEventListener("abort", () => relay[Symbol.dispose](), { once: true });
  const { compact, exclusively, roster } = deps.agent ?? {};
  const chat = { ...deps, relay, broadcast, turns: createTurns(), order: createMessageOrder(), ...(compact ? { compact } : {}), exclusively };
  const sessions = sessionsHandlers(chat);
  return {
    ...systemHandlers({ ...deps, presence }),
    ...configHandlers({ ...deps, budget: createWriteBudget(deps.clock) }),
    ...sessions,
    ...promptsHandlers(deps),
    ...usageHandlers(deps),
    ...logsHandlers(deps),
    ...chatHandlers(chat),
    ...agentHandlers(chat),
    ...agentsHandlers(deps),
    ...(roster ? rosterHandlers({ ...chat, roster }) : unavailable("agents.create", "agents.update", "agents.delete", "agents.templates")),
    ...whyHandlers(deps),
    ...routeHandlers(deps),
    ...viewHandlers({ ...deps, relay, watchers, send, stopping, isThere: (connId) => hub.clients.has(connId) }),
    ...talkHandlers({ ...deps, broadcast }),
    ...notBuilt(),
    ...optionalHandlers(deps, hub),
    ...(deps.plugins ? pluginsHandlers({ ...deps, ...deps.plugins }, sessions) : unavailable("plugins", "sessions.pluginPatch")),
  };
}
