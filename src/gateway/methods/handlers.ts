import type { OpenClawConfig } from "../../config/index.ts";
import type { HelloOk } from "../../protocol/index.ts";
import type { GatewayHub } from "../create-gateway.ts";
import type { AgentPort, ApprovalsPort, ExecRulesPort, Responder, ToolFactsPort } from "../ports.ts";
import { createTurns } from "../turns.ts";
import { agentFilesHandlers } from "./agent-files.ts";
import { agentHandlers } from "./agent.ts";
import { agentsHandlers, rosterHandlers } from "./agents.ts";
import { approvalHandlers, execRulesHandlers } from "./approvals.ts";
import { createApprovalBoard } from "./approvals/board.ts";
import { channelPairingHandlers, type ChannelPairingPort } from "./channels-pairing.ts";
import { chatHandlers } from "./chat.ts";
import { createRunRelay } from "./chat/run-relay.ts";
import { channelsHandlers, type ChannelsPort } from "./channels.ts";
import { configHandlers, createWriteBudget, type ConfigDeps } from "./config.ts";
import type { MethodDeps } from "./deps.ts";
import type { Handlers } from "./handler.ts";
import { logsHandlers, type LogsDeps } from "./logs.ts";
import { modelsHandlers, type ModelsPort } from "./models.ts";
import { overviewHandlers, type OverviewPort } from "./overview.ts";
import { routeHandlers } from "./route.ts";
import { sendHandlers, type MessagesPort } from "./send.ts";
import { sessionsHandlers } from "./sessions.ts";
import { setupHandlers, type SetupPort } from "./setup.ts";
import { keySettings, mainSessionKey } from "./sessions/keys.ts";
import { skillsHandlers } from "./skills.ts";
import { systemHandlers } from "./system.ts";
import { toolsHandlers } from "./tools.ts";
import { whyHandlers } from "./why.ts";
import { usageHandlers, type UsageDeps } from "./usage.ts";
import { createWatchers, viewHandlers, type ViewDeps } from "./view.ts";

export interface HandlersDeps
  extends
    MethodDeps,
    LogsDeps,
    Pick<ConfigDeps, "version" | "requestRestart" | "leaveSentinel" | "pluginIssues" | "pluginSections">,
    Pick<ViewDeps, "commits" | "commands" | "running"> {
  readonly responder: Responder;
  /** Without it `models.list` is not answered. */
  readonly models?: ModelsPort | undefined;
  /** How much of each provider's allowance is used. */
  readonly quota?: UsageDeps["quota"];
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
  /** Without it `overview` is not answered. */
  readonly overview?: OverviewPort | undefined;
  /** Without it `setup.*` and `wizard.*` are not answered. */
  readonly setup?: SetupPort | undefined;
  /** Without it `channels.*` and `web.login.*` are not answered, and health knows of no channels. */
  readonly channels?: ChannelsPort | undefined;
}

/** What clients need to know to name sessions, for `hello-ok`. */
export function sessionDefaults(config: OpenClawConfig): NonNullable<HelloOk["snapshot"]["sessionDefaults"]> {
  const settings = keySettings(config);
  return { ...settings, mainSessionKey: mainSessionKey(settings) };
}

/** Methods of rooms that may not be there. What is not answered is not advertised. */
function optionalHandlers(deps: HandlersDeps, { broadcast, stopping }: Pick<GatewayHub, "broadcast" | "stopping">): Handlers {
  const { config, ids, clock, models, approvals, execRules, toolFacts, agent, channels } = deps;
  const board = approvals && createApprovalBoard({ approvals, broadcast, clock });
  if (board) stopping.addEventListener("abort", () => board[Symbol.dispose](), { once: true });
  const skills = agent?.skills;
  return {
    ...(models ? modelsHandlers({ config, models }) : {}),
    ...(approvals && board ? approvalHandlers({ approvals, board, clock }) : {}),
    ...(execRules ? execRulesHandlers(execRules) : {}),
    ...(deps.channelPairing ? channelPairingHandlers(deps.channelPairing) : {}),
    ...(deps.messages ? sendHandlers(deps.messages) : {}),
    ...(toolFacts ? toolsHandlers({ config, toolFacts }) : {}),
    ...(agent ? agentFilesHandlers({ config, ids, agent }) : {}),
    ...(agent?.seed ? rosterHandlers({ config, clock, ids, log: deps.log, agent: { workspace: agent.workspace, seed: agent.seed } }) : {}),
    ...(channels ? channelsHandlers(channels) : {}),
    ...(deps.setup ? setupHandlers(deps.setup) : {}),
    ...(deps.overview ? overviewHandlers(deps.overview) : {}),
    ...(agent && skills ? skillsHandlers({ config, agent: { ...agent, skills } }) : {}),
  };
}

/** Every method that the gateway answers itself. Runs are announced until the gateway stops. */
export function createHandlers(
  deps: HandlersDeps,
  hub: Pick<GatewayHub, "broadcast" | "piece" | "form" | "send" | "presence" | "stopping" | "clients">,
): Handlers {
  const { broadcast, piece, form, send, presence, stopping } = hub;
  const watchers = createWatchers();
  const relay = createRunRelay({ responder: deps.responder, broadcast, piece, form, send, clock: deps.clock, watched: watchers.of });
  stopping.addEventListener("abort", () => relay[Symbol.dispose](), { once: true });
  const compact = deps.agent?.compact;
  const chat = { ...deps, relay, broadcast, turns: createTurns(), ...(compact ? { compact } : {}) };
  return {
    ...systemHandlers({ ...deps, presence }),
    ...configHandlers({ ...deps, budget: createWriteBudget(deps.clock) }),
    ...sessionsHandlers(chat),
    ...usageHandlers(deps),
    ...logsHandlers(deps),
    ...chatHandlers(chat),
    ...agentHandlers(chat),
    ...agentsHandlers(deps),
    ...whyHandlers(deps),
    ...routeHandlers(deps),
    ...viewHandlers({ ...deps, relay, watchers, send, stopping, isThere: (connId) => hub.clients.has(connId) }),
    ...optionalHandlers(deps, hub),
  };
}
