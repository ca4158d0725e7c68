/**
 * A proxy on the loopback interface that our own browser sends everything through: pages, scripts, pictures, fetch, workers, WebSockets and redirects.
 * It looks names up itself, checks every address, and connects only to what it checked, so that a name cannot change its address in between.
 */
import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { loadHttp } from "../base/builtin.ts";
import { equalSecrets } from "../base/equal-secrets.ts";
import { AppError, messageOf } from "../base/errors.ts";
import { checkedAddresses, type AddressLookup } from "../base/guarded-fetch.ts";
import type { HostPolicy } from "../base/host-rules.ts";
import type { Ids } from "../base/ids.ts";

export interface Refusal {
  readonly host: string;
  readonly why: string;
  /** Grows with every refusal. */
  readonly order: number;
}

export interface GuardProxy extends AsyncDisposable {
  readonly url: string;
  /** What its browser identifies itself with: no other process of this machine may use it. */
  readonly username: string;
  readonly password: string;
  /** The number of refusals so far. */
  refused(): number;
  /** The latest refusals after that many, oldest first. */
  refusals(since: number): readonly Refusal[];
}

export interface GuardProxyDeps {
  /** As it is now: a change holds for the next connection. */
  readonly policy: () => HostPolicy;
  readonly lookup?: AddressLookup | undefined;
  readonly ids: Pick<Ids, "hex">;
}

const USERNAME = "browser";
const SECRET_BYTES = 24;
const CHALLENGE = 'Basic realm="openclaw"';

const MAX_REFUSALS = 50;
const MAX_SOCKETS = 512;
const CONNECT_MS = 15_000;
const IDLE_MS = 300_000;
/** Marks answers of the proxy itself. */
export const REFUSED_HEADER = "x-openclaw-refused";

const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

function forwarded(headers: IncomingMessage["headers"]): OutgoingHttpHeaders {
  const named = new Set(
    [headers.connection ?? ""]
      .flat()
      .join(",")
      .split(",")
      .map((name) => name.trim().toLowerCase()),
  );
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name) && !named.has(name)));
}

/** The host and port of a CONNECT request. */
function authorityOf(target: string): { readonly host: string; readonly port: number } | undefined {
  const [, host, port] = /^(\[[0-9a-fA-F:.%]+\]|[^:@/\s]+):(\d{1,5})$/.exec(target) ?? [];
  return host === undefined || Number(port) > 65_535 || Number(port) < 1 ? undefined : { host, port: Number(port) };
}

/** Connects to the first of the addresses that answers. */
async function connected(addresses: readonly { readonly address: string }[], port: number): Promise<Socket> {
  let last: unknown = new AppError("UNAVAILABLE", "no address");
  for (const { address } of addresses) {
    try {
      return await new Promise<Socket>((resolve, reject) => {
        const socket = connect({ host: address, port });
        const fail = (error: Error): void => {
          socket.destroy();
          reject(error);
        };
        socket.setTimeout(CONNECT_MS, () => fail(new AppError("TIMEOUT", "no connection in time")));
        socket.once("error", fail);
        socket.once("connect", () => {
          socket.off("error", fail);
          socket.setTimeout(0);
          resolve(socket);
        });
      });
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

/** Ends both sides when one of them ends or nothing passes any more. */
function join(a: Duplex, b: Socket): void {
  const end = (): void => {
    a.destroy();
    b.destroy();
  };
  for (const side of [a, b]) side.on("error", end).on("close", end);
  b.setTimeout(IDLE_MS, end);
  a.pipe(b);
  b.pipe(a);
}

const isRefusal = (error: unknown): boolean => error instanceof AppError && error.code === "HOST_BLOCKED";

/** Addresses of a host that may be connected to. */
type AddressesFor = (host: string) => Promise<readonly { readonly address: string }[]>;
type Track = <S extends Duplex>(socket: S) => S;

async function tunnel(request: IncomingMessage, client: Duplex, head: Buffer, addressesFor: AddressesFor, track: Track): Promise<void> {
  const target = authorityOf(request.url ?? "");
  if (!target) return void client.end("HTTP/1.1 400 Bad Request\r\n\r\n");
  const server = track(await connected(await addressesFor(target.host), target.port));
  if (client.destroyed) return void server.destroy();
  client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
  if (head.length > 0) server.write(head);
  join(client, server);
}

async function forward(request: IncomingMessage, response: ServerResponse, addressesFor: AddressesFor, track: Track): Promise<void> {
  const url = URL.canParse(request.url ?? "") ? new URL(request.url ?? "") : undefined;
  // A page that calls this port like a website is not a browser that uses it as a proxy.
  if (url?.protocol !== "http:") return void response.writeHead(400).end();
  const port = url.port === "" ? 80 : Number(url.port);
  const socket = track(await connected(await addressesFor(url.hostname), port));
  const onward = loadHttp().request({
    createConnection: () => socket,
    method: request.method ?? "GET",
    path: `${url.pathname}${url.search}`,
    headers: { ...forwarded(request.headers), host: url.host, connection: "close" },
  });
  onward.on("response", (answer) => {
    response.writeHead(answer.statusCode ?? 502, forwarded(answer.headers));
    answer.pipe(response);
    answer.on("error", () => response.destroy());
  });
  onward.on("error", () => (response.headersSent ? response.destroy() : response.writeHead(502, { [REFUSED_HEADER]: "unreachable" }).end()));
  response.on("close", () => onward.destroy());
  request.pipe(onward);
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) response.destroy();
  else if (isRefusal(error)) response.writeHead(403, { [REFUSED_HEADER]: "refused" }).end(messageOf(error));
  else response.writeHead(502, { [REFUSED_HEADER]: "unreachable" }).end();
}

export async function openGuardProxy({ policy, lookup, ids }: GuardProxyDeps): Promise<GuardProxy> {
  const password = ids.hex(SECRET_BYTES);
  const expected = `Basic ${Buffer.from(`${USERNAME}:${password}`).toString("base64")}`;
  const isOurs = ({ headers }: IncomingMessage): boolean => equalSecrets(headers["proxy-authorization"] ?? "", expected);
  const found: Refusal[] = [];
  let count = 0;
  const sockets = new Set<Duplex>();
  const track: Track = (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    return socket;
  };
  const addressesFor: AddressesFor = async (host) => {
    try {
      return await checkedAddresses(host, policy(), lookup);
    } catch (error) {
      if (isRefusal(error)) {
        count += 1;
        found.push({ host: host.slice(0, 200), why: messageOf(error), order: count });
        if (found.length > MAX_REFUSALS) found.shift();
      }
      throw error;
    }
  };
  const server: Server = loadHttp().createServer((request, response) => {
    if (!isOurs(request)) {
      response.writeHead(407, { "proxy-authenticate": CHALLENGE }).end();
      return;
    }
    forward(request, response, addressesFor, track).catch((error: unknown) => refuse(response, error));
  });
  server.maxConnections = MAX_SOCKETS;
  server.on("connection", (socket) => track(socket));
  server.on("connect", (request, client: Duplex, head: Buffer) => {
    client.on("error", () => client.destroy());
    if (!isOurs(request)) {
      client.end(`HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: ${CHALLENGE}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
      return;
    }
    tunnel(request, client, head, addressesFor, track).catch((error: unknown) =>
      client.end(`HTTP/1.1 ${isRefusal(error) ? "403 Forbidden" : "502 Bad Gateway"}\r\n\r\n`),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  server.unref();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    username: USERNAME,
    password,
    refused: () => count,
    refusals: (since) => found.filter(({ order }) => order > since),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
