import type { Link } from "../../../link/link.ts";
import { failureText } from "../../../link/failure.ts";
import type { Outbox, Unsent } from "./outbox.ts";
import type { Aside, PendingMessage } from "./state.ts";

interface Held {
  readonly message: Unsent;
  /** Position of the newest entry when it came here. */
  readonly after: number;
  state: PendingMessage["state"];
  error?: string | undefined;
  /** When the gateway had accepted it, counted in things that came over the wire: a page asked for later tells of it. */
  accepted?: number;
}

export interface SendingOptions {
  readonly link: Pick<Link, "state" | "request">;
  readonly outbox: Outbox;
  readonly sessionKey: string;
  /** Counts what comes over the wire. */
  count(): number;
  /** Position of the newest entry. */
  place(): number;
  /** Something is shown differently. */
  changed(): void;
  /** The gateway has a message. */
  accepted(): void;
  wait(ms: number, work: () => void): void;
}

/** Messages between being written and being told by the gateway. */
export interface Sending {
  add(message: Unsent): void;
  /** Sends what was not accepted, also what an earlier page or another tab left. */
  resume(): void;
  /** Takes over what other tabs put or removed. */
  reread(): void;
  retry(runId: string): void;
  discard(runId: string): void;
  /** A page asked for at `asked` came: what was accepted before that is told by it, and is given back. */
  told(asked: number): readonly Aside[];
  shown(): readonly PendingMessage[];
}

interface Refused {
  readonly details?: {
    readonly protocolCode?: string;
    readonly retryable?: boolean;
    readonly retryAfterMs?: number;
    readonly payload?: { readonly runId?: string };
  };
}

const RETRY_MS = 2000;

type Outcome = { readonly kind: "accepted" } | { readonly kind: "refused"; readonly error: string } | { readonly kind: "later"; readonly afterMs: number };

/** What an error of `chat.send` means for its message. */
function outcomeOf(error: unknown, runId: string): Outcome {
  const { details } = (error ?? {}) as Refused;
  // It was accepted before, and its run failed.
  if (details?.payload?.runId === runId) return { kind: "accepted" };
  if (details?.protocolCode === undefined || details.retryable) return { kind: "later", afterMs: details?.retryAfterMs ?? RETRY_MS };
  return { kind: "refused", error: failureText(error) };
}

type Port = SendingOptions["link"];

async function deliver(link: Port, { runId, sessionKey, text, attachments, thinking }: Unsent): Promise<Outcome> {
  const extra = { ...(attachments.length === 0 ? {} : { attachments }), ...(thinking === undefined ? {} : { thinking }) };
  try {
    await link.request("chat.send", { sessionKey, message: text, idempotencyKey: runId, ...extra });
    return { kind: "accepted" };
  } catch (error) {
    return outcomeOf(error, runId);
  }
}

/** What was kept for other sessions is sent, too; their pages show it. */
async function deliverOthers({ link, outbox, sessionKey }: SendingOptions): Promise<void> {
  for (const message of outbox.all()) {
    if (message.sessionKey === sessionKey || message.error !== undefined) continue;
    const outcome = await deliver(link, message);
    if (outcome.kind === "later") return;
    if (outcome.kind === "accepted") outbox.remove(message.runId);
    else outbox.put({ ...message, error: outcome.error });
  }
}

const heldOf = (message: Unsent, after: number): Held => ({ message, after, state: message.error === undefined ? "unsent" : "failed", error: message.error });

function shownOf({ message, state, error }: Held, open: boolean): PendingMessage {
  const { runId, ts, text, attachments } = message;
  return { runId, ts, text, images: attachments.length, state: state === "sending" && !open ? "unsent" : state, error };
}

/** Takes out what was accepted before `asked`. */
function taken(held: Map<string, Held>, asked: number): readonly Aside[] {
  const done = [...held.values()].filter(({ accepted }) => accepted !== undefined && accepted <= asked);
  for (const { message } of done) held.delete(message.runId);
  return done.map(({ message: { runId, ts, text }, after }) => ({ runId, ts, text, after }));
}

export function createSending(options: SendingOptions): Sending {
  const { link, outbox, sessionKey, count, place, changed, accepted, wait } = options;
  const held = new Map<string, Held>();
  /** Messages that were seen in the browser's storage: gone from there means that some tab is done with them. */
  const stored = new Set<string>();
  let draining = false;
  /** There is a new connection since the message under way was sent. */
  let renewed = false;
  const isOpen = (): boolean => link.state.value.kind === "open";

  function settle(entry: Held, outcome: Outcome): void {
    const { message } = entry;
    if (outcome.kind === "later") entry.state = "unsent";
    else if (outcome.kind === "refused") {
      held.set(message.runId, heldOf({ ...message, error: outcome.error }, entry.after));
      outbox.put({ ...message, error: outcome.error });
    } else {
      entry.state = "accepted";
      entry.accepted = count();
      outbox.remove(message.runId);
      accepted();
    }
    changed();
  }

  /** One after the other, in the order in which they were written. */
  async function drain(): Promise<void> {
    if (draining) return;
    draining = true;
    for (;;) {
      const next = isOpen() ? [...held.values()].find(({ state }) => state === "unsent") : undefined;
      if (!next) break;
      next.state = "sending";
      renewed = false;
      changed();
      const outcome = await deliver(link, next.message);
      if (held.get(next.message.runId) === next) settle(next, outcome);
      if (outcome.kind !== "later" || renewed) continue;
      wait(outcome.afterMs, () => void drain());
      break;
    }
    draining = false;
  }

  function put(message: Unsent): void {
    if (outbox.put(message)) stored.add(message.runId);
    held.set(message.runId, heldOf(message, place()));
    changed();
    void drain();
  }

  function reread(): void {
    const kept = outbox.all().filter((message) => message.sessionKey === sessionKey);
    const ids = new Set(kept.map(({ runId }) => runId));
    for (const message of kept) if (!held.has(message.runId)) held.set(message.runId, heldOf(message, place()));
    for (const entry of held.values()) {
      const gone = stored.has(entry.message.runId) && !ids.has(entry.message.runId);
      if (gone && (entry.state === "unsent" || entry.state === "failed")) settle(entry, { kind: "accepted" });
    }
    for (const id of ids) stored.add(id);
    changed();
  }

  return {
    add: put,
    resume() {
      renewed = true;
      reread();
      void drain();
      void deliverOthers(options);
    },
    reread,
    retry(runId) {
      const entry = held.get(runId);
      if (entry?.state === "failed") put({ ...entry.message, error: undefined });
    },
    discard(runId) {
      if (held.get(runId)?.state === "accepted") return;
      held.delete(runId);
      outbox.remove(runId);
      changed();
    },
    told: (asked) => taken(held, asked),
    shown: () => [...held.values()].map((entry) => shownOf(entry, isOpen())),
  };
}
