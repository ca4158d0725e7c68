import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Logger } from "../base/log/logger.ts";
import type { IsOwner } from "../channels/index.ts";
import type { Config, Env } from "../config/index.ts";
import type { Hooks } from "../hooks/index.ts";
import type { ImageFitter } from "../media/index.ts";
import type { Models } from "../models/index.ts";
import type { ChannelPlugin } from "../protocol/index.ts";
import type { Store } from "../store/index.ts";
import type { Approvals } from "./approvals/approvals.ts";
import type { PolicyFacts } from "./broker/broker.ts";
import { createCoreTools } from "./builtin/core-tools.ts";
import type { SessionPost } from "./builtin/session/sessions-send.ts";
import type { ExecToolDeps } from "./exec/deps.ts";
import type { RememberedCommands } from "./exec/remember/remembered.ts";
import type { ExecRules } from "./exec/rules-file.ts";
import type { FileAccess } from "./file-access/file-access.ts";
import { policyFacts } from "./policy-facts.ts";
import type { Processes } from "./process/processes.ts";
import type { Sandboxes } from "./sandbox/sandboxes.ts";
import type { Tool, ToolContext } from "./tool.ts";

export interface ToolSetDeps {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly env: Env;
  readonly home: string;
  readonly version: string;
  /** Masks secrets in texts. */
  readonly redact: (text: string) => string;
  readonly models: () => Promise<Models>;
  readonly hooks: Pick<Hooks, "has" | "run">;
  readonly fitImages: ImageFitter;
  readonly approvals: Approvals;
  readonly execRules: ExecRules;
  readonly fileAccess: FileAccess;
  readonly remembered: RememberedCommands;
  readonly processes: Processes;
  readonly sandboxes: Sandboxes;
  /** Names of programs that may run without a question where the rules allow it. */
  readonly skillPrograms: (context: Pick<ToolContext, "workspaceDir">) => Promise<readonly string[]>;
  /** Whether a sender is an owner by the configuration as it is now. */
  readonly isOwner: IsOwner;
  /** The plugin of a channel that runs. */
  readonly channelOf?: ((id: string) => ChannelPlugin | undefined) | undefined;
  /** Tools of plugins that run. */
  readonly pluginTools: (context: ToolContext, facts: { readonly sandboxed: boolean }) => readonly Tool[];
  /** Tools that look after the gateway itself. */
  readonly gatewayTools?: (() => Promise<readonly Tool[]>) | undefined;
  /** Messages from one session to another. */
  readonly sessionPost?: SessionPost | undefined;
  /** Queues a text for a session's next turn. */
  readonly announce: (sessionKey: string, text: string) => void;
  /** What happens with commands that wait for approval. */
  readonly asked?: Pick<ExecToolDeps, "origin" | "goOn" | "show"> | undefined;
}

/** Every tool there is, before policy, and what policy has to know. */
export interface ToolSet {
  readonly tools: (context: ToolContext) => Promise<readonly Tool[]>;
  readonly facts: (context: ToolContext) => Promise<PolicyFacts>;
}

export function createToolSet(deps: ToolSetDeps): ToolSet {
  const { sandboxes, gatewayTools, pluginTools } = deps;
  const core = createCoreTools(deps);
  return {
    async tools(context) {
      const sandboxed = sandboxes.isSandboxed(context);
      const withheld = new Set(sandboxes.withheld(context));
      const tools = [...core(context), ...(gatewayTools ? await gatewayTools() : []), ...pluginTools(context, { sandboxed })];
      return withheld.size === 0 ? tools : tools.filter(({ name }) => !withheld.has(name));
    },
    facts: (context) => policyFacts(deps, context),
  };
}
