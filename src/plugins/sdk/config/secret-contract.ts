/** Where a channel keeps secrets in its section, so that the host can resolve references before the channel sees them. */
import type { ConfigSection, HostConfig } from "../../../protocol/index.ts";
import { channelSection, recordOf } from "../account-ids.ts";
import { isSecretRef, normalizeSecretInputString } from "./secrets.ts";

export const hasOwnProperty = (value: unknown, key: PropertyKey): boolean => typeof value === "object" && value !== null && Object.hasOwn(value, key);
export const normalizeSecretStringValue = (value: unknown): string => normalizeSecretInputString(value) ?? "";
/** The section itself: what is assigned to it is seen by everybody who holds the configuration. */
export const getChannelRecord = (cfg: HostConfig, channel: string): ConfigSection | undefined => channelSection(cfg, channel);

export interface ChannelSurface {
  readonly hasExplicitAccounts: boolean;
  readonly channelEnabled: boolean;
  readonly accounts: readonly { readonly accountId: string; readonly account: ConfigSection; readonly enabled: boolean }[];
}

/** The section with its accounts, and which of them are on. */
export function getChannelSurface(cfg: HostConfig, channelKey: string): { channel: ConfigSection; surface: ChannelSurface } | null {
  const channel = channelSection(cfg, channelKey);
  if (!channel) return null;
  const channelEnabled = channel["enabled"] !== false;
  const listed = Object.entries(recordOf(channel["accounts"]) ?? {}).flatMap(([accountId, value]) => {
    const account = recordOf(value);
    return account ? [{ accountId, account, enabled: channelEnabled && account["enabled"] !== false }] : [];
  });
  const accounts = listed.length > 0 ? listed : [{ accountId: "default", account: channel, enabled: channelEnabled }];
  return { channel, surface: { hasExplicitAccounts: listed.length > 0, channelEnabled, accounts } };
}

export interface SecretTarget {
  readonly id: string;
  readonly pathPattern: string;
  readonly secretShape: "secret_input";
  readonly expectedResolvedValue: "string";
  readonly includeInPlan: true;
}

/** Every place of a section that may hold a secret. */
export function createChannelSecretTargetRegistryEntries(params: {
  readonly channelKey: string;
  readonly channel?: readonly string[] | undefined;
  readonly account?: readonly string[] | undefined;
}): SecretTarget[] {
  const { channelKey, channel = [], account = [] } = params;
  const paths = [...account.map((field) => `channels.${channelKey}.accounts.*.${field}`), ...channel.map((field) => `channels.${channelKey}.${field}`)];
  return paths.map((path) => ({ id: path, pathPattern: path, secretShape: "secret_input", expectedResolvedValue: "string", includeInPlan: true }));
}

interface AssignmentContext {
  readonly assignments?: unknown[] | undefined;
  readonly warnings?: unknown[] | undefined;
}

interface Assignment {
  readonly value: unknown;
  readonly path: string;
  readonly expected?: string | undefined;
  readonly defaults?: unknown;
  readonly context: AssignmentContext;
  readonly active?: boolean | undefined;
  readonly inactiveReason?: string | undefined;
  readonly owner?: unknown;
  apply(value: unknown): void;
}

/** Notes a reference that has to be resolved; one that nobody uses is noted as such. A plain text needs nothing. */
export function collectSecretInputAssignment({ value, path, context, active = true, inactiveReason, apply, expected = "string", owner }: Assignment): void {
  if (!isSecretRef(value)) return;
  if (active) context.assignments?.push({ ref: value, path, expected, apply, ...(owner === undefined ? {} : { owner }) });
  else context.warnings?.push({ code: "SECRETS_REF_IGNORED_INACTIVE_SURFACE", path, message: `${path}: ${inactiveReason ?? "not in use"}` });
}

interface AccountState {
  readonly accountId: string;
  readonly account: ConfigSection;
  readonly enabled: boolean;
}

/** The same for a field that accounts inherit from the section. */
export function collectConditionalChannelFieldAssignments(params: {
  readonly channelKey: string;
  readonly field: string;
  readonly channel: ConfigSection;
  readonly surface: ChannelSurface;
  readonly defaults?: unknown;
  readonly context: AssignmentContext;
  readonly topLevelActiveWithoutAccounts: boolean;
  topLevelInheritedAccountActive(state: AccountState): boolean;
  accountActive(state: AccountState): boolean;
  readonly topInactiveReason?: string | undefined;
  readonly accountInactiveReason?: string | ((state: AccountState) => string) | undefined;
}): void {
  const { channelKey, field, channel, surface, context, accountInactiveReason } = params;
  const inherited = surface.hasExplicitAccounts
    ? surface.accounts.some((state) => params.topLevelInheritedAccountActive(state))
    : params.topLevelActiveWithoutAccounts;
  collectSecretInputAssignment({
    value: channel[field],
    path: `channels.${channelKey}.${field}`,
    context,
    active: surface.channelEnabled && inherited,
    inactiveReason: params.topInactiveReason,
    apply: (value) => void (channel[field] = value),
  });
  if (!surface.hasExplicitAccounts) return;
  for (const state of surface.accounts) {
    if (!Object.hasOwn(state.account, field)) continue;
    collectSecretInputAssignment({
      value: state.account[field],
      path: `channels.${channelKey}.accounts.${state.accountId}.${field}`,
      context,
      active: params.accountActive(state),
      inactiveReason: typeof accountInactiveReason === "function" ? accountInactiveReason(state) : accountInactiveReason,
      apply: (value) => void (state.account[field] = value),
    });
  }
}

/** A contract for fields that are used whenever their account is on. */
export function createSimpleChannelSecretContract(
  params: {
    readonly channelKey: string;
    readonly fields?: readonly string[];
    readonly channel?: readonly string[];
    readonly account?: readonly string[];
  } & Readonly<Record<string, unknown>>,
): {
  secretTargetRegistryEntries: SecretTarget[];
  collectRuntimeConfigAssignments(given: { config: HostConfig; defaults?: unknown; context: AssignmentContext }): void;
} {
  const { channelKey, channel = params.fields ?? [], account = params.fields ?? [] } = params;
  return {
    secretTargetRegistryEntries: createChannelSecretTargetRegistryEntries({ channelKey, channel, account }),
    collectRuntimeConfigAssignments({ config, defaults, context }) {
      const found = getChannelSurface(config, channelKey);
      if (!found) return;
      for (const field of new Set([...channel, ...account]))
        collectConditionalChannelFieldAssignments({
          channelKey,
          field,
          ...found,
          defaults,
          context,
          topLevelActiveWithoutAccounts: true,
          topLevelInheritedAccountActive: (state) => state.enabled && !Object.hasOwn(state.account, field),
          accountActive: (state) => state.enabled,
        });
    },
  };
}

export type ResolvedSecretInput = { status: "available"; value: string } | { status: "configured_unavailable" } | { status: "missing" };

/** A secret's text. A reference that is still one is unavailable; where it is needed now (`strict`) that is an error. */
export function resolveSecretInputString(params: {
  readonly value: unknown;
  readonly path: string;
  readonly mode?: "strict" | "inspect" | undefined;
}): ResolvedSecretInput {
  const text = normalizeSecretInputString(params.value);
  if (text !== undefined) return { status: "available", value: text };
  return isSecretRef(params.value) ? { status: "configured_unavailable" } : { status: "missing" };
}
