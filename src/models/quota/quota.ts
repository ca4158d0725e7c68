import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import type { Redactor } from "../../base/redaction.ts";
import { clip } from "../../base/text.ts";
import type { Env } from "../../config/index.ts";
import type { AuthProfiles } from "../auth/profiles.ts";
import { askJson, type Fetch } from "../transport/index.ts";
import type { Ask, QuotaAccess, QuotaSource } from "./source.ts";
import { anthropicQuota, antigravityQuota, codexQuota, copilotQuota, geminiCliQuota, minimaxQuota, xiaomiQuota, zaiQuota } from "./sources.ts";
import { fieldsOf, textOf, type QuotaWindow } from "./window.ts";

/** One provider's allowances, or why they are unknown. */
export interface ProviderQuota {
  readonly provider: string;
  readonly displayName: string;
  readonly windows: readonly QuotaWindow[];
  readonly plan?: string;
  /** Error message without secrets. */
  readonly error?: string;
}

/** The result of the method `usage.status`. */
export interface QuotaReport {
  readonly updatedAt: number;
  /** Only providers with a credential that their endpoint accepts. */
  readonly providers: readonly ProviderQuota[];
}

export interface QuotaOptions {
  /** Default: all known ones. */
  readonly providers?: readonly string[] | undefined;
  /** Time limit for all providers together: 5 s; in a conversation 3.5 s is enough (`CHAT_QUOTA_MS`). */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Queries providers for the used share of their allowances. */
export interface Quota {
  /** A failing provider never causes a rejection. Results are cached for a minute; concurrent callers share one request. */
  load(options?: QuotaOptions): Promise<QuotaReport>;
}

export interface QuotaDeps {
  readonly auth: Pick<AuthProfiles, "candidates" | "credential">;
  readonly env: () => Env;
  readonly clock: Clock;
  readonly redactor: Pick<Redactor, "register" | "text">;
  readonly version: string;
  readonly fetch?: Fetch | undefined;
  /** Milliseconds for which a result is cached. */
  readonly keepMs?: number | undefined;
}

export const CHAT_QUOTA_MS = 3500;
const TIMEOUT_MS = 5000;
const KEEP_MS = 60_000;
/** Errors are cached for a shorter time. */
const KEEP_ERROR_MS = 10_000;
const MAX_ERROR_CHARS = 200;

const SOURCES: readonly QuotaSource[] = [anthropicQuota, copilotQuota, geminiCliQuota, antigravityQuota, codexQuota, minimaxQuota, zaiQuota, xiaomiQuota];

/** Providers that report allowances. */
export const QUOTA_PROVIDERS: readonly string[] = SOURCES.map(({ provider }) => provider);

export function createQuota(deps: QuotaDeps): Quota {
  const known = new Map<string, { readonly until: number; readonly quota: ProviderQuota }>();
  const asking = new Map<string, Promise<ProviderQuota | undefined>>();

  async function accessFor({ provider, types, env = [] }: QuotaSource): Promise<QuotaAccess | undefined> {
    const own = env.map((name) => deps.env()[name]?.trim()).find(Boolean);
    if (own !== undefined) {
      deps.redactor.register(own);
      return { token: own };
    }
    const candidate = (await deps.auth.candidates(provider)).find(({ type }) => types.includes(type));
    if (!candidate) return undefined;
    const { apiKey, accountId, projectId } = await deps.auth.credential(candidate);
    return apiKey === undefined ? undefined : { token: tokenIn(apiKey), accountId, projectId };
  }

  async function ask(source: QuotaSource, { timeoutMs = TIMEOUT_MS, signal }: QuotaOptions): Promise<ProviderQuota | undefined> {
    const { provider, displayName } = source;
    const began = deps.clock.monotonic();
    const one: Ask = async (request) => {
      const left = Math.max(1, timeoutMs - (deps.clock.monotonic() - began));
      const { version, clock, fetch } = deps;
      const { status, value } = await askJson({ ...request, version, clock, timeoutMs: left, signal, fetch });
      if (status >= 400) throw refused(status, value);
      if (value === undefined) throw new AppError("UNAVAILABLE", "its response is not JSON");
      return value;
    };
    try {
      const access = await accessFor(source);
      return access && { provider, displayName, ...(await source.load(access, one)) };
    } catch (error) {
      const text = error instanceof AppError && error.code === "TIMEOUT" ? `no response within ${timeoutMs} ms` : messageOf(error);
      return { provider, displayName, windows: [], error: clip(deps.redactor.text(text), MAX_ERROR_CHARS) };
    }
  }

  async function fresh(source: QuotaSource, options: QuotaOptions): Promise<ProviderQuota | undefined> {
    const { provider } = source;
    const cached = known.get(provider);
    if (cached && deps.clock.monotonic() < cached.until) return cached.quota;
    let running = asking.get(provider);
    if (!running) {
      running = ask(source, options).finally(() => asking.delete(provider));
      asking.set(provider, running);
    }
    const quota = await running;
    const keepMs = quota?.error === undefined ? (deps.keepMs ?? KEEP_MS) : KEEP_ERROR_MS;
    if (quota) known.set(provider, { quota, until: deps.clock.monotonic() + keepMs });
    return quota;
  }

  return {
    async load(options = {}) {
      const sources = SOURCES.filter(({ provider }) => options.providers === undefined || options.providers.includes(provider));
      const answers = await Promise.all(sources.map((source) => fresh(source, options)));
      return { updatedAt: deps.clock.now(), providers: answers.filter((answer) => answer !== undefined) };
    },
  };
}

/** Google's logins carry the project beside the token. */
function tokenIn(apiKey: string): string {
  if (!apiKey.startsWith("{")) return apiKey;
  try {
    return textOf(fieldsOf(JSON.parse(apiKey))["token"]) ?? apiKey;
  } catch {
    return apiKey;
  }
}

function refused(status: number, value: unknown): AppError {
  if (status === 401 || status === 403)
    return new AppError("PERMISSION_DENIED", `the login is not accepted for this (${status}); log in again if this continues`);
  const { error, message } = fieldsOf(value);
  const reason = textOf(message) ?? textOf(error) ?? textOf(fieldsOf(error)["message"]);
  return new AppError("UNAVAILABLE", `it responded with status ${status}${reason === undefined ? "" : `: ${reason}`}`);
}
