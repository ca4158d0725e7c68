import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Random } from "../../base/random.ts";
import type { Redactor } from "../../base/redaction.ts";
import type {
  ChannelAccountSnapshot,
  ChannelCapabilities,
  ChannelDock,
  ChannelInbound,
  ChannelLoginWithQrStartResult,
  ChannelLoginWithQrWaitResult,
  ChannelPlugin,
  HostConfig,
  MethodResult,
} from "../../protocol/index.ts";
import type { ChannelActivity } from "../inbound/index.ts";

/** The channels that are there. A plugin that was loaded anew is another object. */
export interface ChannelTable {
  get(id: string): ChannelPlugin | undefined;
  list(): readonly ChannelPlugin[];
  /** The light part of a channel, where its plugin gave one. */
  dock?(id: string): ChannelDock | undefined;
}

export interface ChannelsDeps {
  /** The configuration in use. Plugins get copies. */
  readonly config: () => HostConfig;
  readonly table: ChannelTable;
  /** Where what happens in an account's chats goes. */
  readonly inbound: (channel: string, accountId: string) => ChannelInbound;
  readonly clock: Clock;
  readonly random: Pick<Random, "float">;
  readonly log: Logger;
  /** Knows the secrets of the configuration: what channels say of themselves may hold some. Without it those of known shapes are masked. */
  readonly redactor?: Pick<Redactor, "text"> | undefined;
  /** When accounts got and sent something. Delivery notes what it sent in the same one. */
  readonly activity?: ChannelActivity | undefined;
  /** What is wrong with a channel's section of the configuration, by dotted path. Its accounts run with it as they can. */
  readonly misconfigured?: ((channel: string) => readonly Misconfiguration[]) | undefined;
  /** Told when an account's health becomes another, except by time alone. */
  readonly onChange?: ((account: AccountHealth) => void) | undefined;
}

/** Something in a channel's section that its plugin does not understand. */
export interface Misconfiguration {
  readonly path: string;
  readonly message: string;
  /** What to do. */
  readonly fix?: string;
}

/**
 * `ok`: connected, and heard of where the channel says how often that is. `starting`: not connected yet. `degraded`: not connected, and being
 * brought up again. `down`: nothing more happens by itself.
 */
export type AccountState = "ok" | "starting" | "degraded" | "down";

export interface AccountHealth {
  readonly channel: string;
  readonly accountId: string;
  readonly state: AccountState;
  /** One sentence for people; empty when there is nothing to say. */
  readonly why: string;
}

export interface ChannelAccount {
  readonly channel: string;
  readonly snapshot: ChannelAccountSnapshot;
}

/** Whether an account runs, after somebody started or stopped it. */
export type AccountRun = MethodResult<"channels.start">;
export type ChannelsStatus = MethodResult<"channels.status">;
export type ChannelLogout = MethodResult<"channels.logout">;

export interface QrLogin {
  /** Without it the channel that has this kind of login. */
  readonly channel?: string | undefined;
  readonly accountId?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

/** The accounts of all channels: what runs, how it is, and making it start and stop. */
export interface Channels extends AsyncDisposable {
  /** Starts every account that is enabled and configured. Does not wait for connections and never rejects for an account's sake. */
  start(): Promise<void>;
  /**
   * Starts an account that does not run; `restart` also one that does. Rejects with `CONFLICT` when it is turned off or not set up, and when its last
   * connection did not end: it starts when that one has.
   */
  startAccount(channel: string, accountId?: string, options?: { readonly restart?: boolean | undefined }): Promise<AccountRun>;
  /**
   * Stops an account by hand: until somebody starts it, or the gateway starts anew, it stays stopped and what is to be sent over it waits. Resolves when
   * it has stopped, or did not within 10 s: then nothing is started in its place until it has.
   */
  stopAccount(channel: string, accountId?: string): Promise<AccountRun>;
  /** One account, or all of a channel. */
  restart(channel: string, accountId?: string): Promise<void>;
  /** Settings changed: what they are about is restarted; accounts that came, went or were switched are started and stopped. */
  reload(changedPaths: readonly string[]): Promise<void>;
  /** Plugins came, went or were loaded anew. */
  pluginsChanged(): Promise<void>;
  status(options?: { readonly probe?: boolean | undefined; readonly timeoutMs?: number | undefined }): Promise<ChannelsStatus>;
  /** What is known of every account that was looked at, without asking anybody. */
  accounts(): readonly ChannelAccount[];
  capabilities(channel: string): ChannelCapabilities | undefined;
  /** Stops the account, then lets its channel forget the login. */
  logout(channel: string, accountId?: string): Promise<ChannelLogout>;
  loginQrStart(login: QrLogin & { readonly force?: boolean | undefined; readonly verbose?: boolean | undefined }): Promise<ChannelLoginWithQrStartResult>;
  /** Starts the account when the login was made. */
  loginQrWait(login: QrLogin): Promise<ChannelLoginWithQrWaitResult>;
  /** Of every account that should run. */
  health(): readonly AccountHealth[];
  /** False while an account is stopped by hand, or its connection is known to be gone and being brought up again: what is to be sent waits for it. */
  canSend(channel: string, accountId: string): boolean;
  /** False while an account has no connection to its platform. */
  isReceiving(channel: string, accountId: string): boolean;
}
