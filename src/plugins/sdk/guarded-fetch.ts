/** `fetch` that looks where it goes: every hop is checked, and the address that was checked is the one that is connected to. */
import type { ClientRequest, IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";
import { loadHttp, loadHttps } from "../../base/builtin.ts";
import { assertReachable, type LookupFn, SsrFBlockedError, type SsrFPolicy } from "./ssrf.ts";

type FetchLike = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

export interface GuardedFetchOptions {
  url: string;
  fetchImpl?: FetchLike | undefined;
  init?: RequestInit | undefined;
  /** Default 3. */
  maxRedirects?: number | undefined;
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
  policy?: SsrFPolicy | undefined;
  lookupFn?: LookupFn | undefined;
  pinDns?: boolean | undefined;
  auditContext?: string | undefined;
}

export interface GuardedFetchResult {
  response: Response;
  finalUrl: string;
  /** Ends the connection; to be called when the response has been read. */
  release(): Promise<void>;
}

interface Address {
  readonly address: string;
  readonly family: number;
}

const SECRET_HEADERS = ["authorization", "proxy-authorization", "cookie", "cookie2"];

async function addressesOf(hostname: string, lookupFn: LookupFn | undefined): Promise<Address[]> {
  const { isIP } = await import("node:net");
  const host = hostname.replaceAll(/^\[|\]$/g, "");
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  const find = lookupFn ?? (await import("node:dns/promises")).lookup;
  const found = await find(host, { all: true });
  if (found.length === 0) throw new SsrFBlockedError(`${host} has no address`);
  return found;
}

/** One request to the addresses that were checked; a `Response` of what comes back. */
async function pinnedFetch(url: URL, init: RequestInit, addresses: readonly Address[], signal: AbortSignal): Promise<Response> {
  const { request: open } = url.protocol === "https:" ? loadHttps() : loadHttp();
  const request = new Request(url, { ...init, redirect: "manual", signal, ...(init.body ? { duplex: "half" } : {}) });
  const body = request.body ? Buffer.from(await request.arrayBuffer()) : undefined;
  const lookup = ((_host, options, callback) => {
    if (options.all) callback(null, [...addresses]);
    else callback(null, addresses[0]!.address, addresses[0]!.family);
  }) as LookupFunction;
  const headers: Record<string, string> = { "accept-encoding": "identity", ...Object.fromEntries(request.headers) };
  if (body) headers["content-length"] = String(body.length);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing: ClientRequest = open(url, { method: request.method, headers, lookup, signal, agent: false }, resolve);
    outgoing.on("error", reject);
    outgoing.end(body);
  });
  return responseOf(answer, request.method);
}

async function responseOf(answer: IncomingMessage, method: string): Promise<Response> {
  const { Readable } = await import("node:stream");
  const headers = new Headers();
  for (let index = 0; index < answer.rawHeaders.length; index += 2) headers.append(answer.rawHeaders[index]!, answer.rawHeaders[index + 1]!);
  const status = answer.statusCode ?? 500;
  const empty = method === "HEAD" || [101, 204, 205, 304].includes(status);
  if (empty) answer.resume();
  return new Response(empty ? null : (Readable.toWeb(answer) as ReadableStream), { status, statusText: answer.statusMessage ?? "", headers });
}

/** What a redirect makes of a request: other methods than GET and HEAD lose their body, other origins the credentials. */
function afterRedirect(init: RequestInit, status: number, from: URL, to: URL): RequestInit {
  const headers = new Headers(init.headers);
  if (from.origin !== to.origin) for (const name of SECRET_HEADERS) headers.delete(name);
  const method = (init.method ?? "GET").toUpperCase();
  if (status !== 303 && !(method === "POST" && (status === 301 || status === 302))) return { ...init, headers };
  for (const name of ["content-type", "content-length", "content-encoding"]) headers.delete(name);
  const { body: _body, ...rest } = init;
  return { ...rest, headers, method: method === "HEAD" ? "HEAD" : "GET" };
}

function parsed(url: string | URL, base?: URL): URL {
  const found = URL.canParse(url, base) ? new URL(url, base) : undefined;
  if (found && (found.protocol === "http:" || found.protocol === "https:")) return found;
  throw new SsrFBlockedError(`${String(url).slice(0, 200)} is not an http or https URL`);
}

/** Fetches from a public host. Throws {@link SsrFBlockedError} where the policy says no, at any hop. */
export async function fetchWithSsrFGuard(params: GuardedFetchOptions): Promise<GuardedFetchResult> {
  const { fetchImpl, policy, lookupFn, maxRedirects = 3 } = params;
  const ended = new AbortController();
  const budget = params.timeoutMs ? AbortSignal.timeout(params.timeoutMs) : undefined;
  const signal = AbortSignal.any([ended.signal, params.signal, params.init?.signal, budget].filter((source) => source != null));
  let init = params.init ?? {};
  let url = parsed(params.url);
  for (let hop = 0; ; hop += 1) {
    const known = policy?.allowPrivateNetwork !== true || !fetchImpl ? await addressesOf(url.hostname, lookupFn) : [];
    assertReachable(
      url.hostname,
      known.map((entry) => entry.address),
      policy,
    );
    const response = fetchImpl ? await fetchImpl(url, { ...init, redirect: "manual", signal }) : await pinnedFetch(url, init, known, signal);
    const place = response.status >= 300 && response.status < 400 ? response.headers.get("location") : null;
    if (place === null) return { response, finalUrl: url.href, release: async () => ended.abort() };
    await response.body?.cancel();
    if (hop >= maxRedirects) throw new Error(`${params.url} redirects more than ${maxRedirects} times`);
    const next = parsed(place, url);
    init = afterRedirect(init, response.status, url, next);
    url = next;
  }
}
