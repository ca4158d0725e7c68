/** Parts of a channel's `setupWizard`, and texts for it. */
import type { HostConfig, WizardPrompter } from "../../../protocol/index.ts";
import { hasConfiguredSecretInput } from "./secrets.ts";

const TEXTS: Readonly<Record<string, string>> = {
  "common.required": "Required",
  "wizard.channels.statusConfigured": "configured",
  "wizard.channels.statusNotConfigured": "not configured",
  "wizard.channels.statusNeedsSetup": "needs setup",
  "wizard.channels.statusNeedsToken": "needs a token",
  "wizard.channels.statusNeedsPrivateKey": "needs a private key",
  "wizard.channels.statusRecommendedConfigured": "recommended · configured",
  "wizard.channels.statusRecommendedNewcomerFriendly": "recommended · easy to start with",
};

/** `relayUrlsPrompt` → `Relay urls prompt`. */
function readable(key: string): string {
  const words = (key.split(".").at(-1) ?? key).replaceAll(/([a-z\d])([A-Z])/g, "$1 $2").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Texts by key. An unknown key is made readable; values are appended in parentheses. */
export function createSetupTranslator(): (key: string, values?: Readonly<Record<string, unknown>>) => string {
  return (key, values) => {
    const text = TEXTS[key] ?? readable(key);
    const rest = Object.values(values ?? {}).map(String);
    return rest.length > 0 ? `${text} (${rest.join(", ")})` : text;
  };
}

type Place = { readonly cfg: HostConfig; readonly accountId?: string | undefined };

export interface ChannelSetupStatus {
  readonly configuredLabel: string;
  readonly unconfiguredLabel: string;
  readonly configuredHint?: string | undefined;
  readonly unconfiguredHint?: string | undefined;
  readonly configuredScore?: number | undefined;
  readonly unconfiguredScore?: number | undefined;
  resolveConfigured(place: Place): boolean | Promise<boolean>;
  resolveStatusLines?: ((place: Place & { readonly configured: boolean }) => string[] | Promise<string[]>) | undefined;
}

/** A status with one line about the channel, and more where there is more to say. */
export function createStandardChannelSetupStatus(
  params: Omit<ChannelSetupStatus, "resolveStatusLines"> & {
    readonly channelLabel: string;
    readonly includeStatusLine?: boolean | undefined;
    resolveExtraStatusLines?(place: Place & { readonly configured: boolean }): string[] | Promise<string[]>;
  },
): ChannelSetupStatus {
  const { channelLabel, includeStatusLine, resolveExtraStatusLines, ...status } = params;
  if (!includeStatusLine && !resolveExtraStatusLines) return status;
  return {
    ...status,
    async resolveStatusLines(place) {
      const own = includeStatusLine ? [`${channelLabel}: ${place.configured ? status.configuredLabel : status.unconfiguredLabel}`] : [];
      return [...own, ...((await resolveExtraStatusLines?.(place)) ?? [])];
    },
  };
}

type Loose = Readonly<Record<string, unknown>>;
type Step = (params: Loose) => unknown;

/** A wizard that stands for one in another file: its status is known at once, its steps load the file. */
export function createDelegatedSetupWizardProxy(
  params: Loose & {
    readonly channel: string;
    loadWizard(): Promise<Loose>;
    readonly status: Loose;
    readonly delegatePrepare?: boolean | undefined;
    readonly delegateFinalize?: boolean | undefined;
  },
): Record<string, unknown> {
  const { loadWizard, delegatePrepare, delegateFinalize, status, credentials = [], ...rest } = params;
  const step =
    (name: string): Step =>
    async (given) =>
      (((await loadWizard())[name] as Step | undefined) ?? (() => undefined))(given);
  const loaded =
    (name: string): Step =>
    async (given) =>
      (((await loadWizard())["status"] as Loose | undefined)?.[name] as Step | undefined)?.(given);
  return {
    ...rest,
    status: { resolveConfigured: loaded("resolveConfigured"), resolveStatusLines: loaded("resolveStatusLines"), ...status },
    credentials,
    ...(delegatePrepare ? { prepare: step("prepare") } : {}),
    ...(delegateFinalize ? { finalize: step("finalize") } : {}),
    loadWizard,
  };
}

/** Which fields a channel's setup takes, and what writes them. Older adapters are given by another name. */
export function defineChannelSetupContract<A>(contract: { readonly fields: Loose; readonly adapter?: A; readonly legacyAdapter?: A }): {
  readonly fields: Loose;
  readonly adapter: A | undefined;
} {
  const { adapter, legacyAdapter, ...rest } = contract;
  return { ...rest, adapter: adapter ?? legacyAdapter };
}

interface TokenCredential<A> {
  readonly inputKey: string;
  readonly configKey?: string | undefined;
  resolveAccount(place: Place): A;
  accountConfigured(account: A): boolean;
  resolvedValue?(account: A): string | undefined;
  envValue?(place: Place): string | undefined;
  patchAccount(params: Place & { patch: Loose; clearFields?: readonly string[] }): HostConfig;
  readonly useEnv?: { readonly clearFields?: readonly string[] | undefined } | undefined;
  readonly [key: string]: unknown;
}

/** A token that a wizard asks for: what is there, and how it is written. */
export function defineTokenCredential<A extends { readonly config?: Loose | undefined }>(options: TokenCredential<A>): Record<string, unknown> {
  const { resolveAccount, accountConfigured, resolvedValue, envValue, patchAccount, useEnv, configKey = options.inputKey, ...rest } = options;
  return {
    ...rest,
    inspect(place: Place) {
      const account = resolveAccount(place);
      return {
        accountConfigured: accountConfigured(account),
        hasConfiguredValue: hasConfiguredSecretInput(account.config?.[configKey]),
        resolvedValue: resolvedValue?.(account),
        envValue: envValue?.(place),
      };
    },
    applyUseEnv: async (place: Place) => patchAccount({ ...place, patch: {}, clearFields: useEnv?.clearFields ?? [configKey] }),
    applySet: async ({ value, resolvedValue: text, ...place }: Place & { value: unknown; resolvedValue?: string }) =>
      patchAccount({ ...place, patch: { [configKey]: text ?? value } }),
  };
}

interface SecretState {
  readonly accountConfigured: boolean;
  readonly hasConfigToken: boolean;
  readonly canUseEnv: boolean;
}

/** What a wizard can offer: the variable where it is allowed and set, and what stands in the configuration. */
export const buildSingleChannelSecretPromptState = (params: {
  readonly accountConfigured: boolean;
  readonly hasConfigToken: boolean;
  readonly allowEnv: boolean;
  readonly envValue?: string | undefined;
}): SecretState => ({
  accountConfigured: params.accountConfigured,
  hasConfigToken: params.hasConfigToken,
  canUseEnv: params.allowEnv && Boolean(params.envValue?.trim()) && !params.hasConfigToken,
});

interface SecretPrompt extends SecretState {
  readonly prompter: WizardPrompter;
  readonly envPrompt: string;
  readonly keepPrompt: string;
  readonly inputPrompt: string;
}

export type SecretAnswer = { action: "use-env" } | { action: "keep" } | { action: "set"; value: string; resolvedValue: string };

/** Uses the variable, keeps what is there, or asks. */
export async function promptSingleChannelSecretInput({ prompter, envPrompt, keepPrompt, inputPrompt, ...state }: SecretPrompt): Promise<SecretAnswer> {
  if (state.canUseEnv && (await prompter.confirm({ message: envPrompt, initialValue: true }))) return { action: "use-env" };
  if (state.accountConfigured && state.hasConfigToken && (await prompter.confirm({ message: keepPrompt, initialValue: true }))) return { action: "keep" };
  const answer = await prompter.text({ message: inputPrompt, sensitive: true, validate: (value) => (value.trim() ? undefined : "Required") });
  return { action: "set", value: answer.trim(), resolvedValue: answer.trim() };
}

/** The same, with what is then written. */
export async function runSingleChannelSecretStep(
  params: Omit<SecretPrompt, "canUseEnv"> & {
    readonly cfg: HostConfig;
    readonly allowEnv: boolean;
    readonly envValue?: string | undefined;
    onMissingConfigured?(): Promise<void>;
    applyUseEnv?(cfg: HostConfig): Promise<HostConfig> | HostConfig;
    applySet?(cfg: HostConfig, value: string, resolvedValue: string): Promise<HostConfig> | HostConfig;
  },
): Promise<{ cfg: HostConfig; action: SecretAnswer["action"]; resolvedValue?: string | undefined }> {
  if (!params.accountConfigured) await params.onMissingConfigured?.();
  const answer = await promptSingleChannelSecretInput({ ...params, ...buildSingleChannelSecretPromptState(params) });
  if (answer.action === "use-env")
    return { cfg: (await params.applyUseEnv?.(params.cfg)) ?? params.cfg, action: answer.action, resolvedValue: params.envValue?.trim() };
  if (answer.action === "keep") return { cfg: params.cfg, action: answer.action };
  return {
    cfg: (await params.applySet?.(params.cfg, answer.value, answer.resolvedValue)) ?? params.cfg,
    action: answer.action,
    resolvedValue: answer.resolvedValue,
  };
}
