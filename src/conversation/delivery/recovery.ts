/** Whether an account works again after sends that may have arrived: the one repeat of such a message is not spent while the trouble lasts. */
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { ChannelPlugin } from "../../protocol/index.ts";
import type { OutboxRow } from "../../store/index.ts";
import type { DeliveryDeps, DeliveryLimits } from "./deps.ts";

type Account = Pick<OutboxRow, "channel" | "account">;

/** A failed send of an account. */
export interface AccountFailure {
  /** Failures of one account are counted. */
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** One of a process before this one: anything that works now came later. */
export const EARLIER_FAILURE: AccountFailure = { number: 0, at: 0 };

export type TroubleCheck =
  /** The account was seen to work after the failure. */
  | { readonly isOver: true }
  /** Look again after `ms`, or when the account's lanes are woken. `canAsk`: the channel can tell whether it works. */
  | { readonly isOver: false; readonly ms: number; readonly canAsk: boolean };

export interface Recovery {
  /** A send failed for a reason that may concern other messages as well. */
  failed(account: Account): AccountFailure;
  /** A send succeeded. */
  worked(account: Account): void;
  /** The account is not connected at the moment. */
  disconnected(account: Account): void;
  /** Whether the last thing known of an account is a failure. */
  isInTrouble(accountKey: string): boolean;
  /** Whether the account works again since a failure of the row. Asks the platform, where its channel can and the time for it has come. */
  check(row: OutboxRow, since: AccountFailure): TroubleCheck;
}

interface State {
  failures: number;
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

type Question = (signal: AbortSignal) => Promise<void>;

const LONGEST_PAUSE_MS = 60_000;
const QUESTION_MS = 15_000;

export const accountKey = ({ channel, account }: Account): string => `${channel}\0${account}`;

/** What asks the platform: the channel's own check of sending, or the probe of its status. */
function questionOf(plugin: ChannelPlugin | undefined, row: OutboxRow, config: DeliveryDeps["config"]): Question | undefined {
  const { outbound, status } = plugin ?? {};
  if (outbound?.checkSend) return (signal) => outbound.checkSend!({ cfg: config(), to: row.target, accountId: row.account, signal });
  if (!plugin || !status?.probeAccount) return undefined;
  return async () => {
    const cfg = config();
    const answer: unknown = await status.probeAccount!({ account: plugin.config.resolveAccount(cfg, row.account), timeoutMs: QUESTION_MS, cfg });
    if ((answer as { readonly ok?: unknown } | undefined)?.ok === false) throw new Error("the probe failed");
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

/** `wake`: lanes of the account look again. */
export function createRecovery(deps: DeliveryDeps, limits: Pick<DeliveryLimits, "repeatMs">, wake: (accountKey: string) => void): Recovery {
  const { clock, table, activity, log } = deps;
  const states = new Map<string, State>();

  function stateOf(account: Account): State {
    const key = accountKey(account);
    let found = states.get(key);
    if (!found) {
      found = { failures: 0, worked: -1, wasAway: false, heardAt: 0, isAsking: false, askAt: 0, pauseMs: limits.repeatMs };
      states.set(key, found);
    }
    return found;
  }

  function worked(account: Account): void {
    const state = stateOf(account);
    const news = state.worked < state.failures;
    state.worked = state.failures;
    state.pauseMs = limits.repeatMs;
    if (news) wake(accountKey(account));
  }

  /** Whether something came in since the failure, or the account was away and is back. Each such sign counts once. */
  function isHeard(state: State, row: OutboxRow, since: AccountFailure): boolean {
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

  function start(question: Question, row: OutboxRow, state: State): void {
    state.isAsking = true;
    void ask(question, clock).then((works) => {
      state.isAsking = false;
      if (works) return worked(row);
      state.askAt = clock.monotonic() + state.pauseMs;
      state.pauseMs = Math.min(state.pauseMs * 2, LONGEST_PAUSE_MS);
      log.debug(`${row.channel}:${row.account} does not take messages yet`, { channel: row.channel, accountId: row.account });
      wake(accountKey(row));
    });
  }

  return {
    failed(account) {
      const state = stateOf(account);
      // The first question comes after the shortest pause; later failures do not put it off.
      if (state.worked >= state.failures || state.failures === 0) state.askAt = Math.max(state.askAt, clock.monotonic() + limits.repeatMs);
      state.failures += 1;
      return { number: state.failures, at: clock.now() };
    },
    worked,
    disconnected: (account) => void (stateOf(account).wasAway = true),
    isInTrouble: (key) => {
      const state = states.get(key);
      return state !== undefined && state.failures > Math.max(state.worked, 0);
    },
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
        log.warn(`${row.channel}:${row.account} cannot be asked whether it works: ${messageOf(error)}`);
      }
      if (!question) return { isOver: false, ms: LONGEST_PAUSE_MS, canAsk: false };
      if (!state.isAsking && (heard || clock.monotonic() >= state.askAt)) start(question, row, state);
      return { isOver: false, ms: state.isAsking ? LONGEST_PAUSE_MS : Math.max(1, state.askAt - clock.monotonic()), canAsk: true };
    },
  };
}
