/** Hands events to the host, in order, until it has stored them. */
import type { ChannelInbound, ChannelInboundEvent } from "../../../protocol/index.ts";
import { messageOf } from "./failure.ts";
import { type Backoff, createBackoff, type Waiting } from "./waiting.ts";

export interface KitLog {
  info(message: string): void;
  warn(message: string): void;
  debug?: ((message: string) => void) | undefined;
}

export const silentLog: KitLog = { info: () => {}, warn: () => {} };

export interface IntakeDeps {
  readonly inbound: ChannelInbound;
  readonly waiting: Waiting;
  readonly signal: AbortSignal;
  readonly log: KitLog;
  readonly backoff?: Backoff | undefined;
  /** Called where more can be taken (true) or reading should pause (false). */
  readonly flow?: ((isOpen: boolean) => void) | undefined;
  /** An event was stored. */
  readonly taken?: (() => void) | undefined;
  /** An event that the host calls wrong was left out. */
  readonly skipped?: ((event: ChannelInboundEvent, why: string) => void) | undefined;
  /** The host turned an event away: its sender may not write there. */
  readonly refused?: ((event: ChannelInboundEvent) => void) | undefined;
  /** Events that may wait before reading pauses. Default 200. */
  readonly most?: number | undefined;
}

export interface Intake {
  /** Offers until the host has stored it. False: the account stopped before. */
  offer(event: ChannelInboundEvent): Promise<boolean>;
  /** Offers once; rejects where the host takes nothing. For webhooks: the platform brings it again. */
  offerOnce(event: ChannelInboundEvent): Promise<void>;
  /** Queues: one after the other for each lane (default: its chat). The promise is that of `offer`. */
  add(event: ChannelInboundEvent, lane?: string): Promise<boolean>;
  /** Like `add`, for an event that has to be looked up first; undefined: there is none. Rejects where the lookup does. */
  addLater(lane: string, make: () => Promise<ChannelInboundEvent | undefined>): Promise<boolean>;
  /** Runs behind everything that was queued for the lane. */
  behind<T>(lane: string, task: () => Promise<T>): Promise<T>;
  /** Resolves when nothing is left to hand over. */
  idle(): Promise<void>;
}

/** How often an event that the host calls wrong is offered. */
const MAX_REFUSALS = 3;

const isInvalid = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "INVALID_INPUT";

async function hand(event: ChannelInboundEvent, { inbound, taken, refused }: IntakeDeps): Promise<void> {
  const result = await inbound.accept(event);
  taken?.();
  if (result.outcome === "refused") refused?.(event);
}

export function createIntake(deps: IntakeDeps): Intake {
  const { waiting, signal, log, flow, most = 200 } = deps;
  const backoff = deps.backoff ?? createBackoff();
  const lanes = new Map<string, Promise<unknown>>();
  let open = 0;
  let isPaused = false;

  function skip(event: ChannelInboundEvent, error: unknown): void {
    const why = `the host cannot accept it (${messageOf(error)})`;
    log.warn(`${event.kind} ${event.id} was skipped: ${why}`);
    deps.skipped?.(event, why);
  }

  async function offer(event: ChannelInboundEvent): Promise<boolean> {
    for (let attempt = 1, refusals = 0; ; attempt += 1) {
      try {
        await hand(event, deps);
        return true;
      } catch (error) {
        if (isInvalid(error) && (refusals += 1) >= MAX_REFUSALS) {
          skip(event, error);
          return true;
        }
        if (signal.aborted) {
          log.warn(`${event.kind} ${event.id} was not accepted before the account stopped (${messageOf(error)})`);
          return false;
        }
        const ms = backoff(attempt, waiting.random());
        log.warn(`the host did not accept ${event.kind} ${event.id} (${messageOf(error)}); it will be offered again in ${ms} ms`);
        await waiting.sleep(ms, signal);
      }
    }
  }

  function behind<T>(lane: string, task: () => Promise<T>): Promise<T> {
    const before = lanes.get(lane) ?? Promise.resolve();
    const mine = before.then(task);
    const settled = mine.catch(() => {});
    lanes.set(lane, settled);
    void settled.then(() => {
      if (lanes.get(lane) === settled) lanes.delete(lane);
    });
    return mine;
  }

  function changeOpen(by: number): void {
    open += by;
    if (!isPaused && open >= most) {
      isPaused = true;
      flow?.(false);
    } else if (isPaused && open <= most / 2) {
      isPaused = false;
      flow?.(true);
    }
  }

  return {
    offer,
    async offerOnce(event) {
      try {
        await hand(event, deps);
      } catch (error) {
        if (!isInvalid(error)) throw error;
        skip(event, error);
      }
    },
    add(event, lane = event.chat.id) {
      changeOpen(1);
      return behind(lane, () => offer(event)).finally(() => changeOpen(-1));
    },
    addLater(lane, make) {
      changeOpen(1);
      return behind(lane, async () => {
        const event = await make();
        return event === undefined || offer(event);
      }).finally(() => changeOpen(-1));
    },
    behind,
    async idle() {
      while (lanes.size > 0) await Promise.all(lanes.values());
    },
  };
}
