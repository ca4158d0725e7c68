/** What becomes of messages of the bot: refused, limited, or taken. */
import { Refused } from "./objects.ts";
import type { SendResult } from "./world.ts";

export interface Outcomes {
  /** The next so many messages end like this, without an effect. */
  next(result: SendResult, times?: number): void;
  /** So many messages in this time; more are refused. Undefined: all are taken. */
  limit(limit: { readonly messages: number; readonly perMs: number } | undefined): void;
  /** How the message that is sent now ends. */
  take(): SendResult;
}

export function createOutcomes(): Outcomes {
  let waiting: SendResult[] = [];
  let limit: { readonly messages: number; readonly perMs: number } | undefined;
  let taken: number[] = [];
  return {
    next: (result, times = 1) => void waiting.push(...Array.from({ length: times }, () => result)),
    limit(next) {
      limit = next;
      taken = [];
    },
    take() {
      const [first, ...rest] = waiting;
      waiting = rest;
      if (first) return first;
      if (!limit) return { type: "SUCCESS" };
      const { messages, perMs } = limit;
      const now = Date.now();
      taken = taken.filter((at) => at > now - perMs);
      if (taken.length >= messages) return { type: "RATE_LIMIT_FAILURE", retryAfterSeconds: Math.ceil((taken[0]! + perMs - now) / 1000) };
      taken.push(now);
      return { type: "SUCCESS" };
    },
  };
}

const MESSAGES: Readonly<Record<string, readonly [code: number, text: string]>> = {
  UNREGISTERED_FAILURE: [-1, "Failed to send message"],
  NETWORK_FAILURE: [-1, "Failed to send message"],
  INVALID_PRE_KEY_FAILURE: [-1, "Failed to send message"],
  IDENTITY_FAILURE: [-4, "Failed to send message due to untrusted identities"],
  RATE_LIMIT_FAILURE: [-5, "Failed to send message due to rate limiting"],
};

/** As signal-cli reports that nobody got a message. */
export function refusalOf(result: SendResult, timestamp: number, recipient: string): Refused {
  const [code, text] = MESSAGES[result.type] ?? [-2, "Unexpected error"];
  return new Refused(code, text, { response: { timestamp, results: [{ recipientAddress: { number: recipient }, ...result }] } });
}
