/** A channel's `status` part, and the patches that say how an account does. */
import type { ChannelAccountSnapshot, ChannelStatusIssue } from "../../../protocol/index.ts";
import { isRecord } from "../values/coerce.ts";
import { buildBaseChannelStatusSummary } from "./status.ts";
import { whenAborted } from "../../../base/when-aborted.ts";

type Loose = Record<string, unknown>;
type Runtime = Readonly<Loose> | null | undefined;

interface SnapshotFacts {
  readonly accountId: string;
  readonly name?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly configured?: boolean | undefined;
  readonly extra?: Readonly<Loose> | undefined;
}

const RUNTIME_KEYS = ["running", "lastStartAt", "lastStopAt", "lastError"] as const;

/** What a running account said about itself, with the keys that are always there. */
export function buildRuntimeAccountStatusSnapshot({ runtime, probe }: { runtime?: Runtime; probe?: unknown }): Loose {
  const reported = Object.fromEntries(RUNTIME_KEYS.map((key) => [key, runtime?.[key] ?? (key === "running" ? false : null)]));
  return { ...reported, probe };
}

/** An account with what it said about itself. */
export function buildBaseAccountStatusSnapshot(
  params: { readonly account: SnapshotFacts; readonly runtime?: Runtime; readonly probe?: unknown },
  extra?: Readonly<Loose>,
): ChannelAccountSnapshot {
  const { account, runtime, probe } = params;
  return {
    accountId: account.accountId,
    name: account.name,
    enabled: account.enabled,
    configured: account.configured,
    ...buildRuntimeAccountStatusSnapshot({ runtime, probe }),
    lastInboundAt: runtime?.["lastInboundAt"] ?? null,
    lastOutboundAt: runtime?.["lastOutboundAt"] ?? null,
    ...extra,
  } as ChannelAccountSnapshot;
}

/** As {@link buildBaseAccountStatusSnapshot} from single facts. */
export const buildComputedAccountStatusSnapshot = (params: SnapshotFacts & { readonly runtime?: Runtime; readonly probe?: unknown }): ChannelAccountSnapshot =>
  buildBaseAccountStatusSnapshot({ account: params, runtime: params.runtime, probe: params.probe }, params.extra);

interface SnapshotParams<A> {
  readonly account: A;
  readonly cfg: unknown;
  readonly runtime?: Runtime;
  readonly probe?: unknown;
  readonly audit?: unknown;
}

type StatusParts<A, F> = Readonly<Loose> & { resolveAccountSnapshot(params: SnapshotParams<A>): F };

/** The given parts, with `buildAccountSnapshot` from the facts that `resolveAccountSnapshot` gives. */
export function createComputedAccountStatusAdapter<A>(
  parts: StatusParts<A, SnapshotFacts>,
): Loose & { buildAccountSnapshot(params: SnapshotParams<A>): ChannelAccountSnapshot } {
  const { resolveAccountSnapshot, ...rest } = parts;
  return {
    ...rest,
    buildAccountSnapshot: (params) => buildComputedAccountStatusSnapshot({ ...resolveAccountSnapshot(params), runtime: params.runtime, probe: params.probe }),
  };
}

/** The same where the facts take time. */
export function createAsyncComputedAccountStatusAdapter<A>(
  parts: StatusParts<A, Promise<SnapshotFacts> | SnapshotFacts>,
): Loose & { buildAccountSnapshot(params: SnapshotParams<A>): Promise<ChannelAccountSnapshot> } {
  const { resolveAccountSnapshot, ...rest } = parts;
  return {
    ...rest,
    buildAccountSnapshot: async (params) =>
      buildComputedAccountStatusSnapshot({ ...(await resolveAccountSnapshot(params)), runtime: params.runtime, probe: params.probe }),
  };
}

type Snapshot = Readonly<Loose>;

/** The five base keys and what the channel adds. */
export const buildPassiveChannelStatusSummary = <E extends Loose>(snapshot: Snapshot, extra?: E): ReturnType<typeof buildBaseChannelStatusSummary> & E => ({
  ...buildBaseChannelStatusSummary(snapshot),
  ...(extra as E),
});

/** With the last probe. */
export const buildProbeChannelStatusSummary = (snapshot: Snapshot, extra?: Loose): Loose => ({
  ...buildBaseChannelStatusSummary(snapshot),
  ...extra,
  probe: snapshot["probe"],
  lastProbeAt: snapshot["lastProbeAt"] ?? null,
});

/** With where the token came from and, unless it is not wanted, how messages arrive. */
export const buildTokenChannelStatusSummary = (snapshot: Snapshot, options: { readonly includeMode?: boolean | undefined } = {}): Loose => ({
  ...buildProbeChannelStatusSummary(snapshot),
  tokenSource: snapshot["tokenSource"] ?? "none",
  ...(options.includeMode === false ? {} : { mode: snapshot["mode"] ?? null }),
});

export const buildWebhookChannelStatusSummary = (snapshot: Snapshot, extra?: Loose): Loose => ({
  ...buildBaseChannelStatusSummary(snapshot),
  mode: snapshot["mode"] ?? "webhook",
  ...extra,
});

/** When an account last got and sent something. */
export const buildTrafficStatusSummary = (runtime?: Runtime): { lastInboundAt: unknown; lastOutboundAt: unknown } => ({
  lastInboundAt: runtime?.["lastInboundAt"] ?? null,
  lastOutboundAt: runtime?.["lastOutboundAt"] ?? null,
});

export const coerceStatusIssueAccountId = (value: unknown): string | undefined =>
  typeof value === "string" ? value.trim() || undefined : typeof value === "number" ? String(value) : undefined;

/** The named fields of a snapshot; null where it is none. */
export function readStatusIssueFields<K extends string>(value: unknown, fields: readonly K[]): Record<K, unknown> | null {
  return isRecord(value) ? (Object.fromEntries(fields.map((field) => [field, value[field]])) as Record<K, unknown>) : null;
}

interface IssuePlace {
  readonly channel: string;
  readonly accountId: string;
  readonly channelLabel?: string | undefined;
  readonly configPath?: string | undefined;
}

/** Everybody may write to the account. */
export const standardDmPolicyOpenIssue = ({
  channel,
  accountId,
  channelLabel = channel,
  configPath = `channels.${channel}`,
}: IssuePlace): ChannelStatusIssue => ({
  channel,
  accountId,
  kind: "config",
  message: `${channelLabel} accepts direct messages from everybody (dmPolicy is "open").`,
  fix: `Set ${configPath}.dmPolicy to "pairing" or "allowlist".`,
});

/** The account is on, and has nothing to log in with. */
export const standardNotConfiguredIssue = ({
  channel,
  accountId,
  channelLabel = channel,
  configPath = `channels.${channel}`,
}: IssuePlace): ChannelStatusIssue => ({
  channel,
  accountId,
  kind: "config",
  message: `${channelLabel} is enabled but not configured.`,
  fix: `Set the credentials under ${configPath}, or disable the channel.`,
});

export const channelReadyPatch = (patch: Readonly<Loose> = {}): Loose => ({ running: true, connected: true, lifecycle: "ready", lastError: null, ...patch });
export const channelBlockedPatch = (patch: Readonly<Loose> | string = {}): Loose => ({
  connected: false,
  lifecycle: "blocked",
  ...(typeof patch === "string" ? { lastError: patch } : patch),
});
export const channelStoppedPatch = (patch: Readonly<Loose> = {}): Loose => ({ running: false, connected: false, lifecycle: "stopped", ...patch });

/** `setStatus` of one account. */
export const createAccountStatusSink =
  ({ accountId, setStatus }: { readonly accountId: string; setStatus(patch: Loose): void }) =>
  (patch: Readonly<Loose>): void =>
    setStatus({ ...patch, accountId });

/** Starts something, waits until the account is to stop, and stops it. */
export async function runPassiveAccountLifecycle<H>(params: {
  readonly abortSignal?: AbortSignal | undefined;
  start(): Promise<H> | H;
  stop?: ((handle: H) => Promise<void> | void) | undefined;
  onStop?: (() => Promise<void> | void) | undefined;
}): Promise<void> {
  const handle = await params.start();
  try {
    const { abortSignal: signal } = params;
    if (signal) await whenAborted(signal);
  } finally {
    const stoppable = handle as { stop?: () => Promise<void> | void } | (() => Promise<void> | void) | undefined;
    if (params.stop) await params.stop(handle);
    else if (typeof stoppable === "function") await stoppable();
    else await stoppable?.stop?.();
    await params.onStop?.();
  }
}
