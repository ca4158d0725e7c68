import type { IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { loadHttp, loadHttps } from "./builtin.ts";
import { systemClock, type Clock } from "./clock.ts";
import { AppError, errorOf, messageOf, systemCode } from "./errors.ts";
import { assertHostAllowed, bareHost, blocked, type HostPolicy } from "./host-rules.ts";

/** An address of a host; `family` is 4 or 6. */
export interface HostAddress {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a name. */
export type AddressLookup = (hostname: string) => Promise<readonly HostAddress[]>;

export interface GuardedRoute {
  readonly url: string;
  /** Default GET. */
  readonly method?: string | undefined;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Default 3. */
  readonly maxRedirects?: number | undefined;
  /** Covers everything: name lookup, connections, redirects and the body. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly policy?: HostPolicy | undefined;
  /** Checked for the first address and every redirect target, in addition to the policy. */
  readonly isAllowed?: ((url: URL) => boolean) | undefined;
  readonly lookup?: AddressLookup | undefined;
  readonly clock?: Clock | undefined;
}

export interface GuardedRequest extends GuardedRoute {
  readonly body?: string | Uint8Array | undefined;
}

/** One request of a redirect chain. */
export interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** False once a redirect has turned the request into one without a body. */
  readonly keepsBody: boolean;
  /** The addresses that were checked; connect only to these. */
  readonly addresses: readonly HostAddress[];
  readonly signal: AbortSignal;
}

/** The part of a hop's answer that redirects depend on. */
export interface HopAnswer {
  readonly status: number;
  readonly location: string | null;
  /** Drops a body that will not be read. */
  discard(): void | Promise<void>;
}

export interface BoundedBody {
  readonly bytes: Buffer;
  /** The body was longer than the limit. */
  readonly truncated: boolean;
}

/** An answer whose body has not been read. Disposing of it ends the connection. */
export interface GuardedAnswer extends Disposable {
  /** The final URL after redirects. */
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  /** Name, value, name, value … in the order received. */
  readonly rawHeaders: readonly string[];
  readonly body: Readable;
  header(name: string): string | undefined;
  /** Reads the body, decompressed, and stops at `maxBytes`. */
  read(maxBytes: number): Promise<BoundedBody>;
}

const SECRET_HEADERS: readonly string[] = ["authorization", "proxy-authorization", "cookie", "cookie2", "host"];
const BODY_HEADERS: readonly string[] = ["content-type", "content-length", "content-encoding", "transfer-encoding"];
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * The only way to request URLs that come from outside: every hop is checked, and only the checked addresses are connected to.
 * Throws `HOST_BLOCKED` when the policy refuses, `TIMEOUT` when it took too long, `UNAVAILABLE` when the network or the other side fails, and the signal's
 * reason when it was aborted.
 */
export async function guardedFetch(request: GuardedRequest): Promise<GuardedAnswer> {
  const { body } = request;
  // The host that is being asked: a redirect may have led to another one.
  let asked = request.url;
  const isAllowed = (url: URL): boolean => {
    asked = url.href;
    return request.isAllowed?.(url) !== false;
  };
  const found = await followRedirects({ ...request, isAllowed }, async (hop) => {
    const answer = await sendPinned(hop, body);
    return { status: answer.statusCode ?? 0, location: answer.headers.location ?? null, discard: () => void answer.destroy(), answer };
  }).catch((error: unknown) => {
    request.signal?.throwIfAborted();
    throw networkError(asked, error);
  });
  const { answer } = found.last;
  return {
    url: found.url.href,
    status: answer.statusCode ?? 0,
    statusText: answer.statusMessage ?? "",
    rawHeaders: answer.rawHeaders,
    body: answer,
    header: (name) => [answer.headers[name.toLowerCase()]].flat()[0],
    read: async (maxBytes) => await readBounded(await unpacked(answer), maxBytes, found.signal),
    [Symbol.dispose]: () => found.end(),
  };
}

const NETWORK_FAILURES: Readonly<Record<string, string>> = {
  ENOTFOUND: "its name is not known; check the address and the network",
  EAI_AGAIN: "its name could not be looked up; check the network and try again",
  ECONNREFUSED: "it refuses the connection; check the address and whether the server runs",
  ECONNRESET: "it closed the connection before it answered; try again later",
  EPIPE: "it closed the connection before it answered; try again later",
  ETIMEDOUT: "it does not answer; check the address and the network",
  EHOSTUNREACH: "there is no way to it; check the network",
  ENETUNREACH: "there is no way to it; check the network",
  EPROTO: "it does not speak TLS there; check the port, and whether the address is one of https",
};

/** A failure of the network, typed: says which host, what failed and what to do. What is typed already passes through. */
function networkError(url: string, error: unknown): AppError {
  if (error instanceof AppError) return error;
  const code = systemCode(error) ?? (error instanceof AggregateError ? systemCode(error.errors[0]) : undefined) ?? "";
  const isTls = code.startsWith("ERR_SSL") || code === "ERR_TLS_CERT_ALTNAME_INVALID" || code.includes("CERT") || code.includes("SIGNATURE");
  const tls = code.startsWith("ERR_SSL") ? NETWORK_FAILURES["EPROTO"] : `its certificate is not trusted (${messageOf(error)}); check the address`;
  const known = NETWORK_FAILURES[code]?.replace(";", ` (${code});`);
  const why = known ?? (isTls ? tls : `${messageOf(error) || code}; check the address and the network`);
  const host = URL.canParse(url) ? new URL(url).host : url.slice(0, 200);
  return new AppError("UNAVAILABLE", `${host} could not be reached: ${why}`, { cause: error, details: { host, ...(code === "" ? {} : { reason: code }) } });
}

/** The end of a redirect chain. `end` stops what is still running and must be called. */
export interface Followed<Answer> {
  readonly last: Answer;
  readonly url: URL;
  readonly signal: AbortSignal;
  end(): void;
}

/** Sends a request and follows redirects, checking every hop. The caller decides how a hop is sent; it must connect to the hop's addresses. */
export async function followRedirects<Answer extends HopAnswer>(
  route: GuardedRoute & { /** False: the sender resolves names itself. */ readonly resolves?: boolean },
  send: (hop: Hop) => Promise<Answer>,
): Promise<Followed<Answer>> {
  const { policy, maxRedirects = 3, timeoutMs, clock = systemClock, lookup = systemLookup } = route;
  const ended = new AbortController();
  const signal = route.signal ? AbortSignal.any([route.signal, ended.signal]) : ended.signal;
  const late = new AppError("TIMEOUT", `no complete answer from ${route.url.slice(0, 200)} within ${timeoutMs} ms (timeout)`);
  const timer = timeoutMs === undefined ? undefined : clock.after(timeoutMs, () => ended.abort(late));
  const end = (): void => {
    timer?.[Symbol.dispose]();
    ended.abort();
  };
  try {
    let next: Pick<Hop, "url" | "method" | "headers" | "keepsBody"> = {
      url: parseTarget(route.url),
      method: (route.method ?? "GET").toUpperCase(),
      headers: route.headers ?? {},
      keepsBody: true,
    };
    const seen = new Set<string>();
    for (let hop = 0; ; hop += 1) {
      const { url } = next;
      seen.add(`${next.method} ${url.href}`);
      if (route.isAllowed?.(url) === false) throw blocked("list", `${url.hostname} is not among the hosts that may be asked`);
      if (route.resolves === false) assertHostAllowed(url.hostname, [], policy);
      const addresses = route.resolves === false ? [] : await unlessAborted(checkedAddresses(url.hostname, policy, lookup), signal);
      const last = await unlessAborted(send({ ...next, addresses, signal }), signal);
      if (!REDIRECTS.has(last.status) || last.location === null) return { last, url, signal, end };
      await last.discard();
      next = redirected(next, last.status, parseTarget(last.location, url));
      if (hop >= maxRedirects) throw new AppError("UNAVAILABLE", `${route.url.slice(0, 200)} ${tooOften(maxRedirects)}`);
      if (seen.has(`${next.method} ${next.url.href}`)) throw new AppError("UNAVAILABLE", `${route.url.slice(0, 200)} redirects in a circle`);
    }
  } catch (error) {
    end();
    throw error;
  }
}

function tooOften(maxRedirects: number): string {
  if (maxRedirects === 0) return "redirects to another address, and redirects are not followed here";
  return `redirects more than ${maxRedirects === 1 ? "once" : `${maxRedirects} times`}`;
}

/** The request after a redirect: methods other than GET and HEAD lose their body, other origins lose the credentials. */
function redirected(hop: Pick<Hop, "url" | "method" | "headers" | "keepsBody">, status: number, to: URL): typeof hop {
  const loses = status === 303 || (hop.method === "POST" && (status === 301 || status === 302));
  const gone = new Set([...(hop.url.origin === to.origin ? [] : SECRET_HEADERS), ...(loses ? BODY_HEADERS : [])]);
  const headers = Object.fromEntries(Object.entries(hop.headers).filter(([name]) => !gone.has(name.toLowerCase())));
  return { url: to, headers, method: loses && hop.method !== "HEAD" ? "GET" : hop.method, keepsBody: hop.keepsBody && !loses };
}

function parseTarget(url: string, base?: URL): URL {
  const found = URL.canParse(url, base) ? new URL(url, base) : undefined;
  const shown = url.slice(0, 200);
  if (!found || (found.protocol !== "http:" && found.protocol !== "https:")) throw blocked("url", `${shown} is not an http or https URL`);
  if (found.username || found.password) throw blocked("url", `${found.origin} was given with a user name or password in the URL, which is not sent from here`);
  return found;
}

/** Throws `HOST_BLOCKED` when a URL may not be requested, as a request would. Other errors: its name could not be looked up. */
export async function checkTarget({ url, policy, lookup }: Pick<GuardedRoute, "url" | "policy" | "lookup">): Promise<void> {
  await checkedAddresses(parseTarget(url).hostname, policy, lookup);
}

const systemLookup: AddressLookup = async (hostname) => await (await import("node:dns/promises")).lookup(hostname, { all: true });

async function addressesOf(hostname: string, lookup: AddressLookup): Promise<readonly HostAddress[]> {
  const { isIP } = await import("node:net");
  const host = bareHost(hostname);
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  const found = await lookup(host);
  if (found.length === 0) throw new AppError("NOT_FOUND", `${host} has no address`);
  return found;
}

/** All addresses of a host, each of them checked: connect only to these. Throws `HOST_BLOCKED` when the policy refuses one. */
export async function checkedAddresses(hostname: string, policy?: HostPolicy, lookup: AddressLookup = systemLookup): Promise<readonly HostAddress[]> {
  // A name that is refused anyway is not looked up.
  assertHostAllowed(hostname, [], policy);
  const addresses = await addressesOf(hostname, lookup);
  assertHostAllowed(
    hostname,
    addresses.map((entry) => entry.address),
    policy,
  );
  return addresses;
}

/** Late results are dropped. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    work.catch(() => undefined);
    throw signal.reason;
  }
  const stopped = Promise.withResolvers<never>();
  const onAbort = (): void => stopped.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, stopped.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** One request to the checked addresses. The name is not resolved again. */
export async function sendPinned(hop: Hop, body: string | Uint8Array | undefined): Promise<IncomingMessage> {
  const { url, method, addresses, signal } = hop;
  const { request: open } = url.protocol === "https:" ? loadHttps() : loadHttp();
  const [first] = addresses;
  const lookup: LookupFunction = (_host, options, callback) => {
    if (options.all || !first) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
  const payload = body === undefined || !hop.keepsBody ? undefined : Buffer.from(body);
  const headers: Record<string, string> = { "accept-encoding": "identity", ...hop.headers };
  if (payload) headers["content-length"] = String(payload.length);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = open(url, { method, headers, lookup, signal, agent: false }, resolve);
    outgoing.on("error", reject);
    outgoing.end(payload);
  });
  // The body's reader sees the failure; a discarded body has no reader to notify.
  answer.on("error", () => undefined);
  return answer;
}

/** Some servers compress although the request did not ask for it. */
async function unpacked(answer: IncomingMessage): Promise<Readable> {
  const coding = answer.headers["content-encoding"]?.trim().toLowerCase();
  if (!coding || coding === "identity") return answer;
  const { createBrotliDecompress, createUnzip } = await import("node:zlib");
  if (!["gzip", "x-gzip", "deflate", "br"].includes(coding)) {
    throw new AppError("UNAVAILABLE", "the answer is packed in a way that cannot be read; gzip, deflate and br can");
  }
  const open = coding === "br" ? createBrotliDecompress() : createUnzip();
  answer.on("error", (error) => open.destroy(error));
  answer.on("aborted", () => open.destroy(new AppError("UNAVAILABLE", "the connection ended before the answer was complete")));
  return answer.pipe(open);
}

async function readBounded(body: Readable, maxBytes: number, signal: AbortSignal): Promise<BoundedBody> {
  const chunks: Buffer[] = [];
  let size = 0;
  const onAbort = (): void => void body.destroy(errorOf(signal.reason));
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    signal.throwIfAborted();
    const received: AsyncIterable<Buffer> = body;
    for await (const chunk of received) {
      const remaining = maxBytes - size;
      chunks.push(chunk.length > remaining ? chunk.subarray(0, remaining) : chunk);
      size += chunk.length;
      if (size > maxBytes) return { bytes: Buffer.concat(chunks), truncated: true };
    }
    signal.throwIfAborted();
    return { bytes: Buffer.concat(chunks), truncated: false };
  } catch (error) {
    signal.throwIfAborted();
    // Node's own word for it is "aborted".
    if (systemCode(error) === "ECONNRESET") throw new AppError("UNAVAILABLE", "the connection ended before the answer was complete", { cause: error });
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
    body.destroy();
  }
}
