/** What `api.runtime` stands on. The program around it fills this in. */
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { ChannelActivity } from "../../channels/index.ts";
import type { Config } from "../../config/index.ts";
import type { Store } from "../../store/index.ts";
import type { PendingPath } from "./pending.ts";
import type { SubagentPorts } from "./subagent.ts";
import type { StateDatabases } from "./state/databases.ts";

export interface RuntimePorts {
  readonly version: string;
  readonly config: Pick<Config, "current" | "edit" | "reload" | "snapshot" | "paths" | "env">;
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "uuid">;
  readonly log: Logger;
  /** Whether details are wanted in the log. */
  readonly verbose: () => boolean;
  /** Queues a text for the next turn of a session, on disk. */
  readonly queueSystemEvent: (event: { readonly text: string; readonly sessionKey: string; readonly contextKey?: string | undefined }) => Promise<unknown>;
  /** Has an agent act on what waits for it: all that have heartbeats, unless one or a session is named. */
  readonly wake: (request: { readonly reason: string; readonly agentId?: string; readonly sessionKey?: string }) => void;
  readonly canonicalKey: (written: string, agentId?: string) => string | undefined;
  /** Agent of a session key. */
  readonly agentOf: (sessionKey: string) => string;
  /** One for all plugins of the process: channels share what they report. */
  readonly activity: ChannelActivity;
  readonly databases: StateDatabases;
  /** Runs of agents; absent where there are none, as on the command line. */
  readonly subagents?: ((plugin: RuntimeOwner) => SubagentPorts) | undefined;
  /** Members that a module provides: they replace those that answer `UNAVAILABLE`. */
  readonly parts?: Readonly<Partial<Record<PendingPath, (...args: never[]) => unknown>>> | undefined;
}

/** The plugin that a tree is made for. */
export interface RuntimeOwner {
  readonly id: string;
}
