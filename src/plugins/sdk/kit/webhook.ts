/** Requests that a platform posts to us: verified over their raw bytes before anything is read from them, and answered after they are stored. */
import { createHash, createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { equalSecrets } from "../../../base/equal-secrets.ts";
import { isRequestBodyLimitError, readRequestBodyWithLimit, requestBodyErrorToText } from "../network/request-body.ts";
import { registerWebhookTargetWithPluginRoute } from "../network/webhook-guards.ts";
import { messageOf } from "./failure.ts";
import type { KitLog } from "./intake.ts";

export interface WebhookRequest {
  /** As it came, byte by byte. */
  readonly body: Buffer;
  readonly headers: IncomingMessage["headers"];
  readonly path: string;
  readonly query: URLSearchParams;
}

/** `signature` names the request for the check of repeats: the same bytes however they were written down. */
export type Verified = { readonly ok: true; readonly signature?: Buffer | undefined } | { readonly ok: false; readonly why: string };

export interface WebhookAnswer {
  readonly status?: number | undefined;
  /** Sent as JSON, or as it is where it is a text. */
  readonly body?: unknown;
}

export interface WebhookOptions {
  readonly pluginId: string;
  readonly accountId: string;
  readonly path: string;
  readonly log: KitLog;
  verify(request: WebhookRequest): Verified | Promise<Verified>;
  /** Resolves when everything in it is stored; what it throws is answered with 503, so that the platform brings it again. */
  handle(request: WebhookRequest): Promise<WebhookAnswer | void>;
  /** A request with a signature that was handled before. Default: 409. */
  repeated?(request: WebhookRequest): WebhookAnswer;
  /** How long signatures are remembered. Default 10 minutes; longer than what `verify` accepts as fresh. */
  readonly replayWindowMs?: number | undefined;
  readonly maxBytes?: number | undefined;
  readonly bodyTimeoutMs?: number | undefined;
  readonly now?: (() => number) | undefined;
}

interface Target extends WebhookOptions {
  readonly replays: ReplayGuard;
}

const MAX_BYTES = 1024 * 1024;
const BODY_TIMEOUT_MS = 30_000;
const REPLAY_WINDOW_MS = 600_000;
const MAX_SIGNATURES = 20_000;

interface ReplayGuard {
  has(signature: Buffer): boolean;
  add(signature: Buffer): void;
}

function createReplayGuard(windowMs: number, now: () => number): ReplayGuard {
  const seen = new Map<string, number>();
  const keyOf = (signature: Buffer): string => createHash("sha256").update(signature).digest("base64");
  return {
    has: (signature) => (seen.get(keyOf(signature)) ?? 0) > now(),
    add(signature) {
      for (const [key, until] of seen) {
        if (until > now() && seen.size < MAX_SIGNATURES) break;
        seen.delete(key);
      }
      seen.set(keyOf(signature), now() + windowMs);
    },
  };
}

export interface HmacCheck {
  readonly secret: string;
  /** What was signed. */
  readonly payload: string | Uint8Array;
  /** As it came, without a prefix such as `v0=`. */
  readonly received: string | undefined;
  readonly encoding: "hex" | "base64";
  readonly algorithm?: string | undefined;
}

/** Compares in constant time. An empty secret verifies nothing. */
export function verifyHmac({ secret, payload, received, encoding, algorithm = "sha256" }: HmacCheck): Verified {
  if (secret === "") return { ok: false, why: "no secret is configured" };
  const expected = createHmac(algorithm, secret).update(payload).digest();
  const form = encoding === "hex" ? /^[\da-f]+$/i : /^[\w+/-]+={0,2}$/;
  const bytes = received !== undefined && form.test(received) ? Buffer.from(received, encoding) : Buffer.alloc(0);
  return equalSecrets(bytes.toString("base64"), expected.toString("base64")) ? { ok: true, signature: bytes } : { ok: false, why: "the signature is wrong" };
}

/** Whether a time of the platform is near enough to now. */
export function isFresh(seconds: number, now: number, windowMs = 300_000): boolean {
  return Number.isFinite(seconds) && Math.abs(now - seconds * 1000) <= windowMs;
}

function end(response: ServerResponse, status: number, body: unknown = ""): void {
  if (response.headersSent) return;
  const isText = typeof body === "string";
  response.writeHead(status, { "content-type": isText ? "text/plain; charset=utf-8" : "application/json", "cache-control": "no-store" });
  response.end(isText ? body : JSON.stringify(body));
}

const pathOf = ({ url }: IncomingMessage): string => new URL(url ?? "/", "http://localhost").pathname;

async function readRequest(request: IncomingMessage, { maxBytes = MAX_BYTES, bodyTimeoutMs = BODY_TIMEOUT_MS }: WebhookOptions): Promise<WebhookRequest> {
  // One byte is one character of latin1: nothing is lost on the way.
  const body = Buffer.from(await readRequestBodyWithLimit(request, { maxBytes, timeoutMs: bodyTimeoutMs, encoding: "latin1" }), "latin1");
  const url = new URL(request.url ?? "/", "http://localhost");
  return { body, headers: request.headers, path: url.pathname, query: url.searchParams };
}

/** The only account that this request is for. Where none or several verify it, nobody can tell. */
async function ownerOf(
  targets: readonly Target[],
  request: WebhookRequest,
): Promise<{ readonly target: Target; readonly signature: Buffer | undefined } | undefined> {
  const checked = await Promise.all(targets.map(async (target) => ({ target, result: await target.verify(request) })));
  const [only, ...others] = checked.flatMap(({ target, result }) => (result.ok ? [{ target, signature: result.signature }] : []));
  if (only && others.length === 0) return only;
  const why = only ? "several accounts accept it" : checked.map(({ result }) => (result.ok ? "" : result.why)).join("; ");
  targets[0]?.log.warn(`a request to ${request.path} was refused: ${why}`);
  return undefined;
}

async function answer(targets: readonly Target[], incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const [first] = targets;
  if (!first) return end(response, 404, "Not Found");
  if (incoming.method !== "POST") return end(response, 405, "Method Not Allowed");
  let request: WebhookRequest;
  try {
    request = await readRequest(incoming, first);
  } catch (error) {
    if (!isRequestBodyLimitError(error)) return end(response, 400, "Bad Request");
    if (error.statusCode === 413) first.log.warn(`a request to ${pathOf(incoming)} was refused: its body has more than ${first.maxBytes ?? MAX_BYTES} bytes`);
    return end(response, error.statusCode, requestBodyErrorToText(error.code));
  }
  let owner: Awaited<ReturnType<typeof ownerOf>>;
  try {
    owner = await ownerOf(targets, request);
  } catch (error) {
    // Keys that could not be fetched say nothing about the request.
    first.log.warn(`a request to ${request.path} could not be verified (${messageOf(error)}); the platform will retry it`);
    return end(response, 503, "Try again later");
  }
  if (!owner) return end(response, 401, "Unauthorized");
  const { target, signature } = owner;
  if (signature && target.replays.has(signature)) {
    const { status = 409, body = "This request was handled before" } = target.repeated?.(request) ?? {};
    return end(response, status, body);
  }
  try {
    const { status = 200, body = {} } = (await target.handle(request)) ?? {};
    // Only what was taken counts as seen: the platform brings the rest again, with the same signature.
    if (signature) target.replays.add(signature);
    end(response, status, body);
  } catch (error) {
    target.log.warn(`a request to ${request.path} was not accepted (${messageOf(error)}); the platform will retry it`);
    end(response, 503, "Try again later");
  }
}

/** Opens the path on the gateway until the result is called. Accounts may share a path. */
export function createWebhooks(): { register(options: WebhookOptions): () => void } {
  const targetsByPath = new Map<string, Target[]>();
  /** They outlive an account that is started again. */
  const guards = new Map<string, ReplayGuard>();
  return {
    register(options) {
      const guard = `${options.accountId} ${options.path}`;
      const replays = guards.get(guard) ?? createReplayGuard(options.replayWindowMs ?? REPLAY_WINDOW_MS, options.now ?? Date.now);
      guards.set(guard, replays);
      const { target, unregister } = registerWebhookTargetWithPluginRoute<Target>({
        targetsByPath,
        target: { ...options, replays },
        route: {
          pluginId: options.pluginId,
          accountId: options.accountId,
          log: (message) => options.log.warn(message),
          handler: async (request, response) => {
            await answer(targetsByPath.get(target.path) ?? [], request, response);
            return true;
          },
        },
      });
      return unregister;
    },
  };
}
