/** The connections that stand, and sending over them. */
import { asChannelError, notSent, unfit, unsure, type Waiting } from "openclaw/plugin-sdk/channel-kit";
import type { IrcAccount } from "./account.ts";
import type { Fences } from "./connection/fences.ts";
import type { Joins } from "./connection/joins.ts";
import type { Session } from "./connection/session.ts";
import { bytesLeftFor, linesOf } from "./lines.ts";
import { parseTarget } from "./target.ts";

/** Servers drop clients that write too fast: so many lines at once, then one in a while. */
export interface Pacing {
  /** Resolves when a line may go out, in the order of asking. False: the signal fired before. */
  turn(signal: AbortSignal): Promise<boolean>;
}

export function createPacing({ burst, intervalMs }: { readonly burst: number; readonly intervalMs: number }, waiting: Waiting): Pacing {
  /** When the allowance is full again. */
  let fullAt = 0;
  let last: Promise<unknown> = Promise.resolve();
  async function wait(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    const now = waiting.now();
    const early = fullAt - now - (burst - 1) * intervalMs;
    if (early > 0) await waiting.sleep(early, signal);
    if (signal.aborted) return false;
    fullAt = Math.max(fullAt, now) + intervalMs;
    return true;
  }
  return {
    turn(signal) {
      const mine = last.then(() => wait(signal));
      last = mine;
      return mine;
    },
  };
}

export interface Line {
  readonly session: Session;
  readonly fences: Fences;
  readonly joins: Joins;
  readonly pacing: Pacing;
  readonly account: IrcAccount;
  readonly waiting: Waiting;
}

export interface Live {
  of(accountId: string): Line | undefined;
  set(accountId: string, line: Line | undefined): void;
}

export function createLive(): Live {
  const lines = new Map<string, Line>();
  return {
    of: (accountId) => lines.get(accountId),
    set: (accountId, line) => void (line ? lines.set(accountId, line) : lines.delete(accountId)),
  };
}

/** When a connection may be there again. */
const AGAIN_MS = 2000;

const never = new AbortController().signal;

/** Sends plain text, each line a message. Resolves when the server has dealt with all of them. */
export async function sendPlain(
  line: Line | undefined,
  to: string,
  text: string,
  signal: AbortSignal = never,
): Promise<{ readonly target: string; readonly lines: number }> {
  const { name } = parseTarget(to);
  if (!line) throw notSent("send", "IRC is not connected", AGAIN_MS);
  const { session, fences, pacing, account } = line;
  const lines = linesOf(text, bytesLeftFor(name, session.prefix, account.textLimit));
  if (lines.length === 0) throw unfit("send", "a message for IRC needs a text");
  const either = AbortSignal.any([signal, session.signal]);
  let sent = 0;
  try {
    for (const one of lines) {
      if (!(await pacing.turn(either)))
        throw notSent("send", session.signal.aborted ? "the connection was lost before the message could be sent" : "it was cancelled", AGAIN_MS);
      await fences.send(name, one);
      sent += 1;
    }
  } catch (error) {
    // Trying again would repeat what is there already.
    const failure = asChannelError(error);
    if (sent > 0 && failure?.delivery.state === "retry") throw unsure("send", `${sent} of ${lines.length} lines were sent to ${name}: ${failure.message}`);
    throw error;
  }
  return { target: name, lines: sent };
}
