import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Config, Env } from "../config/index.ts";
import type { HealthReport } from "../gateway/index.ts";
import type { ChannelFinding } from "../protocol/index.ts";
import type { Inventory } from "../plugins/index.ts";
import type { LockHolder } from "../base/instance-lock.ts";

/** What is known about models and their credentials, without a secret. */
export interface ModelFacts {
  /** The model that answers, and why it is that one. */
  readonly model: string;
  readonly source: string;
  readonly reason: string;
  /** Why it cannot answer, or not as it was asked for. */
  readonly warnings: readonly string[];
  /** Providers in use without a key. */
  readonly missing: readonly string[];
  readonly resting: readonly {
    readonly profileId: string;
    readonly kind: "cooldown" | "disabled" | "unusable";
    readonly why: string;
    readonly remainingMs?: number;
  }[];
  readonly logins: readonly {
    readonly profileId: string;
    /** It is renewed when it is used. */ readonly renews: boolean;
    readonly status: "ok" | "expiring" | "expired" | "static";
    readonly remainingMs?: number;
  }[];
  hasCredential(provider: string): boolean;
  /** Why a model that a setting names cannot be used; undefined when it can. */
  problemWith(model: string): string | undefined;
}

/** The gateway as a service of this platform. */
export interface ServiceFacts {
  readonly kind: "systemd" | "launchd";
  readonly label: string;
  readonly file: string;
  /** What this version would install. */
  readonly content: string;
  /** The file as it is; undefined when it is not installed. */
  readonly installed: string | undefined;
  /** Folders in which services of the user, or of the machine, are described. */
  readonly folders: { readonly user: readonly string[]; readonly system: readonly string[] };
  /** Writes `content`, keeps a copy of the previous file beside it, and has the platform read it. Returns what is left to do. */
  renew(): Promise<string>;
}

/** How the gateway of this state folder answered. */
export interface GatewayAnswer {
  readonly holder: LockHolder | undefined;
  readonly url?: string | undefined;
  readonly reachable: boolean;
  readonly latencyMs?: number;
  readonly health?: HealthReport;
  readonly error?: string;
}

/** An account of a channel that the running gateway reports as not working. */
export interface AccountTrouble {
  readonly channel: string;
  readonly accountId: string;
  readonly text: string;
  /** What to do, where the channel knows it. */
  readonly fix?: string | undefined;
}

/** What the rules of a channel found about an account in the configuration. */
export interface ChannelRuleFinding extends ChannelFinding {
  readonly channel: string;
  readonly accountId: string;
}

/** A plugin that is on and that the running gateway could not load. */
export interface FailedPlugin {
  readonly id: string;
  readonly error: string;
}

/** Everything the checks look at. Nothing else is touched. */
export interface DoctorDeps {
  readonly config: Config;
  /** Of the process, before files and configuration add to it. */
  readonly env: Env;
  readonly cwd: string;
  readonly osHome: string;
  readonly version: string;
  readonly platform: NodeJS.Platform;
  /** `26.1.0`. */
  readonly nodeVersion: string;
  readonly uid: number | undefined;
  /** The name that the operating system knows the user by. */
  readonly userName: string;
  readonly temporary: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Look at what takes longer, and at the machine's own services. */
  readonly deep: boolean;
  /** A token is wanted even where no configuration is. */
  readonly generateToken: boolean;
  /** Say what could be better in the workspace. */
  readonly suggestions: boolean;
  /** Where the built Control UI is. */
  readonly uiFolder: string;
  inventory(): Promise<Inventory>;
  models(): Promise<ModelFacts>;
  service(): ServiceFacts | undefined;
  probe(timeoutMs: number): Promise<GatewayAnswer>;
  /** The running gateway asks each platform for it. */
  accounts(timeoutMs: number): Promise<readonly AccountTrouble[]>;
  /** Loads the plugins of configured channels and runs their rules. */
  channelRules(): Promise<readonly ChannelRuleFinding[]>;
  /** Asks the running gateway; nothing when none answers. */
  failedPlugins(timeoutMs: number): Promise<readonly FailedPlugin[]>;
}
