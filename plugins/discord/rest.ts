/** Discord's HTTP API: its limits by bucket and over all, and what its refusals mean. */
import {
  asChannelError,
  type ChannelError,
  createHttpClient,
  type FilePart,
  type Fields,
  fieldsOf,
  type HttpAnswer,
  type HttpClient,
  listOf,
  notSent,
  numberOf,
  type Refusal,
  textOf,
  type Transport,
  type Waiting,
} from "openclaw/plugin-sdk/channel-kit";

export const API_ROOT = "https://discord.com/api/v10";
const USER_AGENT = "DiscordBot (https://openclaw.ai, 1.0.0)";
/** A longer wait is the host's business. */
const PATIENCE_MS = 5000;
const CDN_HOSTS = /^(?:cdn|media)\.discordapp\.(?:com|net)$/;

export interface RestOptions {
  readonly token: string;
  readonly apiRoot?: string | undefined;
  readonly proxy?: string | undefined;
  readonly waiting: Waiting;
  readonly transport?: Transport | undefined;
}

export interface RestRequest {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly json?: unknown;
  readonly parts?: Readonly<Record<string, string | FilePart | undefined>> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** For the server's audit log. */
  readonly reason?: string | undefined;
  /** Tried again once after a 429 that asks for a short pause. For what the host does not repeat by itself. */
  readonly isPatient?: boolean | undefined;
  /** What errors call it: a token in the path must not be in them. */
  readonly action?: string | undefined;
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface Rest {
  /** The answer's JSON. */
  call(method: Method, path: string, request?: RestRequest): Promise<unknown>;
  fields(method: Method, path: string, request?: RestRequest): Promise<Fields>;
  download(url: string, maxBytes: number, signal: AbortSignal): Promise<{ data: Buffer; mimeType: string | undefined }>;
  close(): void;
}

/** The texts that Discord puts below the fields they are about. */
function fieldErrors(errors: unknown, path = ""): string[] {
  const fields = fieldsOf(errors);
  if (!fields) return [];
  return Object.entries(fields).flatMap(([key, value]) =>
    key === "_errors"
      ? listOf(value).flatMap((error) => `${path}: ${textOf(fieldsOf(error)?.["message"]) ?? "invalid"}`)
      : fieldErrors(value, path === "" ? key : `${path}.${key}`),
  );
}

const FIXES: Readonly<Record<number, string>> = {
  50_001: "add the bot to the server, or let its role view the channel",
  50_007: "the person has to share a server with the bot and allow direct messages",
  50_013: "give the bot's role the permission for this in the server's settings",
};

function readRefusal({ status, json }: HttpAnswer): Refusal | undefined {
  if (status < 400) return undefined;
  const body = fieldsOf(json) ?? {};
  const code = numberOf(body["code"]);
  const seconds = numberOf(body["retry_after"]);
  const description = [textOf(body["message"]), ...fieldErrors(body["errors"])].filter(Boolean).join("; ").slice(0, 500);
  const isRevoked = status === 401 && code !== 50_027;
  return {
    description,
    ...(code === undefined || code === 0 ? {} : { reason: String(code) }),
    ...(seconds === undefined ? {} : { retryAfterMs: Math.ceil(seconds * 1000) }),
    permanent: isRevoked,
    fix: isRevoked ? "set a valid token in channels.discord.token (Discord developer portal, Bot, Reset Token)" : FIXES[code ?? 0],
  };
}

/** The error code of a refusal: 10008 and the like. */
export const codeOf = (error: unknown): number | undefined => {
  const code = Number(asChannelError(error)?.reason);
  return Number.isInteger(code) && code > 0 ? code : undefined;
};

interface Bucket {
  remaining: number;
  resetAt: number;
}

const MAX_BUCKETS = 5000;

/** What is left of each limit, as the headers of answers tell it. Requests share a bucket by route and top-level id. */
function createBuckets(now: () => number) {
  const hashes = new Map<string, string>();
  const buckets = new Map<string, Bucket>();
  const keyOf = (route: string, top: string): string => `${hashes.get(route) ?? route} ${top}`;
  const number = (value: string | string[] | undefined): number | undefined => {
    const parsed = Number(value);
    return value === undefined || Number.isNaN(parsed) ? undefined : parsed;
  };
  return {
    waitMs(route: string, top: string): number {
      const bucket = buckets.get(keyOf(route, top));
      return bucket && bucket.remaining <= 0 ? Math.max(0, bucket.resetAt - now()) : 0;
    },
    /** A request leaves: it counts before its answer says so. */
    take(route: string, top: string): void {
      const bucket = buckets.get(keyOf(route, top));
      if (bucket) bucket.remaining -= 1;
    },
    heard(route: string, top: string, headers: HttpAnswer["headers"]): void {
      const hash = headers["x-ratelimit-bucket"];
      if (typeof hash === "string") hashes.set(route, hash);
      const [remaining, seconds] = [number(headers["x-ratelimit-remaining"]), number(headers["x-ratelimit-reset-after"])];
      if (remaining === undefined || seconds === undefined) return;
      if (buckets.size > MAX_BUCKETS) buckets.clear();
      buckets.set(keyOf(route, top), { remaining, resetAt: now() + seconds * 1000 });
    },
    pause: (route: string, top: string, ms: number): void => void buckets.set(keyOf(route, top), { remaining: 0, resetAt: now() + ms }),
  };
}

/** `/channels/1/messages/2` → the route with ids left out, and the id that its limit goes by. */
function routeOf(method: string, path: string): { readonly route: string; readonly top: string } {
  const [, top = ""] = /^\/(?:channels|guilds|webhooks)\/([^/]+)/.exec(path) ?? [];
  const route = `${method} ${path
    .replaceAll(/\/\d{6,}/g, "/:id")
    .replace(/\/reactions\/.*/, "/reactions")
    .replace(/^\/(webhooks|interactions)\/.*/, "/$1")}`;
  return { route, top };
}

export function createRest(options: RestOptions): Rest {
  const { token, waiting } = options;
  const http: HttpClient = createHttpClient({
    platform: "Discord",
    baseUrl: options.apiRoot ?? API_ROOT,
    headers: { authorization: `Bot ${token}`, "user-agent": USER_AGENT },
    secrets: [token],
    readRefusal,
    now: waiting.now,
    ...(options.proxy === undefined ? {} : { proxy: options.proxy }),
    ...(options.transport === undefined ? {} : { transport: options.transport }),
  });
  const buckets = createBuckets(waiting.now);
  let globalUntil = 0;

  async function space(route: string, top: string, action: string, signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      const ms = Math.ceil(Math.max(globalUntil - waiting.now(), buckets.waitMs(route, top)));
      if (ms <= 0) return buckets.take(route, top);
      if (ms > PATIENCE_MS) throw notSent(action, `Discord rate limit: ${action} waits ${Math.ceil(ms / 1000)} s`, ms);
      await waiting.sleep(ms, signal ?? new AbortController().signal);
      if (signal?.aborted) throw notSent(action, `${action} was cancelled while waiting for Discord's rate limit`);
    }
  }

  function limited(error: ChannelError, route: string, top: string): number {
    const ms = error.delivery.retryAfterMs ?? 1000;
    if (fieldsOf(error.body)?.["global"] === true) globalUntil = waiting.now() + ms;
    else buckets.pause(route, top, ms);
    return ms;
  }

  async function call(method: Method, path: string, request: RestRequest = {}): Promise<unknown> {
    const { route, top } = routeOf(method, path);
    const { isPatient = method === "GET", reason, action = `${method} ${path.split("?", 1)[0]}`, ...rest } = request;
    const headers = reason === undefined ? {} : { headers: { "x-audit-log-reason": encodeURIComponent(reason).slice(0, 512) } };
    for (let attempt = 1; ; attempt += 1) {
      await space(route, top, action, rest.signal);
      try {
        const answer = await http.request({ ...rest, ...headers, method, path, action });
        buckets.heard(route, top, answer.headers);
        return answer.json;
      } catch (error) {
        const failure = asChannelError(error);
        if (failure?.status !== 429) throw error;
        const ms = limited(failure, route, top);
        if (!isPatient || attempt > 1 || ms > PATIENCE_MS) throw error;
      }
    }
  }

  return {
    call,
    fields: async (method, path, request) => fieldsOf(await call(method, path, request)) ?? {},
    download: (url, maxBytes, signal) => http.download({ path: url, maxBytes, signal, allowHost: (host) => CDN_HOSTS.test(host) }),
    close: () => http.close(),
  };
}
