import { maskSecret } from "../../../base/redaction.ts";
import type { ModelsView } from "./source.ts";

export type LoginStatus = "ok" | "expiring" | "expired" | "static";

export interface ProviderAuth {
  readonly provider: string;
  readonly inUse: boolean;
  /** What the next call would use. */
  readonly effective: { readonly kind: "profiles" | "env" | "models.json" | "ambient" | "none-needed" | "missing"; readonly detail: string };
  readonly profiles: { readonly count: number; readonly oauth: number; readonly token: number; readonly apiKey: number; readonly labels: readonly string[] };
  readonly env?: { readonly value: string; readonly source: string };
  readonly modelsJson?: { readonly source: string };
}

export interface AuthOverview {
  readonly storePath: string;
  readonly shellEnvFallback: { readonly enabled: boolean };
  readonly providersWithOAuth: readonly string[];
  readonly missingProvidersInUse: readonly string[];
  readonly providers: readonly ProviderAuth[];
  readonly unusableProfiles: readonly {
    readonly profileId: string;
    readonly provider: string;
    readonly kind: "cooldown" | "disabled" | "unusable";
    readonly reason: string;
    readonly model?: string;
    readonly until?: number;
    readonly remainingMs?: number;
  }[];
  readonly oauth: {
    readonly warnAfterMs: number;
    readonly profiles: readonly {
      readonly profileId: string;
      readonly provider: string;
      readonly type: string;
      readonly status: LoginStatus;
      readonly expiresAt?: number;
      readonly remainingMs?: number;
    }[];
    readonly providers: readonly { readonly provider: string; readonly status: LoginStatus | "missing" }[];
  };
}

export interface OverviewInput {
  /** Providers that the configuration uses. */
  readonly providers: readonly string[];
  readonly now: number;
  readonly shellEnv: boolean;
}

const WARN_MS = 24 * 60 * 60_000;
/** From the worst to the best. */
const RANKS: readonly LoginStatus[] = ["ok", "static", "expiring", "expired"];

type Profiles = Awaited<ReturnType<ModelsView["auth"]["list"]>>;

function loginStatus(expires: number | undefined, now: number, renews: boolean): LoginStatus {
  if (expires === undefined || expires <= 0) return "static";
  if (expires <= now) return "expired";
  // What renews itself is only worth a warning when that has not worked.
  return expires - now <= WARN_MS && !renews ? "expiring" : "ok";
}

function providerAuth(view: ModelsView, provider: string, profiles: Profiles, inUse: boolean): ProviderAuth {
  const { choice, credentials, env } = view;
  const own = profiles.filter((profile) => choice.canonicalProvider(profile.provider) === provider);
  const candidates = credentials.get(provider) ?? [];
  const [first] = candidates;
  const variable = choice
    .keyVariables(provider)
    .map((name) => ({ name, value: env[name]?.trim() ?? "" }))
    .find(({ value }) => value !== "");
  const configured = candidates.find(({ source }) => source === "config");
  const count = (type: string): number => own.filter((profile) => profile.type === type).length;
  const kind = { profile: "profiles", env: "env", config: "models.json", ambient: "ambient" } as const;
  const effective: ProviderAuth["effective"] = first
    ? { kind: kind[first.source], detail: `${first.id}: ${first.why}` }
    : choice.needsNoKey(provider, view.config)
      ? { kind: "none-needed", detail: "no key needed" }
      : { kind: "missing", detail: "missing" };
  return {
    provider,
    inUse,
    effective,
    profiles: {
      count: own.length,
      oauth: count("oauth"),
      token: count("token"),
      apiKey: count("api_key"),
      labels: own.map(({ id, masked, email }) => `${id}=${email ?? masked}`),
    },
    ...(variable === undefined ? {} : { env: { value: maskSecret(variable.value), source: variable.name } }),
    ...(configured ? { modelsJson: { source: configured.id } } : {}),
  };
}

/** Who may be let in where, without a single secret. */
export async function authOverview(view: ModelsView, { providers: inUse, now, shellEnv }: OverviewInput): Promise<AuthOverview> {
  const { choice, auth, credentials } = view;
  const profiles = await auth.list();
  const rests = await auth.cooldowns();
  const named = new Set([
    ...inUse,
    ...profiles.map(({ provider }) => choice.canonicalProvider(provider)),
    ...[...credentials].flatMap(([name, list]) => (list.length > 0 ? [name] : [])),
  ]);
  const providers = [...named].sort().map((provider) => providerAuth(view, provider, profiles, inUse.includes(provider)));
  const logins = profiles
    .filter(({ type }) => type !== "api_key")
    .map(({ id, provider, type, expires }) => ({
      profileId: id,
      provider: choice.canonicalProvider(provider),
      type,
      status: loginStatus(expires, now, type === "oauth"),
      ...(expires === undefined ? {} : { expiresAt: expires, remainingMs: expires - now }),
    }));
  const missing = providers.filter(({ inUse: used, effective }) => used && effective.kind === "missing").map(({ provider }) => provider);
  const withLogins = [...new Set(logins.map(({ provider }) => provider))];
  // The best login of a provider is the one that counts.
  const best = (provider: string): LoginStatus =>
    logins
      .filter((login) => login.provider === provider)
      .map(({ status }) => status)
      .sort((a, b) => RANKS.indexOf(a) - RANKS.indexOf(b))[0] ?? "static";
  return {
    storePath: auth.storePath,
    shellEnvFallback: { enabled: shellEnv },
    providersWithOAuth: withLogins.map((provider) => `${provider} (${logins.filter((login) => login.provider === provider).length})`),
    missingProvidersInUse: missing,
    providers,
    unusableProfiles: [
      ...profiles.flatMap(({ id, provider, unusable }) =>
        unusable === undefined ? [] : [{ profileId: id, provider, kind: "unusable" as const, reason: unusable }],
      ),
      // Keys of the environment and the configuration rest like profiles.
      ...rests
        .filter(({ until }) => until > now)
        .map(({ id, provider = "", kind, until, modelId }) => ({
          profileId: id,
          provider,
          kind: kind === "billing" ? ("disabled" as const) : ("cooldown" as const),
          reason: kind,
          until,
          remainingMs: until - now,
          ...(modelId === undefined ? {} : { model: modelId }),
        })),
    ],
    oauth: {
      warnAfterMs: WARN_MS,
      profiles: logins,
      providers: [
        ...withLogins.map((provider) => ({ provider, status: best(provider) })),
        ...missing.filter((provider) => !withLogins.includes(provider)).map((provider) => ({ provider, status: "missing" as const })),
      ],
    },
  };
}
