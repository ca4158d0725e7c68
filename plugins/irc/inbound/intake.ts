/** Hands messages to the host, one after the other. */
import { wordsOf } from "../failure.ts";
import type { ChannelInbound, ChannelInboundEvent, Log } from "../types.ts";
import { reconnectDelay, type Waiting } from "../waiting.ts";

export interface Intake {
  add(event: ChannelInboundEvent): void;
  /** Resolves when nothing is left to hand over. */
  idle(): Promise<void>;
}

export interface IntakeDeps {
  readonly inbound: ChannelInbound;
  readonly waiting: Waiting;
  readonly signal: AbortSignal;
  readonly log: Log;
  /** Whether more can be taken: where it cannot, the server has to wait. */
  flow(isOn: boolean): void;
  taken(): void;
}

/** Messages that wait; with more of them nothing is read from the connection. */
const MOST = 200;
/** How often a message that the host calls wrong is offered. */
const MAX_REFUSALS = 3;

export function createIntake({ inbound, waiting, signal, log, flow, taken }: IntakeDeps): Intake {
  const queue: ChannelInboundEvent[] = [];
  let working: Promise<void> | undefined;

  async function offer(event: ChannelInboundEvent): Promise<void> {
    for (let attempt = 1, refusals = 0; ; attempt += 1) {
      try {
        await inbound.accept(event);
        return taken();
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "INVALID_INPUT" && (refusals += 1) >= MAX_REFUSALS)
          return log.warn(`a message was skipped: the host cannot take it (${wordsOf(error)})`);
        // IRC brings nothing twice: what is there when the account stops is offered once more, and then lost.
        if (signal.aborted) return log.warn(`a message was lost: the account stopped, and the host did not take it (${wordsOf(error)})`);
        const ms = reconnectDelay(attempt, waiting.random());
        log.warn(`the host did not take a message (${wordsOf(error)}); it is offered again in ${ms} ms`);
        await waiting.sleep(ms, signal);
      }
    }
  }

  async function work(): Promise<void> {
    for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
      await offer(event);
      if (queue.length < MOST / 2) flow(true);
    }
    working = undefined;
  }

  return {
    add(event) {
      queue.push(event);
      if (queue.length >= MOST) flow(false);
      working ??= work();
    },
    async idle() {
      await working;
    },
  };
}
