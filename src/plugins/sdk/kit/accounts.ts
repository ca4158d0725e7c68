/** Accounts of a channel, read from its configuration, from files and from the environment. */
import type { ChannelSetupInput, HostConfig } from "../../../protocol/index.ts";
import { channelSection, DEFAULT_ACCOUNT_ID, normalizeAccountId } from "../account-ids.ts";
import { createAccountListHelpers } from "../config/account-lists.ts";
import { tryReadSecretFileSync } from "../config/secret-files.ts";
import { envValue } from "../host-binding.ts";
import { entriesOf, type Fields, fieldsOf, flagOf, textOf, textsOf } from "./fields.ts";

/** Something an account needs: a token, an address, a number. */
export interface CredentialSpec {
  /** `botToken`. */
  readonly key: string;
  /** The key of a file that holds it. */
  readonly fileKey?: string | undefined;
  /** For the default account only. */
  readonly env?: string | undefined;
  /** What `channels add` takes it from, first hit wins. */
  readonly inputs?: readonly (keyof ChannelSetupInput)[] | undefined;
  /** For people: "Bot token". */
  readonly label: string;
  /** Where one gets it, step by step. */
  readonly steps?: readonly string[] | undefined;
  /** What is wrong with a value; undefined: nothing. */
  readonly check?: ((value: string) => string | undefined) | undefined;
  readonly placeholder?: string | undefined;
  /** Shown as it is typed, and in status. Default false. */
  readonly isPublic?: boolean | undefined;
  /** The account can run without it, always or with these settings. */
  readonly isOptional?: boolean | ((config: Fields) => boolean) | undefined;
}

export type CredentialSource = "config" | "file" | "env" | "none";

export interface ChannelAccount {
  readonly accountId: string;
  readonly name: string | undefined;
  readonly enabled: boolean;
  /** The channel's keys with the account's over them. */
  readonly config: Fields;
  /** By key; empty where there is none. */
  readonly credentials: Readonly<Record<string, string>>;
  readonly sources: Readonly<Record<string, CredentialSource>>;
  readonly dmPolicy: string;
  readonly groupPolicy: string;
  readonly allowFrom: readonly string[];
  readonly groupAllowFrom: readonly string[];
  readonly groups: Fields;
  /** What has to be changed before it can run. */
  readonly problems: readonly string[];
}

export interface AccountReaderSpec<A extends ChannelAccount> {
  readonly channel: string;
  readonly credentials: readonly CredentialSpec[];
  /** Adds what is the channel's own. `problems` of the result are shown beside those of the credentials. */
  read(account: ChannelAccount): A;
  /** Variables of the environment; default: the host's. */
  env?(name: string): string | undefined;
}

export interface AccountReader<A extends ChannelAccount> {
  read(cfg: HostConfig, accountId?: string | null): A;
  listAccountIds(cfg: HostConfig): string[];
  defaultAccountId(cfg: HostConfig): string;
}

/** `dm.policy` and `dm.allowFrom` are older names of the keys beside them. */
function accessOf(config: Fields): Pick<ChannelAccount, "dmPolicy" | "groupPolicy" | "allowFrom" | "groupAllowFrom"> {
  const dm = fieldsOf(config["dm"]) ?? {};
  return {
    dmPolicy: textOf(config["dmPolicy"]) ?? textOf(dm["policy"]) ?? "pairing",
    groupPolicy: textOf(config["groupPolicy"]) ?? "allowlist",
    allowFrom: entriesOf(config["allowFrom"] ?? dm["allowFrom"]),
    groupAllowFrom: entriesOf(config["groupAllowFrom"]),
  };
}

export function createAccountReader<A extends ChannelAccount>(spec: AccountReaderSpec<A>): AccountReader<A> {
  const { channel, credentials } = spec;
  const env = spec.env ?? envValue;
  const lists = createAccountListHelpers(channel, {
    normalizeAccountId,
    resolveImplicitAccountId(cfg) {
      const section: Fields = channelSection(cfg, channel) ?? {};
      const isThere = credentials.some(
        ({ key, fileKey, env: name }) =>
          section[key] !== undefined || (fileKey !== undefined && section[fileKey] !== undefined) || (name !== undefined && env(name) !== undefined),
      );
      // With accounts of their own, what stands in the section is what they share.
      return isThere && fieldsOf(section["accounts"]) === undefined ? DEFAULT_ACCOUNT_ID : undefined;
    },
  });
  /** Read once for each configuration, which is immutable. */
  const known = new WeakMap<HostConfig, Map<string, A>>();

  function credentialOf({ key, fileKey, env: name }: CredentialSpec, config: Fields, accountId: string): { value: string; source: CredentialSource } {
    const written = textOf(config[key])?.trim();
    if (written) return { value: written, source: "config" };
    const file = fileKey === undefined ? undefined : tryReadSecretFileSync(textOf(config[fileKey]), `channels.${channel}.${fileKey}`);
    if (file !== undefined) return { value: file, source: "file" };
    const fromEnv = name !== undefined && accountId === DEFAULT_ACCOUNT_ID ? env(name)?.trim() : undefined;
    return fromEnv ? { value: fromEnv, source: "env" } : { value: "", source: "none" };
  }

  function problemsOf(config: Fields, values: Readonly<Record<string, string>>): string[] {
    return credentials.flatMap(({ key, fileKey, env: name, label, check, isOptional }) => {
      const value = values[key] ?? "";
      const path = `channels.${channel}.${key}`;
      if (value !== "") return check?.(value)?.replace(/^/, `${path}: `) ?? [];
      if (typeof isOptional === "function" ? isOptional(config) : isOptional === true) return [];
      const ways = [path, ...(fileKey === undefined ? [] : [fileKey]), ...(name === undefined ? [] : [name])];
      return `no ${label.toLowerCase()}: set ${ways.length > 1 ? `${ways.slice(0, -1).join(", ")} or ${ways.at(-1)}` : path}`;
    });
  }

  function read(cfg: HostConfig, accountId: string): A {
    const config: Fields = lists.resolveAccountConfig(cfg, accountId);
    const found = credentials.map((credential) => [credential.key, credentialOf(credential, config, accountId)] as const);
    const values = Object.fromEntries(found.map(([key, { value }]) => [key, value]));
    return spec.read({
      accountId,
      name: textOf(config["name"]),
      enabled: config["enabled"] !== false && (channelSection(cfg, channel) as Fields | undefined)?.["enabled"] !== false,
      config,
      credentials: values,
      sources: Object.fromEntries(found.map(([key, { source }]) => [key, source])),
      ...accessOf(config),
      groups: fieldsOf(config["groups"]) ?? {},
      problems: problemsOf(config, values),
    });
  }

  return {
    listAccountIds: lists.listAccountIds,
    defaultAccountId: lists.resolveDefaultAccountId,
    read(cfg, wanted) {
      const accountId = wanted?.trim() ? normalizeAccountId(wanted) : lists.resolveDefaultAccountId(cfg);
      const ofConfig = known.get(cfg) ?? new Map<string, A>();
      const before = ofConfig.get(accountId);
      if (before) return before;
      const account = read(cfg, accountId);
      // A file may change at any time.
      if (!Object.values(account.sources).includes("file")) known.set(cfg, ofConfig.set(accountId, account));
      return account;
    },
  };
}

export interface GroupRules {
  readonly systemPrompt: string | undefined;
  readonly skills: string[] | undefined;
  readonly requireMention: boolean | undefined;
}

/** The entry of a group, then that of `*`. Keys are compared whatever their case, in the channel's normal form. */
export function groupLayers(groups: Fields, id: string, normal: (key: string) => string = (key) => key.trim().toLowerCase()): readonly Fields[] {
  const wanted = normal(id);
  const key = Object.keys(groups).find((name) => name !== "*" && normal(name) === wanted);
  return [key === undefined ? undefined : fieldsOf(groups[key]), fieldsOf(groups["*"])].filter((layer) => layer !== undefined);
}

/** What layers of configuration say of a group: the first that says it. */
export function rulesOf(layers: readonly Fields[]): GroupRules {
  const skills = layers.map((layer) => layer["skills"]).find((value) => Array.isArray(value));
  return {
    systemPrompt: layers.map((layer) => textOf(layer["systemPrompt"])).find((prompt) => prompt !== undefined),
    skills: skills && textsOf(skills),
    requireMention: layers.map((layer) => flagOf(layer["requireMention"])).find((flag) => flag !== undefined),
  };
}
