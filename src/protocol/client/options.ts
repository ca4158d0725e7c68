import type { EventName, EventPayload } from "../catalog.ts";
import type { ClientInfo, HelloOk } from "../connect.ts";
import type { Role } from "../scopes.ts";
import type { ClientClock, DeviceIdentity, DeviceTokens, OpenSocket } from "./ports.ts";

/** Why previously loaded data may be out of date. */
export type StaleReason =
  /** Events between these numbers are missing. */
  | { readonly kind: "gap"; readonly expected: number; readonly received: number }
  /** The connection was lost; events in between were missed. */
  | { readonly kind: "reconnected"; readonly hello: HelloOk };

export interface ReconnectOptions {
  /** Delay before the first attempt, doubled with each. Default 500. */
  readonly firstMs?: number;
  /** Default 30000. */
  readonly maxMs?: number;
}

export interface ConnectOptions {
  /** `ws:` or `wss:` (or `http:` and `https:`, read as these). Plain `ws:` is for this machine only, unless `allowInsecure`. */
  readonly url: string;
  readonly allowInsecure?: boolean;
  /** The gateway's shared token, or a device token. */
  readonly token?: string;
  readonly password?: string;
  /** Which credential to use when there is also a stored device token. Default `given`. */
  readonly prefer?: "given" | "stored";
  readonly device?: DeviceIdentity;
  readonly deviceTokens?: DeviceTokens;
  readonly client: ClientInfo;
  readonly role?: Role;
  /** Default for operators: all scopes. */
  readonly scopes?: readonly string[];
  readonly caps?: readonly string[];
  /** Commands a node offers. */
  readonly commands?: readonly string[];
  readonly permissions?: Readonly<Record<string, boolean>>;
  readonly pathEnv?: string;
  readonly locale?: string;
  readonly userAgent?: string;
  /** Called with events from the first frame after hello. Calling `on` after connecting may miss an event. */
  readonly listeners?: { readonly [E in EventName]?: (payload: EventPayload<E>) => void };
  /** Opens sockets. Default: the platform's `WebSocket`. */
  readonly openSocket?: OpenSocket;
  /** From the start of a connection to `hello-ok`. Default 10000. */
  readonly connectTimeoutMs?: number;
  /** Until a request is answered. Default 30000. */
  readonly requestTimeoutMs?: number;
  /** False: do not reconnect. */
  readonly reconnect?: false | ReconnectOptions;
  readonly clock?: ClientClock;
  /** A float in [0, 1), for the jitter. */
  readonly random?: () => number;
  /** Called when event numbers are missing. */
  readonly onGap?: (gap: { readonly expected: number; readonly received: number }) => void;
  /** Previously loaded data may be out of date: reload it. */
  readonly onStale?: (reason: StaleReason) => void;
  /** The connection was lost: `error` is the cause, `retryInMs` the delay before the next attempt. */
  readonly onLost?: (lost: { readonly error: Error; readonly retryInMs: number | undefined }) => void;
}

const EVERYTHING = ["operator.admin", "operator.approvals", "operator.pairing"];

/** The scopes to request. Always the same for one program: a device that requests more later has to be approved again. */
export function askedScopes({ role, scopes }: ConnectOptions): readonly string[] {
  return scopes ?? (role === "node" ? [] : EVERYTHING);
}
