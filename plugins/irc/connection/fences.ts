/**
 * IRC has no receipts, but a server deals with lines in their order: when it has answered a PING that followed a message, it has dealt with the
 * message, and if it refused it, the refusal came before.
 */
import { asChannelError, messageOf, notSent, unfit, unsure, type Waiting } from "openclaw/plugin-sdk/channel-kit";
import type { IrcMessage } from "./library.ts";
import { serverText } from "./registration.ts";
import type { Session } from "./session.ts";

export interface Fences {
  /** Resolves when the server has dealt with the message. Rejects with a `ChannelError` that says what became of it. */
  send(target: string, text: string): Promise<void>;
  /** A line of the server. */
  saw(message: IrcMessage): void;
}

/** No such nick, no such channel, cannot send there, too many targets, not on that channel, restricted, must be registered, … */
const REFUSALS: ReadonlySet<string> = new Set([
  "401",
  "402",
  "403",
  "404",
  "407",
  "408",
  "411",
  "412",
  "413",
  "414",
  "415",
  "442",
  "477",
  "482",
  "486",
  "489",
  "492",
  "494",
  "531",
  "716",
  "717",
]);
/** Too many targets in a while. */
const LATER: ReadonlySet<string> = new Set(["439", "707"]);
const LATER_MS = 60_000;
/** Without an answer for so long nobody knows. */
const PATIENCE_MS = 60_000;

interface Pending {
  readonly target: string;
  readonly token: string;
  settle(error?: Error): void;
}

export function createFences(session: Session, waiting: Waiting): Fences {
  const pending = new Set<Pending>();
  let count = 0;

  async function send(target: string, text: string): Promise<void> {
    count += 1;
    const token = `oc${count}`;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const done = new AbortController();
    const one: Pending = { target: session.lower(target), token, settle: (error) => (error ? reject(error) : resolve()) };
    if (session.signal.aborted) throw notSent("send", "not connected");
    pending.add(one);
    const lost = (): void => one.settle(unsure("send", `the connection was lost before the server had processed a message to ${target}`));
    session.signal.addEventListener("abort", lost, { once: true });
    try {
      session
        .write(`PRIVMSG ${target} :${text}`)
        .catch((error: unknown) => one.settle(asChannelError(error) ?? unsure("send", `a message to ${target} may not have been sent: ${messageOf(error)}`)));
      session.write(`PING :${token}`).catch(() => {});
      void waiting
        .sleep(PATIENCE_MS, done.signal)
        .then(() => one.settle(unsure("send", `the server did not confirm a message to ${target} within ${PATIENCE_MS / 1000} s`)));
      await promise;
    } finally {
      done.abort();
      pending.delete(one);
      session.signal.removeEventListener("abort", lost);
    }
  }

  return {
    send,
    saw(message) {
      const { command, params } = message;
      if (command === "PONG") {
        const token = params.at(-1);
        for (const one of pending) if (one.token === token) one.settle();
        return;
      }
      const isLater = LATER.has(command);
      if (!isLater && !REFUSALS.has(command)) return;
      const about = session.lower(params[1] ?? "");
      const [one] = [...pending].filter(({ target }) => target === about);
      one?.settle(
        isLater
          ? notSent("send", `the server asks to slow down: ${serverText(message)}`, LATER_MS)
          : unfit("send", `${params[1]} cannot be written to: ${serverText(message)} (${command})`, `IRC_${command}`),
      );
    },
  };
}
