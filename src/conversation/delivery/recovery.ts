/**
 * Whether an account works again after sends that may have arrived: the one repeat of such a message is not spent while the trouble lasts. A channel
 * that can check one chat is believed for that chat alone: others may work while it does not.
 */
import { isRecord } from "../../base/records.ts";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { ChannelPlugin } from "../../protocol/index.ts";
import type { OutboxRow } from "../../store/index.ts";
import type { DeliveryDeps, DeliveryLimits } from "./delivery.ts";

type Account = Pick<OutboxRow, "channel" | "account">;
type Target = Pick<OutboxRow, "channel" | "account" | "target">;

/** A failed send. */
export interface KnownFailure {
  /** Failures of one chat are counted, or those of one account where the channel cannot check a chat. */
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

interface TroubleState {
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

const accountKey = ({ channel, account }: Account): string => `${channel}\0${account}`;

/** Lanes of an account look again, or the one of a target. */
type Wake = (accountKey: string, target?: string) => void;

function createTroubleStates({ clock, table }: Pick<DeliveryDeps, "clock" | "table">, limits: Pick<DeliveryLimits, "repeatMs">, wake: Wake) {
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

  /** What decides about a target: its chat, where that can be checked. */
  function stateOf(target: Target): TroubleState {
    const { own, chats } = accountOf(target);
    if (!isByChat(target.channel)) return own;
    let found = chats.get(target.target);
    if (!found) chats.set(target.target, (found = newState()));
    return found;
  }

  function noteWorked(state: TroubleState): boolean {
    const news = state.worked < state.failures;
    state.worked = state.failures;
    state.pauseMs = limits.repeatMs;
    return news;
  }

  function worked(target: Target): void {
    const { own, chats } = accountOf(target);
    const chat = chats.get(target.target);
    const isNewsOfChat = chat !== undefined && noteWorked(chat);
    const isNews = noteWorked(own);
    if (isNews) {
      // What works in one chat is a reason to ask about the others now.
      for (const other of chats.values()) {
        if (other.worked >= other.failures) continue;
        other.askAt = Math.min(other.askAt, other.failures === 0 ? 0 : other.failedAt + limits.repeatMs);
        other.pauseMs = limits.repeatMs;
      }
      wake(accountKey(target));
    } else if (isNewsOfChat) wake(accountKey(target), target.target);
  }

  return {
    accountOf,
    stateOf,
    worked,
    failed(target: Target): KnownFailure {
      const state = stateOf(target);
      const { own } = accountOf(target);
      // The first question comes after the shortest pause; later failures do not put it off.
      if (state.worked >= state.failures || state.failures === 0) state.askAt = Math.max(state.askAt, clock.monotonic() + limits.repeatMs);
      state.failures += 1;
      state.failedAt = clock.monotonic();
      if (state !== own) own.failures += 1;
      return { number: state.failures, at: clock.now() };
    },
    disconnected(target: Target): void {
      const { own, chats } = accountOf(target);
      own.wasAway = true;
      for (const chat of chats.values()) chat.wasAway = true;
    },
    isInTrouble: (key: string): boolean => {
      const own = accounts.get(key)?.own;
      return own !== undefined && own.failures > Math.max(own.worked, 0);
    },
  };
}

/** One of a process before this one: anything that works now came later. */
export const EARLIER_FAILURE: KnownFailure = { number: 0, at: 0 };

type TroubleCheck =
  /** The chat was seen to work after the failure; where it cannot be checked, its account. */
  | { readonly isOver: true }
  /** Look again after `ms`, or when the account's lanes are woken. `canAsk`: the channel can be asked whether it works. */
  | { readonly isOver: false; readonly ms: number; readonly canAsk: boolean };

export interface Recovery {
  /** A send failed for a reason that may concern other messages as well. */
  failed(target: Target): KnownFailure;
  /** A send succeeded. */
  worked(target: Target): void;
  /** The account is not connected at the moment. */
  disconnected(target: Target): void;
  /** Whether the last thing known of an account is a failure. */
  isInTrouble(accountKey: string): boolean;
  /** Whether the row's chat works again since a failure of the row. Asks the platform, where its channel can and the time for it has come. */
  check(row: OutboxRow, since: KnownFailure): TroubleCheck;
}

type Question = (signal: AbortSignal) => Promise<void>;

const LONGEST_PAUSE_MS = 60_000;
const QUESTION_MS = 15_000;
/** Questions of one account that are open at once. */
const MOST_QUESTIONS = 4;
/** When all of these are taken, the next one looks again after this time. */
const CROWDED_MS = 1000;

/** How long what may have arrived waits at least: where the platform cannot be asked, for long. */
export function repeatPauseMs(plugin: ChannelPlugin | undefined, { repeatMs, blindMs }: Pick<DeliveryLimits, "repeatMs" | "blindMs">): number {
  return plugin?.outbound?.checkSend !== undefined || plugin?.status?.probeAccount !== undefined ? repeatMs : blindMs;
}

/** What asks the platform: the channel's own check of sending, or the probe of its status. */
function questionOf(plugin: ChannelPlugin | undefined, row: OutboxRow, config: DeliveryDeps["config"]): Question | undefined {
  const { outbound, status } = plugin ?? {};
  if (outbound?.checkSend) return async (signal) => outbound.checkSend?.({ cfg: config(), to: row.target, accountId: row.account, signal });
  if (!plugin || !status?.probeAccount) return undefined;
  return async () => {
    const cfg = config();
    const answer: unknown = await status.probeAccount?.({ account: plugin.config.resolveAccount(cfg, row.account), timeoutMs: QUESTION_MS, cfg });
    if (isRecord(answer) && answer["ok"] === false) throw new Error("the probe failed");
  };
}

/** Ends within its time, whatever the channel does. */
async function ask(question: Question, clock: Clock): Promise<boolean> {
  const limit = new AbortController();
  const late = Promise.withResolvers<boolean>();
  using _timer = clock.after(QUESTION_MS, () => {
    limit.abort();
    late.resolve(false);
  });
  const asked = (async () => question(limit.signal))();
  return Promise.race([
    asked.then(
      () => true,
      () => false,
    ),
    late.promise,
  ]);
}

export function createRecovery(deps: DeliveryDeps, limits: Pick<DeliveryLimits, "repeatMs">, wake: Wake): Recovery {
  const { clock, table, activity, log } = deps;
  const { accountOf, stateOf, worked, ...states } = createTroubleStates(deps, limits, wake);

  /** Whether something came in since the failure, or the account was away and is back. Each such sign counts once. */
  function isHeard(state: TroubleState, row: OutboxRow, since: KnownFailure): boolean {
    const { channel, account } = row;
    if (table.receiving?.(channel, account) === false) {
      state.wasAway = true;
      return false;
    }
    const inboundAt = activity?.get?.({ channel, accountId: account }).inboundAt ?? 0;
    const heard = state.wasAway || (inboundAt > since.at && inboundAt > state.heardAt);
    state.wasAway = false;
    state.heardAt = Math.max(state.heardAt, inboundAt);
    return heard;
  }

  function start(question: Question, row: OutboxRow, state: TroubleState): void {
    const account = accountOf(row);
    state.isAsking = true;
    account.questions += 1;
    void ask(question, clock).then((works) => {
      state.isAsking = false;
      account.questions -= 1;
      if (works) return worked(row);
      state.askAt = clock.monotonic() + state.pauseMs;
      state.pauseMs = Math.min(state.pauseMs * 2, LONGEST_PAUSE_MS);
      log.debug(`${row.channel}:${row.account} does not accept messages yet`, { channel: row.channel, accountId: row.account });
      if (state === account.own) wake(accountKey(row));
      else wake(accountKey(row), row.target);
    });
  }

  return {
    ...states,
    worked,
    check(row, since) {
      const state = stateOf(row);
      if (state.worked >= since.number) return { isOver: true };
      const plugin = table.get(row.channel);
      const heard = isHeard(state, row, since);
      // A channel that can check sending knows better than what comes in: one direction may work without the other.
      if (heard && !plugin?.outbound?.checkSend) {
        worked(row);
        return { isOver: true };
      }
      let question: Question | undefined;
      try {
        question = questionOf(plugin, row, deps.config);
      } catch (error) {
        log.warn(`${row.channel}:${row.account} cannot be probed: ${messageOf(error)}`);
      }
      if (!question) return { isOver: false, ms: LONGEST_PAUSE_MS, canAsk: false };
      if (heard) state.askAt = Math.min(state.askAt, clock.monotonic());
      const isDue = !state.isAsking && clock.monotonic() >= state.askAt;
      if (isDue && accountOf(row).questions >= MOST_QUESTIONS) return { isOver: false, ms: CROWDED_MS, canAsk: true };
      if (isDue) start(question, row, state);
      return { isOver: false, ms: state.isAsking ? LONGEST_PAUSE_MS : Math.max(1, state.askAt - clock.monotonic()), canAsk: true };
    },
  };
}
