/** A client of a platform's HTTP API. Every failure says what became of the request. */
import { ChannelError, messageOf, notSent, unfit } from "./failure.ts";
import { jsonOf } from "./fields.ts";
import { type FilePart, multipart } from "./multipart.ts";
import { createTransport, type Transport, type TransportAnswer, TransportError, type TransportOptions } from "./transport.ts";

export interface HttpClientOptions extends TransportOptions {
  /** For people: "Slack". */
  readonly platform: string;
  readonly baseUrl: string;
  /** With every request to `baseUrl`; a function is asked each time. */
  readonly headers?: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>) | undefined;
  /** Never in a message of an error. */
  readonly secrets?: readonly string[] | undefined;
  readonly timeoutMs?: number | undefined;
  /** What a refusal says, and whether it is one at all: some platforms answer 200 to everything. */
  readonly readRefusal?: ((answer: HttpAnswer) => Refusal | undefined) | undefined;
  readonly now?: (() => number) | undefined;
  /** Instead of real connections. */
  readonly transport?: Transport | undefined;
}

export interface Refusal {
  /** Default: the HTTP status. */
  readonly status?: number | undefined;
  readonly description?: string | undefined;
  /** The platform's own code or error name. */
  readonly reason?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly delivery?: "failed" | "retry" | "unknown" | undefined;
  readonly permanent?: boolean | undefined;
  /** What to do about it, behind the message. */
  readonly fix?: string | undefined;
}

export interface HttpRequest {
  readonly method?: string | undefined;
  /** Below `baseUrl`, or an absolute address, which gets no headers of the client. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly parts?: Readonly<Record<string, string | FilePart | undefined>> | undefined;
  readonly body?: Uint8Array | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly maxBytes?: number | undefined;
  /** Requests that wait together after a 429, such as those of one chat. */
  readonly lane?: string | undefined;
  /** What errors call it. Default: method and path. */
  readonly action?: string | undefined;
  readonly onProgress?: ((sentBytes: number, allBytes: number) => void) | undefined;
}

/** A file that is somewhere else than where its platform keeps files. */
export function refusedHost(platform: string, url: string): ChannelError {
  const { protocol, host } = new URL(url);
  return unfit("download", `a file of ${platform} has an address at ${protocol}//${host}; files are taken from its own hosts over https only`, "HOST_REFUSED");
}

export interface DownloadRequest extends Pick<HttpRequest, "path" | "headers" | "signal" | "timeoutMs"> {
  readonly maxBytes: number;
  /** Hosts beside that of `baseUrl` that a file may come from. Default none. */
  readonly allowHost?: ((host: string) => boolean) | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: TransportAnswer["headers"];
  readonly text: string;
  /** Undefined where the text is no JSON. */
  readonly json: unknown;
}

export interface HttpClient {
  /** Resolves with a success only. */
  request(request: HttpRequest): Promise<HttpAnswer>;
  /** A file. Redirects are followed, without the client's headers on another host. */
  download(request: DownloadRequest): Promise<{ data: Buffer; mimeType: string | undefined }>;
  /** An answer that does not end, such as a stream of events. */
  stream(request: Pick<HttpRequest, "path" | "query" | "headers" | "signal">): Promise<TransportAnswer>;
  close(): void;
}

const TIMEOUT_MS = 30_000;
const UPLOAD_TIMEOUT_MS = 300_000;
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const RETRY_MS = 1000;

const one = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

/** `Retry-After` in seconds or as a date. */
export function retryAfterMs(header: string | string[] | undefined, now: number): number | undefined {
  const text = one(header)?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

function stateOf(status: number): "failed" | "retry" | "unknown" {
  if (status === 429) return "retry";
  return status >= 500 || status === 408 ? "unknown" : "failed";
}

/** How long the platform asked to wait, by lane. */
export interface Pauses {
  /** In milliseconds. */
  left(lane: string): number;
  set(lane: string, ms: number): void;
}

export function createPauses(now: () => number): Pauses {
  const until = new Map<string, number>();
  return {
    left(lane: string): number {
      const left = (until.get(lane) ?? 0) - now();
      if (left <= 0) until.delete(lane);
      return Math.max(0, Math.ceil(left));
    },
    set: (lane: string, ms: number): void => void until.set(lane, Math.max(until.get(lane) ?? 0, now() + ms)),
  };
}

function bodyOf({ json, form, parts, body, onProgress }: HttpRequest) {
  if (parts !== undefined) return multipart(parts, onProgress);
  if (json !== undefined) return { headers: { "content-type": "application/json; charset=utf-8" }, body: JSON.stringify(json) };
  if (form !== undefined) {
    const pairs = Object.entries(form).flatMap(([key, value]): [string, string][] => (value === undefined ? [] : [[key, String(value)]]));
    return { headers: { "content-type": "application/x-www-form-urlencoded" }, body: new URLSearchParams(pairs).toString() };
  }
  return { headers: {}, body: body ?? null };
}

/** Errors of one platform, without its secrets. */
function createFailures(platform: string, secrets: readonly string[], now: () => number) {
  const clean = (text: string): string => secrets.filter(Boolean).reduce((cleaned, secret) => cleaned.replaceAll(secret, "<secret>"), text);
  return {
    clean,
    /** No answer came. */
    silence(action: string, error: unknown, isTimeout: boolean): ChannelError {
      if (error instanceof ChannelError) return error;
      if (error instanceof TransportError && error.code === "TOO_LARGE")
        return new ChannelError(`${platform}: ${error.message}`, {
          action,
          delivery: { state: action === "download" ? "failed" : "unknown" },
          code: error.code,
        });
      const sent = error instanceof TransportError ? error.sent : true;
      const cause = isTimeout ? "no answer in time" : clean(error instanceof Error ? error.message : String(error));
      return new ChannelError(`${platform} ${sent ? "did not respond" : "could not be reached"} for ${action}: ${cause}`, {
        action,
        delivery: { state: sent ? "unknown" : "retry" },
        code: error instanceof TransportError && error.code !== undefined ? error.code : "UNAVAILABLE",
      });
    },
    refused(action: string, answer: HttpAnswer, refusal: Refusal): ChannelError {
      const status = refusal.status ?? answer.status;
      const asked = refusal.retryAfterMs ?? (status === 429 || status === 503 ? retryAfterMs(answer.headers["retry-after"], now()) : undefined);
      const retry = asked ?? (status === 429 ? RETRY_MS : undefined);
      const parts = [refusal.reason, refusal.description].filter(Boolean).map((part) => clean(String(part)));
      const fix = refusal.fix === undefined ? "" : `; ${refusal.fix}`;
      return new ChannelError(`${platform} refused ${action}: ${[status, parts.join(": ")].filter(Boolean).join(" ")}${fix}`, {
        action,
        status,
        description: parts.join(" "),
        delivery: { state: refusal.delivery ?? stateOf(status), ...(retry === undefined ? {} : { retryAfterMs: retry }) },
        permanent: refusal.permanent ?? false,
        reason: refusal.reason,
        body: answer.json,
      });
    },
    /** A refusal that a request would only meet again. */
    paused: (action: string, ms: number): ChannelError =>
      new ChannelError(`${platform} asked to slow down: ${action} has to wait for ${Math.ceil(ms / 1000)} s`, {
        action,
        status: 429,
        delivery: { state: "retry", retryAfterMs: ms },
      }),
  };
}

/** A token could not be got: whatever became of that request, the one that it was for was not made. */
function unbegun(error: unknown): ChannelError {
  if (!(error instanceof ChannelError)) return notSent("sign in", messageOf(error));
  return error.delivery.state === "unknown" ? error.withDelivery({ state: "retry" }) : error;
}

/** Where requests go, and what goes along. */
function createAddresses(options: HttpClientOptions) {
  const base = options.baseUrl.replace(/\/+$/, "");
  const isOwn = (url: string): boolean => new URL(url).origin === new URL(base).origin;
  return {
    isOwn,
    urlOf(path: string, query: HttpRequest["query"] = {}): string {
      const url = new URL(/^[a-z][a-z\d+.-]*:\/\//i.test(path) ? path : `${base}${path}`);
      for (const [key, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(key, String(value));
      return url.href;
    },
    /** Another host never gets them. */
    async headersFor(url: string): Promise<Readonly<Record<string, string>>> {
      if (!isOwn(url)) return {};
      if (typeof options.headers !== "function") return options.headers ?? {};
      try {
        return await options.headers();
      } catch (error) {
        throw unbegun(error);
      }
    },
  };
}

async function wholeOf(answer: TransportAnswer, maxBytes: number): Promise<HttpAnswer> {
  const text = (await answer.bytes(maxBytes)).toString("utf8");
  return { status: answer.status, headers: answer.headers, text, json: jsonOf(text) };
}

export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { platform } = options;
  const now = options.now ?? Date.now;
  const transport = options.transport ?? createTransport(options);
  const pauses = createPauses(now);
  const failures = createFailures(platform, options.secrets ?? [], now);
  const { isOwn, urlOf, headersFor } = createAddresses(options);

  async function within<T>(action: string, outer: AbortSignal | undefined, timeoutMs: number, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const timeout = AbortSignal.timeout(Math.ceil(timeoutMs));
    try {
      return await act(outer ? AbortSignal.any([outer, timeout]) : timeout);
    } catch (error) {
      throw failures.silence(action, error, timeout.aborted);
    }
  }

  async function request(asked: HttpRequest): Promise<HttpAnswer> {
    const { lane, path, maxBytes = MAX_ANSWER_BYTES } = asked;
    const { headers, body } = bodyOf(asked);
    const method = asked.method ?? (body === null ? "GET" : "POST");
    const action = asked.action ?? failures.clean(`${method} ${path.split("?")[0]}`);
    const left = lane === undefined ? 0 : pauses.left(lane);
    if (left > 0) throw failures.paused(action, left);
    const isUpload = asked.parts !== undefined || asked.body !== undefined;
    const timeoutMs = asked.timeoutMs ?? Math.max(options.timeoutMs ?? TIMEOUT_MS, isUpload ? UPLOAD_TIMEOUT_MS : 0);
    const answer = await within(action, asked.signal, timeoutMs, async (signal) => {
      const url = urlOf(path, asked.query);
      return wholeOf(await transport.request(url, { method, headers: { ...(await headersFor(url)), ...headers, ...asked.headers }, body, signal }), maxBytes);
    });
    const refusal = options.readRefusal?.(answer) ?? (answer.status >= 400 ? {} : undefined);
    if (!refusal) return answer;
    const failure = failures.refused(action, answer, refusal);
    if (lane !== undefined && failure.status === 429) pauses.set(lane, failure.delivery.retryAfterMs ?? RETRY_MS);
    throw failure;
  }

  /** Follows redirects, each to a host that is allowed. */
  async function fetchFile(
    { path, headers, maxBytes, allowHost }: DownloadRequest,
    signal: AbortSignal,
  ): Promise<{ data: Buffer; mimeType: string | undefined }> {
    let url = urlOf(path);
    for (let hops = 0; ; hops += 1) {
      const { hostname, protocol } = new URL(url);
      if (!isOwn(url) && (protocol !== "https:" || allowHost?.(hostname) !== true)) throw refusedHost(platform, url);
      const answer = await transport.request(url, { headers: isOwn(url) ? { ...(await headersFor(url)), ...headers } : {}, signal });
      const next = one(answer.headers["location"]);
      if (answer.status < 300 || answer.status >= 400 || next === undefined || hops >= MAX_REDIRECTS) {
        const data = await answer.bytes(maxBytes);
        if (answer.status === 200) return { data, mimeType: one(answer.headers["content-type"]) };
        throw failures.refused(
          "download",
          { status: answer.status, headers: answer.headers, text: "", json: undefined },
          answer.status === 404 || answer.status === 410 ? { description: "the file does not exist" } : {},
        );
      }
      await answer.bytes(MAX_ANSWER_BYTES);
      url = new URL(next, url).href;
    }
  }

  return {
    request,
    download: (asked) => within("download", asked.signal, asked.timeoutMs ?? UPLOAD_TIMEOUT_MS, (signal) => fetchFile(asked, signal)),
    async stream({ path, query, headers, signal }) {
      const action = failures.clean(`GET ${path.split("?")[0]}`);
      const url = urlOf(path, query);
      const all = { ...(await headersFor(url)), ...headers };
      const answer = await transport.request(url, { headers: all, signal }).catch((error: unknown) => {
        throw failures.silence(action, error, false);
      });
      if (answer.status < 400) return answer;
      const whole = await wholeOf(answer, MAX_ANSWER_BYTES);
      throw failures.refused(action, whole, options.readRefusal?.(whole) ?? {});
    },
    close: () => transport.close(),
  };
}
