import { AppError } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import type { RequestFrame, ResponseFrame } from "../frames.ts";
import type { ClientClock } from "./ports.ts";
import { refusal } from "./refusal.ts";

export interface RequestOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** The first answer is only `accepted`: wait for the one after it. */
  readonly expectFinal?: boolean;
  /** Called with the `accepted` response, with `expectFinal`. */
  readonly onAccepted?: (payload: unknown) => void;
  /** Send it again when the connection was lost before the answer. Default: only with an `idempotencyKey`, under which it happens once. */
  readonly resend?: boolean;
}

interface Pending {
  readonly frame: RequestFrame;
  readonly options: RequestOptions;
  readonly resend: boolean;
  sent: boolean;
  settle(outcome: { readonly payload: unknown } | { readonly error: unknown }): void;
}

type Send = (frame: RequestFrame) => void;

/** Requests on their way, over as many connections as they take. */
export interface Requests {
  call(method: string, params: unknown, options: RequestOptions): Promise<unknown>;
  answer(frame: ResponseFrame): void;
  /** A connection is there: what waits is sent. */
  attach(send: Send): void;
  /** The connection is gone: what may not be sent twice fails, the rest waits. */
  detach(error: AppError): void;
  /** No connection will come: everything fails. */
  end(error: AppError): void;
}

/** Requests that may wait for a connection. */
const MAX_WAITING = 1000;

const hasKey = (params: unknown): boolean => isRecord(params) && typeof params["idempotencyKey"] === "string";
const isAccepted = (payload: unknown): boolean => isRecord(payload) && payload["status"] === "accepted";

export function createRequests(deps: { readonly clock: ClientClock; readonly timeoutMs: number }): Requests {
  const pending = new Map<string, Pending>();
  let count = 0;
  let send: Send | undefined;
  let ended: AppError | undefined;

  function track(frame: RequestFrame, options: RequestOptions): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const { timeoutMs = deps.timeoutMs, signal } = options;
    const onAbort = (): void => entry.settle({ error: new AppError("CANCELLED", `${frame.method} was cancelled; it may have taken effect anyway`) });
    const timer = deps.clock.after(timeoutMs, () =>
      entry.settle({ error: new AppError("TIMEOUT", `${frame.method} got no response within ${timeoutMs} ms`, { details: { method: frame.method } }) }),
    );
    const entry: Pending = {
      frame,
      options,
      resend: options.resend ?? hasKey(frame.params),
      sent: false,
      settle(outcome) {
        pending.delete(frame.id);
        timer[Symbol.dispose]();
        signal?.removeEventListener("abort", onAbort);
        if ("error" in outcome) reject(outcome.error);
        else resolve(outcome.payload);
      },
    };
    pending.set(frame.id, entry);
    signal?.addEventListener("abort", onAbort, { once: true });
    return promise;
  }

  function transmit(entry: Pending): void {
    if (!send) return;
    entry.sent = true;
    try {
      send(entry.frame);
    } catch (error) {
      entry.settle({ error: new AppError("INVALID_INPUT", `${entry.frame.method} could not be sent`, { cause: error }) });
    }
  }

  return {
    call(method, params, options) {
      if (ended) return Promise.reject(ended);
      if (options.signal?.aborted) return Promise.reject(new AppError("CANCELLED", `${method} was cancelled before it was sent`));
      if (!send && pending.size >= MAX_WAITING)
        return Promise.reject(new AppError("OVERLOADED", `${MAX_WAITING} requests are already waiting for a connection`));
      const frame: RequestFrame = { type: "req", id: `c${(count += 1)}`, method, ...(params === undefined ? {} : { params }) };
      const answer = track(frame, options);
      transmit(pending.get(frame.id)!);
      return answer;
    },
    answer(frame) {
      const entry = pending.get(frame.id);
      if (!entry) return;
      if (!frame.ok) return entry.settle({ error: refusal(entry.frame.method, frame) });
      if (!entry.options.expectFinal || !isAccepted(frame.payload)) return entry.settle({ payload: frame.payload });
      entry.options.onAccepted?.(frame.payload);
    },
    attach(next) {
      send = next;
      for (const entry of pending.values()) if (!entry.sent) transmit(entry);
    },
    detach(error) {
      send = undefined;
      for (const entry of pending.values()) {
        if (entry.sent && !entry.resend) entry.settle({ error });
        else entry.sent = false;
      }
    },
    end(error) {
      ended = error;
      send = undefined;
      for (const entry of pending.values()) entry.settle({ error });
    },
  };
}
