import type { Clock } from "../../base/clock.ts";
import type { Conversation } from "../../conversation/index.ts";
import type { Gateway } from "../create-gateway.ts";
import type { StopReason } from "../stop-reason.ts";
import { waitUntil } from "./wait.ts";

const LOOK_MS = 10;
/** For callers to be told that what they wait for goes on after the restart. */
const LAST_WORDS_MS = 500;

interface Draining {
  readonly gateway: Pick<Gateway, "drain" | "disconnect" | "answering">;
  readonly conversation: Pick<Conversation, "drain">;
}

/**
 * Lets turns and requests over HTTP end, within the grace; nothing new is taken meanwhile. What is left of them is told, not cut off. Clients are
 * disconnected at once: they come back by themselves and ask for what they missed.
 */
export async function drainGateway(
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
