/** A channel's `config` and `security` parts, made from how its accounts are found. */
import type { ChannelSecurityDmPolicy, HostConfig } from "../../../protocol/index.ts";
import { DEFAULT_ACCOUNT_ID, normalizeAccountId, resolveChannelAccountConfigBasePath } from "../account-ids.ts";
import { deleteAccountFromConfigSection, setAccountEnabledInConfigSection } from "./config-sections.ts";
import { formatPairingApproveHint } from "../messages/replies.ts";

export type AllowEntries = readonly (string | number)[] | null | undefined;

/** Entries as texts. */
export const mapAllowFromEntries = (entries: AllowEntries): string[] => (entries ?? []).map(String);
export const formatTrimmedAllowFromEntries = (entries: AllowEntries): string[] =>
  mapAllowFromEntries(entries)
    .map((entry) => entry.trim())
    .filter(Boolean);
export const resolveOptionalConfigString = (value: unknown): string | undefined =>
  typeof value === "string" || typeof value === "number" ? String(value).trim() || undefined : undefined;

/** `({cfg, accountId})` as `(cfg, accountId)`. */
export const adaptScopedAccountAccessor =
  <A>(accessor: (params: { cfg: HostConfig; accountId?: string | null | undefined }) => A) =>
  (cfg: HostConfig, accountId?: string | null): A =>
    accessor({ cfg, accountId });

interface Accounts<A> {
  readonly sectionKey: string;
  listAccountIds?(cfg: HostConfig): string[];
  resolveAccount(cfg: HostConfig, accountId?: string | null): A;
  inspectAccount?(cfg: HostConfig, accountId?: string | null): unknown;
  defaultAccountId?(cfg: HostConfig): string;
  readonly clearBaseFields?: readonly string[] | undefined;
  resolveAllowFrom?(account: A): AllowEntries;
  formatAllowFrom?(allowFrom: (string | number)[]): string[];
  resolveDefaultTo?(account: A): string | number | null | undefined;
}

interface ConfigAdapter<A> {
  listAccountIds(cfg: HostConfig): string[];
  resolveAccount(cfg: HostConfig, accountId?: string | null): A;
  inspectAccount?: ((cfg: HostConfig, accountId?: string | null) => unknown) | undefined;
  defaultAccountId(cfg: HostConfig): string;
  setAccountEnabled(params: { cfg: HostConfig; accountId: string; enabled: boolean }): HostConfig;
  deleteAccount(params: { cfg: HostConfig; accountId: string }): HostConfig;
  resolveAllowFrom(params: { cfg: HostConfig; accountId?: string | null | undefined }): string[];
  formatAllowFrom(params: { cfg?: HostConfig; accountId?: string | null; allowFrom: (string | number)[] }): string[];
  resolveDefaultTo?: ((params: { cfg: HostConfig; accountId?: string | null }) => string | undefined) | undefined;
}

function access<A>(
  options: Accounts<A>,
): Pick<ConfigAdapter<A>, "listAccountIds" | "resolveAccount" | "defaultAccountId" | "resolveAllowFrom" | "formatAllowFrom"> & Partial<ConfigAdapter<A>> {
  const { resolveDefaultTo, inspectAccount } = options;
  return {
    listAccountIds: (cfg) => options.listAccountIds?.(cfg) ?? [DEFAULT_ACCOUNT_ID],
    resolveAccount: (cfg, accountId) => options.resolveAccount(cfg, accountId),
    ...(inspectAccount ? { inspectAccount: (cfg: HostConfig, accountId?: string | null) => inspectAccount.call(options, cfg, accountId) } : {}),
    defaultAccountId: (cfg) => options.defaultAccountId?.(cfg) ?? DEFAULT_ACCOUNT_ID,
    resolveAllowFrom: ({ cfg, accountId }) => mapAllowFromEntries(options.resolveAllowFrom?.(options.resolveAccount(cfg, accountId))),
    formatAllowFrom: ({ allowFrom }) => options.formatAllowFrom?.(allowFrom) ?? formatTrimmedAllowFromEntries(allowFrom),
    ...(resolveDefaultTo
      ? {
          resolveDefaultTo: ({ cfg, accountId }: { cfg: HostConfig; accountId?: string | null }) =>
            resolveOptionalConfigString(resolveDefaultTo(options.resolveAccount(cfg, accountId))),
        }
      : {}),
  };
}

/** For a channel whose accounts stand below `channels.<id>.accounts`, the default one in the section itself. */
export function createScopedChannelConfigAdapter<A>(options: Accounts<A> & { readonly allowTopLevel?: boolean | undefined }): ConfigAdapter<A> {
  const { sectionKey, clearBaseFields, allowTopLevel = true } = options;
  return {
    ...access(options),
    setAccountEnabled: (params) => setAccountEnabledInConfigSection({ ...params, sectionKey, allowTopLevel }),
    deleteAccount: (params) => deleteAccountFromConfigSection({ ...params, sectionKey, clearBaseFields: [...(clearBaseFields ?? [])] }),
  };
}

/** For a channel with one account, in the section itself. */
export function createTopLevelChannelConfigAdapter<A>(
  options: Accounts<A> & { readonly deleteMode?: "remove-section" | "clear-fields" | undefined },
): ConfigAdapter<A> {
  const { sectionKey, clearBaseFields = [], deleteMode = "remove-section" } = options;
  const patched = (cfg: HostConfig, change: (section: Record<string, unknown>) => Record<string, unknown> | undefined): HostConfig => {
    const { [sectionKey]: section, ...others } = cfg.channels ?? {};
    const next = change({ ...section });
    return { ...cfg, channels: next ? { ...others, [sectionKey]: next } : others };
  };
  return {
    ...access(options),
    setAccountEnabled: ({ cfg, enabled }) => patched(cfg, (section) => ({ ...section, enabled })),
    deleteAccount: ({ cfg }) =>
      patched(cfg, (section) =>
        deleteMode === "remove-section" ? undefined : Object.fromEntries(Object.entries(section).filter(([key]) => !clearBaseFields.includes(key))),
      ),
  };
}

interface DmSecurityOptions<A> {
  readonly channelKey: string;
  resolvePolicy(account: A): string | null | undefined;
  resolveAllowFrom(account: A): AllowEntries;
  readonly defaultPolicy?: string | undefined;
  /** The policy's key behind the account's path. */
  readonly policyPathSuffix?: string | undefined;
  readonly allowFromPathSuffix?: string | undefined;
  readonly approveHint?: string | undefined;
  readonly approveChannelId?: string | undefined;
  readonly normalizeEntry?: ((raw: string) => string) | undefined;
  resolveFallbackAccountId?(account: A): string | null | undefined;
}

/** Who may write to an account, and where that is configured. */
export function createScopedDmSecurityResolver<A extends { readonly accountId?: string | null | undefined }>(
  options: DmSecurityOptions<A>,
): (params: { cfg: HostConfig; accountId?: string | null | undefined; account: A }) => ChannelSecurityDmPolicy {
  const { channelKey, policyPathSuffix, allowFromPathSuffix = "", normalizeEntry } = options;
  return ({ cfg, accountId, account }) => {
    const id = normalizeAccountId(accountId ?? options.resolveFallbackAccountId?.(account) ?? account.accountId);
    const base = resolveChannelAccountConfigBasePath({ cfg, channelKey, accountId: id });
    return {
      policy: options.resolvePolicy(account) ?? options.defaultPolicy ?? "pairing",
      allowFrom: [...(options.resolveAllowFrom(account) ?? [])],
      ...(policyPathSuffix === undefined ? {} : { policyPath: `${base}${policyPathSuffix}` }),
      allowFromPath: `${base}${allowFromPathSuffix}`,
      approveHint: options.approveHint ?? formatPairingApproveHint(options.approveChannelId ?? channelKey),
      ...(normalizeEntry ? { normalizeEntry } : {}),
    };
  };
}
