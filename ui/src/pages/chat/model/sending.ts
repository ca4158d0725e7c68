import { createDelivery, type DeliveryOptions, type Outcome } from "./delivery.ts";
import type { Unsent } from "./outbox.ts";
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

export interface SendingOptions extends DeliveryOptions {
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

/** Messages between being written and being listed by the gateway. */
export interface Sending {
  /** Gives its run's id. */
  add(message: Unsent): string;
  /** Adds it as soon as this browser keeps it. False when it does not: it is not added. */
  offer(message: Unsent): Promise<boolean>;
  /** Sends what was not accepted, also what an earlier page or another tab left. */
  resume(): void;
  /** Takes over what other tabs put or removed. */
  reread(): void;
  retry(runId: string): void;
  discard(runId: string): void;
  /** A page requested at `asked` came: what was accepted before that is part of it, and is returned. */
  takeListed(asked: number): readonly Aside[];
  shown(): readonly PendingMessage[];
}

const heldOf = (message: Unsent, after: number): Held => ({ message, after, state: message.error === undefined ? "unsent" : "failed", error: message.error });

function shownOf({ message, state, error }: Held, open: boolean): PendingMessage {
  const { runId, ts, text, attachments, shelved = 0 } = message;
  return { runId, ts, text, images: attachments.length + shelved, state: state === "sending" && !open ? "unsent" : state, error };
}

/** Takes out what was accepted before `asked`. */
function taken(held: Map<string, Held>, asked: number): readonly Aside[] {
  const done = [...held.values()].filter(({ accepted }) => accepted !== undefined && accepted <= asked);
  for (const { message } of done) held.delete(message.runId);
  return done.map(({ message: { runId, ts, text }, after }) => ({ runId, ts, text, after }));
}

const firstUnsent = (held: ReadonlyMap<string, Held>): Held | undefined => [...held.values()].find(({ state }) => state === "unsent");

interface DrainOptions {
  isOpen(): boolean;
  next(): Held | undefined;
  /** Milliseconds to wait before it is tried again; undefined when the next one may be sent. */
  attempt(entry: Held): Promise<number | undefined>;
  /** Sends what other sessions have. */
  others(): Promise<void>;
  wait(ms: number, work: () => void): void;
}

/** Sends one after the other, in the order in which they were written. Those of other sessions come last, by themselves: who breaks the connection has to be known. */
function createDrain({ isOpen, next, attempt, others, wait }: DrainOptions) {
  let draining = false;
  let othersToo = false;
  /** A message has to wait, and those behind it with it. */
  let paused = false;
  let connections = 0;

  async function send(entry: Held): Promise<void> {
    const connection = connections;
    const waitMs = await attempt(entry);
    // On a newer connection it is tried at once, however it failed on the one before.
    if (waitMs === undefined || connection !== connections) return;
    paused = true;
    wait(waitMs, () => void drain());
  }

  async function drain(): Promise<void> {
    paused = false;
    if (draining) return;
    draining = true;
    while (isOpen()) {
      const entry = paused ? undefined : next();
      if (entry) await send(entry);
      else if (othersToo) {
        othersToo = false;
        await others();
      } else break;
    }
    draining = false;
  }

  return {
    drain,
    /** There is a new connection. */
    resume(): Promise<void> {
      connections += 1;
      othersToo = true;
      return drain();
    },
  };
}

export function createSending(options: SendingOptions): Sending {
  const { link, outbox, sessionKey, count, place, changed, accepted, wait } = options;
  const { deliver, deliverOthers } = createDelivery(options);
  const held = new Map<string, Held>();
  /** Messages that were seen in the browser's storage: gone from there means that some tab is done with them. */
  const stored = new Set<string>();
  const isOpen = (): boolean => link.state.value.kind === "open";

  function settle(entry: Held, outcome: Outcome): void {
    const { message } = entry;
    if (outcome.kind === "later") entry.state = "unsent";
    else if (outcome.kind === "refused") {
      held.set(message.runId, heldOf({ ...message, error: outcome.error }, entry.after));
      void outbox.put({ ...message, error: outcome.error });
    } else {
      entry.state = "accepted";
      entry.accepted = count();
      outbox.remove(message.runId);
      accepted();
    }
    changed();
  }

  /** Milliseconds to wait before it is tried again. */
  async function attempt(entry: Held): Promise<number | undefined> {
    entry.state = "sending";
    changed();
    const outcome = await deliver(entry.message);
    if (held.get(entry.message.runId) === entry) settle(entry, outcome);
    return outcome.kind === "later" ? outcome.afterMs : undefined;
  }

  const { drain, resume } = createDrain({ isOpen, next: () => firstUnsent(held), attempt, others: () => deliverOthers(sessionKey), wait });

  function put(message: Unsent, keeping = outbox.put(message)): void {
    void keeping.then((kept) => void (kept && stored.add(message.runId)));
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
    add(message) {
      put(message);
      return message.runId;
    },
    async offer(message) {
      const keeping = outbox.put(message);
      if (!(await keeping)) return false;
      if (!held.has(message.runId)) put(message, keeping);
      return true;
    },
    resume() {
      reread();
      void resume();
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
    takeListed: (asked) => taken(held, asked),
    shown: () => [...held.values()].map((entry) => shownOf(entry, isOpen())),
  };
}
