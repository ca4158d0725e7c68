import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { MethodRegistration, Registration } from "../registry/index.ts";
import { isRecord } from "../../base/records.ts";

/** How a plugin's method answered. */
export type MethodAnswer =
  | { readonly ok: true; readonly payload: unknown }
  | {
      readonly ok: false;
      readonly error: {
        readonly code: string;
        readonly message: string;
        readonly details?: unknown;
        readonly retryable?: boolean;
        readonly retryAfterMs?: number;
      };
      readonly payload?: unknown;
    };

export interface MethodCall {
  readonly id: string;
  readonly params: unknown;
  readonly client: { readonly connect: Readonly<Record<string, unknown>>; readonly connId: string; readonly clientIp?: string } | null;
  readonly isWebchat: boolean;
  readonly context: Readonly<Record<string, unknown>>;
}

/** A method that has not answered by then is answered for. */
const ANSWER_MS = 300_000;

/** An error as the protocol sends it, out of whatever the plugin gave. */
function errorOf(method: string, given: unknown): Extract<MethodAnswer, { ok: false }>["error"] {
  const { code, message, details, retryable, retryAfterMs } = isRecord(given) ? given : {};
  return {
    code: typeof code === "string" && code !== "" ? code : "UNAVAILABLE",
    message: typeof message === "string" && message !== "" ? message : `${method} failed`,
    ...(details === undefined ? {} : { details }),
    ...(typeof retryable === "boolean" ? { retryable } : {}),
    ...(typeof retryAfterMs === "number" && retryAfterMs >= 0 ? { retryAfterMs: Math.ceil(retryAfterMs) } : {}),
  };
}

/** Calls a plugin's method and gives its first answer. Never rejects. */
export function callMethod(
  { value }: Registration<MethodRegistration>,
  call: MethodCall,
  deps: { readonly clock: Clock; readonly onError: (error: unknown) => void },
): Promise<MethodAnswer> {
  const { method, handler } = value;
  const { promise, resolve } = Promise.withResolvers<MethodAnswer>();
  const deadline = deps.clock.after(ANSWER_MS, () =>
    resolve({ ok: false, error: { code: "UNAVAILABLE", message: `${method} did not respond within ${ANSWER_MS} ms` } }),
  );
  const respond = (ok: unknown, payload?: unknown, error?: unknown): void =>
    resolve(ok === true ? { ok: true, payload } : { ok: false, error: errorOf(method, error), ...(payload === undefined ? {} : { payload }) });
  const params = isRecord(call.params) ? call.params : {};
  const failed = (error: unknown): void => {
    deps.onError(error);
    resolve({ ok: false, error: { code: "UNAVAILABLE", message: `${method} failed: ${messageOf(error)}` } });
  };
  try {
    const given = {
      req: { type: "req", id: call.id, method, params },
      params,
      client: call.client,
      isWebchatConnect: () => call.isWebchat,
      respond,
      context: call.context,
    };
    Promise.resolve(handler(given)).catch(failed);
  } catch (error) {
    failed(error);
  }
  return promise.finally(() => deadline[Symbol.dispose]());
}
