import type { Ids } from "../../base/ids.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Env, OpenClawConfig, SecretInput } from "../../config/index.ts";

export type AuthMode = "none" | "token" | "password" | "trusted-proxy";

export interface RateLimitSettings {
  /** Failures in the window before the lockout. */
  readonly maxAttempts: number;
  readonly windowMs: number;
  readonly lockoutMs: number;
  /** Requests straight from this machine are never locked out; wrong secrets are delayed instead. */
  readonly exemptLoopback: boolean;
}

/** What the configuration says about who may connect. */
export interface AuthSettings {
  readonly mode: AuthMode;
  readonly token?: SecretInput;
  readonly password?: SecretInput;
  readonly allowTailscale: boolean;
  /** Device signatures of version 1, which no challenge is part of, are accepted from this machine. */
  readonly allowUnsignedNonce: boolean;
  readonly rateLimit: RateLimitSettings;
  readonly trustedProxies: readonly string[];
  readonly trustedProxy?: { readonly userHeader: string; readonly requiredHeaders: readonly string[]; readonly allowUsers: readonly string[] };
  readonly controlUi: {
    readonly allowedOrigins: readonly string[];
    readonly allowInsecureAuth: boolean;
    readonly dangerouslyDisableDeviceAuth: boolean;
  };
}

export const DEFAULT_RATE_LIMIT: RateLimitSettings = { maxAttempts: 10, windowMs: 60_000, lockoutMs: 300_000, exemptLoopback: true };

const given = (value: SecretInput | undefined): SecretInput | undefined => (typeof value === "string" && value.trim() === "" ? undefined : value);

function rateLimitFrom(config: { readonly [K in keyof RateLimitSettings]?: RateLimitSettings[K] | undefined } = {}): RateLimitSettings {
  const positive = (value: number | undefined, fallback: number): number => (value !== undefined && value > 0 ? value : fallback);
  return {
    maxAttempts: Math.max(1, Math.floor(positive(config.maxAttempts, DEFAULT_RATE_LIMIT.maxAttempts))),
    windowMs: positive(config.windowMs, DEFAULT_RATE_LIMIT.windowMs),
    lockoutMs: positive(config.lockoutMs, DEFAULT_RATE_LIMIT.lockoutMs),
    exemptLoopback: config.exemptLoopback ?? DEFAULT_RATE_LIMIT.exemptLoopback,
  };
}

/** Derives the settings: the file first, then the environment. Failures are limited whether or not the file says so. */
export function settingsFrom(config: Pick<OpenClawConfig, "gateway">, env: Env): AuthSettings {
  const gateway = config.gateway ?? {};
  const auth = gateway.auth ?? {};
  const token = given(auth.token) ?? given(env["OPENCLAW_GATEWAY_TOKEN"]);
  const password = given(auth.password) ?? given(env["OPENCLAW_GATEWAY_PASSWORD"]);
  const mode = auth.mode ?? (password === undefined ? "token" : "password");
  const proxy = auth.trustedProxy;
  return {
    mode,
    ...(token === undefined ? {} : { token }),
    ...(password === undefined ? {} : { password }),
    allowTailscale: auth.allowTailscale ?? (gateway.tailscale?.mode === "serve" && mode === "token"),
    allowUnsignedNonce: auth.allowUnsignedNonce ?? (gateway.bind === undefined || gateway.bind === "loopback"),
    rateLimit: rateLimitFrom(auth.rateLimit),
    trustedProxies: gateway.trustedProxies ?? [],
    ...(proxy
      ? { trustedProxy: { userHeader: proxy.userHeader.toLowerCase(), requiredHeaders: proxy.requiredHeaders ?? [], allowUsers: proxy.allowUsers ?? [] } }
      : {}),
    controlUi: {
      allowedOrigins: gateway.controlUi?.allowedOrigins ?? [],
      allowInsecureAuth: gateway.controlUi?.allowInsecureAuth === true,
      dangerouslyDisableDeviceAuth: gateway.controlUi?.dangerouslyDisableDeviceAuth === true,
    },
  };
}

export interface EnsureTokenDeps {
  readonly ids: Pick<Ids, "hex">;
  /** Writes `gateway.auth.token` to the configuration. */
  readonly saveToken: (token: string) => Promise<void>;
  readonly log: Pick<Logger, "info" | "warn">;
}

/** In token mode there is always a token: without one 256 random bits are made and saved. Gives the settings to use. */
export async function ensureToken(settings: AuthSettings, deps: EnsureTokenDeps): Promise<AuthSettings> {
  if (settings.mode !== "token" || settings.token !== undefined) return settings;
  const token = deps.ids.hex(32);
  try {
    await deps.saveToken(token);
    deps.log.info("no gateway token was set: generated one and saved it as gateway.auth.token");
  } catch (error) {
    const why = messageOf(error);
    deps.log.warn(`no gateway token was set; the one generated for this run could not be saved (${why}): set gateway.auth.token or OPENCLAW_GATEWAY_TOKEN`);
  }
  return { ...settings, token };
}
