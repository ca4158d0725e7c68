/** The channels that the account is in, or wants to be in. */
import type { JoinedChannel } from "../account.ts";
import type { KitLog, Waiting } from "openclaw/plugin-sdk/channel-kit";
import type { IrcMessage } from "./library.ts";
import { serverText } from "./registration.ts";
import type { Session } from "./session.ts";

export interface ChannelState {
  readonly name: string;
  readonly joined: boolean;
  /** Why not. */
  readonly why: string | undefined;
}

export interface Joins {
  /** Asks for all of them. */
  begin(): void;
  saw(message: IrcMessage): void;
  states(): readonly ChannelState[];
}

/** No such channel, too many, full, by invitation, banned, wrong key, bad name, for registered nicks, not now, over TLS. */
const REFUSALS: ReadonlySet<string> = new Set(["403", "405", "437", "471", "473", "474", "475", "476", "477", "479", "489", "520"]);
const KICKED_MS = 5_000;
const REFUSED_MS = 30_000;
const LONGEST_MS = 10 * 60_000;

interface Channel extends JoinedChannel {
  joined: boolean;
  why: string | undefined;
  /** In a row. */
  failures: number;
  waiting: AbortController | undefined;
}

export interface JoinsDeps {
  readonly session: Session;
  readonly waiting: Waiting;
  readonly log: KitLog;
  changed(): void;
}

export function createJoins(channels: readonly JoinedChannel[], { session, waiting, log, changed }: JoinsDeps): Joins {
  const known = new Map<string, Channel>();
  const channelNamed = (name: string | undefined): Channel | undefined => (name === undefined ? undefined : known.get(session.lower(name)));

  function ask(channel: Channel): void {
    channel.waiting?.abort();
    channel.waiting = undefined;
    session.write(`JOIN ${channel.name}${channel.key === undefined ? "" : ` ${channel.key}`}`).catch(() => {});
  }

  /** Tries again in a while; each time in a row it takes longer. */
  function lost(channel: Channel, why: string, firstMs: number): void {
    channel.joined = false;
    channel.why = why;
    const ms = Math.min(firstMs * 2 ** channel.failures, LONGEST_MS);
    channel.failures += 1;
    channel.waiting?.abort();
    const mine = (channel.waiting = new AbortController());
    log.warn(`not in ${channel.name}: ${why}; the next attempt is in ${ms / 1000} s`);
    void waiting.sleep(ms, AbortSignal.any([mine.signal, session.signal])).then(() => {
      if (!mine.signal.aborted && !session.signal.aborted) ask(channel);
    });
    changed();
  }

  function joined(channel: Channel): void {
    channel.waiting?.abort();
    Object.assign(channel, { joined: true, why: undefined, waiting: undefined });
    changed();
  }

  return {
    begin() {
      for (const wanted of channels) known.set(session.lower(wanted.name), { ...wanted, joined: false, why: "not yet", failures: 0, waiting: undefined });
      for (const channel of known.values()) ask(channel);
    },
    saw(message) {
      const { command, params, nick } = message;
      if (command === "INVITE") {
        const channel = channelNamed(params[1]);
        if (channel && !channel.joined) ask(channel);
      } else if (command === "KICK") {
        const channel = channelNamed(params[0]);
        if (channel && session.isUs(params[1] ?? "")) lost(channel, `${nick || "the server"} kicked the bot (${serverText(message)})`, KICKED_MS);
      } else if (command === "JOIN" || command === "PART") {
        const channel = channelNamed(params[0]);
        if (!channel || !session.isUs(nick)) return;
        if (command === "JOIN") joined(channel);
        else lost(channel, "the bot left", KICKED_MS);
      } else if (REFUSALS.has(command)) {
        const channel = channelNamed(params[1]);
        if (channel && !channel.joined) lost(channel, `${serverText(message)} (${command})`, REFUSED_MS);
      } else if (command === "366") {
        // We stay: the next kick counts as the first one again.
        const channel = channelNamed(params[1]);
        if (channel) void waiting.sleep(LONGEST_MS, session.signal).then(() => void (channel.joined && (channel.failures = 0)));
      }
    },
    states: () => [...known.values()].map(({ name, joined: isIn, why }) => ({ name, joined: isIn, why })),
  };
}
