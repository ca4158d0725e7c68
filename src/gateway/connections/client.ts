import type { Socket } from "node:net";
import type { Clock } from "../../base/clock.ts";
import type { ConnectParams, Role } from "../../protocol/index.ts";
import type { Admitted, AuthMethod } from "../auth/index.ts";
import type { Caller } from "../methods/index.ts";
import type { Client, Connection, Held } from "./connection.ts";
import { printableName } from "../../base/printable.ts";

/** Requests that one connection may send at once, and per second in the long run: above what the gateway answers to one that waits for its answers. */
export const REQUEST_BURST = 100_000;
/** Requests that one connection may have open. */
export const MAX_IN_FLIGHT = 512;

function callerOf(connId: string, { client, caps }: ConnectParams, admitted: Admitted): Caller {
  const { id, mode, version, platform, instanceId } = client;
  const displayName = client.displayName === undefined ? undefined : printableName(client.displayName) || undefined;
  return {
    connId,
    role: admitted.role,
    scopes: admitted.scopes,
    client: { id, mode, version, platform, ...(displayName === undefined ? {} : { displayName }), ...(instanceId === undefined ? {} : { instanceId }) },
    caps: new Set(caps),
    ...(admitted.deviceId === undefined ? {} : { deviceId: admitted.deviceId }),
    ...(admitted.peer.local ? {} : { remoteIp: admitted.peer.ip }),
    local: admitted.peer.local,
  };
}

/** Methods live on the class: a thousand clients share them. */
class OpenClient implements Client {
  readonly caller: Caller;
  readonly method: AuthMethod;
  readonly #connection: Connection;
  readonly #end: (connection: Connection, code: number, reason: string) => void;
  followed: Set<string> | undefined = undefined;
  presenceKey: string | undefined = undefined;
  inFlight = 0;
  held: Held | undefined = undefined;
  credit = REQUEST_BURST;
  creditAt: number;
  gone: AbortController | undefined = undefined;

  constructor(connection: Connection, caller: Caller, method: AuthMethod, now: number, end: (connection: Connection, code: number, reason: string) => void) {
    this.#connection = connection;
    this.#end = end;
    this.caller = caller;
    this.method = method;
    this.creditAt = now;
  }
  get connId(): string {
    return this.caller.connId;
  }
  get role(): Role {
    return this.caller.role;
  }
  get scopes(): ReadonlySet<string> {
    return this.caller.scopes;
  }
  get caps(): ReadonlySet<string> {
    return this.caller.caps;
  }
  get socket(): Socket {
    return this.#connection.socket;
  }
  pause(): void {
    this.#connection.ws.pause();
  }
  resume(): void {
    this.#connection.ws.resume();
  }
  close(code: number, reason: string): void {
    this.#end(this.#connection, code, reason);
  }
}

export function createClient(
  connection: Connection,
  params: ConnectParams,
  admitted: Admitted,
  clock: Pick<Clock, "monotonic">,
  end: (connection: Connection, code: number, reason: string) => void,
): Client {
  return new OpenClient(connection, callerOf(connection.connId, params, admitted), admitted.method, clock.monotonic(), end);
}

/** Takes one request from the client's budget. Gives the time to wait in ms when there is none left, else 0. */
export function takeCredit(client: Client, now: number): number {
  client.credit = Math.min(REQUEST_BURST, client.credit + ((now - client.creditAt) * REQUEST_BURST) / 1000);
  client.creditAt = now;
  if (client.credit < 1) return Math.ceil(((1 - client.credit) * 1000) / REQUEST_BURST);
  client.credit -= 1;
  return 0;
}
