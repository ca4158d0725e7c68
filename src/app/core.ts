import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Logger } from "../base/log/logger.ts";
import type { Logging } from "../base/log/logging.ts";
import type { Random } from "../base/random.ts";
import type { Redactor } from "../base/redaction.ts";
import type { LoopMonitor } from "../base/watchdog/loop-monitor.ts";
import type { Config, Env, OpenClawConfig } from "../config/index.ts";
import type { GatewayServer, HealthReport, RestartReport, RestartRequest, SentinelPayload } from "../gateway/index.ts";
import type { Documents } from "../media/index.ts";
import type { FileVersions } from "../memory/index.ts";
import type { Store } from "../store/index.ts";

/** What `createApp` opens before the modules, and what the process gives them. */
export interface Started {
  readonly config: Config;
  readonly store: Store;
  /** Listens already. */
  readonly server: GatewayServer;
  readonly health: () => HealthReport;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly log: Logger;
  readonly redactor: Redactor;
  readonly env: Env;
  readonly version: string;
  /** See `AppOptions`. */
  readonly program?: readonly string[] | undefined;
  readonly cwd: string;
  readonly runSecret: string;
  /** Knows which plugin's code runs. */
  readonly monitor?: LoopMonitor;
  readonly logFile: () => string;
  readonly tapLog: Logging["tap"];
  /** See `LazyModelsDeps`. */
  readonly rawStream?: string | undefined;
  readonly requestRestart: (request: RestartRequest, options?: { readonly urgent?: boolean }) => RestartReport;
  readonly leaveSentinel: (payload: SentinelPayload) => Promise<string | null>;
  /** The gateway can no longer be trusted and has to end. */
  readonly failed: (message: string) => void;
}

/** What every module is built on. */
export interface Core extends Started {
  /** Clients that watch a session see every commit in it. */
  readonly store: Store;
  /** The configuration in use. */
  readonly currentConfig: () => OpenClawConfig;
  readonly defaultAgentId: () => string;
  /** Reads PDFs, office files and texts; loads nothing before the first. */
  readonly documents: Documents;
  /** Folder of an agent's files. */
  readonly workspaceOf: (agentId: string) => string;
  /** Earlier texts of the files that shape agents. */
  readonly fileVersions: FileVersions;
  /** Turns `openclaw …` in a text into a command that the user can run as printed. */
  readonly runnable: (text: string) => string;
}
