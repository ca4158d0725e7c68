import { request } from "node:http";
import { connect } from "node:net";
import { makePlace, type GatewayOptions, type GatewayProcess, type Place } from "../harness/gateway-process.ts";

export const TOKEN = "security-test-token-0123456789abcdef";

/** A gateway as users run it: a process of its own, in a folder of its own. */
export interface Started extends AsyncDisposable {
  readonly place: Place;
  readonly process: GatewayProcess;
  readonly url: string;
  readonly port: number;
}

export interface StartConfig {
  readonly gateway?: Record<string, unknown>;
  readonly [key: string]: unknown;
}

/** The text of a configuration with the test's token in it. */
export function configText({ gateway = {}, ...rest }: StartConfig = {}): string {
  return JSON.stringify({ gateway: { mode: "local", auth: { token: TOKEN }, reload: { debounceMs: 10 }, ...gateway }, ...rest });
}

export async function start(config: StartConfig = {}, options: GatewayOptions = {}): Promise<Started> {
  const place = makePlace();
  place.configure(configText(config));
  const process = await place.gateway(options);
  if (process.url === undefined) throw new Error(`the gateway did not start: ${process.output()}`);
  return { place, process, url: process.url, port: Number(new URL(process.url).port), [Symbol.asyncDispose]: () => process[Symbol.asyncDispose]() };
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface Asking {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** One HTTP request with exactly these headers. */
export async function ask(url: string, path: string, { method = "GET", headers = {}, body }: Asking = {}): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const sent = request(new URL(url), { path, method, headers, agent: false }, (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("end", () => resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks).toString("utf8") }));
    response.on("error", reject);
  });
  sent.on("error", reject);
  sent.end(body);
  return promise;
}

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** Bytes over a socket as they are; everything that comes back until the other side ends. */
export async function raw(port: number, bytes: string | Buffer): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  socket.on("error", () => resolve(text));
  socket.on("close", () => resolve(text));
  return promise;
}
