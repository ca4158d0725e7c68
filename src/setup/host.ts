import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Logger } from "../base/log/logger.ts";
import type { Redactor } from "../base/redaction.ts";
import type { InstallHost, SkillPlan } from "../agent/index.ts";
import type { Config, Env, OpenClawConfig } from "../config/index.ts";
import type { loadProfiles, PluginProvider } from "../models/index.ts";
import type { Inventory } from "../plugins/index.ts";
import type { AuthProfileCredential, ChannelPlugin } from "../protocol/index.ts";

type Profiles = ReturnType<Awaited<ReturnType<typeof loadProfiles>>["createAuthProfiles"]>;

/** What became of something, for people. */
export interface Done {
  readonly ok: boolean;
  readonly text: string;
}

/** Makes the gateway a service of this user. */
export interface ServicePort {
  /** Whether it is installed: not at all, as it would be now, or otherwise. In words why this machine cannot have one, if it cannot. */
  look(): Promise<{ readonly state: "absent" | "same" | "other"; readonly unavailable?: string | undefined }>;
  /** `force` writes over a file that says something else. */
  install(options: { readonly force: boolean }): Promise<Done>;
  restart(): Promise<Done>;
}

/** What came of a login. */
export interface LoginResult {
  readonly profiles: readonly { readonly profileId: string; readonly credential: AuthProfileCredential }[];
  /** What a plugin wants in the configuration besides. */
  readonly configPatch?: Readonly<Record<string, unknown>> | undefined;
  readonly defaultModel?: string | undefined;
  readonly notes?: readonly string[] | undefined;
}

/** A login that needs a browser or a second device. */
export interface LoginPort {
  /** Rejects with what is missing, the provider's error, or a timeout. */
  login(provider: string): Promise<LoginResult>;
}

/** Installs programs that skills lack, as the user who sets things up. */
export interface ProgramsPort {
  /** What this machine can install with. */
  host(config: OpenClawConfig): Promise<InstallHost>;
  /** Never rejects. */
  install(plan: SkillPlan, signal: AbortSignal, onProgress: (text: string) => void): Promise<Done>;
}

/** Where the setup works: a command's process, or a running gateway. */
export interface SetupHost {
  readonly config: Pick<Config, "current" | "edit" | "env" | "paths" | "reload" | "snapshot">;
  readonly env: Env;
  readonly cwd: string;
  readonly osHome: string;
  readonly version: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly redactor: Pick<Redactor, "register" | "text">;
  /** Aborts waiting for other programs and servers. */
  readonly signal: AbortSignal;
  /** Credentials that serve every agent. */
  auth(): Promise<Pick<Profiles, "add" | "candidates" | "credential" | "list" | "storePath">>;
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
  /** This is that gateway: it listens already, so its address need not be written. */
  readonly insideGateway?: boolean;
  readonly service?: ServicePort | undefined;
  readonly logins?: LoginPort | undefined;
  readonly programs?: ProgramsPort | undefined;
  /** Whether the gateway answers now, in words; undefined when it does not. */
  health?(): Promise<string | undefined>;
}
