/** How an account of a channel is started, stopped, signed in and out. */
import type { ChannelLogSink, RuntimeEnv } from "../environment.ts";
import type { HostConfig } from "../host-config.ts";
import type { ChannelAccountSnapshot } from "./account.ts";
import type { ChannelInbound } from "./inbound.ts";

export interface ChannelGatewayContext<ResolvedAccount = unknown> {
  cfg: HostConfig;
  accountId: string;
  account: ResolvedAccount;
  runtime: RuntimeEnv;
  /** Fires when the account has to stop. */
  abortSignal: AbortSignal;
  log?: ChannelLogSink | undefined;
  getStatus(): ChannelAccountSnapshot;
  /** Merged into what is known. */
  setStatus(next: ChannelAccountSnapshot): void;
  /** Takes what happens in the account's chats. Older hosts do not have it. */
  inbound?: ChannelInbound | undefined;
}

export interface ChannelLogoutContext<ResolvedAccount = unknown> {
  cfg: HostConfig;
  accountId: string;
  account: ResolvedAccount;
  runtime: RuntimeEnv;
  log?: ChannelLogSink | undefined;
}

export interface ChannelLogoutResult {
  cleared: boolean;
  loggedOut?: boolean | undefined;
  [key: string]: unknown;
}

export interface ChannelLoginWithQrStartResult {
  qrDataUrl?: string | undefined;
  /** To be typed on the phone, where a phone number was given. */
  code?: string | undefined;
  message: string;
}

export interface ChannelLoginWithQrWaitResult {
  connected: boolean;
  message: string;
}

export interface ChannelGatewayAdapter<ResolvedAccount = unknown> {
  /**
   * Runs the account. It settles when the account has stopped; a function or an object with `stop` says that it runs until `abortSignal`
   * fires and is called then.
   */
  startAccount?(ctx: ChannelGatewayContext<ResolvedAccount>): Promise<unknown>;
  stopAccount?(ctx: ChannelGatewayContext<ResolvedAccount>): Promise<void>;
  loginWithQrStart?(params: {
    accountId?: string | undefined;
    force?: boolean | undefined;
    timeoutMs?: number | undefined;
    verbose?: boolean | undefined;
    /** Links by a code that is typed on this number's phone, where the platform has that. */
    phoneNumber?: string | undefined;
  }): Promise<ChannelLoginWithQrStartResult>;
  loginWithQrWait?(params: { accountId?: string | undefined; timeoutMs?: number | undefined }): Promise<ChannelLoginWithQrWaitResult>;
  logoutAccount?(ctx: ChannelLogoutContext<ResolvedAccount>): Promise<ChannelLogoutResult>;
}

export interface ChannelAuthAdapter {
  login?(params: {
    cfg: HostConfig;
    accountId?: string | null | undefined;
    runtime: RuntimeEnv;
    verbose?: boolean | undefined;
    channelInput?: string | null | undefined;
    /** Links by a code that is typed on this number's phone, where the platform has that. */
    phoneNumber?: string | undefined;
  }): Promise<void>;
}

export interface ChannelHeartbeatDeps {
  webAuthExists?: (() => Promise<boolean>) | undefined;
  hasActiveWebListener?: (() => boolean) | undefined;
}

export interface ChannelHeartbeatAdapter {
  checkReady?(params: {
    cfg: HostConfig;
    accountId?: string | null | undefined;
    deps?: ChannelHeartbeatDeps | undefined;
  }): Promise<{ ok: boolean; reason: string }>;
  resolveRecipients?(params: { cfg: HostConfig; opts?: { to?: string | undefined; all?: boolean | undefined } | undefined }): {
    recipients: string[];
    source: string;
  };
}
