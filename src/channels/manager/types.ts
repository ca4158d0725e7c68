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
import type { ChannelActivity } from "./health.ts";

/** The available channels. A reloaded plugin is another object. */
export interface ChannelTable {
  get(id: string): ChannelPlugin | undefined;
  list(): readonly ChannelPlugin[];
  /** The lightweight part of a channel, if its plugin has one. */
  dock?(id: string): ChannelDock | undefined;
}

export interface ChannelsDeps {
  /** The current configuration. Plugins get copies. */
  readonly config: () => HostConfig;
  readonly table: ChannelTable;
  /** Receives the events of an account's chats. */
  readonly inbound: (channel: string, accountId: string) => ChannelInbound;
  readonly clock: Clock;
  readonly random: Pick<Random, "float">;
  readonly log: Logger;
  /** Knows the secrets of the configuration: channels' status may contain some. Without it only known shapes are masked. */
  readonly redactor?: Pick<Redactor, "text"> | undefined;
  /** When accounts received and sent something. Delivery records its sends there, too. */
  readonly activity?: ChannelActivity | undefined;
  /** Configuration problems of a channel's section, by dotted path. Its accounts run as far as possible. */
  readonly misconfigured?: ((channel: string) => readonly Misconfiguration[]) | undefined;
  /** Called when an account's health changes, except by time alone. */
  readonly onChange?: ((account: AccountHealth) => void) | undefined;
}

/** A setting in a channel's section that its plugin does not understand. */
export interface Misconfiguration {
  readonly path: string;
  readonly message: string;
  /** What to do. */
  readonly fix?: string;
}

/**
 * `ok`: connected, with recent traffic where the channel declares an interval. `starting`: not connected yet. `degraded`: not connected, and being
 * reconnected. `down`: nothing more happens by itself.
 */
export type AccountState = "ok" | "starting" | "degraded" | "down";

export interface AccountHealth {
  readonly channel: string;
  readonly accountId: string;
  readonly state: AccountState;
  /** One sentence for people; empty when there is nothing to report. */
  readonly why: string;
}

export interface ChannelAccount {
  readonly channel: string;
  readonly snapshot: ChannelAccountSnapshot;
}

/** Whether an account runs, after it was started or stopped by hand. */
export type AccountRun = MethodResult<"channels.start">;
export type ChannelsStatus = MethodResult<"channels.status">;
export type ChannelLogout = MethodResult<"channels.logout">;

export interface QrLogin {
  /** Default: the channel that supports this login. */
  readonly channel?: string | undefined;
  readonly accountId?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

/** The accounts of all channels: their state, and starting and stopping them. */
export interface Channels extends AsyncDisposable {
  /** Starts every enabled and configured account. Does not wait for connections, and a failing account never causes a rejection. */
  start(): Promise<void>;
  /** Whether an account has been started and has not said yet that it is there: its webhook may still be missing. */
  isStarting(): boolean;
  /**
   * Starts a stopped account; with `restart` also a running one. Rejects with `CONFLICT` when it is disabled or not configured, and when its last
   * connection has not ended: it starts when that one has.
   */
  startAccount(channel: string, accountId?: string, options?: { readonly restart?: boolean | undefined }): Promise<AccountRun>;
  /**
   * Stops an account by hand: until it is started by hand, or the gateway restarts, it stays stopped and outgoing messages wait. Resolves when
   * it has stopped, or after 10 s: then nothing is started in its place until it has.
   */
  stopAccount(channel: string, accountId?: string): Promise<AccountRun>;
  /** One account, or all of a channel. */
  restart(channel: string, accountId?: string): Promise<void>;
  /** Settings changed: affected accounts are restarted; added, removed, enabled and disabled ones are started and stopped. */
  reload(changedPaths: readonly string[]): Promise<void>;
  /** Plugins were added, removed or reloaded. */
  pluginsChanged(): Promise<void>;
  status(options?: { readonly probe?: boolean | undefined; readonly timeoutMs?: number | undefined }): Promise<ChannelsStatus>;
  /** Snapshots of all known accounts, without queries. */
  accounts(): readonly ChannelAccount[];
  capabilities(channel: string): ChannelCapabilities | undefined;
  /** Stops the account, then makes its channel remove the login. */
  logout(channel: string, accountId?: string): Promise<ChannelLogout>;
  loginQrStart(
    login: QrLogin & { readonly force?: boolean | undefined; readonly verbose?: boolean | undefined; readonly phoneNumber?: string | undefined },
  ): Promise<ChannelLoginWithQrStartResult>;
  /** Starts the account when the login succeeded. */
  loginQrWait(login: QrLogin): Promise<ChannelLoginWithQrWaitResult>;
  /** Of every account that should run. */
  health(): readonly AccountHealth[];
  /** False while an account is stopped by hand, or its connection is down and being reconnected: outgoing messages wait. */
  canSend(channel: string, accountId: string): boolean;
  /** False while an account has no connection to its platform. */
  isReceiving(channel: string, accountId: string): boolean;
}
