import type { ClientOptions } from "ws";
import { EVENTS, loadAnswerChecks, METHODS, type AnswerChecks, type EventName, type MethodName } from "../../src/protocol/index.ts";
import { connectParams, createDevice, type TestDevice } from "./auth.ts";
import { openClient, type Frame, type RawClient } from "./gateway-client.ts";
import type { ConnectParams } from "../../src/protocol/index.ts";

/** How a device presents itself. */
export interface Visit {
  /** A new one when none is given; null connects without. */
  readonly device?: TestDevice | null | undefined;
  readonly token?: string | undefined;
  readonly password?: string | undefined;
  readonly role?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly params?: Partial<ConnectParams>;
  /** As a request from another machine that came through a proxy on this one. */
  readonly from?: string | undefined;
  readonly options?: ClientOptions;
  /** The time of its signature; now without it. */
  readonly now?: () => number;
}

/** A connection that signed its challenge, let in or not. */
export interface DeviceClient extends RawClient {
  readonly device: TestDevice | undefined;
  /** The answer to `connect`. */
  readonly answer: Frame;
  /** Sends a request; the answer's payload fits what the method declares, or the test fails. */
  ask(method: MethodName, params?: unknown): Promise<Frame>;
  /** What is wrong with the frames so far: answers and events that do not fit what is declared. */
  faults(): readonly string[];
}

/** What a proxy says about where a request came from. */
export const forwardedFrom = (ip: string): Record<string, string> => ({ "x-forwarded-for": ip, "x-forwarded-host": "gw.example.com" });

function frameFaults(frame: Frame, checks: AnswerChecks, asked: ReadonlyMap<string, MethodName>): readonly string[] {
  const wrong = [...(checks.frame(frame) ?? [])];
  if (frame.type === "event" && Object.hasOwn(EVENTS, frame.event!)) wrong.push(...(checks.event(frame.event as EventName, frame.payload) ?? []));
  else if (frame.type === "event") wrong.push(`event ${frame.event} is not declared`);
  const method = asked.get(frame.id ?? "");
  if (frame.type === "res" && frame.ok && method) wrong.push(...(checks.result(method, frame.payload) ?? []));
  return wrong.map((text) => `${method ?? frame.event ?? frame.id}: ${text}`);
}

/** Connects a device with a signature over this connection's challenge. Gives the answer, whatever it is. */
export async function visit(
  url: string,
  { device = createDevice(), token, password, role, scopes, params, from, options = {}, now = Date.now }: Visit,
): Promise<DeviceClient> {
  const checks = await loadAnswerChecks();
  const headers = { ...(from === undefined ? {} : forwardedFrom(from)), ...options.headers };
  const client = await openClient(url, { ...options, headers });
  const challenge = await client.event("connect.challenge");
  const auth = { ...(token === undefined ? {} : { token }), ...(password === undefined ? {} : { password }) };
  const wanted = connectParams({ ...(role === undefined ? {} : { role }), ...(scopes === undefined ? {} : { scopes: [...scopes] }), auth, ...params });
  const signed = device === null ? wanted : device.sign(wanted, { now: now(), nonce: String(challenge.payload!["nonce"]) });
  const answer = await client.request("connect", signed, "connect");
  const asked = new Map<string, MethodName>();
  return Object.assign(client, {
    device: device ?? undefined,
    answer,
    async ask(method: MethodName, sent?: unknown): Promise<Frame> {
      const id = `${method}#${asked.size}`;
      asked.set(id, method);
      const frame = await client.request(method, sent, id);
      const wrong = frameFaults(frame, checks, asked);
      if (wrong.length > 0) throw new Error(`the answer does not fit its declaration: ${wrong.join("; ")}`);
      return frame;
    },
    faults: () => [
      ...client.frames.flatMap((frame) => frameFaults(frame, checks, asked)),
      ...(answer.ok ? (checks.hello(answer.payload) ?? []) : []).map((text) => `hello: ${text}`),
    ],
  });
}

/** Connects and fails unless it was let in. */
export async function enter(url: string, how: Visit): Promise<DeviceClient> {
  const client = await visit(url, how);
  if (!client.answer.ok) throw new Error(`not let in: ${JSON.stringify(client.answer.error)}`);
  return client;
}

export const METHOD_NAMES = Object.keys(METHODS) as MethodName[];
