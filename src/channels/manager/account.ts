/** An account as its channel's plugin sees it in the configuration. */
import type { Clock } from "../../base/clock.ts";
import { isRecord } from "../../base/records.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import type { ChannelAccountSnapshot, ChannelPlugin, HostConfig } from "../../protocol/index.ts";

/** Time limit for a plugin to say whether an account is configured. */
const LOOK_MS = 5000;
const DEFAULT_ACCOUNT = "default";

/** A plugin function's result, or `TIMEOUT` when it takes too long. Abandoned work may still reject: that is ignored. */
export async function within<T>(clock: Clock, ms: number, what: string, call: () => T | PromiseLike<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const work = (async () => call())();
  work.catch(() => {});
  using _ = clock.after(ms, () => late.reject(new AppError("TIMEOUT", `${what} did not finish within ${ms} ms`)));
  return await Promise.race([work, late.promise]);
}

export interface AccountView {
  /** As the plugin resolved it. */
  readonly account: unknown;
  readonly enabled: boolean;
  readonly configured: boolean;
  /** Why it does not run, where it is not enabled or not configured. */
  readonly why: string;
  readonly description: Partial<ChannelAccountSnapshot>;
}

const isOn = (account: unknown): boolean => !isRecord(account) || account["enabled"] !== false;

function reasonOf({ config }: ChannelPlugin, { account, cfg, enabled }: { account: unknown; cfg: HostConfig; enabled: boolean }): string {
  try {
    return enabled ? (config.unconfiguredReason?.(account, cfg) ?? "not configured") : (config.disabledReason?.(account, cfg) ?? "disabled");
  } catch {
    return enabled ? "not configured" : "disabled";
  }
}

/** Throws `PLUGIN_FAILED` with the plugin's error. */
export async function viewAccount(plugin: ChannelPlugin, accountId: string, cfg: HostConfig, clock: Clock): Promise<AccountView> {
  const { config } = plugin;
  try {
    const account = config.resolveAccount(cfg, accountId);
    const enabled = config.isEnabled ? config.isEnabled(account, cfg) : isOn(account);
    const look = (): boolean | Promise<boolean> => config.isConfigured?.(account, cfg) ?? true;
    const configured = await within(clock, LOOK_MS, "reading its settings", look);
    const description = config.describeAccount?.(account, cfg) ?? {};
    const why = enabled && configured ? "" : reasonOf(plugin, { account, cfg, enabled });
    return { account, enabled, configured, why, description: { ...description, accountId, enabled, configured } };
  } catch (error) {
    throw new AppError("PLUGIN_FAILED", `the settings of ${plugin.id}:${accountId} could not be read: ${messageOf(error)}`, { cause: error });
  }
}

/** Ids of a channel's accounts. Throws what the plugin throws. */
export function accountIds(plugin: ChannelPlugin, cfg: HostConfig): readonly string[] {
  return [...new Set(plugin.config.listAccountIds(cfg))];
}

/** The account to use when none is named. Throws what the plugin throws. */
export function defaultAccount(plugin: ChannelPlugin, cfg: HostConfig): string {
  const own = plugin.config.defaultAccountId?.(cfg);
  if (own !== undefined && own !== "") return own;
  const ids = accountIds(plugin, cfg);
  return ids.includes(DEFAULT_ACCOUNT) ? DEFAULT_ACCOUNT : ([...ids].sort()[0] ?? DEFAULT_ACCOUNT);
}
