import type { Link } from "../../../link/link.ts";
import { failureText } from "../../../link/failure.ts";
import { sentBytes, tooMuch } from "./message-size.ts";
import type { Outbox, Unsent } from "./outbox.ts";
import { t } from "../../../words/words.ts";

/** What became of a message: the gateway has it, will never take it, or is to be asked again. */
export type Outcome =
  | { readonly kind: "accepted" }
  | { readonly kind: "refused"; readonly error: string }
  | { readonly kind: "later"; readonly afterMs: number };

export interface DeliveryOptions {
  readonly link: Pick<Link, "state" | "hello" | "request">;
  readonly outbox: Outbox;
  now(): number;
}

/** Hands messages to the gateway. One that breaks the connection each time it is sent is given up: sending it on and on would help nobody. */
export interface Delivery {
  deliver(message: Unsent): Promise<Outcome>;
  /** What was kept for other sessions is sent, too; their pages show it. */
  deliverOthers(sessionKey: string): Promise<void>;
}

interface Failed {
  readonly details?: {
    readonly protocolCode?: string;
    readonly retryable?: boolean;
    readonly retryAfterMs?: number;
    readonly payload?: { readonly runId?: string };
    readonly closeCode?: number;
  };
}

const RETRY_MS = 2000;
const ANSWER_MS = 30_000;
/** The slowest line on which a large message still arrives. */
const BYTES_PER_MS = 25;
/** A connection that breaks this soon after a message was sent broke because of it, if that happens twice. */
const AT_ONCE_MS = 5000;
const MOST_BREAKS = 2;
const TOO_BIG = 1009;
/** The gateway ends or restarts: no message is to blame. */
const PEACEFUL: ReadonlySet<number> = new Set([1000, 1001, 1012, 1013]);

const FILES_GONE = t("Its files are no longer in this browser. Attach them again.");
const TOO_BIG_ON_THE_WAY = t("The message is larger than the gateway, or a proxy in front of it, allows. Shorten it or remove files.");
const BREAKS = t("The connection dropped twice while sending this, so it is not retried automatically. Try again, shorten the message or remove files.");

const detailsOf = (error: unknown): NonNullable<Failed["details"]> => ((error ?? {}) as Failed).details ?? {};

/** What an error of `chat.send` means for its message. */
function outcomeOf(error: unknown, runId: string): Outcome {
  const { payload, protocolCode, retryable, retryAfterMs, closeCode } = detailsOf(error);
  // It was accepted before, and its run failed.
  if (payload?.runId === runId) return { kind: "accepted" };
  if (closeCode === TOO_BIG) return { kind: "refused", error: TOO_BIG_ON_THE_WAY };
  if (protocolCode === undefined || retryable) return { kind: "later", afterMs: retryAfterMs ?? RETRY_MS };
  return { kind: "refused", error: failureText(error) };
}

export function createDelivery({ link, outbox, now }: DeliveryOptions): Delivery {
  /** How often in a row the connection broke as soon as a message was sent. */
  const breaks = new Map<string, number>();

  function failed(error: unknown, runId: string, tookMs: number): Outcome {
    const outcome = outcomeOf(error, runId);
    const { closeCode } = detailsOf(error);
    const broke = outcome.kind === "later" && closeCode !== undefined && !PEACEFUL.has(closeCode) && tookMs <= AT_ONCE_MS;
    const times = broke ? (breaks.get(runId) ?? 0) + 1 : 0;
    if (times > 0 && times < MOST_BREAKS) breaks.set(runId, times);
    else breaks.delete(runId);
    return times < MOST_BREAKS ? outcome : { kind: "refused", error: BREAKS };
  }

  async function deliver(message: Unsent): Promise<Outcome> {
    const { runId, sessionKey, text, thinking, edits } = message;
    const attachments = await outbox.attachments(message).catch(() => undefined);
    if (!attachments) {
      // Gone with the message: another tab has sent it.
      return outbox.all().some((kept) => kept.runId === runId) ? { kind: "refused", error: FILES_GONE } : { kind: "accepted" };
    }
    const much = tooMuch({ text, attachments }, link.hello?.policy.maxPayload);
    if (much !== undefined) return { kind: "refused", error: t`${much} Shorten it or remove files.` };
    const extra = {
      ...(attachments.length === 0 ? {} : { attachments }),
      ...(thinking === undefined ? {} : { thinking }),
      ...(edits === undefined ? {} : { edits }),
    };
    const timeoutMs = ANSWER_MS + sentBytes({ text, attachments }) / BYTES_PER_MS;
    const began = now();
    try {
      // Whether it is sent again is decided here, where it is known how often that was tried.
      await link.request("chat.send", { sessionKey, message: text, idempotencyKey: runId, ...extra }, { resend: false, timeoutMs });
      breaks.delete(runId);
      return { kind: "accepted" };
    } catch (failure) {
      const outcome = failed(failure, runId, now() - began);
      // What was changed above while an answer is written does not wait for it: the user decides again.
      const isRefused = edits !== undefined && outcome.kind === "later" && detailsOf(failure).protocolCode !== undefined;
      return isRefused ? { kind: "refused", error: failureText(failure) } : outcome;
    }
  }

  return {
    deliver,
    async deliverOthers(sessionKey) {
      for (const message of outbox.all()) {
        if (message.sessionKey === sessionKey || message.error !== undefined) continue;
        const outcome = await deliver(message);
        if (outcome.kind === "later") return;
        if (outcome.kind === "accepted") outbox.remove(message.runId);
        else await outbox.put({ ...message, error: outcome.error });
      }
    },
  };
}
