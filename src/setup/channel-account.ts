import { isRecord } from "../base/records.ts";
/** An account of a channel in the configuration, as the channel's plugin makes it. */
import { AppError, messageOf } from "../base/errors.ts";
import type { ChannelPlugin, ChannelSetupInput, ChannelSetupStep, HostConfig, RuntimeEnv, WizardPrompter } from "../protocol/index.ts";

export interface MadeAccount {
  readonly next: HostConfig;
  readonly accountId: string;
}

const ACCOUNT_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Gives the id back. */
export function checkedAccount(accountId: string): string {
  if (ACCOUNT_ID.test(accountId)) return accountId;
  throw new AppError("INVALID_INPUT", `an account id can only contain letters, digits, - and _, not ${JSON.stringify(accountId)}`);
}

/** What to write by hand where the plugin has no setup. */
function byHand({ id, configSchema }: ChannelPlugin): AppError {
  const properties = configSchema?.schema["properties"];
  const keys = isRecord(properties) ? Object.keys(properties) : [];
  const known = keys.length > 0 ? `; its settings are ${keys.join(", ")}` : "; see its documentation for the settings";
  return new AppError("UNAVAILABLE", `the ${id} plugin has no setup; configure it with: openclaw config set channels.${id}.<setting> <value>${known}`);
}

/**
 * Accounts that were there stay. Beside named accounts, the keys of a channel's own section are what these share, and no account any more: the one that they
 * were gets an empty section of its own.
 */
function withKeptAccounts({ id, config }: ChannelPlugin, before: HostConfig, after: HostConfig): HostConfig {
  const now = new Set(config.listAccountIds(after));
  const lost = config.listAccountIds(before).filter((account) => !now.has(account));
  const section = after.channels?.[id];
  if (lost.length === 0 || !isRecord(section)) return after;
  const accounts = { ...Object.fromEntries(lost.map((account) => [account, {}])), ...(isRecord(section["accounts"]) ? section["accounts"] : {}) };
  return { ...after, channels: { ...after.channels, [id]: { ...section, accounts } } };
}

/** The configuration with the account in it, from values of flags or fields. */
export function accountFromInput(
  plugin: ChannelPlugin,
  cfg: HostConfig,
  params: { readonly account?: string | undefined; readonly input: ChannelSetupInput },
): MadeAccount {
  const { setup } = plugin;
  if (!setup) throw byHand(plugin);
  const { account, input } = params;
  const accountId = checkedAccount(setup.resolveAccountId?.({ cfg, accountId: account }) ?? account ?? "default");
  const wrong = setup.validateInput?.({ cfg, accountId, input });
  if (wrong) throw new AppError("INVALID_INPUT", `${plugin.id}: ${wrong}`);
  const applied = setup.applyAccountConfig({ cfg, accountId, input });
  const named = input.name === undefined ? applied : (setup.applyAccountName?.({ cfg: applied, accountId, name: input.name }) ?? applied);
  return { next: withKeptAccounts(plugin, cfg, named), accountId };
}

export interface Questions {
  /** What to do at the platform first. */
  readonly steps?: readonly ChannelSetupStep[] | undefined;
  readonly account?: string | undefined;
  readonly prompter: WizardPrompter;
  readonly runtime: RuntimeEnv;
  /** The people who may write are to be named. */
  readonly forceAllowFrom?: boolean;
}

/** The same, with the plugin asking for what it needs. */
export async function accountFromQuestions(
  plugin: ChannelPlugin,
  cfg: HostConfig,
  { account, prompter, runtime, forceAllowFrom = false, steps = [] }: Questions,
): Promise<MadeAccount> {
  const { onboarding } = plugin;
  if (!onboarding)
    throw plugin.setup ? new AppError("INVALID_INPUT", `${plugin.id} has no interactive setup; use flags (see: openclaw channels add --help)`) : byHand(plugin);
  const accountOverrides = account === undefined ? {} : { [plugin.id]: account };
  const status = await onboarding.getStatus({ cfg, accountOverrides });
  if (status.configured && status.statusLines.length > 0) await prompter.note(status.statusLines.join("\n"), plugin.meta.label);
  // Which of them are right may only be known after the plugin's first questions.
  const isOpen = steps.some(({ when }) => when !== undefined);
  if (steps.length > 0 && !isOpen) await prompter.note(steps.map(({ text }, at) => `${at + 1}. ${text}`).join("\n"), `Set up ${plugin.meta.label}`);
  const result = await onboarding.configure({
    cfg,
    runtime,
    prompter,
    accountOverrides,
    shouldPromptAccountIds: account === undefined,
    forceAllowFrom,
    ...(isOpen ? { steps } : {}),
  });
  const accountId = result.accountId ?? account ?? "default";
  onboarding.onAccountRecorded?.(accountId);
  return { next: withKeptAccounts(plugin, cfg, result.cfg), accountId };
}

/** Runs a plugin's setup; what it throws is its own failure. */
export async function guardedSetup<T>(plugin: ChannelPlugin, make: () => T | Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("PLUGIN_FAILED", `the setup of ${plugin.id} failed: ${messageOf(error)}`, { cause: error });
  }
}
