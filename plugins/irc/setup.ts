/** Accounts in the configuration: which there are, how they are added, switched and removed. */
import {
  applyAccountNameToChannelSection,
  type ChannelPlugin,
  deleteAccountFromConfigSection,
  normalizeAccountId,
  setAccountEnabledInConfigSection,
} from "openclaw/plugin-sdk";
import { applySetupAccountConfigPatch } from "openclaw/plugin-sdk/setup";
import type { AccountReader, HostConfig, IrcAccount } from "./account.ts";
import type { Fields } from "./fields.ts";
import { allowEntry } from "./inbound/sender.ts";

type Adapters = Required<Pick<ChannelPlugin<IrcAccount>, "config" | "setup">>;
type SetupInput = Parameters<NonNullable<Adapters["setup"]>["applyAccountConfig"]>[0]["input"];

const KEY = "irc";

export function createConfig({ readAccount, listAccountIds, defaultAccountId }: AccountReader): Adapters["config"] {
  const isReady = ({ problems }: IrcAccount): boolean => problems.length === 0;
  return {
    listAccountIds,
    defaultAccountId,
    resolveAccount: readAccount,
    setAccountEnabled: (params) => setAccountEnabledInConfigSection({ ...params, sectionKey: KEY, allowTopLevel: true }),
    deleteAccount: (params) =>
      deleteAccountFromConfigSection({
        ...params,
        sectionKey: KEY,
        clearBaseFields: ["host", "port", "tls", "nick", "password", "passwordFile", "sasl", "nickserv", "channels", "name"],
      }),
    isEnabled: ({ enabled }) => enabled,
    isConfigured: isReady,
    unconfiguredReason: ({ problems }) => problems.join("; "),
    describeAccount: (account) => ({
      accountId: account.accountId,
      name: account.name,
      enabled: account.enabled,
      configured: isReady(account),
      credentialSource: account.passwordSource,
    }),
    resolveAllowFrom: ({ cfg, accountId }) => [...readAccount(cfg, accountId).allowFrom],
    formatAllowFrom: ({ allowFrom }) => allowFrom.map((entry) => allowEntry(String(entry))).filter(Boolean),
  };
}

/** `irc.libera.chat`, `host:port`, `ircs://host:port`. */
export function readServer(text: string): { readonly host: string; readonly port?: number; readonly tls?: boolean } | undefined {
  const [, scheme, host, port] = /^(?:(ircs?):\/\/)?(\[[\da-f:]+\]|[\w.-]+)(?::(\d{1,5}))?\/?$/i.exec(text.trim()) ?? [];
  if (host === undefined) return undefined;
  return {
    host: host.replace(/^\[|\]$/g, ""),
    ...(port === undefined ? {} : { port: Number(port) }),
    ...(scheme === undefined ? {} : { tls: scheme.toLowerCase() === "ircs" }),
  };
}

const serverOf = ({ httpHost, url, homeserver }: SetupInput): string | undefined => [httpHost, url, homeserver].find((text) => text?.trim());
const nickOf = ({ userId }: SetupInput): string | undefined => userId?.trim() || undefined;

function keysOf(input: SetupInput): Fields {
  if (input.useEnv === true) return {};
  const server = readServer(serverOf(input) ?? "");
  return {
    ...server,
    ...(input.httpPort?.trim() ? { port: Number(input.httpPort) } : {}),
    ...(nickOf(input) === undefined ? {} : { nick: nickOf(input) }),
    ...(input.password?.trim() ? { password: input.password.trim() } : {}),
    ...(input.groupChannels && input.groupChannels.length > 0 ? { channels: input.groupChannels } : {}),
  };
}

export function createSetup({ readAccount }: AccountReader): NonNullable<Adapters["setup"]> {
  const apply = (cfg: HostConfig, accountId: string, input: SetupInput): HostConfig =>
    applySetupAccountConfigPatch({ cfg, channelKey: KEY, accountId, patch: keysOf(input) });
  return {
    resolveAccountId: ({ accountId }) => normalizeAccountId(accountId),
    applyAccountName: ({ cfg, accountId, name }) => applyAccountNameToChannelSection({ cfg, channelKey: KEY, accountId, name }),
    validateInput({ cfg, accountId, input }) {
      const server = serverOf(input);
      if (server !== undefined && readServer(server) === undefined)
        return `"${server}" is no IRC server; write a name such as irc.libera.chat or ircs://irc.libera.chat:6697`;
      const [problem] = readAccount(apply(cfg, accountId, input), accountId).problems;
      return problem === undefined ? null : `IRC: ${problem} (--url <server> --user-id <nick>)`;
    },
    applyAccountConfig({ cfg, accountId: written, input }) {
      const accountId = normalizeAccountId(written);
      return apply(applyAccountNameToChannelSection({ cfg, channelKey: KEY, accountId, name: input.name }), accountId, input);
    },
  };
}
