import type { Agents } from "../agent/index.ts";
import { messageOf } from "../base/errors.ts";
import { lazy } from "../base/lazy.ts";
import { createMemoryCare, type MemoryCare } from "../base/memory-care.ts";
import { loadBrowserTool, loadToolBrowsers, type BrowserTarget, type LazyBrowser, type ToolBrowser } from "../browser/index.ts";
import { ownersBy } from "../channels/index.ts";
import { asksChats } from "../config/index.ts";
import {
  createRunningCommands,
  endLeftCommands,
  EXCHANGES,
  loadApprovalChats,
  loadDelivery,
  loadFollowUps,
  loadSessionPost,
  originOf,
  takeUpCommands,
  type FollowUps,
  type RunningCommands,
} from "../conversation/index.ts";
import { createEndedSessions, loadGatewayTool, ownCaller, type EndedSessions, type Handlers } from "../gateway/index.ts";
import { loadSaving } from "../media/index.ts";
import type { Memory } from "../memory/index.ts";
import { createLazyNodeRunner, loadBrowserNodes, loadNodeTools, type Canvas, type NodePairingPort, type Nodes, type NodesToolDeps } from "../nodes/index.ts";
import type { LazyModels } from "../models/index.ts";
import type { Plugins } from "../plugins/index.ts";
import type { ApprovalNotice, SessionPost, Tool, ToolContext } from "../tools/index.ts";
import type { Voice } from "../voice/index.ts";
import type { Core } from "./core.ts";
import { createLazyAgent, type LazyAgent } from "./lazy-agent.ts";
import type { Automation } from "./open-automation.ts";
import { openConversation, type OpenConversation } from "./open-conversation.ts";
import { createTurnCode, type TurnCode } from "./turn-code.ts";

/** Of a command that the previous process left. */
const NOT_SEEN = { isSeen: () => false };

export interface AnsweringDeps {
  readonly core: Core;
  readonly models: LazyModels;
  readonly memory: Memory;
  readonly voice: () => Promise<Voice>;
  readonly plugins: Plugins;
  /** False while no client is connected that decides about questions. */
  readonly askable: () => boolean;
  /** The gateway's methods, once they are there. */
  readonly handlers: () => Handlers | undefined;
  /** Work that starts by itself, the tools for it, and lines for a session's next turn. */
  readonly automation: Pick<Automation, "tools" | "subagents" | "notify">;
  readonly browser: LazyBrowser;
  readonly nodes: Nodes;
  readonly canvas: Canvas;
  /** Requests to pair nodes. */
  readonly nodePairing: NodePairingPort;
}

/** What answers messages: the conversations with the agent behind them. */
export interface Answering {
  readonly agent: LazyAgent;
  readonly talk: OpenConversation;
  readonly sessions: EndedSessions;
  /** Listeners for questions to the operator. */
  readonly notices: Set<(notice: ApprovalNotice) => void>;
  readonly care: MemoryCare;
  readonly commands: RunningCommands;
  readonly code: TurnCode;
  /** Ends commands that a killed gateway left running, and notifies their sessions. */
  endLeftCommands(): Promise<void>;
  /** Notifies sessions about commands that earlier processes left behind. Returns how many. */
  takeUpCommands(): Promise<number>;
  /** Goes on with messages between sessions that the previous process left. */
  resumeExchanges(): Promise<void>;
}

type Talk = () => OpenConversation;
type Turning = Pick<Agents, "turn" | "after">;

/** Records which sessions had a turn, and that memory may be released after it. */
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

/** The tool with which an owner's agent looks after the gateway it runs in. */
async function gatewayToolFor({ config, clock, leaveSentinel, requestRestart }: Core, handlers: () => Handlers | undefined): Promise<Tool> {
  const { gatewayTool } = await loadGatewayTool();
  const call = ownCaller(handlers, "gateway-tool");
  return gatewayTool({
    mayRestart: () => config.current.commands?.restart !== false,
    actions: {
      async restart({ sessionKey, note, delayMs, reason }) {
        await leaveSentinel({ kind: "restart", status: "ok", ts: clock.now(), sessionKey, message: note ?? null, doctorHint: null });
        return requestRestart({ reason, delayMs });
      },
      configGet: () => call("config.get", {}),
      configSchema: () => call("config.schema", {}),
      configApply: (change) => call("config.apply", change as never),
      configPatch: (change) => call("config.patch", change as never),
    },
  });
}

/** The tool with which the owner's agent uses nodes. */
async function nodesToolFor(
  { core: { config, clock, ids }, nodes, nodePairing }: AnsweringDeps,
  ports: Pick<NodesToolDeps, "runner" | "approvals" | "unasked" | "files">,
): Promise<Tool> {
  const { nodesTool } = await loadNodeTools();
  return nodesTool({ ...ports, nodes, pairing: nodePairing, config, clock, ids });
}

/** The tool with which agents show something. */
async function canvasToolFor({ core: { config, ids }, nodes, canvas }: AnsweringDeps): Promise<Tool> {
  const { canvasTool } = await loadNodeTools();
  return canvasTool({ nodes, canvas, config, ids });
}

type HostTarget = BrowserTarget & { readonly owner: boolean; readonly target?: "host" | "node" | undefined };

/** The browser that a call means: of a node where one is asked for or the configuration chooses one, else of this machine. */
async function browserFor({ core: { config, ids }, browser, nodes }: AnsweringDeps, target: HostTarget): Promise<ToolBrowser> {
  const [{ browserHere, browserOfNode }, { browserNode }] = await Promise.all([loadToolBrowsers(), loadBrowserNodes()]);
  // The relay's tabs are on this machine.
  const node = target.target === undefined && target.profile === "chrome" ? undefined : await browserNode(target, { nodes, config, ids });
  if (node) {
    const evaluateEnabled = (): boolean => config.current.browser?.evaluateEnabled !== false;
    return browserOfNode({ ...node, files: { stateDir: config.paths.state, ids }, evaluateEnabled });
  }
  const { browser: here, operations } = await browser.open();
  return browserHere(here, operations);
}

/** The tool with which an agent drives a browser. */
async function browserToolFor(deps: AnsweringDeps, agent: () => LazyAgent): Promise<Tool> {
  const { ids } = deps.core;
  const { browserTool } = await loadBrowserTool();
  return browserTool({
    async choose({ target, ...named }, context) {
      if (target !== "sandbox") return browserFor(deps, { ...named, target, owner: context.owner });
      const inside = await (await agent().open()).sandboxes.browser(context);
      const [{ browserInSandbox }, { browser, operations }] = await Promise.all([loadToolBrowsers(), deps.browser.open()]);
      return browserInSandbox(browser, operations, inside);
    },
    ids,
    async sandbox(context) {
      const { sandboxes } = await agent().open();
      const { enabled, allowHostControl } = sandboxes.settings(context.agentId).browser;
      return { sandboxed: sandboxes.isSandboxed(context), hostAllowed: allowHostControl, inside: enabled };
    },
  });
}

/** Bytes of a file that a call of the tool carries itself. */
const MAX_ATTACHED = 16 * 1024 * 1024;

/** The tool with which an agent writes over channels. */
async function messageToolFor({ config, ids }: Core, { conversation, messages, mediaRoots, mediaReadable }: OpenConversation): Promise<Tool> {
  const { messageTool } = await loadDelivery();
  return messageTool({
    messages: await messages(),
    config: () => config.current,
    current({ runId }: ToolContext) {
      const chat = conversation.chatOf(runId);
      if (!chat) return undefined;
      const { channel, accountId, to, threadId } = chat.address;
      return { channel, accountId, to, messageId: chat.messageId, ...(threadId === undefined ? {} : { threadId }) };
    },
    mediaRoots,
    readable: ({ agentId }, path) => mediaReadable(agentId, path),
    async saveFile({ data, fileName, mimeType }) {
      const file = { buffer: data, contentType: mimeType, originalFilename: fileName, subdir: "outbound", maxBytes: MAX_ATTACHED };
      return (await (await loadSaving()).saveMedia(file, { stateDir: config.paths.state, ids })).path;
    },
  });
}

/** Messages between sessions; loaded with the first, or when the previous process left an exchange. */
function lazySessionPost({ config, store, clock, log }: Core, talk: Talk): SessionPost & Pick<Answering, "resumeExchanges"> {
  const open = lazy(async () => {
    const { sessionPost } = await loadSessionPost();
    const [conversation, delivery] = [() => talk().conversation, () => talk().delivery];
    return sessionPost({ config, store, clock, log: log.subsystem("conversation"), conversation, delivery });
  });
  return {
    send: async (message) => (await open()).send(message),
    async resumeExchanges() {
      if ((await store.read("idempotency.running", { scope: EXCHANGES })).length > 0) await (await open()).resume();
    },
  };
}

/** How sessions continue after a command that waited for approval; loaded with the first. */
function lazyFollowUps({ config, store, clock, log }: Core, talk: Talk): () => Promise<FollowUps> {
  return lazy(async () => {
    const { createFollowUps } = await loadFollowUps();
    return createFollowUps({ config, store, clock, log: log.subsystem("conversation"), conversation: () => talk().conversation });
  });
}

/** Questions to the operator go to chats as well, where the configuration says so; loaded with the first. */
function approvalChats({ config, store, clock, random, log: root, defaultAgentId }: Core, talk: Talk): (notice: ApprovalNotice) => void {
  const log = root.subsystem("conversation");
  const open = lazy(async () => {
    const { createApprovalChats } = await loadApprovalChats();
    return createApprovalChats({ config, store, clock, random, log, defaultAgentId, messages: () => talk().messages() });
  });
  return (notice) => {
    if (!open.started() && !asksChats(config.current)) return;
    open()
      .then((chats) => chats.notify(notice))
      .catch((error: unknown) => log.warn(`an approval request could not be sent to a chat: ${messageOf(error)}`, { id: notice.id }));
  };
}

/** Puts the agent behind the conversations. Both do nothing until the first message. */
export function openAnswering(deps: AnsweringDeps, stack: AsyncDisposableStack): Answering {
  const { core, models, plugins, askable, handlers } = deps;
  const { config, store, clock } = core;
  const log = core.log.subsystem("agent");
  const notices: Answering["notices"] = new Set([approvalChats(core, () => talk)]);
  const followUps = lazyFollowUps(core, () => talk);
  const commands = createRunningCommands();
  const sessionPost = lazySessionPost(core, () => talk);
  // Tools that drive modules above the agent: the gateway itself, and messages where there is a channel to send them over.
  const gatewayTool = lazy(() => gatewayToolFor(core, handlers));
  const messageTool = lazy(() => messageToolFor(core, talk));
  const runner = createLazyNodeRunner(deps.nodes);
  const nodesTool = lazy(() => {
    const files: NodesToolDeps["files"] = async (call) => (await agent.open()).tools.filesOf("nodes", call);
    const [approvals, unasked] = [async () => (await agent.open()).approvals, async (context: ToolContext) => (await agent.open()).unasked(context)];
    return nodesToolFor(deps, { runner, approvals, unasked, files });
  });
  const canvasTool = lazy(() => canvasToolFor(deps));
  const browserTool = lazy(() => browserToolFor(deps, () => agent));
  const agent: LazyAgent = stack.use(
    createLazyAgent({
      core,
      models,
      memory: deps.memory,
      voice: deps.voice,
      imaging: lazy(async () => (await import("./open-understanding.ts")).openImaging(core, models, plugins)),
      plugins,
      notify(notice) {
        for (const listener of notices) listener(notice);
      },
      askable,
      isOwner: (sender) => ownersBy(() => config.current, talk.channels)(sender),
      channelOf: (id) => talk.channels.get(id),
      gatewayTools: async () => [
        ...(await deps.automation.tools()),
        ...(config.current.browser?.enabled === false ? [] : [await browserTool()]),
        // A gateway that never saw a node spends no words on them.
        ...(deps.nodes.wereSeen ? [await nodesTool()] : []),
        ...(deps.canvas.wereSeen && deps.canvas.off() === undefined ? [await canvasTool()] : []),
        ...(await Promise.all([gatewayTool(), ...(talk.channels.list().length === 0 ? [] : [messageTool()])])),
      ],
      sessionPost,
      nodes: runner,
      nodePrograms: deps.nodes,
      asked: {
        origin: (context) => originOf(context, talk.conversation.addressOf(context.runId)),
        goOn: async (asked, outcome) => (await followUps()).goOn(asked, outcome),
        show: commands.show,
      },
      announce: (sessionKey, text, end) =>
        void deps.automation.notify({ sessionKey, text, end }).catch((error: unknown) => log.warn("a session could not be notified", { error })),
    }),
  );
  const sessions = createEndedSessions({ store, hooks: plugins.hooks, stateDir: config.paths.state });
  const care: MemoryCare = stack.use(createMemoryCare({ clock, isBusy: () => talk.conversation.running() > 0 }));
  const code = createTurnCode({ clock, log, loaded: care.tidy, failed: core.failed });
  const agents = lazy(async (): Promise<Turning> => {
    await code.ready();
    return noting(await agent.agents(), sessions, care);
  });
  const talk: OpenConversation = openConversation(
    { core, models, plugins, handlers, agents, agent: agent.open, voice: deps.voice, subagents: deps.automation.subagents },
    stack,
  );
  const startedAt = clock.now();
  return {
    agent,
    talk,
    sessions,
    notices,
    care,
    commands,
    code,
    endLeftCommands: () =>
      endLeftCommands({ stateDir: config.paths.state, clock, log, announce: (event) => deps.automation.notify({ ...event, end: NOT_SEEN }) }),
    resumeExchanges: sessionPost.resumeExchanges,
    takeUpCommands: () => takeUpCommands(store, startedAt, followUps, agent.open),
  };
}
