/** One account with everything that its configuration says. */
import { join } from "node:path";
import { type ChannelPlugin, DEFAULT_ACCOUNT_ID } from "openclaw/plugin-sdk";
import {
  type AccountReader,
  type ChannelAccount,
  createAccountReader,
  type Fields,
  fieldsOf,
  flagOf,
  numberOf as numberIn,
  textOf,
} from "openclaw/plugin-sdk/channel-kit";

export type HostConfig = Parameters<ChannelPlugin["config"]["listAccountIds"]>[0];

export interface WhatsAppAccount extends ChannelAccount {
  /** Where its credentials are. */
  readonly authDir: string;
  readonly sendReadReceipts: boolean;
  /** The number is the owner's own: what they write to themselves is answered. */
  readonly selfChatMode: boolean | undefined;
  readonly messagePrefix: string | undefined;
  readonly actions: Fields;
}

export type WhatsAppAccounts = AccountReader<WhatsAppAccount>;

/** How connections are kept, from the section `web`. */
export interface WebSettings {
  readonly enabled: boolean;
  readonly heartbeatMs: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly factor: number;
  readonly jitter: number;
  /** 0: never gives up. */
  readonly maxAttempts: number;
}

export function webSettings(cfg: HostConfig): WebSettings {
  const web: Fields = fieldsOf((cfg as Fields)["web"]) ?? {};
  const reconnect: Fields = fieldsOf(web["reconnect"]) ?? {};
  return {
    enabled: web["enabled"] !== false,
    heartbeatMs: (numberIn(web["heartbeatSeconds"]) ?? 60) * 1000,
    firstMs: numberIn(reconnect["initialMs"]) ?? 2000,
    lastMs: numberIn(reconnect["maxMs"]) ?? 30_000,
    factor: numberIn(reconnect["factor"]) ?? 1.8,
    jitter: numberIn(reconnect["jitter"]) ?? 0.25,
    // An outage of some minutes must not end the account for good, so there is no limit unless one is set.
    maxAttempts: numberIn(reconnect["maxAttempts"]) ?? 0,
  };
}

export interface AccountsOptions {
  /** Folder of all credentials. */
  readonly credentialsDir: string;
}

/** The folder that an account names itself; one at the top is the default account's alone, since two must never share one. */
function namedFolder(cfg: HostConfig, accountId: string): string | undefined {
  const section: Fields = fieldsOf(cfg.channels?.["whatsapp"]) ?? {};
  const entries = Object.entries(fieldsOf(section["accounts"]) ?? {});
  const own = fieldsOf(entries.find(([id]) => id.trim().toLowerCase() === accountId)?.[1]);
  return textOf(own?.["authDir"]) ?? (accountId === DEFAULT_ACCOUNT_ID ? textOf(section["authDir"]) : undefined);
}

export function createAccounts({ credentialsDir }: AccountsOptions): WhatsAppAccounts {
  const base = createAccountReader<ChannelAccount>({ channel: "whatsapp", credentials: [], read: (account) => account });
  const known = new WeakMap<HostConfig, Map<string, WhatsAppAccount>>();
  return {
    ...base,
    read(cfg, wanted) {
      const account = base.read(cfg, wanted);
      const ofConfig = known.get(cfg) ?? new Map<string, WhatsAppAccount>();
      const before = ofConfig.get(account.accountId);
      if (before) return before;
      const { config } = account;
      const messages: Fields = fieldsOf((cfg as Fields)["messages"]) ?? {};
      const made: WhatsAppAccount = {
        ...account,
        enabled: account.enabled && webSettings(cfg).enabled,
        authDir: namedFolder(cfg, account.accountId) ?? join(credentialsDir, "whatsapp", account.accountId),
        sendReadReceipts: config["sendReadReceipts"] !== false,
        selfChatMode: flagOf(config["selfChatMode"]),
        messagePrefix: textOf(config["messagePrefix"]) ?? textOf(messages["messagePrefix"]),
        actions: fieldsOf(config["actions"]) ?? {},
      };
      known.set(cfg, ofConfig.set(account.accountId, made));
      return made;
    },
  };
}
