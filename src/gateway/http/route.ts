import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * Who may call a route.
 * - `public`: everybody.
 * - `bearer`: callers with the gateway's token or password.
 * - `run-secret-detail`: everybody; the holder of this run's secret gets more detail (`Exchange.trusted`).
 * - `hook-token`: callers with `hooks.token`, and callers with a signature that the handler checks (`Exchange.trusted` is false then).
 * - `canvas`: callers with a capability in the address, or with the gateway's token or password.
 * - `own`: the route checks what is in the body itself (signatures of channels' webhooks, login codes).
 */
export type RouteAuth = "public" | "bearer" | "run-secret-detail" | "hook-token" | "canvas" | "own";

export type RouteMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** One request on its way through a route: authorised, its body read. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Canonical; see `canonicalTarget`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Empty when the route takes none. */
  readonly body: Buffer;
  /** The caller proved to hold what the route's `auth` asks for. */
  readonly trusted: boolean;
  /** Fires when the caller is gone or the route's time is over; not when the gateway stops. */
  readonly signal: AbortSignal;
}

export interface Route {
  readonly methods: readonly RouteMethod[];
  /** Decoded and absolute. A function when the configuration decides; undefined then means that the route is not there. */
  readonly path: string | (() => string | undefined);
  /** `prefix` takes the path itself and everything below it. */
  readonly match: "exact" | "prefix";
  readonly auth: RouteAuth;
  /** The caller is checked before the method: who may not call learns nothing about the route. */
  readonly authFirst?: boolean;
  /** The handler reads the body from the request itself; `Exchange.body` is empty. */
  readonly readsBody?: boolean;
  /** 0: the route takes no body. */
  readonly maxBodyBytes: number | (() => number);
  /** Longest time for the whole answer; without it the route ends by itself. */
  readonly timeoutMs?: number;
  /** Shape of errors; `openai` when absent. */
  readonly errors?: "openai" | "ok-false";
  /** Why the route is not served now. It is answered with 404. */
  readonly off?: () => string | undefined;
  readonly handle: (exchange: Exchange) => void | Promise<void>;
}

/** A route of a plugin. */
export interface PluginRoute extends Route {
  readonly path: string;
  /** Id of the plugin, for messages. */
  readonly plugin: string;
}
