/** What an account's configuration says. */
import { homedir } from "node:os";
import { normalizeIMessageMessagingTarget } from "openclaw/plugin-sdk";
import {
  type AccountReader,
  type ChannelAccount,
  choiceOf,
  createAccountReader,
  type CredentialSpec,
  fieldsOf,
  flagOf,
  textsOf,
  trimmedOf,
} from "openclaw/plugin-sdk/channel-kit";

export type Service = "imessage" | "sms" | "auto";

export interface IMessageAccount extends ChannelAccount {
  readonly cliPath: string;
  readonly dbPath: string | undefined;
  /** As configured; a script in `cliPath` may name one as well. */
  readonly remoteHost: string | undefined;
  readonly service: Service;
  readonly region: string;
  readonly includeAttachments: boolean;
  /** Where files may be that are read here. */
  readonly roots: readonly string[];
  /** Where files may be that are copied from another Mac. */
  readonly remoteRoots: readonly string[];
}

export const SERVICES = ["imessage", "sms", "auto"] as const;
const BUILT_IN_ROOT = "/Users/*/Library/Messages/Attachments";

/** A program's name or path. No shell reads it, and it must not look as if one should. */
const isProgram = (text: string): boolean => !text.startsWith("-") && !/[\p{Cc}"'`$;&|<>*?\\]/u.test(text) && (text.includes("/") || !/\s/.test(text));
export const isHost = (text: string): boolean => /^(?:[a-z0-9_][\w.-]*@)?[a-z0-9](?:[\w.-]*[a-z0-9])?$/i.test(text);
/** Absolute, without `..`; `*` only as a whole part. */
const isRoot = (text: string): boolean => text.startsWith("/") && text.split("/").every((part) => part === "*" || (part !== ".." && !part.includes("*")));

export const CREDENTIALS: readonly CredentialSpec[] = [
  {
    key: "cliPath",
    inputs: ["cliPath"],
    label: "Program",
    isPublic: true,
    isOptional: true,
    placeholder: "imsg",
    check: (value) => (isProgram(value) ? undefined : `"${value}" is not a program; use a name such as imsg, or a path`),
  },
  { key: "dbPath", inputs: ["dbPath"], label: "Database", isPublic: true, isOptional: true, isAsked: false },
];

/** An entry of an allow list as the id that it names: a number, a mail address, or a chat. */
export function bareEntry(entry: string): string {
  const bare = entry.trim().replace(/^(?:imessage|sms|auto):/i, "");
  return bare === "*" ? bare : (normalizeIMessageMessagingTarget(bare) ?? "");
}

function problemsOf(account: Omit<IMessageAccount, "problems">): string[] {
  const { config, remoteHost, region, roots, remoteRoots } = account;
  const wrong: (string | false)[] = [
    Object.keys(config).length === 0 && "it is not set up: run openclaw channels add --channel imessage",
    remoteHost !== undefined && !isHost(remoteHost) && `channels.imessage.remoteHost: "${remoteHost}" is not a host; use host or user@host`,
    !/^[A-Z]{2}$/.test(region) && `channels.imessage.region: "${region}" is not a country code; use two letters such as US`,
    config["service"] !== undefined && !SERVICES.some((name) => name === config["service"]) && "channels.imessage.service must be imessage, sms or auto",
    ...[...roots, ...remoteRoots]
      .filter((root) => !isRoot(root))
      .map((root) => `channels.imessage.attachmentRoots: "${root}" must be absolute, with * only for a whole path segment`),
  ];
  return [...new Set(wrong.filter((one) => one !== false))];
}

export function createAccounts(): AccountReader<IMessageAccount> {
  const base = createAccountReader<IMessageAccount>({
    channel: "imessage",
    credentials: CREDENTIALS,
    read(account) {
      const { config, credentials } = account;
      const roots = textsOf(config["attachmentRoots"]);
      const read = {
        ...account,
        cliPath: (credentials["cliPath"] || "imsg").replace(/^~(?=\/)/, homedir()),
        dbPath: credentials["dbPath"] || undefined,
        remoteHost: trimmedOf(config["remoteHost"]),
        service: choiceOf(config["service"], SERVICES, "auto"),
        region: (trimmedOf(config["region"]) ?? "US").toUpperCase(),
        includeAttachments: flagOf(config["includeAttachments"]) ?? false,
        roots: [...roots, BUILT_IN_ROOT],
        remoteRoots: [...textsOf(config["remoteAttachmentRoots"]), ...roots, BUILT_IN_ROOT],
      };
      return { ...read, problems: [...account.problems, ...problemsOf(read)] };
    },
  });
  return {
    ...base,
    read(cfg, accountId) {
      const account = base.read(cfg, accountId);
      // Folders of the channel hold for all accounts, besides their own.
      const channel = fieldsOf(cfg.channels?.["imessage"]) ?? {};
      const shared = textsOf(channel["attachmentRoots"]);
      return {
        ...account,
        roots: [...new Set([...account.roots, ...shared])],
        remoteRoots: [...new Set([...account.remoteRoots, ...textsOf(channel["remoteAttachmentRoots"]), ...shared])],
      };
    },
  };
}
