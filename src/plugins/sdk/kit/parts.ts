/** `config`, `setup`, `security`, `groups`, `pairing` and `status` of a channel, made from how its accounts look. */
import type {
  ChannelAccountSnapshot,
  ChannelConfigAdapter,
  ChannelGroupAdapter,
  ChannelGroupContext,
  ChannelPairingAdapter,
  ChannelSecurityAdapter,
  ChannelSetupAdapter,
  ChannelSetupInput,
  ChannelStatusAdapter,
  ChannelStatusIssue,
  GroupToolPolicyConfig,
  HostConfig,
} from "../../../protocol/index.ts";
import { DEFAULT_ACCOUNT_ID, normalizeAccountId, resolveChannelAccountConfigBasePath } from "../account-ids.ts";
import {
  applyAccountNameToChannelSection,
  deleteAccountFromConfigSection,
  migrateBaseNameToDefaultAccount,
  setAccountEnabledInConfigSection,
} from "../config/config-sections.ts";
import { applySetupAccountConfigPatch } from "../config/setup-config.ts";
import { formatPairingApproveHint } from "../messages/replies.ts";
import type { AccountReader, ChannelAccount, CredentialSpec } from "./accounts.ts";
import { groupLayers, rulesOf } from "./accounts.ts";
import { type ChannelRulesSpec, examineAccount, missingPrograms } from "./rules.ts";
import { defined, entriesOf, type Fields, fieldsOf, textOf, textsOf, trimmedOf } from "./fields.ts";

/** The least that a probe says. */
export interface ChannelProbe {
  readonly ok: boolean;
  readonly error?: string | null | undefined;
  readonly status?: number | null | undefined;
  readonly elapsedMs?: number | undefined;
}

export interface ChannelPartsSpec<A extends ChannelAccount, P extends ChannelProbe = ChannelProbe> extends ChannelRulesSpec<A> {
  readonly channel: string;
  /** For people: "Mattermost". */
  readonly label: string;
  readonly credentials: readonly CredentialSpec[];
  readonly accounts: AccountReader<A>;
  /** What an id of a person is called: `mattermostUserId`. */
  readonly idLabel: string;
  /** An entry of an allow list in its normal form. */
  normalizeEntry(entry: string): string;
  /** Whether an entry is only a name, which anybody can take: it admits nobody. */
  isName?(entry: string): boolean;
  /** What to write instead. */
  readonly nameAdvice?: string | undefined;
  /**
   * Where else the channel lists people, beside `allowFrom`, `groupAllowFrom` and `groups.*.allowFrom`: paths in an account's settings, with `*` for
   * any key, such as `channels.*.users`.
   */
  readonly peopleLists?: readonly string[] | undefined;
  /** Why such an entry admits nobody. Default: "names can change hands". */
  readonly nameReason?: string | undefined;
  /** What a group is called there. Default: "group". */
  readonly groupWord?: string | undefined;
  /** Where no layer of a group says it. Default: the host decides, by the account and then true. */
  readonly requireMention?: boolean | undefined;
  /** Keys beside the credentials that go with the default account when it is removed. */
  readonly removedKeys?: readonly string[] | undefined;
  /** Statuses of a probe that mean wrong credentials. Default: 401. */
  readonly authStatuses?: readonly number[] | undefined;
  /** The layers of configuration that hold for a group. Default: `groups`, by id. */
  groupLayers?(account: A, group: ChannelGroupContext): readonly Fields[];
  /** What `channels add` was given besides credentials, as keys. */
  setupKeys?(input: ChannelSetupInput): Fields;
  notifyApproval?: ChannelPairingAdapter["notifyApproval"];
  probe?(account: A, timeoutMs: number): Promise<P>;
  /** The platform is heard of at least this often while connected. */
  readonly staleAfterMs?: number | undefined;
  /** More for the channel's summary in status. */
  summarize?(account: A): Fields;
  /** More for the account's snapshot. */
  describe?(account: A): Partial<ChannelAccountSnapshot>;
  /** More warnings about who is let in. */
  warnings?(account: A): readonly string[];
  /** More that is wrong with a running account. */
  issues?(snapshot: ChannelAccountSnapshot): readonly Omit<ChannelStatusIssue, "channel" | "accountId">[];
}

export interface ChannelParts<A extends ChannelAccount, P extends ChannelProbe = ChannelProbe> {
  readonly config: ChannelConfigAdapter<A>;
  readonly setup: ChannelSetupAdapter;
  readonly security: ChannelSecurityAdapter<A>;
  readonly groups: ChannelGroupAdapter;
  readonly pairing: ChannelPairingAdapter;
  readonly status: ChannelStatusAdapter<A, P, object>;
}

/** Where credentials come from: a file is named by its key. */
function sourcesOf<A extends ChannelAccount>({ credentials }: ChannelPartsSpec<A>, { sources }: ChannelAccount): Partial<ChannelAccountSnapshot> {
  const of = (wanted: string | undefined): string | undefined => {
    const { fileKey } = credentials.find(({ key }) => key === wanted) ?? {};
    return wanted !== undefined && sources[wanted] === "file" ? fileKey : sources[wanted ?? ""];
  };
  const secret = credentials.find(({ isPublic }) => isPublic !== true) ?? credentials[0];
  return defined({
    tokenSource: of("token") ?? of("botToken"),
    botTokenSource: of("botToken"),
    appTokenSource: of("appToken"),
    credentialSource: of(secret?.key),
  });
}

function configOf<A extends ChannelAccount>(spec: ChannelPartsSpec<A>): ChannelConfigAdapter<A> {
  const { channel, credentials, accounts, normalizeEntry, removedKeys = [] } = spec;
  const clearBaseFields = [...credentials.flatMap(({ key, fileKey }) => (fileKey === undefined ? [key] : [key, fileKey])), ...removedKeys, "name"];
  return {
    listAccountIds: (cfg) => accounts.listAccountIds(cfg),
    defaultAccountId: (cfg) => accounts.defaultAccountId(cfg),
    resolveAccount: (cfg, accountId) => accounts.read(cfg, accountId),
    setAccountEnabled: (params) => setAccountEnabledInConfigSection({ ...params, sectionKey: channel, allowTopLevel: true }),
    deleteAccount: (params) => deleteAccountFromConfigSection({ ...params, sectionKey: channel, clearBaseFields }),
    isEnabled: ({ enabled }) => enabled,
    isConfigured: ({ problems }) => problems.length === 0,
    unconfiguredReason: ({ problems }) => problems.join("; "),
    describeAccount: (account) => ({
      accountId: account.accountId,
      name: account.name,
      enabled: account.enabled,
      configured: account.problems.length === 0,
      ...sourcesOf(spec, account),
    }),
    resolveAllowFrom: ({ cfg, accountId }) => [...accounts.read(cfg, accountId).allowFrom],
    formatAllowFrom: ({ allowFrom }) => allowFrom.map((entry) => normalizeEntry(String(entry))).filter(Boolean),
  };
}

const inputOf = (input: ChannelSetupInput, { inputs = [] }: CredentialSpec): string | undefined => inputs.flatMap((name) => trimmedOf(input[name]) ?? [])[0];

/** An entered value as keys of the configuration. */
export const keysFor = ({ key, keys }: CredentialSpec, value: string): Fields => keys?.(value) ?? { [key]: value };

function setupOf<A extends ChannelAccount>(spec: ChannelPartsSpec<A>): ChannelSetupAdapter {
  const { channel, label, credentials, accounts, setupKeys } = spec;
  const keysOf = (input: ChannelSetupInput): Fields => {
    const own = setupKeys?.(input) ?? {};
    if (input.useEnv === true) return own;
    const file = input.tokenFile?.trim();
    return credentials.reduce<Fields>((keys, credential) => {
      const value = inputOf(input, credential);
      if (value !== undefined) return { ...keys, ...keysFor(credential, value) };
      return file && credential.fileKey === "tokenFile" ? { ...keys, tokenFile: file } : keys;
    }, own);
  };
  const apply = (cfg: HostConfig, accountId: string, input: ChannelSetupInput): HostConfig =>
    applySetupAccountConfigPatch({ cfg, channelKey: channel, accountId, patch: keysOf(input) });
  const wrongIn = (input: ChannelSetupInput): string[] =>
    credentials.flatMap((credential) => {
      const value = inputOf(input, credential);
      return value === undefined ? [] : (credential.checkEntry?.(value) ?? []);
    });
  const flags = credentials
    .flatMap(({ inputs = [] }) => inputs.slice(0, 1))
    .map((name) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
  return {
    resolveAccountId: ({ accountId }) => normalizeAccountId(accountId),
    applyAccountName: ({ cfg, accountId, name }) => applyAccountNameToChannelSection({ cfg, channelKey: channel, accountId, name }),
    validateInput({ cfg, accountId, input }) {
      if (input.useEnv === true && normalizeAccountId(accountId) !== DEFAULT_ACCOUNT_ID)
        return `the environment is for the default account only; set separate credentials for ${JSON.stringify(accountId)}`;
      const next = accounts.read(apply(cfg, accountId, input), accountId);
      const [problem] = [...wrongIn(input), ...next.problems, ...missingPrograms(spec, accounts.read(cfg, accountId), next)];
      return problem === undefined ? null : `${label}: ${problem} (${flags.join(", ")})`;
    },
    applyAccountConfig({ cfg, accountId: written, input }) {
      const accountId = normalizeAccountId(written);
      const named = applyAccountNameToChannelSection({ cfg, channelKey: channel, accountId, name: input.name });
      return apply(accountId === DEFAULT_ACCOUNT_ID ? named : migrateBaseNameToDefaultAccount({ cfg: named, channelKey: channel }), accountId, input);
    },
  };
}

/** The values at a path such as `channels.*.users`. */
function valuesAt(value: unknown, [key, ...rest]: readonly string[]): readonly unknown[] {
  if (key === undefined) return [value];
  const fields = fieldsOf(value) ?? {};
  return (key === "*" ? Object.values(fields) : [fields[key]]).flatMap((inner) => valuesAt(inner, rest));
}

/** Entries that name what anybody can call themselves, in all lists of an account. */
function namesIn<A extends ChannelAccount>({ isName, normalizeEntry, peopleLists = [] }: ChannelPartsSpec<A>, account: A): string[] {
  if (!isName || account.config["dangerouslyAllowNameMatching"] === true) return [];
  const perGroup = Object.values(account.groups).flatMap((group) => entriesOf(fieldsOf(group)?.["allowFrom"]));
  const listed = peopleLists.flatMap((path) => valuesAt(account.config, path.split("."))).flatMap(entriesOf);
  const entries = [...account.allowFrom, ...account.groupAllowFrom, ...perGroup, ...listed].filter((entry) => entry !== "*");
  return [...new Set(entries.filter((entry) => isName(normalizeEntry(entry))))];
}

function securityOf<A extends ChannelAccount>(spec: ChannelPartsSpec<A>): ChannelSecurityAdapter<A> {
  const { channel, label, normalizeEntry } = spec;
  return {
    resolveDmPolicy({ account, cfg, accountId }) {
      const base = resolveChannelAccountConfigBasePath({ cfg, channelKey: channel, accountId: accountId ?? account.accountId });
      return {
        policy: account.dmPolicy,
        allowFrom: [...account.allowFrom],
        policyPath: `${base}dmPolicy`,
        allowFromPath: `${base}allowFrom`,
        approveHint: formatPairingApproveHint(channel),
        normalizeEntry,
      };
    },
    collectWarnings({ account }) {
      const names = namesIn(spec, account);
      const word = spec.groupWord ?? "group";
      const where = Object.keys(account.groups).length > 0 ? `in the ${word}s of channels.${channel}.groups` : `in every ${word} it is in`;
      return [
        ...(names.length > 0
          ? [
              `${label} allow lists: ${spec.nameReason ?? "names can change hands"}, so these entries match nobody: ${names.join(", ")}. ${spec.nameAdvice ?? "Use ids; /whoami shows one"}.`,
            ]
          : []),
        ...(account.groupPolicy === "open"
          ? [`channels.${channel}.groupPolicy is "open": everybody may use the bot ${where}. Set it to "allowlist" and list people in groupAllowFrom.`]
          : []),
        ...(spec.warnings?.(account) ?? []),
      ];
    },
  };
}

function groupsOf<A extends ChannelAccount>(spec: ChannelPartsSpec<A>): ChannelGroupAdapter {
  const layersOf = (params: ChannelGroupContext): readonly Fields[] => {
    const account = spec.accounts.read(params.cfg, params.accountId);
    return spec.groupLayers?.(account, params) ?? groupLayers(account.groups, params.groupId ?? "");
  };
  /** By id only: a name would let people choose their rule. */
  function toolsBySender(layer: Fields, senderId: string): GroupToolPolicyConfig | undefined {
    const rules = fieldsOf(layer["toolsBySender"]) ?? {};
    const key = Object.keys(rules).find((name) => name !== "*" && spec.normalizeEntry(name) === senderId) ?? "*";
    return fieldsOf(rules[key]);
  }
  return {
    resolveRequireMention: (params) => rulesOf(layersOf(params)).requireMention ?? spec.requireMention,
    resolveToolPolicy(params) {
      const senderId = spec.normalizeEntry(params.senderId ?? "");
      return layersOf(params)
        .map((layer) => toolsBySender(layer, senderId) ?? (fieldsOf(layer["tools"]) as GroupToolPolicyConfig | undefined))
        .find((tools) => tools !== undefined);
    },
  };
}

function statusOf<A extends ChannelAccount, P extends ChannelProbe>(spec: ChannelPartsSpec<A, P>): ChannelStatusAdapter<A, P, object> {
  const plain = spec as unknown as ChannelPartsSpec<A>;
  const { channel, label, probe, authStatuses = [401] } = spec;
  function issuesOf(snapshot: ChannelAccountSnapshot): Omit<ChannelStatusIssue, "channel" | "accountId">[] {
    const status = fieldsOf(snapshot.probe)?.["status"];
    const names = textsOf(fieldsOf(snapshot.audit)?.["names"]);
    return [
      ...(names.length > 0
        ? [
            {
              kind: "config" as const,
              message: `these entries of allow lists are names and match nobody: ${names.join(", ")}`,
              fix: spec.nameAdvice ?? "Use ids",
            },
          ]
        : []),
      ...(typeof status === "number" && authStatuses.includes(status)
        ? [
            {
              kind: "auth" as const,
              message: `${label} does not accept the ${spec.credentials[0]?.label.toLowerCase() ?? "credentials"}`,
              fix: spec.credentials[0]?.whenRefused ?? spec.credentials[0]?.steps?.at(-1) ?? `Set channels.${channel} again`,
            },
          ]
        : []),
      ...(textOf(snapshot.lastError) && snapshot.running === false
        ? [{ kind: "runtime" as const, message: `The account stopped: ${snapshot.lastError}` }]
        : []),
      ...(spec.issues?.(snapshot) ?? []),
    ];
  }
  return {
    defaultRuntime: { accountId: "default", running: false, lastStartAt: null, lastStopAt: null, lastError: null },
    staleAfterMs: spec.staleAfterMs,
    ...(probe ? { probeAccount: ({ account, timeoutMs }) => probe.call(spec, account, timeoutMs) } : {}),
    buildChannelSummary: ({ account, snapshot }) => ({
      ...sourcesOf(plain, account),
      ...spec.summarize?.(account),
      configured: snapshot.configured ?? false,
      running: snapshot.running ?? false,
      connected: snapshot.connected ?? false,
      mode: snapshot.mode ?? null,
      lastStartAt: snapshot.lastStartAt ?? null,
      lastStopAt: snapshot.lastStopAt ?? null,
      lastError: snapshot.lastError ?? null,
      probe: snapshot.probe,
      lastProbeAt: snapshot.lastProbeAt ?? null,
    }),
    buildAccountSnapshot({ account, runtime, probe: probed, audit }) {
      const described = spec.describe?.(account) ?? {};
      const names = namesIn(plain, account);
      const audited = { ...fieldsOf(audit), ...fieldsOf(described.audit), ...(names.length > 0 ? { names } : {}) };
      return {
        ...runtime,
        accountId: account.accountId,
        name: account.name,
        enabled: account.enabled,
        configured: account.problems.length === 0,
        ...sourcesOf(plain, account),
        dmPolicy: account.dmPolicy,
        allowFrom: [...account.allowFrom],
        running: runtime?.running ?? false,
        ...(probed === undefined ? {} : { probe: probed }),
        ...described,
        ...(Object.keys(audited).length > 0 ? { audit: audited } : {}),
      };
    },
    examineAccount: (params) => examineAccount(spec, namesIn(plain, params.account), spec.nameAdvice ?? "Use ids; /whoami shows one", params),
    collectStatusIssues: (snapshots) =>
      snapshots.flatMap((snapshot) => issuesOf(snapshot).map((issue) => ({ channel, accountId: snapshot.accountId, ...issue }))),
  };
}

export function createChannelParts<A extends ChannelAccount, P extends ChannelProbe = ChannelProbe>(spec: ChannelPartsSpec<A, P>): ChannelParts<A, P> {
  const { idLabel, normalizeEntry, notifyApproval } = spec;
  const plain = spec as unknown as ChannelPartsSpec<A>;
  return {
    config: configOf(plain),
    setup: setupOf(plain),
    security: securityOf(plain),
    groups: groupsOf(plain),
    pairing: { idLabel, normalizeAllowEntry: normalizeEntry, ...(notifyApproval ? { notifyApproval } : {}) },
    status: statusOf(spec),
  };
}

interface TimedProbe extends ChannelProbe {
  readonly elapsedMs: number;
}

/** Times a probe and puts what it throws into its result. */
export async function runProbe<T extends object>(ask: () => Promise<T>): Promise<TimedProbe & Partial<T>> {
  const started = performance.now();
  const elapsed = (): number => Math.round(performance.now() - started);
  try {
    const found = await ask();
    return { ok: true, error: null, status: 200, elapsedMs: elapsed(), ...found };
  } catch (error) {
    const status = (error as { status?: unknown }).status;
    return {
      ok: false,
      error: error instanceof Error ? error.message : String(error),
      status: typeof status === "number" ? status : null,
      elapsedMs: elapsed(),
    } as TimedProbe & Partial<T>;
  }
}
