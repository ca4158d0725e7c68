import type { Agents } from "../../agent/index.ts";
import { createMemoryCare, type MemoryCare } from "../../base/memory-care.ts";
import { queueSystemEvent, type Handlers } from "../../gateway/index.ts";
import type { ApprovalNotice, Tool } from "../../tools/index.ts";
import type { AppModels } from "../models.ts";
import type { OpenGatewayDeps } from "../open-gateway.ts";
import type { Plugins } from "../plugins/index.ts";
import { createResponder, type RunResponder } from "../responder/responder.ts";
import { gatewayToolFor } from "./gateway-tool.ts";
import { createAppAgent, type AppAgent } from "./index.ts";
import { createEndedSessions, type EndedSessions } from "./session-endings.ts";
import { agentWorkspaces } from "./workspaces.ts";

export interface AnsweringDeps extends OpenGatewayDeps {
  readonly models: AppModels;
  readonly plugins: Plugins;
  readonly defaultAgentId: () => string;
  /** The gateway's methods, once they are there. */
  readonly handlers: () => Handlers | undefined;
}

/** Who answers messages, and what belongs to it. */
export interface Answering {
  readonly agent: AppAgent;
  readonly responder: RunResponder;
  readonly sessions: EndedSessions;
  /** Told of questions to the operator. */
  readonly notices: Set<(notice: ApprovalNotice) => void>;
  readonly workspaceOf: (agentId: string) => string;
  readonly care: MemoryCare;
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

/** Puts the agent behind the responder. Both do nothing until the first message. */
export function openAnswering(deps: AnsweringDeps, stack: AsyncDisposableStack): Answering {
  const { plugins, defaultAgentId } = deps;
  const log = deps.log.room("agent");
  const workspaceOf = agentWorkspaces(deps.config, deps.env);
  const notices: Answering["notices"] = new Set();
  let gatewayTools: Promise<readonly Tool[]> | undefined;
  const agent = stack.use(
    createAppAgent({
      ...deps,
      redact: deps.redactor.text,
      workspaceOf,
      notify(notice) {
        for (const listener of notices) listener(notice);
      },
      gatewayTools: () => (gatewayTools ??= gatewayToolFor(deps, deps.handlers).then((tool) => [tool])),
      announce: (sessionKey, text) =>
        void queueSystemEvent(deps, { sessionKey, text }).catch((error: unknown) => log.warn("a session could not be told", { error })),
    }),
  );
  const sessions = createEndedSessions({ store: deps.store, hooks: plugins.hooks });
  const care: MemoryCare = stack.use(createMemoryCare({ clock: deps.clock, isBusy: () => responder.running() > 0 }));
  const agents = async (): Promise<Turning> => noting(await agent.agents(), sessions, care);
  const responder: RunResponder = stack.use(createResponder({ ...deps, log, agents, defaultAgentId }));
  return { agent, responder, sessions, notices, workspaceOf, care };
}
