/** The result of `channels.status`. A failing channel is reported, and does not affect the others. */
import { withAccountKeys } from "../../base/account-keys.ts";
import type { Clock } from "../../base/clock.ts";
import { isSecretKey, type Redactor } from "../../base/redaction.ts";
import { messageOf } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import { CHANNELS_LISTED_FIRST } from "../../config/index.ts";
import type { ChannelAccountSnapshot, ChannelCapabilities, ChannelDirection, ChannelPlugin, ChannelStatusIssue, HostConfig } from "../../protocol/index.ts";
import { accountIds, defaultAccount, viewAccount, within, type AccountView } from "./account.ts";
import type { Judgement } from "./health.ts";
import type { ChannelsStatus, Misconfiguration } from "./types.ts";

const LAST = 999;

/** What a channel says about its position, else where the catalogue lists it. */
function positionOf({ id, meta }: ChannelPlugin): number {
  const known = CHANNELS_LISTED_FIRST.indexOf(id);
  return meta?.order ?? (known < 0 ? LAST : known);
}

/** In display order. */
export function inOrder(plugins: readonly ChannelPlugin[]): ChannelPlugin[] {
  return plugins.toSorted((a, b) => positionOf(a) - positionOf(b) || (a.id < b.id ? -1 : 1));
}

const labelOf = ({ id, meta }: ChannelPlugin): string => meta?.label ?? id;

/** Capabilities that an agent can make use of. */
export const AGENT_CAPABILITIES = [
  "polls",
  "reactions",
  "edit",
  "unsend",
  "reply",
  "effects",
  "groupManagement",
  "threads",
  "media",
] as const satisfies (keyof ChannelCapabilities)[];

/** All that a channel can be able to; the last are the gateway's own business. */
export const CAPABILITIES = [...AGENT_CAPABILITIES, "nativeCommands", "blockStreaming"] as const satisfies (keyof ChannelCapabilities)[];

const MAX_DEPTH = 8;

/** A JSON-safe copy: secret fields are left out, secrets in texts are masked. Throws when the value cannot be serialized. */
export function shown(value: object, redactor: Pick<Redactor, "text">): Record<string, unknown> {
  const text = JSON.stringify(value, (_key, part: unknown) => (typeof part === "bigint" ? String(part) : part));
  const copy = bare(JSON.parse(text), redactor, 0);
  return isRecord(copy) ? copy : {};
}

function bare(value: unknown, redactor: Pick<Redactor, "text">, depth: number): unknown {
  if (typeof value === "string") return redactor.text(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return undefined;
  if (Array.isArray(value)) return value.map((item) => bare(item, redactor, depth + 1) ?? null);
  const shownParts = Object.entries(value).filter(([key, part]) => typeof part !== "string" || !isSecretKey(key));
  return Object.fromEntries(shownParts.map(([key, part]) => [key, bare(part, redactor, depth + 1)]));
}

type Row = ChannelsStatus["channelAccounts"][string][number];
type Shown = ChannelAccountSnapshot & {
  readonly health?: Judgement | undefined;
  readonly sending?: ChannelDirection | undefined;
  readonly issues?: readonly ChannelStatusIssue[];
};

export interface StatusOptions {
  readonly probe: boolean;
  readonly timeoutMs: number;
}

export interface StatusDeps {
  /** A copy for plugins. */
  readonly cfg: HostConfig;
  readonly clock: Clock;
  readonly redactor: Pick<Redactor, "text">;
  readonly plugins: readonly ChannelPlugin[];
  /** The snapshot of a running account. */
  readonly runtime: (channel: string, accountId: string) => ChannelAccountSnapshot | undefined;
  readonly health: (channel: string, accountId: string) => Judgement | undefined;
  readonly directions: (channel: string, accountId: string) => Pick<Shown, "receiving" | "sending">;
  readonly misconfigured?: ((channel: string) => readonly Misconfiguration[]) | undefined;
}

const WARNINGS_MS = 2000;

interface Asked {
  readonly probe?: unknown;
  readonly audit?: unknown;
  readonly lastProbeAt?: number;
}

/** Queries the platform about an account. A failure or timeout is a result, too. */
async function ask({ status }: ChannelPlugin, view: AccountView, { cfg, clock }: StatusDeps, { probe, timeoutMs }: StatusOptions): Promise<Asked> {
  const { probeAccount, auditAccount } = status ?? {};
  if (!probe || !probeAccount || !view.enabled || !view.configured) return {};
  const { account } = view;
  const began = clock.monotonic();
  const tried = async (what: string, ms: number, call: () => Promise<unknown>): Promise<unknown> => {
    try {
      return await within(clock, ms, what, call);
    } catch (error) {
      return { ok: false, error: messageOf(error) };
    }
  };
  const found = await tried("the probe", timeoutMs, () => probeAccount.call(status, { account, timeoutMs, cfg }));
  const asked = { probe: found, lastProbeAt: clock.now() };
  const left = timeoutMs - (clock.monotonic() - began);
  if (!auditAccount || left <= 0 || (isRecord(found) && found["ok"] === false)) return asked;
  return { ...asked, audit: await tried("the audit", left, () => auditAccount.call(status, { account, timeoutMs: left, cfg, probe: found })) };
}

/** One account: the plugin's description over the connection's snapshot. */
async function snapshotOf(plugin: ChannelPlugin, accountId: string, deps: StatusDeps, options: StatusOptions): Promise<Shown> {
  const { cfg, clock } = deps;
  const runtime = deps.runtime(plugin.id, accountId);
  const health = deps.health(plugin.id, accountId);
  const { receiving: _said, ...own } = runtime ?? {};
  const directions = deps.directions(plugin.id, accountId);
  const known = { ...own, accountId, ...(health ? { health } : {}), ...directions };
  try {
    const view = await viewAccount(plugin, accountId, cfg, clock);
    const { lastProbeAt, ...asked } = await ask(plugin, view, deps, options);
    const build = plugin.status?.buildAccountSnapshot;
    const built = build
      ? await within(clock, options.timeoutMs, "its snapshot", () => build({ account: view.account, cfg, ...(runtime ? { runtime } : {}), ...asked }))
      : asked;
    const { enabled, configured } = view;
    const dm = plugin.security?.resolveDmPolicy?.({ cfg, accountId, account: view.account });
    return {
      enabled,
      configured,
      ...(dm ? { dmPolicy: dm.policy, ...(dm.allowFrom ? { allowFrom: dm.allowFrom.map(String) } : {}) } : {}),
      ...view.description,
      ...known,
      ...asked,
      ...built,
      ...directions,
      accountId,
      ...(lastProbeAt === undefined ? {} : { lastProbeAt }),
    };
  } catch (error) {
    return { ...known, lastError: messageOf(error) };
  }
}

function issuesOf(plugin: ChannelPlugin, accounts: ChannelAccountSnapshot[]): readonly ChannelStatusIssue[] {
  try {
    return plugin.status?.collectStatusIssues?.(accounts) ?? [];
  } catch {
    return []; // The accounts are shown without them.
  }
}

/** The plugin's warnings, such as settings that allow more senders than expected. */
async function warningsOf(
  plugin: ChannelPlugin,
  { accountId, enabled, configured }: Shown,
  { cfg, clock }: StatusDeps,
): Promise<readonly ChannelStatusIssue[]> {
  const { security, config } = plugin;
  const collect = security?.collectWarnings;
  if (!collect || enabled === false || configured === false) return [];
  try {
    const account = config.resolveAccount(cfg, accountId);
    const warnings = await within(clock, WARNINGS_MS, "its warnings", async () => collect.call(security, { cfg, accountId, account }));
    return (warnings ?? []).map((text) => ({ channel: plugin.id, accountId, kind: "permissions", message: text.replace(/^-\s*/, "") }));
  } catch {
    return []; // The accounts are shown without them.
  }
}

/** Configuration problems of an account: of its channel, and its own. */
function settingIssues(id: string, accountId: string, found: readonly Misconfiguration[]): readonly ChannelStatusIssue[] {
  const accounts = `channels.${id}.accounts.`;
  const concerns = ({ path }: Misconfiguration): boolean =>
    !path.startsWith(accounts) || path === `${accounts}${accountId}` || path.startsWith(`${accounts}${accountId}.`);
  return found.filter(concerns).map(({ path, message, fix }) => ({
    channel: id,
    accountId,
    kind: "config",
    message: `${path}: ${message}`,
    ...(fix === undefined ? {} : { fix }),
  }));
}

/** The summary of a channel: its default account's, as the plugin describes it if it does. */
async function summaryOf(plugin: ChannelPlugin, accounts: readonly ChannelAccountSnapshot[], id: string, deps: StatusDeps): Promise<Record<string, unknown>> {
  const snapshot = accounts.find(({ accountId }) => accountId === id) ?? accounts[0];
  const plain = { configured: accounts.some(({ configured }) => configured === true), ...(snapshot?.lastError ? { lastError: snapshot.lastError } : {}) };
  const build = plugin.status?.buildChannelSummary;
  if (!build || !snapshot) return plain;
  try {
    const { cfg, clock } = deps;
    const account = plugin.config.resolveAccount(cfg, snapshot.accountId);
    return { ...plain, ...(await within(clock, 5000, "its summary", () => build({ account, cfg, defaultAccountId: id, snapshot }))) };
  } catch (error) {
    return { ...plain, lastError: messageOf(error) };
  }
}

function row(channel: string, snapshot: Shown, deps: StatusDeps): Row {
  const redactor = { text: (text: string): string => withAccountKeys(deps.redactor.text(text), { channel, accountId: snapshot.accountId }) };
  try {
    return shown(snapshot, redactor) as Row;
  } catch (error) {
    const { accountId, enabled, configured, running, connected } = snapshot;
    return shown({ accountId, enabled, configured, running, connected, lastError: `its status cannot be shown: ${messageOf(error)}` }, redactor) as Row;
  }
}

interface ChannelPart {
  readonly id: string;
  readonly summary: Record<string, unknown>;
  readonly rows: readonly Row[];
  readonly defaultId: string;
}

async function partOf(plugin: ChannelPlugin, deps: StatusDeps, options: StatusOptions): Promise<ChannelPart> {
  const { id } = plugin;
  try {
    const defaultId = defaultAccount(plugin, deps.cfg);
    const accounts = await Promise.all(accountIds(plugin, deps.cfg).map((accountId) => snapshotOf(plugin, accountId, deps, options)));
    const warnings = await Promise.all(accounts.map((account) => warningsOf(plugin, account, deps)));
    const issues = [...issuesOf(plugin, accounts), ...warnings.flat()];
    const wrong = deps.misconfigured?.(id) ?? [];
    const rows = accounts.map((account) => {
      const own = [...settingIssues(id, account.accountId, wrong), ...issues.filter(({ accountId }) => accountId === account.accountId)];
      return row(id, own.length > 0 ? { ...account, issues: own } : account, deps);
    });
    const marked = wrong.length === 0 ? {} : { misconfigured: wrong.map(({ path, message }) => `${path}: ${message}`).join("; ") };
    const summary = shown({ ...(await summaryOf(plugin, accounts, defaultId, deps)), ...marked }, deps.redactor);
    return { id, summary, rows, defaultId };
  } catch (error) {
    return { id, summary: { configured: false, lastError: deps.redactor.text(messageOf(error)) }, rows: [], defaultId: "default" };
  }
}

export async function readStatus(deps: StatusDeps, options: StatusOptions): Promise<ChannelsStatus> {
  const plugins = inOrder(deps.plugins);
  const parts = await Promise.all(plugins.map((plugin) => partOf(plugin, deps, options)));
  const detailOf = (plugin: ChannelPlugin): string => plugin.meta?.detailLabel ?? labelOf(plugin);
  const imageOf = ({ meta }: ChannelPlugin): { systemImage?: string } => (meta?.systemImage === undefined ? {} : { systemImage: meta.systemImage });
  return {
    ts: deps.clock.now(),
    channelOrder: plugins.map(({ id }) => id),
    channelLabels: Object.fromEntries(plugins.map((plugin) => [plugin.id, labelOf(plugin)])),
    channelDetailLabels: Object.fromEntries(plugins.map((plugin) => [plugin.id, detailOf(plugin)])),
    channelSystemImages: Object.fromEntries(plugins.flatMap(({ id, meta }) => (meta?.systemImage === undefined ? [] : [[id, meta.systemImage]]))),
    channelMeta: plugins.map((plugin) => ({ id: plugin.id, label: labelOf(plugin), detailLabel: detailOf(plugin), ...imageOf(plugin) })),
    channels: Object.fromEntries(parts.map(({ id, summary }) => [id, summary])),
    channelAccounts: Object.fromEntries(parts.map(({ id, rows }) => [id, rows])),
    channelDefaultAccountId: Object.fromEntries(parts.map(({ id, defaultId }) => [id, defaultId])),
  };
}
