/** The gateway itself, its schedule, installations, pairing requests. */
import type { HookContextBase, HookEventBase, NoResult } from "./values.ts";

/** The gateway's scheduled jobs. What cannot be done is refused with an error that says why. */
export interface HookCron {
  list(options?: { includeDisabled?: boolean }): Promise<CronJobSnapshot[]>;
  add(job: Record<string, unknown>): Promise<CronJobSnapshot>;
  update(id: string, patch: Record<string, unknown>): Promise<CronJobSnapshot>;
  remove(id: string): Promise<{ ok: boolean; removed: boolean }>;
}

export interface GatewayHookContext extends HookContextBase {
  port?: number;
  config?: unknown;
  workspaceDir?: string;
  getCron?: () => HookCron | undefined;
}

export interface GatewayStartEvent extends HookEventBase {
  port: number;
}
export interface GatewayStopEvent extends HookEventBase {
  reason?: string;
}

export type CronChange = "added" | "updated" | "removed" | "started" | "finished" | "scheduled";
/** A job as it was at that time. */
export interface CronJobSnapshot {
  id?: string;
  name?: string;
  enabled?: boolean;
  state?: { nextRunAtMs?: number; lastRunStatus?: string; lastError?: string; [key: string]: unknown };
  [key: string]: unknown;
}
export interface CronChangedEvent extends HookEventBase {
  reason: CronChange;
  /** The same as `reason`. */
  action: CronChange;
  jobId?: string;
  job?: CronJobSnapshot;
  deliveryStatus?: "not-requested" | "delivered" | "not-delivered" | "unknown";
  status?: string;
  /** Not supplied: `status` says how a run ended. */
  completionStatus?: string;
  nextRunAtMs?: number;
}
export interface CronReconciledEvent extends HookEventBase {
  reason: "startup" | "reload";
  enabled: boolean;
}

/** A finding about what is being installed. */
export interface InstallFinding {
  severity?: "info" | "warn" | "critical";
  message: string;
  ruleId?: string;
  file?: string;
  line?: number;
  [key: string]: unknown;
}
export interface BeforeInstallEvent extends HookEventBase {
  targetType: "skill" | "plugin";
  targetName?: string;
  version?: string;
  /** The folder it was unpacked into; not in use yet. */
  sourcePath: string;
  source?: string;
  origin?: string;
  builtinScan?: { status?: string; findings?: InstallFinding[]; [key: string]: unknown };
  [key: string]: unknown;
}
export interface BeforeInstallResult {
  findings?: InstallFinding[];
  block?: boolean;
  blockReason?: string;
}
export interface InstallHookContext extends HookContextBase {
  origin?: string;
  requestKind?: string;
  targetType?: "skill" | "plugin";
}

export interface ChannelPairingRequestedEvent extends HookEventBase {
  channel: string;
  accountId?: string;
  senderId: string;
  code: string;
  metadata?: Record<string, unknown>;
}
export interface PairingHookContext extends HookContextBase {
  channelId?: string;
  accountId?: string;
}

export interface LifecycleHooks {
  gateway_start: { event: GatewayStartEvent; ctx: GatewayHookContext; result: NoResult };
  gateway_stop: { event: GatewayStopEvent; ctx: GatewayHookContext; result: NoResult };
  cron_changed: { event: CronChangedEvent; ctx: GatewayHookContext; result: NoResult };
  cron_reconciled: { event: CronReconciledEvent; ctx: GatewayHookContext; result: NoResult };
  before_install: { event: BeforeInstallEvent; ctx: InstallHookContext; result: BeforeInstallResult };
  channel_pairing_requested: { event: ChannelPairingRequestedEvent; ctx: PairingHookContext; result: NoResult };
}
