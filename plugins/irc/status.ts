/** What is known about accounts, and what is wrong with them. */
import type { ChannelAccountSnapshot, ChannelStatusIssue } from "openclaw/plugin-sdk";
import {
  type AccountReader,
  type ChannelOnboardingSpec,
  type ChannelProbe,
  defined,
  entriesOf,
  fieldsOf,
  flagOf,
  listOf,
  runProbe,
  silentLog,
  textOf,
} from "openclaw/plugin-sdk/channel-kit";
import { CREDENTIALS, type IrcAccount, readChannel } from "./account.ts";
import { openSession, type SessionTimes } from "./connection/session.ts";
import { allowEntry, isChosenName } from "./inbound/sender.ts";
import type { Line } from "./live.ts";

export interface IrcProbe extends ChannelProbe {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly nick?: string | undefined;
}

/** The nick that we have or get. A second connection beside the one that stands would take our name away. */
async function nickOf(account: IrcAccount, line: Line | undefined, times: SessionTimes, timeoutMs: number, ca: string | undefined): Promise<{ nick: string }> {
  if (account.problems.length > 0) throw new Error(account.problems.join("; "));
  if (line) return { nick: line.session.nick };
  const limited: SessionTimes = { ...times, connectMs: Math.min(times.connectMs, timeoutMs), registerMs: Math.min(times.registerMs, timeoutMs) };
  const session = openSession({ account, ca, times: limited, log: silentLog, onMessage: () => {} });
  try {
    await session.ready;
    return { nick: session.nick };
  } finally {
    await session.quit("Goodbye");
  }
}

/** Asks over the connection that stands; where there is none, makes one and ends it. */
export async function probe(account: IrcAccount, line: Line | undefined, times: SessionTimes, timeoutMs: number, ca?: string): Promise<IrcProbe> {
  const { host, port, tls } = account;
  const { status: _none, ...result } = await runProbe(() => nickOf(account, line, times, timeoutMs, ca));
  return { ...result, host, port, tls };
}

type Issue = Omit<ChannelStatusIssue, "channel" | "accountId">;

function channelIssues({ application, connected }: ChannelAccountSnapshot): Issue[] {
  return listOf(fieldsOf(application)?.["channels"]).flatMap((channel) => {
    const { name, joined, why } = fieldsOf(channel) ?? {};
    if (joined !== false || connected !== true) return [];
    return [{ kind: "permissions" as const, message: `not in ${textOf(name) ?? "a channel"}: ${textOf(why) ?? "no reason given"}` }];
  });
}

const isExposed = ({ tls, host }: IrcAccount): boolean => !tls && host !== "" && !/^(?:localhost|127\.|\[?::1)/.test(host);

function warnings(account: IrcAccount): string[] {
  const perGroup = Object.values(account.groups).flatMap((group) => entriesOf(fieldsOf(group)?.["allowFrom"]));
  const names = [...account.allowFrom, ...account.groupAllowFrom, ...perGroup].filter(isChosenName);
  const whom = names.length > 0 ? `: anyone who uses the name ${[...new Set(names)].join(", ")} is allowed` : "";
  const trusting = `channels.irc.dangerouslyAllowNameMatching is on${whom}. Remove it and use accounts or hosts.`;
  const plain = `channels.irc.tls is off: passwords and messages to ${account.host} can be read in transit.`;
  return [...(account.trustsNames ? [trusting] : []), ...(isExposed(account) ? [plain] : [])];
}

const addressOf = ({ tls, host, port }: IrcAccount): string => `${tls ? "ircs" : "irc"}://${host}:${port}`;
const listed = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean);

/** From this the kit makes setup, onboarding, status and the rest. */
export function describeChannel(
  accounts: AccountReader<IrcAccount>,
  probeAccount: (account: IrcAccount, timeoutMs: number) => Promise<IrcProbe>,
): ChannelOnboardingSpec<IrcAccount, IrcProbe> {
  return {
    channel: "irc",
    label: "IRC",
    credentials: CREDENTIALS,
    accounts,
    idLabel: "ircUser",
    idExample: "account:ada or ada@host.example",
    normalizeEntry: allowEntry,
    isName: isChosenName,
    nameReason: "anyone can take a nick or a user name",
    nameAdvice: "use account:<services account>, nick@host or nick!user@host; /whoami shows an id",
    groupWord: "channel",
    requireMention: true,
    removedKeys: ["port", "tls", "sasl", "nickserv", "channels"],
    // We ask every 30 s, and the server answers.
    staleAfterMs: 3 * 60_000,
    probe: probeAccount,
    who: ({ nick }) => nick,
    setupKeys: ({ httpPort, groupChannels }) =>
      defined({ port: httpPort?.trim() ? Number(httpPort) : undefined, channels: groupChannels && groupChannels.length > 0 ? groupChannels : undefined }),
    describe: (account) => ({ baseUrl: addressOf(account), audit: { trustsNames: account.trustsNames } }),
    summarize: ({ host, port, tls, nick }) => ({ host, port, tls, nick }),
    warnings,
    issues: channelIssues,
    rules: (account) =>
      isExposed(account) && [account.password, account.sasl, account.nickserv].some(Boolean)
        ? [
            {
              id: "tls",
              level: "warn",
              message: "channels.irc.tls is false: the password is sent unencrypted",
              fix: "Remove channels.irc.tls, and set the port to the server's TLS port (6697)",
            },
          ]
        : [],
    async ask(prompter, account, entered) {
      const tls = await prompter.confirm({ message: "Encrypted (TLS)?", initialValue: flagOf(entered["tls"]) ?? account.tls });
      const channels = await prompter.text({
        message: "Channels to join",
        placeholder: "#help, #random",
        initialValue: account.channels.map(({ name }) => name).join(", "),
        validate: (value) => (listed(value).every((entry) => readChannel(entry)) ? undefined : "names with # in front, separated by commas"),
      });
      return { tls, channels: listed(channels) };
    },
  };
}
