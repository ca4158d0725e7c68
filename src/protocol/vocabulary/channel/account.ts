/** Accounts of a channel: how they are found in the configuration, set up, and what is known about them while they run. */
import type { RuntimeEnv } from "../environment.ts";
import type { HostConfig } from "../host-config.ts";
import type { ChannelId } from "./meta.ts";

export type ChannelAccountState = "linked" | "not linked" | "configured" | "not configured" | "enabled" | "disabled";

/** Times are milliseconds since the epoch. */
/** How receiving or sending is. */
export interface ChannelDirection {
  /** `conflict`: another program uses the account. `waiting`: it works as soon as the connection is there. */
  state: "ok" | "starting" | "waiting" | "conflict" | "error" | "stopped";
  /** What is wrong. */
  text?: string | undefined;
  /** What to do about it. */
  fix?: string | undefined;
  since?: number | undefined;
}

export interface ChannelAccountSnapshot {
  accountId: string;
  name?: string | undefined;
  enabled?: boolean | undefined;
  configured?: boolean | undefined;
  linked?: boolean | undefined;
  running?: boolean | undefined;
  /** Stopped by an operator while the gateway runs; it starts again on request, or with the gateway. */
  stoppedByHand?: boolean | undefined;
  connected?: boolean | undefined;
  /** Why it is not connected, where the channel knows more than that. */
  receiving?: ChannelDirection | undefined;
  reconnectAttempts?: number | undefined;
  lastConnectedAt?: number | null | undefined;
  lastDisconnect?: string | { at: number; status?: number | undefined; error?: string | undefined; loggedOut?: boolean | undefined } | null | undefined;
  lastMessageAt?: number | null | undefined;
  lastEventAt?: number | null | undefined;
  lastError?: string | null | undefined;
  lastStartAt?: number | null | undefined;
  lastStopAt?: number | null | undefined;
  lastInboundAt?: number | null | undefined;
  lastOutboundAt?: number | null | undefined;
  mode?: string | undefined;
  dmPolicy?: string | undefined;
  allowFrom?: string[] | undefined;
  tokenSource?: string | undefined;
  botTokenSource?: string | undefined;
  appTokenSource?: string | undefined;
  credentialSource?: string | undefined;
  secretSource?: string | undefined;
  audienceType?: string | undefined;
  audience?: string | undefined;
  webhookPath?: string | undefined;
  webhookUrl?: string | undefined;
  baseUrl?: string | undefined;
  allowUnmentionedGroups?: boolean | undefined;
  cliPath?: string | null | undefined;
  dbPath?: string | null | undefined;
  port?: number | null | undefined;
  probe?: unknown;
  lastProbeAt?: number | null | undefined;
  audit?: unknown;
  application?: unknown;
  bot?: unknown;
  publicKey?: string | null | undefined;
  profile?: unknown;
  channelAccessToken?: string | undefined;
  channelSecret?: string | undefined;
}

/** What an onboarding flow or `channels add` was given. */
export interface ChannelSetupInput {
  name?: string | undefined;
  token?: string | undefined;
  tokenFile?: string | undefined;
  botToken?: string | undefined;
  appToken?: string | undefined;
  signingSecret?: string | undefined;
  mode?: string | undefined;
  signalNumber?: string | undefined;
  cliPath?: string | undefined;
  dbPath?: string | undefined;
  service?: "imessage" | "sms" | "auto" | undefined;
  region?: string | undefined;
  authDir?: string | undefined;
  httpUrl?: string | undefined;
  httpHost?: string | undefined;
  httpPort?: string | undefined;
  webhookPath?: string | undefined;
  webhookUrl?: string | undefined;
  audienceType?: string | undefined;
  audience?: string | undefined;
  useEnv?: boolean | undefined;
  homeserver?: string | undefined;
  userId?: string | undefined;
  accessToken?: string | undefined;
  password?: string | undefined;
  deviceName?: string | undefined;
  initialSyncLimit?: number | undefined;
  ship?: string | undefined;
  url?: string | undefined;
  code?: string | undefined;
  groupChannels?: string[] | undefined;
  dmAllowlist?: string[] | undefined;
  autoDiscoverChannels?: boolean | undefined;
}

interface OneAccount {
  cfg: HostConfig;
  accountId: string;
}

interface MaybeAccount {
  cfg: HostConfig;
  accountId?: string | null | undefined;
}

export interface ChannelSetupAdapter {
  resolveAccountId?(params: { cfg: HostConfig; accountId?: string | undefined }): string;
  applyAccountName?(params: OneAccount & { name?: string | undefined }): HostConfig;
  applyAccountConfig(params: OneAccount & { input: ChannelSetupInput }): HostConfig;
  /** What is wrong with the input, or `null`. */
  validateInput?(params: OneAccount & { input: ChannelSetupInput }): string | null;
}

export interface ChannelConfigAdapter<ResolvedAccount = unknown> {
  listAccountIds(cfg: HostConfig): string[];
  resolveAccount(cfg: HostConfig, accountId?: string | null): ResolvedAccount;
  defaultAccountId?(cfg: HostConfig): string;
  setAccountEnabled?(params: OneAccount & { enabled: boolean }): HostConfig;
  deleteAccount?(params: OneAccount): HostConfig;
  isEnabled?(account: ResolvedAccount, cfg: HostConfig): boolean;
  disabledReason?(account: ResolvedAccount, cfg: HostConfig): string;
  isConfigured?(account: ResolvedAccount, cfg: HostConfig): boolean | Promise<boolean>;
  unconfiguredReason?(account: ResolvedAccount, cfg: HostConfig): string;
  describeAccount?(account: ResolvedAccount, cfg: HostConfig): ChannelAccountSnapshot;
  resolveAllowFrom?(params: MaybeAccount): string[] | undefined;
  formatAllowFrom?(params: MaybeAccount & { allowFrom: (string | number)[] }): string[];
}

export interface ChannelPairingAdapter {
  /** What an id is called on this platform: "phone number", "user id". */
  idLabel: string;
  normalizeAllowEntry?(entry: string): string;
  notifyApproval?(params: { cfg: HostConfig; id: string; runtime?: RuntimeEnv | undefined }): Promise<void>;
}

export interface ChannelSecurityDmPolicy {
  policy: string;
  allowFrom?: (string | number)[] | null | undefined;
  policyPath?: string | undefined;
  allowFromPath: string;
  approveHint: string;
  normalizeEntry?: ((raw: string) => string) | undefined;
}

export interface ChannelSecurityContext<ResolvedAccount = unknown> extends MaybeAccount {
  account: ResolvedAccount;
}

export interface ChannelSecurityAdapter<ResolvedAccount = unknown> {
  resolveDmPolicy?(ctx: ChannelSecurityContext<ResolvedAccount>): ChannelSecurityDmPolicy | null;
  collectWarnings?(ctx: ChannelSecurityContext<ResolvedAccount>): Promise<string[]> | string[];
}

export interface ChannelStatusIssue {
  channel: ChannelId;
  accountId: string;
  kind: "intent" | "permissions" | "config" | "auth" | "runtime";
  message: string;
  fix?: string | undefined;
}

/** Something about an account that `openclaw doctor` reports. */
export interface ChannelFinding {
  /** Which rule found it: part of the id that is shown. */
  id: string;
  level: "error" | "warn" | "info";
  message: string;
  /** What to do. */
  fix: string;
}

/** What rules about an account may look at. */
export interface ChannelExamination<ResolvedAccount = unknown> {
  account: ResolvedAccount;
  cfg: HostConfig;
  /** A name on the search path, or a path. */
  hasProgram(command: string): Promise<boolean>;
  /** Asks an address; absent unless the doctor was asked to look closely. */
  reach?: ((url: string) => Promise<{ status?: number | undefined; error?: string | undefined }>) | undefined;
}

/** The least that every probe answers. */
export interface BaseProbeResult<ProbeError = string | null> {
  ok: boolean;
  error?: ProbeError | undefined;
}

export interface BaseTokenResolution {
  token: string;
  source: string;
}

export interface ChannelStatusAdapter<ResolvedAccount = unknown, Probe = unknown, Audit = unknown> {
  defaultRuntime?: ChannelAccountSnapshot | undefined;
  /** The platform is heard of at least this often (`lastEventAt`, messages): longer silence means that a connection is dead, whatever it says. */
  staleAfterMs?: number | undefined;
  buildChannelSummary?(params: {
    account: ResolvedAccount;
    cfg: HostConfig;
    defaultAccountId: string;
    snapshot: ChannelAccountSnapshot;
  }): Record<string, unknown> | Promise<Record<string, unknown>>;
  probeAccount?(params: { account: ResolvedAccount; timeoutMs: number; cfg: HostConfig }): Promise<Probe>;
  auditAccount?(params: { account: ResolvedAccount; timeoutMs: number; cfg: HostConfig; probe?: Probe | undefined }): Promise<Audit>;
  buildAccountSnapshot?(params: {
    account: ResolvedAccount;
    cfg: HostConfig;
    runtime?: ChannelAccountSnapshot | undefined;
    probe?: Probe | undefined;
    audit?: Audit | undefined;
  }): ChannelAccountSnapshot | Promise<ChannelAccountSnapshot>;
  logSelfId?(params: { account: ResolvedAccount; cfg: HostConfig; runtime: RuntimeEnv; includeChannelPrefix?: boolean | undefined }): void;
  resolveAccountState?(params: { account: ResolvedAccount; cfg: HostConfig; configured: boolean; enabled: boolean }): ChannelAccountState;
  collectStatusIssues?(accounts: ChannelAccountSnapshot[]): ChannelStatusIssue[];
  /** For `openclaw doctor`: what is wrong with an account, without asking the platform. Ours. */
  examineAccount?(params: ChannelExamination<ResolvedAccount>): Promise<ChannelFinding[]> | ChannelFinding[];
}
