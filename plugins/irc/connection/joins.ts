/** The channels that the account is in, or wants to be in. */
import type { JoinedChannel } from "../account.ts";
import type { Log } from "../types.ts";
import type { Waiting } from "../waiting.ts";
import type { IrcMessage } from "./library.ts";
import { saysOf } from "./registration.ts";
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

interface Place extends JoinedChannel {
  joined: boolean;
  why: string | undefined;
  /** In a row. */
  failures: number;
  waiting: AbortController | undefined;
}

export interface JoinsDeps {
  readonly session: Session;
  readonly waiting: Waiting;
  readonly log: Log;
  changed(): void;
}

export function createJoins(channels: readonly JoinedChannel[], { session, waiting, log, changed }: JoinsDeps): Joins {
  const places = new Map<string, Place>();
  const placeOf = (name: string | undefined): Place | undefined => (name === undefined ? undefined : places.get(session.lower(name)));

  function ask(place: Place): void {
    place.waiting?.abort();
    place.waiting = undefined;
    session.write(`JOIN ${place.name}${place.key === undefined ? "" : ` ${place.key}`}`).catch(() => {});
  }

  /** Tries again in a while; each time in a row it takes longer. */
  function lost(place: Place, why: string, firstMs: number): void {
    place.joined = false;
    place.why = why;
    const ms = Math.min(firstMs * 2 ** place.failures, LONGEST_MS);
    place.failures += 1;
    place.waiting?.abort();
    const mine = (place.waiting = new AbortController());
    log.warn(`not in ${place.name}: ${why}; the next attempt is in ${ms / 1000} s`);
    void waiting.sleep(ms, AbortSignal.any([mine.signal, session.signal])).then(() => {
      if (!mine.signal.aborted && !session.signal.aborted) ask(place);
    });
    changed();
  }

  function joined(place: Place): void {
    place.waiting?.abort();
    Object.assign(place, { joined: true, why: undefined, waiting: undefined });
    changed();
  }

  return {
    begin() {
      for (const channel of channels) places.set(session.lower(channel.name), { ...channel, joined: false, why: "not yet", failures: 0, waiting: undefined });
      for (const place of places.values()) ask(place);
    },
    saw(message) {
      const { command, params, nick } = message;
      if (command === "INVITE") {
        const place = placeOf(params[1]);
        if (place && !place.joined) ask(place);
      } else if (command === "KICK") {
        const place = placeOf(params[0]);
        if (place && session.isUs(params[1] ?? "")) lost(place, `${nick || "the server"} put us out (${saysOf(message)})`, KICKED_MS);
      } else if (command === "JOIN" || command === "PART") {
        const place = placeOf(params[0]);
        if (!place || !session.isUs(nick)) return;
        if (command === "JOIN") joined(place);
        else lost(place, "we left", KICKED_MS);
      } else if (REFUSALS.has(command)) {
        const place = placeOf(params[1]);
        if (place && !place.joined) lost(place, `${saysOf(message)} (${command})`, REFUSED_MS);
      } else if (command === "366") {
        // We stay: the next time somebody puts us out is the first one again.
        const place = placeOf(params[1]);
        if (place) void waiting.sleep(LONGEST_MS, session.signal).then(() => void (place.joined && (place.failures = 0)));
      }
    },
    states: () => [...places.values()].map(({ name, joined: isIn, why }) => ({ name, joined: isIn, why })),
  };
}
