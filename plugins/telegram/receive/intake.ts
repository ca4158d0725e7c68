/** Hands updates to the host, one after the other for each chat, and never lets go of one that it could not take. */
import type { TelegramClient } from "../api/client.ts";
import { MalformedUpdate, type MappingFacts } from "../inbound/chat.ts";
import { mapUpdate, type MappedUpdate, updateIdOf } from "../inbound/update.ts";
import type { ChannelInbound, ChannelInboundEvent } from "../types.ts";
import { backoffMs, type Waiting } from "./waiting.ts";

export interface IntakeLog {
  info(message: string): void;
  warn(message: string): void;
  debug?(message: string): void;
}

export interface IntakeDeps {
  readonly inbound: ChannelInbound;
  readonly facts: MappingFacts;
  readonly client: TelegramClient;
  readonly log: IntakeLog;
  readonly waiting: Waiting;
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

export interface Intake {
  /** True when nothing of the update can be lost any more; false when the account stopped before. Waits as long as the host takes nothing. */
  take(update: unknown, options?: { readonly backlog?: boolean }): Promise<boolean>;
  /** As `take`, but asks the host once, and rejects where it takes nothing. */
  takeNow(update: unknown): Promise<void>;
}

/** How often an event that the host calls wrong is offered. */
const MAX_REFUSALS = 3;

const isInvalid = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "INVALID_INPUT";
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export function createIntake({ inbound, facts, client, log, waiting, signal, migrated, skipped }: IntakeDeps): Intake {
  function skip(update: unknown, why: string): void {
    const updateId = updateIdOf(update);
    log.warn(`update ${updateId ?? "without a number"} was skipped: ${why}`);
    skipped({ updateId, why });
  }

  /** Nothing where there is nothing to offer. */
  function read(update: unknown): MappedUpdate | undefined {
    try {
      const mapped = mapUpdate(update, facts);
      if (mapped.ignored !== undefined) log.debug?.(`update ${updateIdOf(update)} was left out: ${mapped.ignored}`);
      return mapped;
    } catch (error) {
      // Reading it again would end the same way.
      skip(update, error instanceof MalformedUpdate ? error.message : `it could not be read (${messageOf(error)})`);
      return undefined;
    }
  }

  /** Whatever the answer is, a button has to stop waiting, and a message that is late is none of the sender's business. */
  function answer(callbackId: string): void {
    client.call("answerCallbackQuery", { callback_query_id: callbackId }, { signal }).catch((error: unknown) => {
      log.debug?.(`a pressed button could not be answered: ${messageOf(error)}`);
    });
  }

  async function offer(update: unknown, event: ChannelInboundEvent): Promise<boolean> {
    for (let refusals = 0, failures = 1; !signal.aborted; failures += 1) {
      try {
        await inbound.accept(event);
        return true;
      } catch (error) {
        if (isInvalid(error) && (refusals += 1) >= MAX_REFUSALS) {
          skip(update, `the host cannot take it (${messageOf(error)})`);
          return true;
        }
        const ms = backoffMs(failures, waiting);
        log.warn(`the host did not take update ${updateIdOf(update)} (${messageOf(error)}); it is offered again in ${ms} ms`);
        await waiting.sleep(ms, signal);
      }
    }
    return false;
  }

  return {
    async take(update, { backlog = false } = {}) {
      const mapped = read(update);
      if (!mapped) return true;
      const { events, callbackId, migration } = mapped;
      if (callbackId !== undefined) answer(callbackId);
      for (const event of events) if (!(await offer(update, backlog ? { ...event, backlog } : event))) return false;
      if (migration) await migrated(migration.from, migration.to);
      return true;
    },
    async takeNow(update) {
      const mapped = read(update);
      if (!mapped) return;
      const { events, callbackId, migration } = mapped;
      if (callbackId !== undefined) answer(callbackId);
      for (const event of events) {
        try {
          await inbound.accept(event);
        } catch (error) {
          if (!isInvalid(error)) throw error;
          skip(update, `the host cannot take it (${messageOf(error)})`);
        }
      }
      if (migration) await migrated(migration.from, migration.to);
    },
  };
}
