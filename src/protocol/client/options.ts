import type { EventName, EventPayload } from "../catalog.ts";
import type { ClientInfo, HelloOk } from "../connect.ts";
import type { Role } from "../scopes.ts";
import type { ClientClock, DeviceIdentity, DeviceTokens, OpenSocket } from "./ports.ts";

/** Why what was loaded before may be out of date. */
export type StaleReason =
  /** Events between these numbers did not come. */
  | { readonly kind: "gap"; readonly expected: number; readonly received: number }
  /** The connection was lost; events in between were missed. */
  | { readonly kind: "reconnected"; readonly hello: HelloOk };

export interface ReconnectOptions {
  /** Wait before the first try; doubled with each. Default 500. */
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
  /** Which credential is tried when there is a stored device token too. Default `given`. */
  readonly prefer?: "given" | "stored";
  readonly device?: DeviceIdentity;
  readonly deviceTokens?: DeviceTokens;
  readonly client: ClientInfo;
  readonly role?: Role;
  /** Default for operators: everything. */
  readonly scopes?: readonly string[];
  readonly caps?: readonly string[];
  /** Of nodes. */
  readonly commands?: readonly string[];
  readonly permissions?: Readonly<Record<string, boolean>>;
  readonly pathEnv?: string;
  readonly locale?: string;
  readonly userAgent?: string;
  /** Called with events from the first frame after hello on: `on` of a client that is just there may be too late for one. */
  readonly listeners?: { readonly [E in EventName]?: (payload: EventPayload<E>) => void };
  /** Opens sockets. Default: the platform's `WebSocket`. */
  readonly openSocket?: OpenSocket;
  /** From the start of a connection to `hello-ok`. Default 10000. */
  readonly connectTimeoutMs?: number;
  /** Until a request is answered. Default 30000. */
  readonly requestTimeoutMs?: number;
  /** False: a lost connection stays lost. */
  readonly reconnect?: false | ReconnectOptions;
  readonly clock?: ClientClock;
  /** A float in [0, 1), for the jitter. */
  readonly random?: () => number;
  /** Numbers of events are missing. */
  readonly onGap?: (gap: { readonly expected: number; readonly received: number }) => void;
  /** What was loaded before may be out of date: load it again. */
  readonly onStale?: (reason: StaleReason) => void;
  /** The connection was lost; `error` says why, `retryInMs` when it is tried again. */
  readonly onLost?: (lost: { readonly error: Error; readonly retryInMs: number | undefined }) => void;
}

const EVERYTHING = ["operator.admin", "operator.approvals", "operator.pairing"];

/** What is asked for. Always the same per program: a device that asks for more later has to be approved again. */
export function askedScopes({ role, scopes }: ConnectOptions): readonly string[] {
  return scopes ?? (role === "node" ? [] : EVERYTHING);
}
