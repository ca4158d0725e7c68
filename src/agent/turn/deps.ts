import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Redactor } from "../../base/redaction.ts";
import type { Config } from "../../config/index.ts";
import type { HookLog, Hooks, InternalHooks } from "../../hooks/index.ts";
import type { ImageFitter } from "../../media/index.ts";
import type { Budgets, Models } from "../../models/index.ts";
import type { OpenSession } from "../../sessions/index.ts";
import type { Store } from "../../store/index.ts";
import type { Broker, Recall } from "../../tools/index.ts";
import type { HostFacts, SandboxFacts } from "../prompt/facts.ts";
import type { Skills } from "../skills/create-skills.ts";
import type { ReadBootstrapFiles } from "../workspace/bootstrap-files.ts";
import type { ModelCalls } from "./ask.ts";
import type { TurnInput, TurnPorts } from "./input.ts";
import type { PreparedTurn } from "./prepare.ts";
import type { TurnRecord } from "./record.ts";
import type { TurnTools } from "./tools.ts";

/** Hooks of plugins. None while no plugins run. */
export type TurnHooks = Pick<Hooks, "has" | "run">;

/** What turns need of the rest. */
export interface TurnDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly config: Pick<Config, "current">;
  /** The session of the turn, as its lane holds it. */
  readonly session: OpenSession;
  readonly hooks: TurnHooks;
  readonly internalHooks?: Pick<InternalHooks, "has" | "trigger">;
  readonly models: () => Promise<Models>;
  readonly budgets: () => Promise<Pick<Budgets, "check">>;
  /** Makes images of messages small enough for models. */
  readonly fitImages?: ImageFitter | undefined;
  /** Masks registered secrets in what is shown and stored. */
  readonly redactor?: Pick<Redactor, "secrets" | "stream"> | undefined;
  /** Tools, when there are any. */
  readonly broker: Broker;
  readonly skills?: Skills;
  /** Folder of the gateway's state: transcripts are named from there. */
  readonly stateDir: string;
  /** Folder of an agent's files, made when it is missing. */
  readonly workspace: (agentId: string) => Promise<string>;
  /** The files of a workspace that a prompt shows. */
  readonly readFiles: ReadBootstrapFiles;
  readonly host: HostFacts;
  /** Which day it is in a zone. */
  readonly today: (zone: string, now: number) => string;
  /** The machine's own zone. */
  readonly timezone: string;
  /** What a session waits for, one line each: processes, approvals. It stays word for word when its conversation is summed up. */
  readonly pendingWork?: (sessionKey: string) => readonly string[];
  /** What memory has to add to a message. */
  readonly recall?: Recall | undefined;
  /** Folder of the documentation on this machine. */
  readonly docsPath?: string;
  readonly sandbox?: (facts: { readonly agentId: string; readonly sessionKey: string }) => SandboxFacts | undefined;
}

/** Everything one turn works with. */
export interface TurnRun {
  readonly deps: TurnDeps;
  readonly input: TurnInput;
  readonly ports: TurnPorts;
  readonly turn: PreparedTurn;
  readonly record: TurnRecord;
  readonly tools: TurnTools;
  readonly calls: ModelCalls;
  /** What plugins decided. */
  readonly hookLog: HookLog;
  readonly startedAt: number;
  /** Fires when the run is stopped, and when the process stops. */
  readonly signal: AbortSignal;
}
