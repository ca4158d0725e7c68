/** `fetch` that looks where it goes, over the host's one guarded request: what plugins see of it are the classes of `fetch`. */
import type { IncomingMessage } from "node:http";
import { followRedirects, sendPinned, type Hop, type HopAnswer } from "../../../base/guarded-fetch.ts";
import { type LookupFn, refusalOf, SsrFBlockedError, type SsrFPolicy } from "./ssrf.ts";

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

interface ResponseHop extends HopAnswer {
  readonly response: Response;
}

async function responseOf(answer: IncomingMessage, method: string): Promise<Response> {
  const { Readable } = await import("node:stream");
  const headers = new Headers();
  for (let index = 0; index < answer.rawHeaders.length; index += 2) headers.append(answer.rawHeaders[index] ?? "", answer.rawHeaders[index + 1] ?? "");
  const status = answer.statusCode ?? 500;
  const empty = method === "HEAD" || [101, 204, 205, 304].includes(status);
  if (empty) answer.resume();
  return new Response(empty ? null : (Readable.toWeb(answer) as ReadableStream), { status, statusText: answer.statusMessage ?? "", headers });
}

const hopOf = (response: Response): ResponseHop => ({
  response,
  status: response.status,
  location: response.headers.get("location"),
  discard: async () => await response.body?.cancel(),
});

/** A hop through the plugin's own `fetch`. */
async function sendWith(fetchImpl: FetchLike, init: RequestInit, { url, method, headers, keepsBody, signal }: Hop): Promise<ResponseHop> {
  const { body, ...rest } = init;
  return hopOf(await fetchImpl(url, { ...rest, ...(keepsBody && body != null ? { body } : {}), method, headers, redirect: "manual", signal }));
}

/** What a `RequestInit` says, in bytes and headers. */
async function requestParts(url: string, init: RequestInit): Promise<{ headers: Record<string, string>; body: Uint8Array | undefined }> {
  if (!init.body) return { headers: Object.fromEntries(new Headers(init.headers)), body: undefined };
  const { signal: _signal, ...rest } = init;
  const request = new Request(url, { ...rest, duplex: "half" });
  return { headers: Object.fromEntries(request.headers), body: new Uint8Array(await request.arrayBuffer()) };
}

/** Fetches from a public host. Throws {@link SsrFBlockedError} where the policy says no, at any hop. */
export async function fetchWithSsrFGuard(params: GuardedFetchOptions): Promise<GuardedFetchResult> {
  const { fetchImpl, policy, lookupFn, maxRedirects, url, init = {} } = params;
  const budget = params.timeoutMs ? AbortSignal.timeout(Math.ceil(params.timeoutMs)) : undefined;
  const sources = [params.signal, init.signal, budget].filter((source) => source != null);
  if (!URL.canParse(url)) throw new SsrFBlockedError(`${url.slice(0, 200)} is not an http or https URL`);
  try {
    const { headers, body } = fetchImpl ? { headers: Object.fromEntries(new Headers(init.headers)), body: undefined } : await requestParts(url, init);
    const route = {
      url,
      method: init.method ?? undefined,
      headers,
      maxRedirects,
      policy,
      resolves: policy?.allowPrivateNetwork !== true || !fetchImpl,
      ...(sources.length === 0 ? {} : { signal: AbortSignal.any(sources) }),
      ...(lookupFn ? { lookup: async (host: string) => await lookupFn(host, { all: true }) } : {}),
    };
    const found = await followRedirects(route, async (hop) =>
      fetchImpl ? await sendWith(fetchImpl, init, hop) : hopOf(await responseOf(await sendPinned(hop, body), hop.method)),
    );
    return { response: found.last.response, finalUrl: found.url.href, release: async () => found.end() };
  } catch (error) {
    throw refusalOf(error);
  }
}
