/** What `openclaw doctor` reports about an account: rules for all channels, and those of the channel's descriptor. */
import { accessSync, constants, statSync } from "node:fs";
import type { ChannelExamination, ChannelFinding, HostConfig } from "../../../protocol/index.ts";
import { resolveChannelAccountConfigBasePath } from "../account-ids.ts";
import type { AccountReader, ChannelAccount, CredentialSpec } from "./accounts.ts";
import { entriesOf, fieldsOf } from "./fields.ts";

/** A program that an account uses. */
export interface ChannelProgram {
  /** A command on PATH, or a path. */
  readonly command: string;
  /** The effect of not having it: "voice notes are sent as audio files". */
  readonly without: string;
  /** How to install it. */
  readonly install: string;
  /** The account runs without it. Default false. */
  readonly isOptional?: boolean | undefined;
}

/** Where a platform posts to. */
export interface ChannelWebhook {
  /** The URL that the platform uses. */
  readonly url: string;
  /** The path on this gateway. */
  readonly path: string;
  /** The configuration key that sets the URL. */
  readonly setting: string;
}

export interface ChannelRulesSpec<A extends ChannelAccount> {
  programs?(account: A): readonly ChannelProgram[];
  webhook?(account: A): ChannelWebhook | undefined;
  /** A listed group allows all its members. Default: members must be listed too. */
  readonly groupsLetIn?: boolean | undefined;
  /** Identifies the account's login on the platform, which must be unique. Default: its first required secret, else all its credentials. */
  login?(account: A): string | undefined | Promise<string | undefined>;
  /** Further findings from the configuration. */
  rules?(account: A): readonly ChannelFinding[];
}

interface Described {
  readonly channel: string;
  readonly label: string;
}

interface Listed<A extends ChannelAccount> extends Described {
  readonly credentials: readonly CredentialSpec[];
  readonly accounts: AccountReader<A>;
}

const FFMPEG: ChannelProgram = {
  command: "ffmpeg",
  without: "recordings are sent as audio files, not as voice notes",
  install: "Install ffmpeg with the package manager of this system",
  isOptional: true,
};

/** For channels with voice notes. */
export const voiceNotePrograms = (): readonly ChannelProgram[] => [FFMPEG];

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Problems with newly configured program paths. Programs set by name may be installed later; the doctor looks for those. */
export function missingPrograms<A extends ChannelAccount>({ programs }: ChannelRulesSpec<A>, before: A, after: A): readonly string[] {
  const known = new Set(programs?.(before).map(({ command }) => command));
  return (programs?.(after) ?? []).flatMap(({ command, install, isOptional }) =>
    isOptional || known.has(command) || !/[/\\]/.test(command) || canRun(command) ? [] : [`there is no executable program at ${command}. ${install}`],
  );
}

function problems({ channel }: Described, account: ChannelAccount): ChannelFinding[] {
  return account.problems.map((message) => ({
    id: "settings",
    level: "error",
    message,
    fix: `openclaw channels add --channel ${channel}${account.accountId === "default" ? "" : ` --account ${account.accountId}`}`,
  }));
}

/** Policies that allow nobody, which is rarely intended. */
function lockedOut(base: string, { dmPolicy, groupPolicy, allowFrom, groupAllowFrom, groups }: ChannelAccount, groupsLetIn: boolean): ChannelFinding[] {
  if (dmPolicy === "disabled" && groupPolicy === "disabled") {
    const message = `${base}dmPolicy and ${base}groupPolicy are "disabled": nobody can write to the agent`;
    return [{ id: "nobody", level: "warn", message, fix: `openclaw config set ${base}dmPolicy pairing` }];
  }
  const perGroup = Object.values(groups).some((group) => entriesOf(fieldsOf(group)?.["allowFrom"]).length > 0);
  const isShut = !groupsLetIn && groupPolicy === "allowlist" && Object.keys(groups).length > 0 && !perGroup && [...groupAllowFrom, ...allowFrom].length === 0;
  return [
    ...(dmPolicy === "allowlist" && allowFrom.length === 0
      ? [
          {
            id: "direct",
            level: "warn" as const,
            message: `${base}dmPolicy is "allowlist" and ${base}allowFrom is empty: only senders who were approved earlier can write`,
            fix: `Add ids to ${base}allowFrom, or run: openclaw config set ${base}dmPolicy pairing`,
          },
        ]
      : []),
    ...(isShut
      ? [
          {
            id: "groups",
            level: "warn" as const,
            message: `groups are listed in ${base}groups, but ${base}groupAllowFrom and ${base}allowFrom are empty: nobody there is answered`,
            fix: `Add ids of people to ${base}groupAllowFrom; /whoami shows one`,
          },
        ]
      : []),
  ];
}

function credentialLogin(specs: readonly CredentialSpec[], { credentials }: ChannelAccount): string | undefined {
  const secret = specs.find(({ key, isPublic, isOptional }) => isPublic !== true && isOptional !== true && credentials[key]);
  if (secret) return credentials[secret.key];
  const values = specs.map(({ key }) => credentials[key] ?? "");
  return values.some((value) => value !== "") ? JSON.stringify(values) : undefined;
}

/** An earlier account with the same login: both would answer each message. */
async function twins<A extends ChannelAccount>(spec: ChannelRulesSpec<A> & Listed<A>, cfg: HostConfig, account: A): Promise<ChannelFinding[]> {
  const { accounts, credentials, channel, label } = spec;
  const loginOf = async (one: A): Promise<string | undefined> => (spec.login ? spec.login(one) : credentialLogin(credentials, one));
  const ids = accounts.listAccountIds(cfg);
  const login = account.enabled ? await loginOf(account) : undefined;
  if (login === undefined) return [];
  for (const id of ids.slice(0, Math.max(0, ids.indexOf(account.accountId)))) {
    const other = accounts.read(cfg, id);
    if (!other.enabled || (await loginOf(other)) !== login) continue;
    const message = `the accounts "${id}" and "${account.accountId}" have the same ${label} login: each message is answered twice, or one of them cannot connect`;
    return [
      {
        id: "twin",
        level: "warn",
        message,
        fix: `Use a separate login for one of them, or turn it off: openclaw config set channels.${channel}.accounts.${account.accountId}.enabled false`,
      },
    ];
  }
  return [];
}

function webhookPath({ url, path, setting }: ChannelWebhook): ChannelFinding[] {
  const address = URL.parse(url);
  if (!address)
    return [
      {
        id: "webhook",
        level: "error",
        message: `${setting} is not a URL: ${url}`,
        fix: `Set ${setting} to an address such as https://claw.example.com${path}`,
      },
    ];
  if (address.pathname === path) return [];
  const message = `${setting} ends in ${address.pathname}, but this gateway listens on ${path}: unless a proxy rewrites it, no requests arrive`;
  return [{ id: "webhook", level: "warn", message, fix: `Use the same path for both` }];
}

/** Whether the webhook's URL can be reached from this machine. */
async function reached({ url, setting }: ChannelWebhook, reach: NonNullable<ChannelExamination["reach"]>): Promise<ChannelFinding[]> {
  const { status, error } = await reach(url);
  const isFound = status !== undefined && status !== 404 && status < 500;
  if (isFound) return [];
  const answer = error ?? (status === 404 ? "it responded with 404, so the path does not lead to this gateway" : `it responded with ${status}`);
  return [
    {
      id: "webhook",
      level: "warn",
      message: `${setting}: ${url} cannot be reached from here: ${answer}`,
      fix: "Start the gateway, and check the proxy or tunnel in front of it",
    },
  ];
}

export async function examineAccount<A extends ChannelAccount>(
  spec: ChannelRulesSpec<A> & Listed<A>,
  names: readonly string[],
  nameAdvice: string,
  { account, cfg, hasProgram, reach }: ChannelExamination<A>,
): Promise<ChannelFinding[]> {
  const base = resolveChannelAccountConfigBasePath({ cfg, channelKey: spec.channel, accountId: account.accountId });
  const webhook = spec.webhook?.(account);
  const programs = await Promise.all((spec.programs?.(account) ?? []).map(async (program) => ({ program, isFound: await hasProgram(program.command) })));
  const paths = webhook ? webhookPath(webhook) : [];
  return [
    ...problems(spec, account),
    ...(await twins(spec, cfg, account)),
    ...lockedOut(base, account, spec.groupsLetIn === true),
    ...(names.length > 0
      ? [{ id: "names", level: "warn" as const, message: `these entries of allow lists are names and match nobody: ${names.join(", ")}`, fix: nameAdvice }]
      : []),
    ...programs
      .filter(({ isFound }) => !isFound)
      .map(({ program: { command, without, install, isOptional } }): ChannelFinding => ({
        id: "program",
        level: isOptional ? "info" : "error",
        message: `the program ${command} was not found: ${without}`,
        fix: install,
      })),
    ...paths,
    ...(webhook && reach && paths.every(({ level }) => level !== "error") ? await reached(webhook, reach) : []),
    ...(spec.rules?.(account) ?? []),
  ];
}
