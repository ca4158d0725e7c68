import type { IncomingMessage, Server, ServerOptions, ServerResponse } from "node:http";
import type * as Https from "node:https";
import type { Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { loadHttp } from "../base/builtin.ts";
import { AppError, messageOf, systemCode } from "../base/errors.ts";
import type { Logger } from "../base/log/logger.ts";
import { isRecord } from "../base/records.ts";
import { ADDRESS_LIMITS, createAddressBudget, type AddressBudget, type AddressLimits } from "./address-budget.ts";
import { isLoopback, resolveBinding, type Binding, type BindMode } from "./bind.ts";
import { loadCertificate, type Certificate, type TlsSettings } from "./certificate.ts";
import type { HealthReport } from "./health.ts";

/** Where and how the gateway listens. Read once: a change needs a restart. */
export interface ServerSettings {
  /** 0 takes a free port. */
  readonly port: number;
  /** Default loopback. */
  readonly bind?: BindMode | undefined;
  /** Address for `custom`. */
  readonly host?: string | undefined;
  readonly tls?: TlsSettings | undefined;
  /** How clients prove themselves; `none` listens on loopback only. */
  readonly authMode: string;
  readonly limits?: AddressLimits | undefined;
  /** Default 10 s for the headers of a request, 60 s for the whole of it, 5 s until the next one. */
  readonly requestTimes?: RequestTimes | undefined;
}

/** How long a connection may take to ask. In milliseconds. */
export interface RequestTimes {
  readonly headersMs: number;
  readonly requestMs: number;
  /** From the end of an answer to the next request. */
  readonly idleMs: number;
  /** How often connections are checked for being late. */
  readonly checkEveryMs: number;
}

export interface ServerDeps {
  readonly settings: ServerSettings;
  readonly log: Logger;
  readonly stateDir: string;
  /** For the program that makes a certificate. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Answers until `serve` is called. Default 503. */
  readonly early?: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
}

/** Who answers what comes in. */
export interface ServerRoutes {
  request(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void;
  /** Hosts accepted besides the loopback names while nothing but loopback is listened on: a proxy on this machine passes its own name. */
  isHostAllowed?(request: IncomingMessage): boolean;
}

/** One port for HTTP and WebSocket. */
export interface GatewayServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Addresses that are listened on. */
  readonly addresses: readonly string[];
  /** SHA-256 of the certificate, when there is one. */
  readonly fingerprint?: string;
  /** From now on these answer. */
  serve(routes: ServerRoutes): void;
  /** The socket's owner is known: it no longer counts as a stranger's. */
  admit(socket: Socket): void;
  /** Sockets of strangers. */
  strangers(): number;
}

/** Names under which a loopback listener may be addressed; any other Host is a rebinding attempt. */
const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;

const REQUEST_TIMES: RequestTimes = { headersMs: 10_000, requestMs: 60_000, idleMs: 5000, checkEveryMs: 2000 };

/** Bounds of one HTTP connection besides its times: no more than 16 KiB of headers. */
const HTTP_LIMITS: ServerOptions = {
  maxHeaderSize: 16_384,
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: 60_000,
};
const MAX_HEADERS = 100;
const TLS_HANDSHAKE_MS = 10_000;

/** Answers an upgrade request that is not taken, and ends the socket. */
export function refuseUpgrade(socket: Socket, status: number, reason: string, headers: Readonly<Record<string, string>> = {}): void {
  const body = JSON.stringify({ error: reason });
  const connection = headers["upgrade"] === undefined ? "close" : "close, upgrade";
  const lines = Object.entries({ connection, ...headers, "content-type": "application/json" }).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${loadHttp().STATUS_CODES[status] ?? ""}\r\n${lines.join("")}`;
  if (socket.writable) socket.end(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  socket.destroySoon();
}

function answer(response: ServerResponse, status: number, reason: string): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { "content-type": "application/json; charset=utf-8", "cache-control": "no-store", "x-content-type-options": "nosniff" });
  response.end(JSON.stringify({ error: reason }));
}

const NEIGHBOUR_MS = 1000;

/** Whether what listens on a port answers as a gateway does. */
async function isGateway(host: string, port: number): Promise<boolean> {
  const [v4, v6] = [host === "0.0.0.0" ? "127.0.0.1" : host, host === "::" ? "[::1]" : `[${host}]`];
  try {
    const response = await fetch(`http://${host.includes(":") ? v6 : v4}:${port}/health`, { signal: AbortSignal.timeout(NEIGHBOUR_MS), redirect: "manual" });
    const answered: unknown = await response.json();
    const { ok, status } = isRecord(answered) ? answered : {};
    return typeof ok === "boolean" && typeof status === "string";
  } catch {
    return false;
  }
}

async function listenError(error: unknown, host: string, port: number): Promise<AppError> {
  const at = `ws://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const code = systemCode(error);
  const options = { cause: error, details: { port } };
  if (code === "EADDRINUSE")
    return new AppError(
      "LOCKED",
      `another ${(await isGateway(host, port)) ? "gateway instance" : "program"} is already listening on ${at}; stop it, or choose another port with --port`,
      options,
    );
  if (code === "EACCES") return new AppError("PERMISSION_DENIED", `this user may not listen on ${at}; choose a port above 1023 with --port`, options);
  if (code === "EADDRNOTAVAIL") return new AppError("NOT_FOUND", `this machine has no address ${host}; check gateway.bind`, options);
  return new AppError("IO_ERROR", `could not listen on ${at}: ${messageOf(error)}`, options);
}

async function listenOn(server: Server, host: string, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen({ port, host, ipv6Only: true }, resolve);
  try {
    await promise;
  } catch (error) {
    throw await listenError(error, host, port);
  }
  server.off("error", reject);
  const address = server.address();
  return typeof address === "object" && address ? address.port : port;
}

function createServer(certificate: Certificate | undefined, times: RequestTimes): Server {
  const limits: ServerOptions = {
    ...HTTP_LIMITS,
    headersTimeout: times.headersMs,
    requestTimeout: times.requestMs,
    keepAliveTimeout: times.idleMs,
    connectionsCheckingInterval: times.checkEveryMs,
  };
  if (!certificate) return loadHttp().createServer(limits);
  const https: typeof Https = process.getBuiltinModule("node:https");
  const { fingerprint: _, ...files } = certificate;
  return https.createServer({ ...limits, ...files, handshakeTimeout: TLS_HANDSHAKE_MS, minVersion: "TLSv1.2" });
}

/** Names that are logged, and how much of them. */
const [MAX_REFUSED, MAX_HOST] = [20, 200];

/** Says once for each name that it was refused: a proxy that the configuration does not know would otherwise fail without a trace. */
function createForeignNotes(log: ServerDeps["log"]): (request: IncomingMessage) => void {
  const known = new Set<string>();
  return ({ headers, url = "" }) => {
    const host = (headers.host ?? "").slice(0, MAX_HOST);
    if (known.has(host) || known.size >= MAX_REFUSED) return;
    known.add(host);
    const remedy = "if a proxy on this machine forwards it, set gateway.trustedProxies to its address";
    log.warn(`a request for ${JSON.stringify(host)} was rejected: only loopback host names are accepted; ${remedy}`, {
      path: url.split("?")[0]?.slice(0, MAX_HOST),
    });
  };
}

/** Routes what a server gets, behind the checks that need no knowledge of who asks. */
interface Guard {
  attach(server: Server, secure: boolean): void;
  serve(routes: ServerRoutes): void;
  /** Called with the listening addresses as soon as they are known. */
  bound(addresses: readonly string[]): void;
}

function createGuard({ log, early }: ServerDeps, budget: AddressBudget): Guard {
  let routes: ServerRoutes | undefined;
  let loopbackOnly = true;
  const noteForeign = createForeignNotes(log);
  /** The last answer on each connection. */
  const answers = new WeakMap<Socket, ServerResponse>();

  /** Why the request is refused, if it is. */
  function foreignHost(request: IncomingMessage): string | undefined {
    if (!loopbackOnly || LOCAL_HOST.test(request.headers.host ?? "") || routes?.isHostAllowed?.(request)) return undefined;
    noteForeign(request);
    return "this gateway accepts requests on its loopback address only";
  }

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    answers.set(request.socket, response);
    try {
      const foreign = foreignHost(request);
      if (foreign !== undefined) answer(response, 403, foreign);
      else if (routes) routes.request(request, response);
      else if (early) early(request, response);
      else answer(response, 503, "the gateway is starting; try again in a moment");
    } catch (error) {
      log.error("a request failed", { url: request.url, error });
      answer(response, 500, "internal error; see the gateway log");
    }
  }

  function onUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    socket.on("error", ignore);
    try {
      const foreign = foreignHost(request);
      if (foreign !== undefined) return refuseUpgrade(socket, 403, foreign);
      if (request.httpVersionMajor === 1 && request.httpVersionMinor === 0) return refuseUpgrade(socket, 400, "an upgrade needs HTTP/1.1");
      if (!routes) return refuseUpgrade(socket, 503, "the gateway is starting; try again in a moment");
      routes.upgrade(request, socket, head);
    } catch (error) {
      log.error("an upgrade failed", { url: request.url, error });
      refuseUpgrade(socket, 500, "internal error; see the gateway log");
    }
  }

  return {
    attach(server, secure) {
      server.maxHeadersCount = MAX_HEADERS;
      server.on(secure ? "secureConnection" : "connection", (socket: Socket) => {
        if (!budget.take(socket)) socket.destroy();
      });
      server.on("request", onRequest);
      server.on("upgrade", onUpgrade);
      server.on("clientError", (error: Error, socket: Socket) => refuseBroken(error, socket, answers.get(socket)));
    },
    serve(next) {
      routes = next;
    },
    bound(addresses) {
      loopbackOnly = addresses.every(isLoopback);
    },
  };
}

/**
 * Ends a connection whose request cannot be read. Only a request is answered: a socket that has sent nothing is closed without a byte, because
 * browsers open connections ahead and would take an early answer for the one to their next request; and an answer that has begun is cut, not
 * continued with another one.
 */
function refuseBroken(error: Error, socket: Socket, answer: ServerResponse | undefined): void {
  const code = systemCode(error);
  const answering = answer !== undefined && answer.headersSent && !answer.writableFinished;
  if (socket.bytesRead === 0 || answering || code === "ECONNRESET") return void socket.destroy();
  if (code === "HPE_HEADER_OVERFLOW") return refuseUpgrade(socket, 431, "not a valid request");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return refuseUpgrade(socket, 408, "the request did not arrive in time");
  refuseUpgrade(socket, 400, "not a valid request");
}

function ignore(): void {}

/** Listens on the first address, or the fallback, and on those of the others that this machine has. */
async function listenAll(binding: Binding, port: number, make: () => Server, log: Logger): Promise<{ servers: Server[]; addresses: string[]; port: number }> {
  const [first = "127.0.0.1", ...others] = binding.addresses;
  let server = make();
  let address = first;
  let bound: number;
  try {
    bound = await listenOn(server, first, port);
  } catch (error) {
    if (binding.fallback === undefined || !(error instanceof AppError) || error.code !== "NOT_FOUND") throw error;
    server = make();
    address = binding.fallback;
    bound = await listenOn(server, address, port);
    others.length = 0;
  }
  const servers = [server];
  const addresses = [address];
  for (const other of others) {
    const next = make();
    try {
      await listenOn(next, other, bound);
      servers.push(next);
      addresses.push(other);
    } catch (error) {
      log.debug(`not listening on ${other}`, { error });
    }
  }
  return { servers, addresses, port: bound };
}

/** Without authentication nobody but this machine is let near: neither by the setting nor by its fallback. */
function checkedBinding({ bind = "loopback", host, authMode }: ServerSettings): Binding {
  const binding = resolveBinding(bind, host, networkInterfaces);
  if (authMode !== "none") return binding;
  if (binding.addresses.every(isLoopback)) return { addresses: binding.addresses };
  const where = binding.addresses.join(", ");
  throw new AppError(
    "CONFIG_INVALID",
    `listening on ${where} (gateway.bind "${bind}") needs gateway.auth: with mode "none" anyone on the network could connect`,
  );
}

/** Listens before it returns. Disposing closes the listeners and every HTTP connection; upgraded sockets belong to who took them. */
export async function openServer(deps: ServerDeps): Promise<GatewayServer> {
  const { settings, log } = deps;
  const binding = checkedBinding(settings);
  const secured = settings.tls?.enabled === true;
  const names = ["localhost", ...binding.addresses.filter((address) => address !== "0.0.0.0" && address !== "::")];
  const certificate = secured ? await loadCertificate(settings.tls, { stateDir: deps.stateDir, env: deps.env, names }) : undefined;
  const budget = createAddressBudget(settings.limits ?? ADDRESS_LIMITS);
  const guard = createGuard(deps, budget);
  guard.bound(binding.addresses);
  function make(): Server {
    const server = createServer(certificate, settings.requestTimes ?? REQUEST_TIMES);
    guard.attach(server, secured);
    return server;
  }
  const { servers, addresses, port } = await listenAll(binding, settings.port, make, log);
  guard.bound(addresses);
  const exposed = addresses.filter((address) => !isLoopback(address));
  if (exposed.length > 0) {
    const what = secured ? "" : " and traffic is not encrypted (gateway.tls is off)";
    log.warn(
      `listening on ${exposed.join(", ")} port ${port}: every machine that can reach it may try to log in (gateway.auth.mode ${settings.authMode})${what}`,
    );
  }
  if (certificate) log.info(`certificate fingerprint (SHA-256) ${certificate.fingerprint}; clients pin it with gateway.remote.tlsFingerprint`);
  const [only = "127.0.0.1"] = addresses;
  const host = exposed.length > 0 && addresses.length === 1 && only !== "0.0.0.0" ? only : "127.0.0.1";
  return {
    url: `${secured ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`,
    port,
    addresses,
    ...(certificate ? { fingerprint: certificate.fingerprint } : {}),
    serve: guard.serve,
    admit: budget.give,
    strangers: () => budget.size,
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map(closeServer));
    },
  };
}

async function closeServer(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
}

export interface Listening {
  readonly server: GatewayServer;
  /** Why it does not listen where the configuration says; undefined when it does. */
  readonly problem?: string;
}

const whereOf = ({ port, bind = "loopback", host }: ServerSettings): string => `port ${port} (gateway.bind "${bind}"${host === undefined ? "" : ` ${host}`})`;

/**
 * Listens as the settings say. When a restarted gateway cannot, because its new port is taken or its new address is not there, it listens as it did
 * before: a change of the configuration must not end a gateway that works.
 */
export async function listen(deps: ServerDeps, lifetime: { listening: ServerSettings | undefined }): Promise<Listening> {
  const { settings, log } = deps;
  const before = lifetime.listening;
  try {
    const server = await openServer(deps);
    lifetime.listening = { ...settings, port: server.port };
    return { server };
  } catch (error) {
    if (!before || !(error instanceof AppError)) throw error;
    // Who may connect is decided by the settings as they are now.
    const fallback = { ...before, authMode: settings.authMode };
    const server = await openServer({ ...deps, settings: fallback }).catch(() => {
      throw error;
    });
    const problem = `the gateway still listens on ${whereOf(before)}, because it could not switch to ${whereOf(settings)}: ${messageOf(error)}`;
    log.error(problem);
    return { server, problem };
  }
}

/** Answers before the gateway is wired: health reports that it is starting, everything else gets a retry response. */
export function answerEarly(health: () => HealthReport): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const { ok, status } = health();
    const asked = (request.url ?? "").split("?")[0];
    response.writeHead(503, { "content-type": "application/json; charset=utf-8", "cache-control": "no-store", "retry-after": "1" });
    response.end(JSON.stringify(asked === "/health" || asked === "/readyz" ? { ok, status } : { error: "the gateway is starting; try again in a moment" }));
  };
}
