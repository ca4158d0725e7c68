/** What a webhook lets through: rates, methods, types, bodies, and the one listener that a request is for. */
import { sdkState } from "../host-binding.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import { BlockList, isIP } from "node:net";
import { equalSecrets } from "../../../base/equal-secrets.ts";
import type { OpenClawPluginHttpRouteHandler } from "../../../protocol/index.ts";
import { isRequestBodyLimitError, readRequestBodyWithLimit, requestBodyErrorToText } from "./request-body.ts";
import { pruneMapToMaxSize } from "../values/small.ts";
import { registerPluginHttpRoute, registerWebhookTarget, resolveWebhookTargets, type RegisteredWebhookTarget } from "./webhooks.ts";

export const WEBHOOK_RATE_LIMIT_DEFAULTS = Object.freeze({ windowMs: 60_000, maxRequests: 120, maxTrackedKeys: 4096 });
export const WEBHOOK_ANOMALY_COUNTER_DEFAULTS = Object.freeze({ maxTrackedKeys: 4096, ttlMs: 6 * 60 * 60 * 1000, logEvery: 25 });
export const WEBHOOK_ANOMALY_STATUS_CODES: readonly number[] = Object.freeze([400, 401, 408, 413, 415, 429]);

export interface FixedWindowRateLimiter {
  /** Counts one, and says whether it was one too many. */
  isRateLimited(key: string, nowMs?: number): boolean;
  size(): number;
  clear(): void;
}

/** So many per key and window; the keys that were quiet longest are forgotten first. */
export function createFixedWindowRateLimiter(options: {
  readonly windowMs: number;
  readonly maxRequests: number;
  readonly maxTrackedKeys: number;
}): FixedWindowRateLimiter {
  const windows = new Map<string, { start: number; count: number }>();
  return {
    isRateLimited(key, nowMs = Date.now()) {
      const known = windows.get(key);
      const window = known && nowMs - known.start < options.windowMs ? known : { start: nowMs, count: 0 };
      window.count += 1;
      windows.delete(key);
      windows.set(key, window);
      pruneMapToMaxSize(windows, Math.max(1, options.maxTrackedKeys));
      return window.count > options.maxRequests;
    },
    size: () => windows.size,
    clear: () => windows.clear(),
  };
}

/** Counts refused requests and logs the first and then every so many. */
export function createWebhookAnomalyTracker(
  options: { readonly maxTrackedKeys?: number; readonly ttlMs?: number; readonly logEvery?: number; readonly trackedStatusCodes?: readonly number[] } = {},
): {
  record(event: { key: string; statusCode: number; message: (count: number) => string; log?: ((line: string) => void) | undefined; nowMs?: number }): number;
  size(): number;
  clear(): void;
} {
  const { maxTrackedKeys, ttlMs, logEvery } = { ...WEBHOOK_ANOMALY_COUNTER_DEFAULTS, ...options };
  const codes = options.trackedStatusCodes ?? WEBHOOK_ANOMALY_STATUS_CODES;
  const counts = new Map<string, { count: number; at: number }>();
  return {
    record({ key, statusCode, message, log, nowMs = Date.now() }) {
      if (!codes.includes(statusCode)) return 0;
      const known = counts.get(key);
      const count = known && nowMs - known.at < ttlMs ? known.count + 1 : 1;
      counts.delete(key);
      counts.set(key, { count, at: nowMs });
      pruneMapToMaxSize(counts, maxTrackedKeys);
      if (count === 1 || count % logEvery === 0) log?.(message(count));
      return count;
    },
    size: () => counts.size,
    clear: () => counts.clear(),
  };
}

function refuse(res: ServerResponse, status: number, text: string, headers: Readonly<Record<string, string>> = {}): false {
  res.statusCode = status;
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  res.end(text);
  return false;
}

export const isJsonContentType = (type: string | string[] | undefined): boolean =>
  /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(Array.isArray(type) ? (type[0] ?? "") : (type ?? ""));

interface Guards {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly allowMethods?: readonly string[] | undefined;
  readonly rateLimiter?: FixedWindowRateLimiter | undefined;
  readonly rateLimitKey?: string | undefined;
  readonly nowMs?: number | undefined;
  readonly requireJsonContentType?: boolean | undefined;
}

/** False: it was answered with 405, 429 or 415. */
export function applyBasicWebhookRequestGuards({ req, res, allowMethods, rateLimiter, rateLimitKey, nowMs, requireJsonContentType }: Guards): boolean {
  if (allowMethods && !allowMethods.includes(req.method ?? "")) return refuse(res, 405, "Method Not Allowed", { Allow: allowMethods.join(", ") });
  if (rateLimiter && rateLimitKey !== undefined && rateLimiter.isRateLimited(rateLimitKey, nowMs)) return refuse(res, 429, "Too Many Requests");
  if (requireJsonContentType && !isJsonContentType(req.headers["content-type"])) return refuse(res, 415, "Unsupported Media Type");
  return true;
}

/** Finds who listens, applies the guards and hands the request over. False: nobody listens here. */
export async function withResolvedWebhookRequestPipeline<T>(
  params: Guards & { readonly targetsByPath: Map<string, T[]>; handle(found: { path: string; targets: T[] }): Promise<boolean | void> | boolean | void },
): Promise<boolean> {
  const found = resolveWebhookTargets(params.req, params.targetsByPath);
  if (!found) return false;
  if (!applyBasicWebhookRequestGuards(params)) return true;
  return (await params.handle(found)) !== false;
}

interface BodyOptions {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly maxBytes?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly invalidBodyMessage?: string | undefined;
}

export type Body<T> = { ok: true; value: T } | { ok: false };

/** The body as text; where it cannot be read the request is answered. */
export async function readWebhookBodyOrReject({
  req,
  res,
  maxBytes = 1024 * 1024,
  timeoutMs,
  invalidBodyMessage = "Bad Request",
}: BodyOptions): Promise<Body<string>> {
  try {
    return { ok: true, value: await readRequestBodyWithLimit(req, { maxBytes, timeoutMs }) };
  } catch (error) {
    if (isRequestBodyLimitError(error)) refuse(res, error.statusCode, requestBodyErrorToText(error.code));
    else refuse(res, 400, invalidBodyMessage);
    return { ok: false };
  }
}

/** The same as a value. */
export async function readJsonWebhookBodyOrReject(options: BodyOptions & { readonly emptyObjectOnEmpty?: boolean | undefined }): Promise<Body<unknown>> {
  const body = await readWebhookBodyOrReject(options);
  if (!body.ok) return body;
  if (body.value.trim() === "" && options.emptyObjectOnEmpty !== false) return { ok: true, value: {} };
  try {
    return { ok: true, value: JSON.parse(body.value) };
  } catch {
    refuse(options.res, 400, options.invalidBodyMessage ?? "Bad Request");
    return { ok: false };
  }
}

interface Choice<T, R> {
  readonly targets: readonly T[];
  readonly res: ServerResponse;
  isMatch(target: T): R;
  readonly unauthorizedStatusCode?: number | undefined;
  readonly unauthorizedMessage?: string | undefined;
  readonly ambiguousStatusCode?: number | undefined;
  readonly ambiguousMessage?: string | undefined;
}

/** Where none or several match, nobody can tell whom it is for: it is refused. */
function single<T, R>(matches: readonly T[], options: Choice<T, R>): T | null {
  const [only, ...others] = matches;
  if (only !== undefined && others.length === 0) return only;
  if (matches.length === 0) refuse(options.res, options.unauthorizedStatusCode ?? 401, options.unauthorizedMessage ?? "unauthorized");
  else refuse(options.res, options.ambiguousStatusCode ?? 401, options.ambiguousMessage ?? "ambiguous webhook target");
  return null;
}

export const resolveWebhookTargetWithAuthOrRejectSync = <T>(options: Choice<T, boolean>): T | null => single(options.targets.filter(options.isMatch), options);

export async function resolveWebhookTargetWithAuthOrReject<T>(options: Choice<T, boolean | Promise<boolean>>): Promise<T | null> {
  const verdicts = await Promise.all(options.targets.map(async (target) => options.isMatch(target)));
  return single(
    options.targets.filter((_, index) => verdicts[index]),
    options,
  );
}

interface Route {
  readonly handler: OpenClawPluginHttpRouteHandler;
  readonly pluginId?: string | undefined;
  readonly source?: string | undefined;
  readonly accountId?: string | undefined;
  readonly log?: ((message: string) => void) | undefined;
}

/** Adds a listener; the first at its path adds the HTTP route, the last one that goes takes it away. */
export function registerWebhookTargetWithPluginRoute<T extends { path: string }>(params: {
  readonly targetsByPath: Map<string, T[]>;
  readonly target: T;
  readonly route: Route;
  onLastPathTargetRemoved?(params: { path: string }): void;
}): RegisteredWebhookTarget<T> {
  const { targetsByPath, route } = params;
  const { target, unregister } = registerWebhookTarget(targetsByPath, params.target);
  const { webhookRoutes } = sdkState();
  const routes = webhookRoutes.get(targetsByPath) ?? new Map<string, () => void>();
  webhookRoutes.set(targetsByPath, routes);
  if (!routes.has(target.path)) routes.set(target.path, registerPluginHttpRoute({ ...route, path: target.path }));
  return {
    target,
    unregister() {
      unregister();
      if (targetsByPath.has(target.path)) return;
      routes.get(target.path)?.();
      routes.delete(target.path);
      params.onLastPathTargetRemoved?.({ path: target.path });
    },
  };
}

/** Work that goes on after the answer. Its failure is reported, never thrown. */
export function runDetachedWebhookWork(work: () => unknown, options: { readonly onError?: ((error: unknown) => void) | undefined } = {}): void {
  setImmediate(() => void (async () => work())().catch((error: unknown) => options.onError?.(error)));
}

/** Compares without telling by the time it takes where they differ. Nothing equals nothing. */
export function safeEqualSecret(a?: string | null, b?: string | null): boolean {
  return typeof a === "string" && typeof b === "string" && equalSecrets(a, b);
}

const plainAddress = (address: string | undefined): string | undefined => {
  const text = address
    ?.trim()
    .replace(/^::ffff:(?=\d+\.)/i, "")
    .replace(/^\[|\]$/g, "");
  return text && isIP(text) > 0 ? text : undefined;
};

/** The client behind proxies that are trusted: the last address of the chain that is none of them. */
export function resolveClientIp(params: {
  readonly remoteAddr?: string | undefined;
  readonly forwardedFor?: string | undefined;
  readonly realIp?: string | undefined;
  readonly trustedProxies?: readonly string[] | undefined;
  readonly allowRealIpFallback?: boolean | undefined;
}): string | undefined {
  const remote = plainAddress(params.remoteAddr);
  const trusted = new BlockList();
  for (const entry of params.trustedProxies ?? []) {
    const [address = "", prefix] = entry.trim().split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (isIP(address) > 0 && prefix !== undefined) trusted.addSubnet(address, Number(prefix), family);
    else if (isIP(address) > 0) trusted.addAddress(address, family);
  }
  const isTrusted = (address: string): boolean => trusted.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
  if (remote === undefined || !isTrusted(remote)) return remote;
  const chain = (params.forwardedFor ?? "").split(",").map(plainAddress);
  const client = chain.findLast((address) => address !== undefined && !isTrusted(address));
  return client ?? (params.allowRealIpFallback ? plainAddress(params.realIp) : undefined) ?? remote;
}
