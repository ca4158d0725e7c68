/** What is known of accounts whose sends failed: of each account, and of its chats where the channel can check them one by one. */
import type { OutboxRow } from "../../store/index.ts";
import type { DeliveryDeps, DeliveryLimits } from "./deps.ts";

type Account = Pick<OutboxRow, "channel" | "account">;
export type Place = Pick<OutboxRow, "channel" | "account" | "target">;

/** A failed send. */
export interface KnownFailure {
  /** Failures of one chat are counted, or those of one account where the channel cannot check a chat. */
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface TroubleState {
  failures: number;
  /** Monotonic time of the last one. */
  failedAt: number;
  /** The last failure after which it was seen to work; -1: it was not seen to work yet. */
  worked: number;
  wasAway: boolean;
  /** Of the last message that came in, as far as it was looked at. */
  heardAt: number;
  isAsking: boolean;
  /** Monotonic time of the next question. */
  askAt: number;
  pauseMs: number;
}

/** What is known of one account: of itself, and of its chats that had trouble where the channel can check them one by one. */
interface AccountStates {
  readonly own: TroubleState;
  readonly chats: Map<string, TroubleState>;
  questions: number;
}

export const accountKey = ({ channel, account }: Account): string => `${channel}\0${account}`;

/** Lanes of an account look again, or the one of a target. */
export type Wake = (accountKey: string, target?: string) => void;

export function createTroubleStates({ clock, table }: Pick<DeliveryDeps, "clock" | "table">, limits: Pick<DeliveryLimits, "repeatMs">, wake: Wake) {
  const accounts = new Map<string, AccountStates>();

  const newState = (): TroubleState => ({
    failures: 0,
    failedAt: 0,
    worked: -1,
    wasAway: false,
    heardAt: 0,
    isAsking: false,
    askAt: 0,
    pauseMs: limits.repeatMs,
  });

  function accountOf(account: Account): AccountStates {
    const key = accountKey(account);
    let found = accounts.get(key);
    if (!found) accounts.set(key, (found = { own: newState(), chats: new Map(), questions: 0 }));
    return found;
  }

  const isByChat = (channel: string): boolean => table.get(channel)?.outbound?.checkSend !== undefined;

  /** What decides about a place: its chat, where that can be checked. */
  function stateOf(place: Place): TroubleState {
    const { own, chats } = accountOf(place);
    if (!isByChat(place.channel)) return own;
    let found = chats.get(place.target);
    if (!found) chats.set(place.target, (found = newState()));
    return found;
  }

  function noteWorked(state: TroubleState): boolean {
    const news = state.worked < state.failures;
    state.worked = state.failures;
    state.pauseMs = limits.repeatMs;
    return news;
  }

  function worked(place: Place): void {
    const { own, chats } = accountOf(place);
    const chat = chats.get(place.target);
    const isNewsOfChat = chat !== undefined && noteWorked(chat);
    const isNews = noteWorked(own);
    if (isNews) {
      // What works in one chat is a reason to ask about the others now.
      for (const other of chats.values()) {
        if (other.worked >= other.failures) continue;
        other.askAt = Math.min(other.askAt, other.failures === 0 ? 0 : other.failedAt + limits.repeatMs);
        other.pauseMs = limits.repeatMs;
      }
      wake(accountKey(place));
    } else if (isNewsOfChat) wake(accountKey(place), place.target);
  }

  return {
    accountOf,
    stateOf,
    worked,
    failed(place: Place): KnownFailure {
      const state = stateOf(place);
      const { own } = accountOf(place);
      // The first question comes after the shortest pause; later failures do not put it off.
      if (state.worked >= state.failures || state.failures === 0) state.askAt = Math.max(state.askAt, clock.monotonic() + limits.repeatMs);
      state.failures += 1;
      state.failedAt = clock.monotonic();
      if (state !== own) own.failures += 1;
      return { number: state.failures, at: clock.now() };
    },
    disconnected(place: Place): void {
      const { own, chats } = accountOf(place);
      own.wasAway = true;
      for (const chat of chats.values()) chat.wasAway = true;
    },
    isInTrouble: (key: string): boolean => {
      const own = accounts.get(key)?.own;
      return own !== undefined && own.failures > Math.max(own.worked, 0);
    },
  };
}
