/** Changes that onboarding makes to a channel's section. Each gives a new configuration. */
import type { ConfigSection, DmPolicy, GroupPolicy, HostConfig, WizardPrompter } from "../../../protocol/index.ts";
import { channelSection, DEFAULT_ACCOUNT_ID, normalizeAccountId, recordOf } from "../account-ids.ts";
import { addWildcardAllowFrom } from "../access/allow-lists.ts";
import { applyAccountNameToChannelSection, migrateBaseNameToDefaultAccount, withChannelSection } from "./config-sections.ts";
import { splitSetupEntries } from "./setup.ts";

const without = (section: ConfigSection, keys: readonly string[] = []): ConfigSection =>
  Object.fromEntries(Object.entries(section).filter(([key]) => !keys.includes(key)));

/** Keys of the section itself. */
export function patchTopLevelChannelConfigSection(params: {
  readonly cfg: HostConfig;
  readonly channel: string;
  readonly enabled?: boolean | undefined;
  readonly clearFields?: readonly string[] | undefined;
  readonly patch: ConfigSection;
}): HostConfig {
  const { cfg, channel, enabled, clearFields, patch } = params;
  return withChannelSection(cfg, channel, {
    ...without(channelSection(cfg, channel) ?? {}, clearFields),
    ...(enabled === undefined ? {} : { enabled }),
    ...patch,
  });
}

/** Keys of an account: the default one's stand in the section while no accounts are listed for it. */
export function patchScopedAccountConfig(params: {
  readonly cfg: HostConfig;
  readonly channelKey: string;
  readonly accountId: string;
  readonly patch: ConfigSection;
  /** For an account; by default the same as `patch`. */
  readonly accountPatch?: ConfigSection | undefined;
  readonly ensureChannelEnabled?: boolean | undefined;
  readonly ensureAccountEnabled?: boolean | undefined;
  readonly scopeDefaultToAccounts?: boolean | undefined;
}): HostConfig {
  const { cfg, channelKey, patch, accountPatch = patch, ensureChannelEnabled = true, ensureAccountEnabled = ensureChannelEnabled } = params;
  const accountId = normalizeAccountId(params.accountId);
  const section = channelSection(cfg, channelKey) ?? {};
  const enabled = ensureChannelEnabled ? { enabled: true } : {};
  const accounts = recordOf(section["accounts"]) ?? {};
  const top = accountId === DEFAULT_ACCOUNT_ID && !Object.hasOwn(accounts, DEFAULT_ACCOUNT_ID) && params.scopeDefaultToAccounts !== true;
  if (top) return withChannelSection(cfg, channelKey, { ...section, ...enabled, ...patch });
  const before = recordOf(accounts[accountId]) ?? {};
  const on = ensureAccountEnabled ? { enabled: before["enabled"] ?? true } : {};
  return withChannelSection(cfg, channelKey, { ...section, ...enabled, accounts: { ...accounts, [accountId]: { ...before, ...on, ...accountPatch } } });
}

export const applySetupAccountConfigPatch = (params: {
  readonly cfg: HostConfig;
  readonly channelKey: string;
  readonly accountId: string;
  readonly patch: ConfigSection;
}): HostConfig => patchScopedAccountConfig(params);

/** The allow list of a section. */
const entriesIn = (section: Readonly<Record<string, unknown>> | undefined): (string | number)[] | undefined =>
  Array.isArray(section?.["allowFrom"]) ? section["allowFrom"] : undefined;

type Setter<V> = (cfg: HostConfig, value: V) => HostConfig;

/** `open` without `*` on the list would let nobody in: it is added. */
export function setTopLevelChannelDmPolicyWithAllowFrom(params: {
  readonly cfg: HostConfig;
  readonly channel: string;
  readonly dmPolicy: DmPolicy;
  getAllowFrom?(cfg: HostConfig): readonly (string | number)[] | undefined;
}): HostConfig {
  const { cfg, channel, dmPolicy } = params;
  const current = params.getAllowFrom?.(cfg) ?? entriesIn(channelSection(cfg, channel));
  const patch = { dmPolicy, ...(dmPolicy === "open" ? { allowFrom: addWildcardAllowFrom(current) } : {}) };
  return patchTopLevelChannelConfigSection({ cfg, channel, patch });
}

export const createTopLevelChannelDmPolicySetter =
  (params: { readonly channel: string; getAllowFrom?(cfg: HostConfig): readonly (string | number)[] | undefined }): Setter<DmPolicy> =>
  (cfg, dmPolicy) =>
    setTopLevelChannelDmPolicyWithAllowFrom({ ...params, cfg, dmPolicy });

export const createTopLevelChannelAllowFromSetter =
  (params: { readonly channel: string; readonly enabled?: boolean | undefined }): Setter<string[]> =>
  (cfg, allowFrom) =>
    patchTopLevelChannelConfigSection({ ...params, cfg, patch: { allowFrom } });

export const createTopLevelChannelGroupPolicySetter =
  (params: { readonly channel: string; readonly enabled?: boolean | undefined }): Setter<GroupPolicy> =>
  (cfg, groupPolicy) =>
    patchTopLevelChannelConfigSection({ ...params, cfg, patch: { groupPolicy } });

type PromptAllowFrom = (params: { cfg: HostConfig; prompter: WizardPrompter; accountId?: string | undefined }) => Promise<HostConfig>;

export interface SetupDmPolicy {
  readonly label: string;
  readonly channel: string;
  readonly policyKey: string;
  readonly allowFromKey: string;
  getCurrent(cfg: HostConfig, accountId?: string): DmPolicy;
  setPolicy(cfg: HostConfig, policy: DmPolicy, accountId?: string): HostConfig;
  promptAllowFrom?: PromptAllowFrom | undefined;
}

/** The question who may write, for a channel with one account. */
export const createTopLevelChannelDmPolicy = (
  params: Omit<SetupDmPolicy, "setPolicy" | "getCurrent"> & {
    getCurrent(cfg: HostConfig): DmPolicy;
    getAllowFrom?(cfg: HostConfig): readonly (string | number)[] | undefined;
  },
): SetupDmPolicy => ({ ...params, setPolicy: createTopLevelChannelDmPolicySetter(params) });

/** The same for a channel with several. */
export function createChannelDmPolicy<A extends { readonly config?: ConfigSection | undefined }>(params: {
  readonly label: string;
  readonly channel: string;
  resolveAccount(cfg: HostConfig, accountId?: string): A;
  applyPatch(params: { cfg: HostConfig; account: A; patch: ConfigSection }): HostConfig;
  readonly defaultPolicy?: DmPolicy | undefined;
  promptAllowFrom?: PromptAllowFrom | undefined;
}): SetupDmPolicy {
  const { label, channel, promptAllowFrom, defaultPolicy = "pairing" } = params;
  return {
    label,
    channel,
    policyKey: `channels.${channel}.dmPolicy`,
    allowFromKey: `channels.${channel}.allowFrom`,
    getCurrent: (cfg, accountId) => (params.resolveAccount(cfg, accountId).config?.["dmPolicy"] as DmPolicy | undefined) ?? defaultPolicy,
    setPolicy(cfg, dmPolicy, accountId) {
      const account = params.resolveAccount(cfg, accountId);
      const current = entriesIn(account.config);
      return params.applyPatch({ cfg, account, patch: { dmPolicy, ...(dmPolicy === "open" ? { allowFrom: addWildcardAllowFrom(current) } : {}) } });
    },
    ...(promptAllowFrom ? { promptAllowFrom } : {}),
  };
}

export type ParsedEntry = { readonly value: string } | { readonly error: string };

/** Every entry of a line through a parser; the first error ends it. */
export function parseSetupEntriesWithParser(raw: string, parse: (entry: string) => ParsedEntry): { entries: string[]; error?: string | undefined } {
  const entries: string[] = [];
  for (const entry of splitSetupEntries(raw)) {
    const parsed = entry === "*" ? { value: "*" } : parse(entry);
    if ("error" in parsed) return { entries: [], error: parsed.error };
    entries.push(parsed.value);
  }
  return { entries: [...new Set(entries)] };
}

/** Asks for a list and writes it, with the policy `allowlist`. */
export function createTopLevelChannelParsedAllowFromPrompt(params: {
  readonly channel: string;
  defaultAccountId?: ((cfg: HostConfig) => string) | string | undefined;
  readonly noteTitle?: string | undefined;
  readonly noteLines?: readonly string[] | undefined;
  readonly message: string;
  readonly placeholder?: string | undefined;
  parseEntries(raw: string): { entries: string[]; error?: string | undefined };
  mergeEntries?(params: { existing: (string | number)[]; parsed: string[] }): string[];
}): PromptAllowFrom {
  return async ({ cfg, prompter }) => {
    const existing = entriesIn(channelSection(cfg, params.channel)) ?? [];
    if (params.noteLines?.length) await prompter.note(params.noteLines.join("\n"), params.noteTitle);
    const answer = await prompter.text({
      message: params.message,
      placeholder: params.placeholder,
      initialValue: existing.length > 0 ? existing.map(String).join(", ") : undefined,
      validate: (value) => (value.trim() ? params.parseEntries(value).error : "At least one entry is needed"),
    });
    const parsed = params.parseEntries(answer).entries;
    const allowFrom = params.mergeEntries?.({ existing, parsed }) ?? parsed;
    return patchTopLevelChannelConfigSection({ cfg, channel: params.channel, enabled: true, patch: { dmPolicy: "allowlist", allowFrom } });
  };
}

type Input = Readonly<Record<string, unknown>>;
const given = (input: Input, key: string): boolean => (typeof input[key] === "string" ? input[key].trim() !== "" : input[key] !== undefined);

/** Says what is missing of what was entered; null where nothing is. */
export function createSetupInputPresenceValidator(params: {
  readonly defaultAccountOnlyEnvError?: string | undefined;
  readonly whenUseEnv?: readonly { readonly someOf: readonly string[]; readonly message: string }[] | undefined;
  readonly whenNotUseEnv?: readonly { readonly someOf: readonly string[]; readonly message: string }[] | undefined;
}): (given: { accountId: string; input: Input }) => string | null {
  return ({ accountId, input }) => {
    const useEnv = input["useEnv"] === true;
    if (useEnv && params.defaultAccountOnlyEnvError && normalizeAccountId(accountId) !== DEFAULT_ACCOUNT_ID) return params.defaultAccountOnlyEnvError;
    const rules = (useEnv ? params.whenUseEnv : params.whenNotUseEnv) ?? [];
    return rules.find((rule) => !rule.someOf.some((key) => given(input, key)))?.message ?? null;
  };
}

/** A `setup` part that writes a patch made from what was entered. */
export function createPatchedAccountSetupAdapter(params: {
  readonly channelKey: string;
  readonly alwaysUseAccounts?: boolean | undefined;
  readonly ensureChannelEnabled?: boolean | undefined;
  readonly ensureAccountEnabled?: boolean | undefined;
  validateInput?(params: { cfg: HostConfig; accountId: string; input: Input }): string | null;
  buildPatch(input: Input): ConfigSection;
}): Record<string, unknown> {
  const { channelKey, alwaysUseAccounts, validateInput, buildPatch } = params;
  return {
    resolveAccountId: ({ accountId }: { accountId?: string }) => normalizeAccountId(accountId),
    applyAccountName: ({ cfg, accountId, name }: { cfg: HostConfig; accountId: string; name?: string }) =>
      applyAccountNameToChannelSection({ cfg, channelKey, accountId, name, alwaysUseAccounts }),
    ...(validateInput ? { validateInput } : {}),
    applyAccountConfig({ cfg, accountId, input }: { cfg: HostConfig; accountId: string; input: Input }) {
      const name = typeof input["name"] === "string" ? input["name"] : undefined;
      const named = applyAccountNameToChannelSection({ cfg, channelKey, accountId, name, alwaysUseAccounts });
      const base =
        normalizeAccountId(accountId) === DEFAULT_ACCOUNT_ID ? named : migrateBaseNameToDefaultAccount({ cfg: named, channelKey, alwaysUseAccounts });
      return patchScopedAccountConfig({ ...params, cfg: base, accountId, patch: buildPatch(input), scopeDefaultToAccounts: alwaysUseAccounts });
    },
  };
}
