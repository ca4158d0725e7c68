import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log/logger.ts";
import { FAILED, RESTARTING, STOPPING, type StopReason } from "../stop-reason.ts";
import type { Conversation } from "../../conversation/index.ts";
import type { Gateway } from "../create-gateway.ts";
import { waitUntil } from "./wait.ts";

/** How long requests and runs may go on once nothing new is taken. */
const DRAIN_MS = 10_000;
const LOOK_MS = 10;
/** What runs when the process shall end may go on for this long. Supervisors that kill after 10 s leave time to say that it goes on later. */
const GRACE_MS = 9500;

/** For callers to be notified that what they wait for continues after the restart. */
const LAST_WORDS_MS = 500;

interface Draining {
  readonly gateway: Pick<Gateway, "drain" | "disconnect" | "answering">;
  readonly conversation: Pick<Conversation, "drain">;
}

/**
 * Lets turns and requests over HTTP end, within the grace; nothing new is taken meanwhile. Callers of what is left are notified, not cut off. Clients are
 * disconnected at once: they come back by themselves and ask for what they missed.
 */
async function drainGateway(
  { gateway, conversation }: Draining,
  reason: StopReason,
  { clock, graceMs }: { readonly clock: Clock; readonly graceMs: number },
): Promise<void> {
  gateway.drain(reason);
  const disconnected = gateway.disconnect();
  const isAnswered = (): boolean => gateway.answering() === 0;
  await Promise.all([disconnected, conversation.drain(graceMs), waitUntil(isAnswered, { clock, everyMs: LOOK_MS, forMs: graceMs })]);
  await waitUntil(isAnswered, { clock, everyMs: LOOK_MS, forMs: LAST_WORDS_MS });
}

/** A gateway that runs, and the conversations behind it. */
interface Running {
  readonly gateway: Pick<Gateway, "running" | "drain" | "disconnect" | "answering">;
  readonly conversation: Pick<Conversation, "running" | "drain">;
  /** Takes nothing new, and announces to the clients that it comes back. */
  announceRestart(): void;
  /** Closes the connections and the port. */
  closeForRestart(): Promise<void>;
}

/** Closes a gateway that comes back: accepts nothing new, notifies clients, finishes what was begun within the limit, closes the connections. */
async function closeForRestart(open: Running, { clock, log }: { readonly clock: Clock; readonly log: Logger }): Promise<void> {
  open.announceRestart();
  const isDone = (): boolean => open.gateway.running() + open.conversation.running() === 0;
  if (!(await waitUntil(isDone, { clock, everyMs: LOOK_MS, forMs: DRAIN_MS }))) {
    log.warn(`${open.gateway.running()} requests and ${open.conversation.running()} runs were not finished before the restart; runs resume after it`);
  }
  // Callers that wait over HTTP for one of them are notified; clients are gone by then, and ask again.
  await drainGateway(open, RESTARTING, { clock, graceMs: 0 });
  await open.closeForRestart();
}

interface EndDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Why the gateway cannot go on, once it cannot. */
  readonly failed: Promise<string>;
}

interface Ends {
  closeForRestart(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The two ways a gateway goes down, and what it was built of with it. */
export function endOf(open: Running, built: AsyncDisposableStack, deps: EndDeps): Ends {
  let reason: StopReason = STOPPING;
  void deps.failed.then(() => (reason = FAILED));
  return {
    async closeForRestart() {
      await closeForRestart(open, deps);
      await built.disposeAsync();
    },
    async [Symbol.asyncDispose]() {
      await drainGateway(open, reason, { clock: deps.clock, graceMs: GRACE_MS });
      await built.disposeAsync();
    },
  };
}
