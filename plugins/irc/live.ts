/** The connections that stand, and sending over them. */
import type { IrcAccount } from "./account.ts";
import type { Fences } from "./connection/fences.ts";
import type { Joins } from "./connection/joins.ts";
import type { Session } from "./connection/session.ts";
import { IrcError, notSent, refused, unsure } from "./failure.ts";
import { linesOf, bytesLeftFor } from "./outbound/lines.ts";
import type { Pacing } from "./outbound/pacing.ts";
import { parseTarget } from "./target.ts";
import type { Waiting } from "./waiting.ts";

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
  if (!line) throw notSent("IRC is not connected", AGAIN_MS);
  const { session, fences, pacing, account } = line;
  const lines = linesOf(text, bytesLeftFor(name, session.prefix, account.textLimit));
  if (lines.length === 0) throw refused("a message for IRC needs a text", "INVALID_INPUT");
  const either = AbortSignal.any([signal, session.signal]);
  let sent = 0;
  try {
    for (const one of lines) {
      if (!(await pacing.turn(either)))
        throw notSent(session.signal.aborted ? "the connection broke before the message could be sent" : "it was called off", AGAIN_MS);
      await fences.send(name, one);
      sent += 1;
    }
  } catch (error) {
    // Trying again would repeat what is there already.
    if (sent > 0 && error instanceof IrcError && error.delivery.state === "retry")
      throw unsure(`${sent} of ${lines.length} lines were sent to ${name}: ${error.message}`);
    throw error;
  }
  return { target: name, lines: sent };
}
