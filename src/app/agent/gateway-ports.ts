import { AppError } from "../../base/errors.ts";
import type { AgentPort, ExecRulesPort, ListedTool, ToolFactsPort, ToolsPort } from "../../gateway/index.ts";
import { agentOfKey } from "../../protocol/index.ts";
import type { ApprovalNotice, Approvals, ToolContext } from "../../tools/index.ts";
import type { Conversation } from "../../conversation/index.ts";
import type { AppAgent, AppAgentDeps } from "./index.ts";

type Open = AppAgent["open"];

/** Questions to the operator, as the gateway's methods see them before anybody was asked. */
export function lazyApprovals(open: Open, listeners: Set<(notice: ApprovalNotice) => void>): Omit<Approvals, "open"> {
  const approvals = async (): Promise<Approvals> => (await open()).approvals;
  return {
    request: async (...args) => (await approvals()).request(...args),
    ask: async (...args) => (await approvals()).ask(...args),
    resolve: async (...args) => (await approvals()).resolve(...args),
    recordOutcome: async (...args) => (await approvals()).recordOutcome(...args),
    list: async (...args) => (await approvals()).list(...args),
    denyFormer: async () => (await approvals()).denyFormer(),
    onNotice(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}

export function lazyExecRules(open: Open): ExecRulesPort {
  return {
    snapshot: async () => (await open()).execRules.snapshot(),
    replace: async (...args) => (await open()).execRules.replace(...args),
    remembered: async (...args) => (await open()).remembered.list(...args),
    forget: async (...args) => (await open()).remembered.forget(...args),
  };
}

export interface PortDeps {
  readonly open: Open;
  readonly deps: Pick<AppAgentDeps, "store" | "ids" | "config" | "clock">;
  readonly defaultAgentId: () => string;
  /** Why no tool may run at all, if so. */
  readonly refusal: () => string | undefined;
}

/** Who calls a tool outside of a turn. */
async function contextFor(
  { open, deps, defaultAgentId }: PortDeps,
  sessionKey: string,
  over: Partial<ToolContext> & Pick<ToolContext, "owner">,
): Promise<ToolContext> {
  const agentId = over.agentId ?? agentOfKey(sessionKey, { defaultAgentId: defaultAgentId() });
  const session = await deps.store.read("sessions.get", { key: sessionKey });
  const workspaceDir = (await open()).workspaceOf(agentId);
  return { channel: "webchat", ...over, agentId, sessionKey, sessionId: session?.entry.sessionId ?? "", runId: deps.ids.uuid(), workspaceDir };
}

export function toolsPort(ports: PortDeps): ToolsPort {
  return {
    async invoke({ tool, args, action, sessionKey, channel, accountId, owner, signal }) {
      const { broker } = await ports.open();
      const over = { owner, unattended: true, ...(channel === undefined ? {} : { channel }), ...(accountId === undefined ? {} : { accountId }) };
      const toolbox = await broker.open(await contextFor(ports, sessionKey, over));
      const refused = ports.refusal();
      if (refused !== undefined) throw new AppError("UNAVAILABLE", refused);
      const schema = toolbox.schemas.find(({ name }) => name === tool);
      if (!schema) return undefined;
      const takesAction = Object.hasOwn((schema.parameters["properties"] as object | undefined) ?? {}, "action");
      const params = action !== undefined && takesAction && args["action"] === undefined ? { ...args, action } : args;
      return toolbox.run({ id: `invoke_${ports.deps.ids.hex(4)}`, name: tool, arguments: params, signal });
    },
  };
}

export function toolFactsPort(ports: PortDeps): ToolFactsPort {
  return {
    async explain({ agentId, sessionKey, tool, owner }) {
      const opened = await ports.open();
      const context = await contextFor(ports, sessionKey, { agentId, owner, ...(await modelOf(ports, agentId)) });
      const [tools, toolbox] = await Promise.all([opened.shelf.tools(context), opened.broker.open(context)]);
      const distinct = opened.explaining.distinctTools(tools, () => {});
      const rows = opened.explaining.explainTools(distinct, toolbox.verdicts);
      return tool === undefined ? rows : opened.explaining.explainNamed(tool, rows, { ...context, config: ports.deps.config.current });
    },
    async file(agentId, path) {
      const { fileAccess, workspaceOf } = await ports.open();
      return fileAccess.explainFile({ agentId, workspaceDir: workspaceOf(agentId) }, path);
    },
    async catalog(agentId) {
      const opened = await ports.open();
      const context = await contextFor(ports, `agent:${agentId}:main`, { agentId, owner: true });
      const tools = opened.explaining.distinctTools(await opened.shelf.tools(context), () => {});
      return tools.map(({ name, label, description, source, ownerOnly, optional, parameters }): ListedTool => {
        const pluginId = source.kind === "core" ? {} : { pluginId: source.id };
        const flags = { ...(ownerOnly === undefined ? {} : { ownerOnly }), ...(optional === undefined ? {} : { optional }) };
        return { name, description, source: source.kind, parameters, ...(label === undefined ? {} : { label }), ...pluginId, ...flags };
      });
    },
  };
}

/** Policies may depend on the model that an agent uses. */
async function modelOf({ open }: PortDeps, agentId: string): Promise<{ readonly provider?: string; readonly modelId?: string }> {
  const { models } = await open();
  try {
    const { entry } = await models.select({ agentId });
    return { provider: entry.provider, modelId: entry.id };
  } catch {
    // A model that cannot be chosen says nothing about tools.
    return {};
  }
}

/** Makes a workspace before anybody talks to its agent. */
async function seed(folder: string, { config, clock, ids }: PortDeps["deps"]): Promise<void> {
  const { seedWorkspace, initRepository } = await import("../../agent/index.ts");
  await seedWorkspace({
    folder,
    skipBootstrap: config.current.agents?.defaults?.skipBootstrap === true,
    now: clock.now,
    unique: () => ids.hex(6),
    initRepository: async (made) => void (await initRepository(made, config.env())),
  });
}

export function agentPort(ports: PortDeps, responder: Pick<Conversation, "exclusively">, workspaceOf: (agentId: string) => string): AgentPort {
  const { open, deps, defaultAgentId } = ports;
  return {
    workspace: workspaceOf,
    seed: (folder) => seed(folder, deps),
    compact({ sessionKey, instructions, signal }) {
      const agentId = agentOfKey(sessionKey, { defaultAgentId: defaultAgentId() });
      return responder.exclusively(sessionKey, async (session) => {
        const { agents } = await open();
        return agents.compact({ agentId, sessionKey, session, signal, ...(instructions === undefined ? {} : { instructions }) });
      });
    },
    skills: {
      status: async (workspace) => (await open()).skills.status(workspace),
      changed: () => void open().then(({ skills }) => skills.changed()),
      managedFolder: `${deps.config.paths.state}/skills`,
      platform: process.platform,
    },
  };
}
