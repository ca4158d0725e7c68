import type { IncomingMessage } from "node:http";
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Config, OpenClawConfig, SecretInput } from "../../config/index.ts";
import { createAttempts } from "../auth/credentials.ts";
import { createFailureBudget } from "../auth/rate-limit.ts";
import { equalSecrets } from "../../base/equal-secrets.ts";
import { bearerOf } from "./bearer.ts";
import { parseJsonObject } from "./body.ts";
import type { GuardVerdict, HttpAuth } from "./guard.ts";
import { sendJson } from "./reply.ts";
import type { Route } from "./route.ts";

const DEFAULT_PATH = "/hooks";
const DEFAULT_BODY_BYTES = 262_144;
const FAILURE_LIMITS = { maxAttempts: 20, windowMs: 60_000, lockoutMs: 60_000, exemptLoopback: true };

export interface HookAuth {
  check(request: IncomingMessage, query: URLSearchParams): Promise<GuardVerdict>;
}

export interface HookAuthDeps {
  readonly auth: HttpAuth;
  readonly config: Pick<Config, "current" | "resolveSecret">;
  readonly clock: Clock;
  readonly log: Logger;
}

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
  if (isBlank(hooks.token)) throw new AppError("CONFIG_INVALID", "hooks.enabled needs hooks.token: set a long random text, or turn hooks.enabled off");
  if (hooksPath(config) === undefined) throw new AppError("CONFIG_INVALID", 'hooks.path may not be "/": name a path of its own, such as "/hooks"');
  if (typeof hooks.token === "string" && [gateway?.auth?.token, gateway?.auth?.password].includes(hooks.token))
    throw new AppError("CONFIG_INVALID", "hooks.token must differ from the gateway's own secret: senders of hooks may not control the gateway");
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
      log.error("hooks.token could not be resolved; every hook is refused", { error });
      return undefined;
    }
  }

  return {
    async check(request, query) {
      if (query.has("token")) {
        const message = "Send the hook token as `Authorization: Bearer` or `x-openclaw-token`; it is not taken from the address";
        return { ok: false, error: { status: 400, message, type: "invalid_request_error" } };
      }
      const peer = auth.peerOf(request);
      const waitMs = attempts.lockedFor(peer);
      if (waitMs !== undefined)
        return { ok: false, error: { status: 429, message: "Too many failed attempts; try again later", type: "rate_limited" }, retryAfterMs: waitMs };
      const token = presented(request);
      if (token !== undefined) await attempts.pace(peer);
      const wanted = token === undefined ? undefined : await expected();
      if (token !== undefined && wanted !== undefined && equalSecrets(token, wanted)) return { ok: true, trusted: true };
      attempts.fail(peer);
      return { ok: false, error: { status: 401, message: "Unauthorized", type: "unauthorized" } };
    },
  };
}

/** Reserved for automation: everything is checked as it will be, then the caller gets an error: nothing takes the work yet. */
export function hookRoutes(config: Pick<Config, "current">): readonly Route[] {
  return [
    {
      methods: ["POST"],
      path: () => hooksPath(config.current),
      match: "prefix",
      auth: "hook-token",
      maxBodyBytes: () => config.current.hooks?.maxBodyBytes ?? DEFAULT_BODY_BYTES,
      errors: "ok-false",
      off: () => (config.current.hooks?.enabled === true ? undefined : "hooks.enabled is off"),
      handle({ response, body }) {
        const parsed = parseJsonObject(body);
        if (!parsed.ok) return sendJson(response, 400, { ok: false, error: parsed.message });
        sendJson(response, 503, { ok: false, error: "UNAVAILABLE: webhooks are not available in this version; nothing was accepted" });
      },
    },
  ];
}
