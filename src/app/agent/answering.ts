import type { Agents } from "../../agent/index.ts";
import { messageOf } from "../../base/errors.ts";
import { lazy } from "../../base/lazy.ts";
import { createMemoryCare, type MemoryCare } from "../../base/memory-care.ts";
import { loadGatewayTool, queueSystemEvent, type Handlers, type RestartReport, type RestartRequest, type SentinelPayload } from "../../gateway/index.ts";
import type { ReplyAddress } from "../../conversation/index.ts";
import type { ApprovalNotice, SessionPost, Tool } from "../../tools/index.ts";
import type { AppModels } from "../models.ts";
import type { OpenGatewayDeps } from "../open-gateway.ts";
import type { Plugins } from "../plugins/index.ts";
import { createTurnCode, type TurnCode } from "../turn-code.ts";
import { openConversation, type ConversationRoom } from "../conversation/open.ts";
import { ownersBy } from "./owners.ts";
import { createAppAgent, type AppAgent } from "./index.ts";
import { createRunningCommands, endLeftCommands, originOf, takeUpCommands, type RunningCommands } from "./asked-commands.ts";
import type { FollowUps } from "./exec-follow-up.ts";
import { createEndedSessions, type EndedSessions } from "./session-endings.ts";
import type { Clock } from "../../base/clock.ts";
import { agentWorkspace, type Config, type Env, type PathContext } from "../../config/index.ts";
import { ownCaller } from "../own-caller.ts";
import { existsSync } from "node:fs";
import { homedir } from "node:os";

/** Folders of agents' files, looked up once for each configuration. */
function agentWorkspaces(config: Config, env: Env): (agentId: string) => string {
  const paths: PathContext = { env, exists: existsSync, osHome: homedir(), cwd: config.paths.home };
  let known = new Map<string, string>();
  let of = config.current;
  return (agentId) => {
    if (config.current !== of) [known, of] = [new Map(), config.current];
    const folder = known.get(agentId) ?? agentWorkspace(of, paths, agentId);
    known.set(agentId, folder);
    return folder;
  };
}

interface Deps {
  readonly config: Config;
  readonly clock: Clock;
  readonly requestRestart: (request: RestartRequest) => RestartReport;
  readonly leaveSentinel: (payload: SentinelPayload) => Promise<string | null>;
}

/** The tool with which an owner's agent looks after the gateway it runs in. */
async function gatewayToolFor(deps: Deps, handlers: () => Handlers | undefined): Promise<Tool> {
  const { gatewayTool } = await loadGatewayTool();
  const call = ownCaller(handlers, "gateway-tool");
  return gatewayTool({
    mayRestart: () => deps.config.current.commands?.restart !== false,
    actions: {
      async restart({ sessionKey, note, delayMs, reason }) {
        await deps.leaveSentinel({ kind: "restart", status: "ok", ts: deps.clock.now(), sessionKey, message: note ?? null, doctorHint: null });
        return deps.requestRestart({ reason, delayMs });
      },
      configGet: () => call("config.get", {}),
      configSchema: () => call("config.schema", {}),
      configApply: (change) => call("config.apply", change as never),
      configPatch: (change) => call("config.patch", change as never),
    },
  });
}

export interface AnsweringDeps extends OpenGatewayDeps {
  readonly models: AppModels;
  readonly plugins: Plugins;
  readonly defaultAgentId: () => string;
  /** False while no client is connected that decides about questions. */
  readonly askable: () => boolean;
  /** The gateway's methods, once they are there. */
  readonly handlers: () => Handlers | undefined;
  /** Makes the commands in a text run as they are printed. */
  readonly runnable: (text: string) => string;
}

/** Who answers messages, and what belongs to it. */
export interface Answering {
  readonly agent: AppAgent;
  readonly talk: ConversationRoom;
  readonly sessions: EndedSessions;
  /** Told of questions to the operator. */
  readonly notices: Set<(notice: ApprovalNotice) => void>;
  readonly workspaceOf: (agentId: string) => string;
  readonly care: MemoryCare;
  readonly commands: RunningCommands;
  readonly code: TurnCode;
  /** Ends commands that a killed gateway left running, and notifies their sessions. */
  endLeftCommands(): Promise<void>;
  /** Tells of commands that processes before this one left behind. Gives how many. */
  takeUpCommands(): Promise<number>;
}

type Turning = Pick<Agents, "turn" | "after">;

/** Keeps in mind which sessions had a turn, and that there was one. */
function noting(agents: Turning, sessions: Pick<EndedSessions, "used">, care: Pick<MemoryCare, "touched">): Turning {
  return {
    after: agents.after,
    async turn(input, ports) {
      const end = await agents.turn(input, ports);
      care.touched();
      if (end && end !== "given-up") sessions.used({ key: input.sessionKey, agentId: input.agentId, sessionId: end.sessionId });
      return end;
    },
  };
}

/** Tools that drive rooms above the agent's: the gateway itself, and messages where there is a channel to send them over. */
function gatewayTools(deps: AnsweringDeps, talk: () => ConversationRoom): () => Promise<readonly Tool[]> {
  const gateway = lazy(() => gatewayToolFor(deps, deps.handlers));
  const message = lazy(async () => (await import("../conversation/message-tool.ts")).messageToolFor(deps, talk()));
  return async () => (talk().channels.list().length === 0 ? [await gateway()] : Promise.all([gateway(), message()]));
}

/** Messages between sessions; loaded with the first. */
function postOffice(deps: AnsweringDeps, talk: () => ConversationRoom): () => Promise<SessionPost> {
  const announce = (address: ReplyAddress, text: string, sessionKey: string): Promise<unknown> =>
    talk().delivery.send(address, [{ text }], { kind: "send", sessionKey }, 0);
  return lazy(async () => {
    const { sessionPost } = await import("../conversation/session-post.ts");
    return sessionPost({ ...deps, log: deps.log.subsystem("conversation"), conversation: () => talk().conversation, announce });
  });
}

/** How sessions go on after a command that was asked about; loaded with the first. */
function followUps(deps: AnsweringDeps, talk: () => ConversationRoom): () => Promise<FollowUps> {
  return lazy(async () => {
    const { createFollowUps } = await import("./exec-follow-up.ts");
    return createFollowUps({ ...deps, log: deps.log.subsystem("conversation"), conversation: () => talk().conversation });
  });
}

/** Questions to the operator go to chats as well, where the configuration says so; loaded with the first. */
function chatQuestions(deps: AnsweringDeps, talk: () => ConversationRoom): (notice: ApprovalNotice) => void {
  const log = deps.log.subsystem("conversation");
  const chats = lazy(async () => (await import("./asked-in-chats.ts")).createAskedInChats({ ...deps, log, messages: () => talk().messages() }));
  return (notice) => {
    if (!chats.started() && deps.config.current.approvals?.exec?.enabled !== true) return;
    chats()
      .then((asked) => asked.told(notice))
      .catch((error: unknown) => log.warn(`a question for approval could not be told in a chat: ${messageOf(error)}`, { id: notice.id }));
  };
}

/** Puts the agent behind the conversations. Both do nothing until the first message. */
export function openAnswering(deps: AnsweringDeps, stack: AsyncDisposableStack): Answering {
  const { plugins } = deps;
  const log = deps.log.subsystem("agent");
  const workspaceOf = agentWorkspaces(deps.config, deps.env);
  const notices: Answering["notices"] = new Set([chatQuestions(deps, () => talk)]);
  const ownTools = gatewayTools(deps, () => talk);
  const post = postOffice(deps, () => talk);
  const following = followUps(deps, () => talk);
  const commands = createRunningCommands();
  const agent = stack.use(
    createAppAgent({
      ...deps,
      redact: deps.redactor.text,
      workspaceOf,
      notify(notice) {
        for (const listener of notices) listener(notice);
      },
      isOwner: (sender) => ownersBy(() => deps.config.current, talk.channels)(sender),
      channelOf: (id) => talk.channels.get(id),
      gatewayTools: ownTools,
      sessionPost: { send: async (message) => (await post()).send(message) },
      asked: {
        origin: (context) => originOf(context, talk.conversation.addressOf(context.runId)),
        goOn: async (asked, outcome) => (await following()).goOn(asked, outcome),
        show: commands.show,
      },
      announce: (sessionKey, text) =>
        void queueSystemEvent(deps, { sessionKey, text }).catch((error: unknown) => log.warn("a session could not be told", { error })),
    }),
  );
  const sessions = createEndedSessions({ store: deps.store, hooks: plugins.hooks, stateDir: deps.config.paths.state });
  const care: MemoryCare = stack.use(createMemoryCare({ clock: deps.clock, isBusy: () => talk.conversation.running() > 0 }));
  const code = createTurnCode({ ...deps, log, loaded: care.tidy });
  const agents = async (): Promise<Turning> => {
    await code.ready();
    return noting(await agent.agents(), sessions, care);
  };
  const talk: ConversationRoom = openConversation({ ...deps, workspaceOf, agents, agent: agent.open }, stack);
  const startedAt = deps.clock.now();
  const takeUp = (): Promise<number> => takeUpCommands(deps.store, startedAt, following, agent.open);
  return {
    agent,
    talk,
    sessions,
    notices,
    workspaceOf,
    care,
    commands,
    code,
    endLeftCommands: () => endLeftCommands({ ...deps, log }),
    takeUpCommands: takeUp,
  };
}
