import { isRecord } from "../../base/records.ts";
import type { TurnEnd, TurnEvent } from "../../agent/index.ts";
import { messageOf } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { ReplyCounts, ReplyKind, ReplyPayload } from "../../protocol/index.ts";
import type { OutboxRow, Store } from "../../store/index.ts";
import type { Delivery } from "../delivery/delivery.ts";

/** Receives the replies to a message directly: the plugin that received it. */
export interface LiveReply {
  /** One message of the reply. What it throws is no loss: the message goes out over the channel. */
  deliver(payload: ReplyPayload, info: { readonly kind: ReplyKind }): Promise<unknown>;
  /** An answer is being written; called again while that goes on. */
  typing?(): Promise<void>;
  /** What happens in the turn. */
  event?(event: TurnEvent): void;
  /** The turn is over, and its last replies come now. */
  ended?(end: TurnEnd): void;
  /** Whether the answer comes in blocks; otherwise the configuration says it. */
  readonly blocks?: boolean;
  /** Stops the turn. */
  readonly signal?: AbortSignal;
}

/** How it ended. */
export interface LiveEnd {
  /** False: it was taken before, and the first to offer it gets the replies; or it was too much. */
  readonly taken: boolean;
  /** Messages that were handed over. */
  readonly counts: ReplyCounts;
}

/** A message whose replies a plugin waits for. */
export interface Live {
  /** What rows of the outbox name it by. */
  readonly key: string;
  readonly reply: LiveReply;
  /** The message became this input of the inbox. */
  begun(inboxId: number): void;
  /** The input is at its end, on disk; it was in the turn `runId`. */
  ended(inboxId: number, runId: string | undefined): void;
}

interface LiveReplies {
  /** Has a message taken. Resolves when all inputs that it becomes are at their end and the replies were handed over. */
  taking(reply: LiveReply, take: (live: Live) => Promise<unknown>): Promise<LiveEnd>;
  /** The process stops: nobody is handed anything any more. What is on disk goes out after the next start. */
  close(): void;
}

interface Deps {
  readonly store: Pick<Store, "read">;
  readonly delivery: Pick<Delivery, "attach" | "onSettled">;
  readonly ids: Pick<Ids, "uuid">;
  readonly log: Logger;
}

/** One message while its replies are waited for. */
class Waiting implements Live {
  readonly key: string;
  readonly reply: LiveReply;
  isTaken = false;
  readonly counts: ReplyCounts = { tool: 0, block: 0, final: 0 };
  readonly done = Promise.withResolvers<void>();
  private readonly open = new Set<number>();
  private readonly deps: Deps;
  private readonly turns: string[];
  /** Rows that were handed over, or came to an end without us. */
  private readonly passed = new Set<number>();
  private readonly attachment = new DisposableStack();
  private wake = (): void => {};

  constructor(deps: Deps, reply: LiveReply) {
    this.deps = deps;
    this.reply = reply;
    this.key = deps.ids.uuid();
    this.turns = [`send:${this.key}`];
    this.attachment.use(
      deps.delivery.attach(this.key, async (payload, kind, rowId) => {
        this.counts[kind] += 1;
        try {
          return await reply.deliver(payload, { kind });
        } finally {
          this.pass(rowId);
        }
      }),
    );
    this.attachment.use(
      deps.delivery.onSettled((row) => {
        if (this.owns(row)) this.pass(row.id);
      }),
    );
  }

  private owns({ payload }: OutboxRow): boolean {
    return isRecord(payload) && payload["live"] === this.key;
  }

  private pass(rowId: number): void {
    this.passed.add(rowId);
    this.wake();
  }

  begun(inboxId: number): void {
    this.isTaken = true;
    this.open.add(inboxId);
  }

  ended(inboxId: number, runId: string | undefined): void {
    if (!this.open.delete(inboxId) || this.attachment.disposed) return;
    if (runId !== undefined) this.turns.push(runId);
    if (this.open.size > 0) return;
    this.settle().then(
      () => this.close(),
      (error: unknown) => {
        this.deps.log.warn(`the replies to a message could not be read: ${messageOf(error)}`);
        this.close();
      },
    );
  }

  /** Waits for the rows that are there. */
  private async settle(): Promise<void> {
    const rows = (await Promise.all(this.turns.map((turnId) => this.deps.store.read("outbox.ofTurn", { turnId })))).flat();
    const own = rows.filter((row) => row.settledAt === null && this.owns(row));
    while (!this.attachment.disposed && own.some(({ id }) => !this.passed.has(id))) await new Promise<void>((resolve) => (this.wake = resolve));
  }

  close(): void {
    this.attachment.dispose();
    this.wake();
    this.done.resolve();
  }
}

export function createLiveReplies(deps: Deps): LiveReplies {
  const all = new Set<Waiting>();
  return {
    async taking(reply, take) {
      const live = new Waiting(deps, reply);
      all.add(live);
      try {
        await take(live);
        if (!live.isTaken) live.close();
        await live.done.promise;
        return { taken: live.isTaken, counts: { ...live.counts } };
      } finally {
        live.close();
        all.delete(live);
      }
    },
    close() {
      for (const live of all) live.close();
    },
  };
}
