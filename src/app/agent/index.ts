import type { Agents } from "../../agent/index.ts";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { lazy } from "../../base/lazy.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Random } from "../../base/random.ts";
import type { Redactor } from "../../base/redaction.ts";
import type { Config, Env } from "../../config/index.ts";
import type { ChannelPlugin } from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import type { ApprovalNotice, ExecToolDeps, SessionPost, Tool } from "../../tools/index.ts";
import type { AppModels } from "../models.ts";
import type { Plugins } from "../plugins/index.ts";
import type { OpenAgent } from "./open.ts";
import type { IsOwner } from "./owners.ts";

export interface AppAgentDeps {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly log: Logger;
  readonly env: Env;
  readonly version: string;
  /** Masks secrets in texts. */
  readonly redact: (text: string) => string;
  readonly redactor: Pick<Redactor, "secrets" | "stream" | "register">;
  readonly models: Pick<AppModels, "models" | "budgets">;
  readonly plugins: Pick<Plugins, "hooks" | "agent" | "settled" | "missingGuards" | "onChange">;
  /** Tells clients that somebody is asked, or was answered. */
  readonly notify: (notice: ApprovalNotice) => void;
  /** False while nobody is connected who decides about questions. */
  readonly askable?: () => boolean;
  /** Folder of an agent's files. */
  readonly workspaceOf: (agentId: string) => string;
  /** Tools that look after the gateway itself. */
  readonly gatewayTools?: () => Promise<readonly Tool[]>;
  /** Messages from one session to another. */
  readonly sessionPost?: SessionPost;
  /** Tells a session's next turn something. */
  readonly announce: (sessionKey: string, text: string) => void;
  /** Whether a sender is an owner by the configuration as it is now. */
  readonly isOwner: IsOwner;
  /** The plugin of a channel that runs. */
  readonly channelOf?: (id: string) => ChannelPlugin | undefined;
  /** What becomes of commands that somebody is asked about. */
  readonly asked?: Pick<ExecToolDeps, "origin" | "goOn" | "show">;
}

/** The agent with its tools. The code of both is loaded when the first message is to be answered. */
export interface AppAgent extends AsyncDisposable {
  open(): Promise<OpenAgent>;
  agents(): Promise<Pick<Agents, "turn" | "after">>;
}

export function createAppAgent(deps: AppAgentDeps): AppAgent {
  const open = lazy(async () => (await import("./open.ts")).openAgent(deps));
  return {
    open,
    agents: async () => (await open()).agents,
    async [Symbol.asyncDispose]() {
      await (await open.started()?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}
