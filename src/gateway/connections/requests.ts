import { failpoint } from "../../base/failpoints.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log/logger.ts";
import { LIMITS, type ErrorShape, type RequestFrame, type Validators } from "../../protocol/index.ts";
import { invalidRequest, type Answer, type CallContext, type Dispatcher } from "../methods/index.ts";
import { REQUEST_BURST, type Client, type Held } from "./connection.ts";
import { idOf, parseMessage, textFrame } from "./frames.ts";

/** Takes the frames of a client after hello. */
export interface Requests {
  /** `text` is undefined for a binary frame. Answers come later, in any order. */
  take(client: Client, text: string | undefined): void;
  /** The client is gone: what it still wants is not done. */
  forget(client: Client): void;
}

export interface RequestsDeps {
  readonly dispatcher: Pick<Dispatcher, "call">;
  readonly validators: Pick<Validators, "frame">;
  readonly clock: Pick<Clock, "monotonic" | "after">;
  readonly log: Logger;
  /** Clients that are connected, by id. */
  readonly clients: ReadonlyMap<string, Client>;
}

/** Requests that one connection may have open. */
const MAX_IN_FLIGHT = 512;
const IN_FLIGHT_RETRY_MS = 1000;
/** How long requests over the bound wait while none of those before them is answered. */
const HOLD_MS = 250;
/** Under which a bad frame without an id is answered. */
const NAMELESS = "invalid";
/** Methods whose answer means that a message was accepted. */
const ACCEPTING: ReadonlySet<string> = new Set(["chat.send", "chat.regenerate", "agent"]);

const busy = (message: string, retryAfterMs: number): Answer => ({ ok: false, error: { code: "UNAVAILABLE", message, retryable: true, retryAfterMs } });

/** Takes one request from the client's budget. Returns the time to wait in ms when there is none left, else 0. */
export function takeCredit(client: Pick<Client, "credit" | "creditAt">, now: number): number {
  client.credit = Math.min(REQUEST_BURST, client.credit + ((now - client.creditAt) * REQUEST_BURST) / 1000);
  client.creditAt = now;
  if (client.credit < 1) return Math.ceil(((1 - client.credit) * 1000) / REQUEST_BURST);
  client.credit -= 1;
  return 0;
}

/** Text of a response. An answer that JSON cannot hold is reported as a failure of the gateway. */
export function responseText(id: string, answer: Answer): string {
  const { ok, payload } = answer;
  const error: ErrorShape | undefined = answer.ok ? undefined : answer.error;
  try {
    return JSON.stringify({ type: "res", id, ok, ...(payload === undefined ? {} : { payload }), ...(error ? { error } : {}) });
  } catch {
    return JSON.stringify({ type: "res", id, ok: false, error: { code: "UNAVAILABLE", message: "the response could not be serialized as JSON" } });
  }
}

export function createRequests({ dispatcher, validators, clock, log, clients }: RequestsDeps): Requests {
  /** Does nothing when the client is gone. A reader that is too slow is closed. */
  function respond(client: Client, id: string, answer: Answer): void {
    if (clients.get(client.connId) !== client) return;
    if (client.socket.writableLength > LIMITS.maxBufferedBytes) client.close(1008, "slow consumer");
    else client.socket.write(textFrame(responseText(id, answer)));
  }

  async function call(client: Client, { id, method, params }: RequestFrame): Promise<void> {
    let final = false;
    client.inFlight += 1;
    const context: CallContext = {
      caller: client.caller,
      // Made when a handler looks at it.
      get signal() {
        client.gone ??= new AbortController();
        return client.gone.signal;
      },
      accepted(payload) {
        if (!final) respond(client, id, { ok: true, payload });
      },
    };
    try {
      const answer = await dispatcher.call(method, params, context);
      final = true;
      client.inFlight -= 1;
      respond(client, id, answer);
      // What was accepted is on disk by now; the caller may know it or not.
      if (answer.ok && ACCEPTING.has(method)) failpoint("ack.sent");
      if (client.held) startHeld(client, client.held);
    } catch (error) {
      log.error("a response could not be sent", { error, method });
    }
  }

  /** Back pressure for a client that sends faster than it is answered. What waits is no more than one read of its socket brought. */
  function hold(client: Client, frame: RequestFrame): void {
    if (client.held) return void client.held.frames.push(frame);
    client.pause();
    client.held = { frames: [frame], moved: false, timer: clock.after(HOLD_MS, () => onStuck(client)) };
  }

  function startHeld(client: Client, held: Held): void {
    while (client.inFlight < MAX_IN_FLIGHT) {
      const frame = held.frames.shift();
      if (!frame) break;
      held.moved = true;
      void call(client, frame);
    }
    if (held.frames.length === 0) release(client);
  }

  /** Requests that take long fill the bound: the held ones are refused, so that the client can still ask for other things, such as to end those. */
  function onStuck(client: Client): void {
    const { held } = client;
    if (!held) return;
    if (held.moved) {
      held.moved = false;
      held.timer = clock.after(HOLD_MS, () => onStuck(client));
      return;
    }
    const refusal = busy(`${MAX_IN_FLIGHT} requests on this connection are pending; wait for one to finish`, IN_FLIGHT_RETRY_MS);
    release(client);
    for (const { id } of held.frames) respond(client, id, refusal);
  }

  function release(client: Client): void {
    client.held?.timer[Symbol.dispose]();
    client.held = undefined;
    client.resume();
  }

  return {
    take(client, text) {
      const wait = takeCredit(client, clock.monotonic());
      const message = text === undefined ? undefined : parseMessage(text);
      if (!message || message.kind === "not-json") return;
      if (message.kind === "hostile") return respond(client, message.id ?? NAMELESS, invalidRequest(`invalid request frame: ${message.issue}`));
      const issues = validators.frame(message.value);
      if (issues) return respond(client, idOf(message.value) ?? NAMELESS, invalidRequest(`invalid request frame: ${issues.join("; ")}`));
      const frame = message.value as RequestFrame;
      if (wait > 0) return respond(client, frame.id, busy(`too many requests on this connection; retry after ${wait} ms`, wait));
      if (frame.method === "connect") return respond(client, frame.id, invalidRequest("connect is only valid as the first request"));
      if (client.held || client.inFlight >= MAX_IN_FLIGHT) hold(client, frame);
      else void call(client, frame);
    },
    forget(client) {
      if (client.held) release(client);
    },
  };
}
