/** What `openclaw doctor` reports about an account: rules that hold for every channel, and those of its descriptor. */
import type { ChannelExamination, ChannelFinding } from "../../../protocol/index.ts";
import { resolveChannelAccountConfigBasePath } from "../account-ids.ts";
import type { ChannelAccount } from "./accounts.ts";
import { entriesOf, fieldsOf } from "./fields.ts";

/** A program that an account makes use of. */
export interface ChannelProgram {
  /** A name on the search path, or a path. */
  readonly command: string;
  /** What cannot be done without it: "voice notes are sent as audio files". */
  readonly without: string;
  /** How to get it. */
  readonly install: string;
  /** The account runs without it. Default false. */
  readonly isOptional?: boolean | undefined;
}

/** Where a platform posts to. */
export interface ChannelWebhook {
  /** As the platform reaches it. */
  readonly url: string;
  /** Of this gateway. */
  readonly path: string;
  /** Key of the configuration that the address is from. */
  readonly setting: string;
}

export interface ChannelRulesSpec<A extends ChannelAccount> {
  programs?(account: A): readonly ChannelProgram[];
  webhook?(account: A): ChannelWebhook | undefined;
  /** A listed group lets in everybody who is in it. Default: people have to be listed, too. */
  readonly groupsLetIn?: boolean | undefined;
  /** More that can be seen in the configuration. */
  rules?(account: A): readonly ChannelFinding[];
}

interface Described {
  readonly channel: string;
  readonly label: string;
}

const FFMPEG: ChannelProgram = {
  command: "ffmpeg",
  without: "recordings are sent as audio files, not as voice notes",
  install: "Install ffmpeg with the package manager of this system",
  isOptional: true,
};

/** For channels that have voice notes. */
export const voiceNotePrograms = (): readonly ChannelProgram[] => [FFMPEG];

function problems({ channel }: Described, account: ChannelAccount): ChannelFinding[] {
  return account.problems.map((message) => ({
    id: "settings",
    level: "error",
    message,
    fix: `openclaw channels add --channel ${channel}${account.accountId === "default" ? "" : ` --account ${account.accountId}`}`,
  }));
}

/** Policies that let nobody in, which is seldom what was meant. */
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
            message: `${base}dmPolicy is "allowlist" and ${base}allowFrom is empty: only senders who were approved before can write`,
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

function webhookPath({ url, path, setting }: ChannelWebhook): ChannelFinding[] {
  const address = URL.parse(url);
  if (!address)
    return [
      {
        id: "webhook",
        level: "error",
        message: `${setting} is no address: ${url}`,
        fix: `Set ${setting} to an address such as https://claw.example.com${path}`,
      },
    ];
  if (address.pathname === path) return [];
  const message = `${setting} ends in ${address.pathname}, but this gateway listens on ${path}: unless a proxy rewrites it, nothing arrives`;
  return [{ id: "webhook", level: "warn", message, fix: `Let both be the same path` }];
}

/** Whether the platform's way to this gateway is open, as seen from here. */
async function reached({ url, setting }: ChannelWebhook, reach: NonNullable<ChannelExamination["reach"]>): Promise<ChannelFinding[]> {
  const { status, error } = await reach(url);
  const isThere = status !== undefined && status !== 404 && status < 500;
  if (isThere) return [];
  const answer = error ?? (status === 404 ? "it answers 404, so the path does not lead to this gateway" : `it answers ${status}`);
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
  spec: ChannelRulesSpec<A> & Described,
  names: readonly string[],
  nameAdvice: string,
  { account, cfg, hasProgram, reach }: ChannelExamination<A>,
): Promise<ChannelFinding[]> {
  const base = resolveChannelAccountConfigBasePath({ cfg, channelKey: spec.channel, accountId: account.accountId });
  const webhook = spec.webhook?.(account);
  const programs = await Promise.all((spec.programs?.(account) ?? []).map(async (program) => ({ program, isThere: await hasProgram(program.command) })));
  const paths = webhook ? webhookPath(webhook) : [];
  return [
    ...problems(spec, account),
    ...lockedOut(base, account, spec.groupsLetIn === true),
    ...(names.length > 0
      ? [{ id: "names", level: "warn" as const, message: `these entries of allow lists are names and admit nobody: ${names.join(", ")}`, fix: nameAdvice }]
      : []),
    ...programs
      .filter(({ isThere }) => !isThere)
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
