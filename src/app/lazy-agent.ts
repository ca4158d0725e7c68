import type { Agents } from "../agent/index.ts";
import { lazy } from "../base/lazy.ts";
import type { IsOwner } from "../channels/index.ts";
import type { Memory } from "../memory/index.ts";
import type { LazyModels } from "../models/index.ts";
import type { Nodes } from "../nodes/index.ts";
import type { Plugins } from "../plugins/index.ts";
import type { ChannelPlugin } from "../protocol/index.ts";
import type { ApprovalNotice, CommandEnd, ExecToolDeps, NodeRunner, SessionPost, Tool } from "../tools/index.ts";
import type { Imaging } from "../imaging/index.ts";
import type { Voice } from "../voice/index.ts";
import type { Core } from "./core.ts";
import type { OpenAgent } from "./open-agent.ts";

export interface AgentDeps {
  readonly core: Pick<
    Core,
    "config" | "currentConfig" | "store" | "clock" | "ids" | "random" | "log" | "env" | "version" | "documents" | "workspaceOf" | "fileVersions"
  > & {
    readonly redactor: Pick<Core["redactor"], "text" | "secrets" | "stream" | "register">;
  };
  readonly models: Pick<LazyModels, "models" | "budgets">;
  readonly memory: Memory;
  readonly voice: () => Promise<Voice>;
  readonly imaging: () => Promise<Imaging>;
  readonly plugins: Pick<Plugins, "hooks" | "agent" | "internalHooks" | "settled" | "missingGuards" | "onChange">;
  /** Notifies clients about a question, and about its answer. */
  readonly notify: (notice: ApprovalNotice) => void;
  /** False while no client is connected that decides about questions. */
  readonly askable?: () => boolean;
  /** Tools that look after the gateway itself. */
  readonly gatewayTools?: () => Promise<readonly Tool[]>;
  /** Messages from one session to another. */
  readonly sessionPost?: SessionPost;
  /** Queues a text for a session's next turn; the end of a command makes one. */
  readonly announce: (sessionKey: string, text: string, end?: CommandEnd) => void;
  /** Whether a sender is an owner by the configuration as it is now. */
  readonly isOwner: IsOwner;
  /** The plugin of a channel that runs. */
  readonly channelOf?: (id: string) => ChannelPlugin | undefined;
  /** Runs commands on nodes. */
  readonly nodes?: NodeRunner;
  /** Which programs of skills they have. */
  readonly nodePrograms?: Pick<Nodes, "programs" | "onChange">;
  /** What happens with commands that wait for approval. */
  readonly asked?: Pick<ExecToolDeps, "origin" | "goOn" | "show">;
}

/** The agent with its tools. The code of both is loaded with the first message. */
export interface LazyAgent extends AsyncDisposable {
  open(): Promise<OpenAgent>;
  agents(): Promise<Pick<Agents, "turn" | "after">>;
}

export function createLazyAgent(deps: AgentDeps): LazyAgent {
  const open = lazy(async () => (await import("./open-agent.ts")).openAgent(deps));
  return {
    open,
    agents: async () => (await open()).agents,
    async [Symbol.asyncDispose]() {
      await (await open.started()?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}
