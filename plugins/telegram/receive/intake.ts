/** Reads updates and hands their events to the host. */
import { type Intake, type KitLog, messageOf } from "openclaw/plugin-sdk/channel-kit";
import type { TelegramClient } from "../api/client.ts";
import { MalformedUpdate, type MappingFacts } from "../inbound/chat.ts";
import { mapUpdate, type MappedUpdate, updateIdOf } from "../inbound/update.ts";
import type { ChannelInboundEvent } from "../types.ts";

export interface UpdatesDeps {
  readonly intake: Intake;
  readonly facts: MappingFacts;
  readonly client: TelegramClient;
  readonly log: KitLog;
  readonly signal: AbortSignal;
  /** A group got another id. */
  migrated(from: string, to: string): Promise<void>;
  /** An update was skipped. */
  skipped(skipped: SkippedUpdate): void;
}

export interface SkippedUpdate {
  readonly updateId: number | undefined;
  readonly why: string;
}

export interface Updates {
  /** True when nothing of the update can be lost any more; false when the account stopped before. Waits as long as the host takes nothing. */
  take(update: unknown, backlog: boolean): Promise<boolean>;
  /** As `take`, but asks the host once, and rejects where it takes nothing. */
  takeNow(update: unknown): Promise<void>;
  /** The update that an event was read from. */
  sourceOf(event: ChannelInboundEvent): number | undefined;
}

export function createUpdates({ intake, facts, client, log, signal, migrated, skipped }: UpdatesDeps): Updates {
  const sources = new WeakMap<ChannelInboundEvent, number | undefined>();

  /** Nothing where there is nothing to offer. */
  function read(update: unknown): MappedUpdate | undefined {
    const updateId = updateIdOf(update);
    try {
      const mapped = mapUpdate(update, facts);
      if (mapped.ignored !== undefined) log.debug?.(`update ${updateId} was skipped: ${mapped.ignored}`);
      return mapped;
    } catch (error) {
      // Reading it again would end the same way.
      const why = error instanceof MalformedUpdate ? error.message : `it could not be read (${messageOf(error)})`;
      log.warn(`update ${updateId ?? "without a number"} was skipped: ${why}`);
      skipped({ updateId, why });
      return undefined;
    }
  }

  /** Whatever the answer is, a button has to stop waiting, and a message that is late is none of the sender's business. */
  function answer(callbackId: string): void {
    client.call("answerCallbackQuery", { callback_query_id: callbackId }, { signal }).catch((error: unknown) => {
      log.debug?.(`a pressed button could not be answered: ${messageOf(error)}`);
    });
  }

  /** False: an event was not taken. */
  async function handOver(update: unknown, offer: (event: ChannelInboundEvent) => Promise<boolean>): Promise<boolean> {
    const mapped = read(update);
    if (!mapped) return true;
    const { events, callbackId, migration } = mapped;
    if (callbackId !== undefined) answer(callbackId);
    for (const event of events) {
      sources.set(event, updateIdOf(update));
      if (!(await offer(event))) return false;
    }
    if (migration) await migrated(migration.from, migration.to);
    return true;
  }

  return {
    take: (update, backlog) =>
      handOver(update, (event) => {
        const offered = backlog ? { ...event, backlog } : event;
        sources.set(offered, updateIdOf(update));
        return intake.offer(offered);
      }),
    async takeNow(update) {
      await handOver(update, (event) => intake.offerOnce(event).then(() => true));
    },
    sourceOf: (event) => sources.get(event),
  };
}
