import type { IncomingMessage } from "node:http";
import type { Clock } from "../../base/clock.ts";
import type { HookAnswer, HookRequest } from "../../automation/index.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Config, OpenClawConfig, SecretInput } from "../../config/index.ts";
import { createAttempts } from "../auth/credentials.ts";
import { createFailureBudget } from "../auth/rate-limit.ts";
import { equalSecrets } from "../../base/equal-secrets.ts";
import { bearerOf } from "./bearer.ts";
import { apiErrorOfThrown } from "./failures.ts";
import type { GuardVerdict, HttpAuth } from "./guard.ts";
import { retryAfter, sendJson } from "./reply.ts";
import type { Exchange, Route } from "./route.ts";

const DEFAULT_PATH = "/hooks";
const DEFAULT_BODY_BYTES = 262_144;
const FAILURE_LIMITS = { maxAttempts: 20, windowMs: 60_000, lockoutMs: 60_000, exemptLoopback: true };

export interface HookAuth {
  check(request: IncomingMessage, query: URLSearchParams, path: string): Promise<GuardVerdict>;
  /** A signature was wrong: it counts like a wrong token. */
  fail(request: IncomingMessage): void;
}

export interface HookAuthDeps {
  readonly auth: HttpAuth;
  readonly config: Pick<Config, "current" | "resolveSecret">;
  readonly clock: Clock;
  readonly log: Logger;
}

const NO_SUB_PATH: GuardVerdict = {
  ok: false,
  error: { status: 404, message: "Not Found: send requests to an endpoint below this path, such as /wake or /agent", type: "not_found" },
};

const isBlank = (token: SecretInput | undefined): boolean => token === undefined || (typeof token === "string" && token.trim() === "");

/** Where hooks are taken; undefined when the configured path would take everything. */
function hooksPath(config: OpenClawConfig): string | undefined {
  const path = `/${(config.hooks?.path ?? DEFAULT_PATH).trim().replace(/^\/+|\/+$/g, "")}`;
  return path === "/" ? undefined : path;
}

/** Refuses a configuration under which hooks would be open to everybody. */
export function checkHooks(config: OpenClawConfig): void {
  const { hooks, gateway } = config;
  if (hooks?.enabled !== true) return;
  if (isBlank(hooks.token)) throw new AppError("CONFIG_INVALID", "hooks.enabled needs hooks.token: set it to a long random string, or turn hooks.enabled off");
  if (hooksPath(config) === undefined) throw new AppError("CONFIG_INVALID", 'hooks.path may not be "/": use a separate path, such as "/hooks"');
  if (typeof hooks.token === "string" && [gateway?.auth?.token, gateway?.auth?.password].includes(hooks.token))
    throw new AppError("CONFIG_INVALID", "hooks.token must differ from the gateway's secret: webhook senders must not control the gateway");
  for (const [index, { preset, secret }] of (hooks.mappings ?? []).entries())
    if (preset !== undefined && isBlank(secret))
      throw new AppError(
        "CONFIG_INVALID",
        `hooks.mappings[${index}].secret is missing: requests of ${preset} would not be checked; set it, or remove the mapping`,
      );
}

/** What stands behind the path of hooks, without slashes around it. */
function subPath(config: OpenClawConfig, path: string): string {
  return path.slice((hooksPath(config) ?? "").length).replace(/^\/+|\/+$/g, "");
}

/** The header in which a service signs its requests. */
const SIGNATURES = { github: "x-hub-signature-256", stripe: "stripe-signature", slack: "x-slack-signature" } as const;

/** Whether a request carries the signature that a mapping of its path asks for. Whether it is right shows with the body. */
function isSigned({ hooks }: OpenClawConfig, sub: string, request: IncomingMessage): boolean {
  return (hooks?.mappings ?? []).some(({ preset, match }) => {
    if (preset === undefined || typeof request.headers[SIGNATURES[preset]] !== "string") return false;
    const path = typeof match?.path === "string" && match.path.trim() !== "" ? match.path.trim().replace(/^\/+|\/+$/g, "") : preset;
    return path === sub;
  });
}

function presented(request: IncomingMessage): string | undefined {
  const own = request.headers["x-openclaw-token"];
  return bearerOf(request) ?? (typeof own === "string" ? own.trim() : undefined);
}

export function createHookAuth({ auth, config, clock, log }: HookAuthDeps): HookAuth {
  const attempts = createAttempts({ settings: () => ({ rateLimit: FAILURE_LIMITS }), clock, budget: createFailureBudget(() => FAILURE_LIMITS, clock) });
  let known: { readonly input: SecretInput; readonly token: string } | undefined;

  /** The token in use. A reference is resolved once per configuration, so that callers cannot make it run a program at will. */
  async function expected(): Promise<string | undefined> {
    const input = config.current.hooks?.token;
    if (input === undefined || isBlank(input)) return undefined;
    if (known?.input === input) return known.token;
    try {
      const token = await config.resolveSecret(input, "hooks.token");
      if (token.trim() === "") return undefined;
      known = { input, token };
      return token;
    } catch (error) {
      log.error("hooks.token could not be resolved; all webhook requests are rejected", { error });
      return undefined;
    }
  }

  return {
    fail: (request) => attempts.fail(auth.peerOf(request)),
    async check(request, query, path) {
      if (query.has("token")) {
        const message = "Send the hook token as `Authorization: Bearer` or `x-openclaw-token`; it is not accepted in the URL";
        return { ok: false, error: { status: 400, message, type: "invalid_request_error" } };
      }
      const peer = auth.peerOf(request);
      const waitMs = attempts.lockedFor(peer);
      if (waitMs !== undefined)
        return { ok: false, error: { status: 429, message: "Too many failed attempts; try again later", type: "rate_limited" }, retryAfterMs: waitMs };
      const token = presented(request);
      const sub = subPath(config.current, path);
      if (token === undefined && isSigned(config.current, sub, request)) return { ok: true, trusted: false };
      if (token !== undefined) await attempts.pace(peer);
      const wanted = token === undefined ? undefined : await expected();
      if (token !== undefined && wanted !== undefined && equalSecrets(token, wanted))
        return sub === "" && request.method === "POST" ? NO_SUB_PATH : { ok: true, trusted: true };
      attempts.fail(peer);
      return { ok: false, error: { status: 401, message: "Unauthorized", type: "unauthorized" } };
    },
  };
}

export interface HookRoutesDeps {
  readonly config: Pick<Config, "current">;
  readonly auth: HookAuth;
  readonly webhooks?: { handle(request: HookRequest): Promise<HookAnswer> } | undefined;
  readonly log: Logger;
}

/** A request as webhooks see it; a header that came several times is one text. */
function hookRequest({ request, path, query, body, trusted }: Exchange, sub: string): HookRequest {
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]));
  // The token is for this check alone: templates and transforms do not see it.
  delete headers["authorization"];
  delete headers["x-openclaw-token"];
  const url = `http://${request.headers.host ?? "localhost"}${path}${query.size === 0 ? "" : `?${query.toString()}`}`;
  return { path: sub, url: URL.canParse(url) ? url : `http://localhost${path}`, headers, query: Object.fromEntries(query), body, trusted };
}

/** Takes requests of other programs, once their headers are checked. */
export function hookRoutes({ config, auth, webhooks, log }: HookRoutesDeps): readonly Route[] {
  async function handle(exchange: Exchange): Promise<void> {
    const { request, response, path } = exchange;
    if (!webhooks) return sendJson(response, 503, { ok: false, error: "UNAVAILABLE: webhooks are not available in this gateway; nothing was accepted" });
    try {
      const { status, body } = await webhooks.handle(hookRequest(exchange, subPath(config.current, path)));
      if (status === 401) auth.fail(request);
      if (body) sendJson(response, status, body);
      else response.writeHead(status).end();
    } catch (error) {
      const known = apiErrorOfThrown(error);
      log.warn(`a webhook request was not accepted: ${messageOf(error)}`, { path });
      sendJson(response, known.status, { ok: false, error: known.message }, retryAfter(known));
    }
  }
  return [
    {
      methods: ["POST"],
      path: () => hooksPath(config.current),
      match: "prefix",
      auth: "hook-token",
      authFirst: true,
      maxBodyBytes: () => config.current.hooks?.maxBodyBytes ?? DEFAULT_BODY_BYTES,
      errors: "ok-false",
      off: () => (config.current.hooks?.enabled === true ? undefined : "hooks.enabled is off"),
      handle,
    },
  ];
}
