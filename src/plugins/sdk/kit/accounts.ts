/** Accounts of a channel, read from its configuration, from files and from the environment. */
import { withAccountKeys } from "../../../base/account-keys.ts";
import type { ChannelSetupInput, HostConfig } from "../../../protocol/index.ts";
import { accountSection, channelSection, DEFAULT_ACCOUNT_ID, normalizeAccountId } from "../account-ids.ts";
import { createAccountListHelpers } from "../config/account-lists.ts";
import { tryReadSecretFileSync } from "../config/secret-files.ts";
import { envValue } from "../host-binding.ts";
import { entriesOf, type Fields, fieldsOf, flagOf, textOf, textsOf, trimmedOf } from "./fields.ts";

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
  /** Where one gets it, step by step. The steps of the whole channel stand in its manifest, as `setupSteps`. */
  readonly steps?: readonly string[] | undefined;
  /** What to do when the platform does not accept it. Default: the last of `steps`. */
  readonly whenRefused?: string | undefined;
  /** What is wrong with a value; undefined: nothing. */
  readonly check?: ((value: string) => string | undefined) | undefined;
  readonly placeholder?: string | undefined;
  /** Shown as it is typed, and in status. Default false. */
  readonly isPublic?: boolean | undefined;
  /** The account can run without it, always or with these settings. */
  readonly isOptional?: boolean | ((config: Fields) => boolean) | undefined;
  /** Onboarding asks for it only with these settings. Default: with all. */
  readonly isUsed?: ((config: Fields) => boolean) | undefined;
  /** The channel's own one belongs to the default account: others do not inherit it. */
  readonly isOwn?: boolean | undefined;
  /** The environment stands over the configuration. Default: below it. */
  readonly envWins?: boolean | undefined;
  /** A file stands over a text beside it. Default: below it. */
  readonly fileWins?: boolean | undefined;
  /** Onboarding asks for it. Default true. */
  readonly isAsked?: boolean | undefined;
  /** What is wrong with a value as a person enters it. Default: as `check` says. */
  readonly checkEntry?: ((value: string) => string | undefined) | undefined;
  /** How an entered value is written. Default: as it is, under `key`. */
  readonly keys?: ((value: string) => Fields) | undefined;
}

export type CredentialSource = "config" | "file" | "env" | "none";

/** A secret, and where it is from. */
export interface FoundSecret {
  readonly value: string;
  readonly source: CredentialSource;
  /** Why a file that is named cannot be read. */
  readonly problem?: string | undefined;
}

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

/** A secret in one section: a text, or the file that another key names. `path` is that of the section, for problems. */
export function readSecret(
  section: Fields,
  path: string,
  { key, fileKey, fileWins }: Pick<CredentialSpec, "key" | "fileKey" | "fileWins">,
): FoundSecret | undefined {
  const written = trimmedOf(section[key]);
  const file = fileKey === undefined ? undefined : trimmedOf(section[fileKey]);
  if (file === undefined || (written !== undefined && fileWins !== true)) return written === undefined ? undefined : { value: written, source: "config" };
  const configPath = `${path}.${fileKey}`;
  const read = tryReadSecretFileSync(file, configPath, undefined, { configPath });
  return read.status === "available" ? { value: read.value, source: "file" } : { value: "", source: "none", problem: read.diagnostic.message };
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

  /** The account's own keys, then the channel's. */
  function credentialOf(cfg: HostConfig, credential: CredentialSpec, accountId: string): FoundSecret {
    const isDefault = accountId === DEFAULT_ACCOUNT_ID;
    const fromEnv = credential.env !== undefined && isDefault ? trimmedOf(env(credential.env)) : undefined;
    const environment: FoundSecret | undefined = fromEnv === undefined ? undefined : { value: fromEnv, source: "env" };
    if (environment && credential.envWins === true) return environment;
    const own = readSecret(accountSection(cfg, channel, accountId) ?? {}, `channels.${channel}.accounts.${accountId}`, credential);
    const isShared = isDefault || credential.isOwn !== true;
    return (
      own ??
      (isShared ? readSecret(channelSection(cfg, channel) ?? {}, `channels.${channel}`, credential) : undefined) ??
      environment ?? { value: "", source: "none" }
    );
  }

  function problemOf({ key, fileKey, env: name, label, check, isOptional }: CredentialSpec, { value, problem }: FoundSecret, config: Fields): string[] {
    const path = `channels.${channel}.${key}`;
    if (problem !== undefined) return [problem];
    if (value !== "") return [check?.(value)].flatMap((wrong) => (wrong === undefined ? [] : `${path}: ${wrong}`));
    if (typeof isOptional === "function" ? isOptional(config) : isOptional === true) return [];
    const ways = [path, ...(fileKey === undefined ? [] : [fileKey]), ...(name === undefined ? [] : [name])];
    return [`no ${label.toLowerCase()}: set ${ways.length > 1 ? `${ways.slice(0, -1).join(", ")} or ${ways.at(-1)}` : path}`];
  }

  function read(cfg: HostConfig, accountId: string): { readonly account: A; readonly mayChange: boolean } {
    const config: Fields = lists.resolveAccountConfig(cfg, accountId);
    const found = credentials.map((credential) => ({ credential, ...credentialOf(cfg, credential, accountId) }));
    const account = spec.read({
      accountId,
      name: trimmedOf(config["name"]),
      enabled: config["enabled"] !== false && channelSection(cfg, channel)?.["enabled"] !== false,
      config,
      credentials: Object.fromEntries(found.map(({ credential: { key }, value }) => [key, value])),
      sources: Object.fromEntries(found.map(({ credential: { key }, source }) => [key, source])),
      ...accessOf(config),
      groups: fieldsOf(config["groups"]) ?? {},
      problems: found.flatMap((one) => problemOf(one.credential, one, config)),
    });
    const problems = account.problems.map((problem) => withAccountKeys(problem, { channel, accountId }));
    // A file may change at any time.
    return { account: { ...account, problems }, mayChange: found.some(({ source, problem }) => source === "file" || problem !== undefined) };
  }

  return {
    listAccountIds: lists.listAccountIds,
    defaultAccountId: lists.resolveDefaultAccountId,
    read(cfg, wanted) {
      const accountId = wanted?.trim() ? normalizeAccountId(wanted) : lists.resolveDefaultAccountId(cfg);
      const ofConfig = known.get(cfg) ?? new Map<string, A>();
      const before = ofConfig.get(accountId);
      if (before) return before;
      const { account, mayChange } = read(cfg, accountId);
      if (!mayChange) known.set(cfg, ofConfig.set(accountId, account));
      return account;
    },
  };
}

export interface PerAccount<A extends ChannelAccount, T> {
  of(account: A): T;
  /** Closes all of them. */
  close(): void;
}

/** One of something for each account, such as its client: made with the first use, and again when what it is made `from` changes. */
export function perAccount<A extends ChannelAccount, T>(options: { from(account: A): unknown; make(account: A): T; close?(made: T): void }): PerAccount<A, T> {
  const known = new Map<string, { readonly from: string; readonly made: T }>();
  return {
    of(account) {
      const from = JSON.stringify(options.from(account));
      const before = known.get(account.accountId);
      if (before?.from === from) return before.made;
      if (before) options.close?.(before.made);
      const made = options.make(account);
      known.set(account.accountId, { from, made });
      return made;
    },
    close() {
      for (const { made } of known.values()) options.close?.(made);
      known.clear();
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
