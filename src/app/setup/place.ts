import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Redactor } from "../../base/redaction.ts";
import type { Config, Env } from "../../config/index.ts";
import type { loadProfiles, PluginProvider } from "../../models/index.ts";
import type { Inventory } from "../../plugins/index.ts";
import type { AuthProfileCredential, ChannelPlugin } from "../../protocol/index.ts";

type Profiles = ReturnType<Awaited<ReturnType<typeof loadProfiles>>["createAuthProfiles"]>;

/** Makes the gateway a service of this user. */
export interface ServicePort {
  /** Resolves to what became of it, for people. */
  install(): Promise<{ readonly ok: boolean; readonly text: string }>;
}

/** A login that needs a browser or a second device. */
export interface LoginPort {
  /** Undefined when there is no way to log in there from here. */
  login(provider: string): Promise<{ readonly profileId: string; readonly credential: AuthProfileCredential } | undefined>;
}

/** Where the setup works: a command's process, or a running gateway. */
export interface SetupPlace {
  readonly config: Pick<Config, "current" | "edit" | "env" | "paths" | "reload" | "snapshot">;
  readonly env: Env;
  readonly cwd: string;
  readonly osHome: string;
  readonly version: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly redactor: Pick<Redactor, "register" | "text">;
  /** Ends what waits for somebody else. */
  readonly signal: AbortSignal;
  /** Credentials that serve every agent. */
  auth(): Promise<Pick<Profiles, "add" | "candidates" | "list" | "storePath">>;
  /** Folder of these credentials. */
  readonly agentDir: string;
  /** All plugins, known without their code. */
  inventory(): Promise<Inventory>;
  /** Runs `use` with a channel's plugin; with none when its code cannot be loaded here. */
  withChannel<T>(channel: string, use: (plugin: ChannelPlugin | undefined) => Promise<T>): Promise<T>;
  /** Model providers of plugins that run. */
  providers?(): readonly PluginProvider[];
  /** A gateway runs on this state folder. */
  isRunning(): boolean;
  /** This is that gateway: it listens, and need not be told where. */
  readonly insideGateway?: boolean;
  readonly service?: ServicePort | undefined;
  readonly logins?: LoginPort | undefined;
  /** Whether the gateway answers now, in words; undefined when it does not. */
  health?(): Promise<string | undefined>;
}
