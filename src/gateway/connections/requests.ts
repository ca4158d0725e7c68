import { failpoint } from "../../base/failpoints.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { ErrorShape, RequestFrame, Validators } from "../../protocol/index.ts";
import { invalidRequest, type Answer, type CallContext, type Caller, type Dispatcher } from "../methods/index.ts";
import { MAX_IN_FLIGHT, takeCredit } from "./client.ts";
import type { Client, Held } from "./connection.ts";
import { idOf, parseMessage } from "./message.ts";

/** Takes the frames of a client after hello. */
export interface Requests {
  /** `text` is undefined for a binary frame. Answers come later, in any order. */
  take(client: Client, text: string | undefined): void;
  /** The client is gone: what it still wants is not done. */
  forget(client: Client): void;
}

export interface RequestsDeps {
  readonly dispatcher: Dispatcher;
  readonly validators: Pick<Validators, "frame">;
  readonly clock: Pick<Clock, "monotonic" | "after">;
  readonly log: Logger;
  /** Sends the text of a frame; does nothing when the client is gone. */
  readonly send: (client: Client, text: string) => void;
}

const IN_FLIGHT_RETRY_MS = 1000;
/** How long requests over the bound wait while none of those before them is answered. */
const PLACE_MS = 250;
/** Under which a bad frame without an id is answered. */
const NAMELESS = "invalid";
/** Methods whose answer says that a message was taken. */
const ACCEPTING: ReadonlySet<string> = new Set(["chat.send", "agent"]);

/** The client's signal is made when a handler looks at it. */
class RequestContext implements CallContext {
  readonly #client: Client;
  readonly accepted: (payload: unknown) => void;

  constructor(client: Client, accepted: (payload: unknown) => void) {
    this.#client = client;
    this.accepted = accepted;
  }
  get caller(): Caller {
    return this.#client.caller;
  }
  get signal(): AbortSignal {
    this.#client.gone ??= new AbortController();
    return this.#client.gone.signal;
  }
}

const busy = (message: string, retryAfterMs: number): Answer => ({ ok: false, error: { code: "UNAVAILABLE", message, retryable: true, retryAfterMs } });

/** Text of a response. An answer that JSON cannot hold is a failure of ours, and said to be one. */
export function responseText(id: string, answer: Answer): string {
  const { ok, payload } = answer;
  const error: ErrorShape | undefined = answer.ok ? undefined : answer.error;
  try {
    return JSON.stringify({ type: "res", id, ok, ...(payload === undefined ? {} : { payload }), ...(error ? { error } : {}) });
  } catch {
    return JSON.stringify({ type: "res", id, ok: false, error: { code: "UNAVAILABLE", message: "the answer could not be written as JSON" } });
  }
}

export function createRequests({ dispatcher, validators, clock, log, send }: RequestsDeps): Requests {
  function answer(client: Client, id: string, result: Answer): void {
    send(client, responseText(id, result));
  }

  async function call(client: Client, { id, method, params }: RequestFrame): Promise<void> {
    let final = false;
    client.inFlight += 1;
    const accepted = (payload: unknown): void => {
      if (!final) answer(client, id, { ok: true, payload });
    };
    const result = await dispatcher.call(method, params, new RequestContext(client, accepted));
    final = true;
    client.inFlight -= 1;
    answer(client, id, result);
    // What was accepted is on disk by now; whoever asked may know it or not.
    if (result.ok && ACCEPTING.has(method)) failpoint("ack.sent");
    if (client.held) admitHeld(client, client.held);
  }

  function start(client: Client, frame: RequestFrame): void {
    call(client, frame).catch((error: unknown) => log.error("an answer could not be sent", { error, method: frame.method }));
  }

  /** Back pressure for a client that sends faster than it is answered. What waits is no more than one read of its socket brought. */
  function hold(client: Client, frame: RequestFrame): void {
    if (client.held) return void client.held.frames.push(frame);
    client.pause();
    client.held = { frames: [frame], moved: false, timer: clock.after(PLACE_MS, () => onStuck(client)) };
  }

  function admitHeld(client: Client, held: Held): void {
    while (held.frames.length > 0 && client.inFlight < MAX_IN_FLIGHT) {
      held.moved = true;
      start(client, held.frames.shift()!);
    }
    if (held.frames.length === 0) release(client);
  }

  /** Requests that take long keep the places: the client is told, so that it can still ask for other things, such as to end them. */
  function onStuck(client: Client): void {
    const { held } = client;
    if (!held) return;
    if (held.moved) {
      held.moved = false;
      held.timer = clock.after(PLACE_MS, () => onStuck(client));
      return;
    }
    const refusal = busy(`${MAX_IN_FLIGHT} requests of this connection wait for their answer; wait for one of them`, IN_FLIGHT_RETRY_MS);
    release(client);
    for (const { id } of held.frames) answer(client, id, refusal);
  }

  function release(client: Client): void {
    client.held?.timer[Symbol.dispose]();
    client.held = undefined;
    client.resume();
  }

  return {
    take(client, text) {
      const wait = takeCredit(client, clock.monotonic());
      const message = text === undefined ? ({ kind: "not-json" } as const) : parseMessage(text);
      if (message.kind === "not-json") return;
      if (message.kind === "hostile") return answer(client, message.id ?? NAMELESS, invalidRequest(`invalid request frame: ${message.issue}`));
      const issues = validators.frame(message.value);
      if (issues) return answer(client, idOf(message.value) ?? NAMELESS, invalidRequest(`invalid request frame: ${issues.join("; ")}`));
      const frame = message.value as RequestFrame;
      if (wait > 0) return answer(client, frame.id, busy(`too many requests on this connection; retry after ${wait} ms`, wait));
      if (frame.method === "connect") return answer(client, frame.id, invalidRequest("connect is only valid as the first request"));
      if (client.held || client.inFlight >= MAX_IN_FLIGHT) hold(client, frame);
      else start(client, frame);
    },
    forget(client) {
      if (client.held) release(client);
    },
  };
}
