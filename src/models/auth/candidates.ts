import type { OpenClawConfig } from "../../config/index.ts";
import type { AuthProfileCredential } from "../../protocol/index.ts";
import { createAccess } from "./access.ts";
import { cooldownFor, type Cooldown } from "./cooldowns.ts";
import { credentialOf, whyUnusable, type AuthDocument } from "./document.ts";
import { createEdits } from "./edits.ts";
import { otherKeys, type OtherKey } from "./keys.ts";
import { createOutcomes } from "./outcomes.ts";
import type { AuthProfiles, AuthProfilesDeps, Candidate } from "./profiles.ts";
import { createStores } from "./stores.ts";

/** All credentials of one agent. Nothing is read before it is needed. */
export function createAuthProfiles(deps: AuthProfilesDeps): AuthProfiles {
  const { clock } = deps;
  const canonical = deps.canonical ?? ((provider: string) => provider.trim().toLowerCase());
  const stores = createStores(deps);
  const { view, forget, ...outcomes } = createOutcomes({ stores, canonical, clock, log: deps.log, config: deps.config });

  const keysFor = (provider: string): readonly OtherKey[] =>
    otherKeys({
      provider,
      canonical,
      config: deps.config(),
      env: deps.env(),
      envNames: deps.envNames(provider),
      ambient: deps.ambient?.(provider) ?? false,
    });

  const candidates: AuthProfiles["candidates"] = async (provider, options = {}) => {
    await stores.prepare();
    const document = view();
    const now = clock.now();
    const input: OrderInput = { ...options, provider, document, canonical, config: deps.config(), now };
    const profiles = orderProfiles(input).map(({ credential, ...ordered }): Candidate => ({ ...ordered, source: "profile", provider, type: credential.type }));
    if (options.userPin !== undefined && isFor(options.userPin, input)) return profiles;
    const pinned = profiles.filter(({ id }) => id === options.sessionPin);
    const first: Candidate[] = [];
    const last: Candidate[] = [];
    for (const { source, id, type, why, secret, isFirst } of keysFor(provider)) {
      if (secret !== undefined) deps.redactor.register(secret);
      const cooldown = cooldownFor(document, id, options.modelId, now);
      (isFirst ? first : last).push({ source, id, provider, type, why, ...(cooldown ? { cooldown } : {}) });
    }
    const all = [...pinned, ...first, ...profiles.filter((profile) => !pinned.includes(profile)), ...last];
    // Usable ones in their order, then those in cooldown, soonest first.
    return all.every(({ cooldown }) => !cooldown) ? all : all.toSorted((a, b) => endOf(a) - endOf(b));
  };

  return {
    storePath: stores.own.path,
    candidates,
    credential: createAccess(deps, stores, keysFor),
    ...createEdits({ stores, view, canonical, now: () => clock.now(), forget }),
    ...outcomes,
  };
}

export interface OrderInput {
  readonly provider: string;
  readonly document: AuthDocument;
  readonly config: OpenClawConfig;
  readonly canonical: (provider: string) => string;
  readonly modelId?: string | undefined;
  readonly sessionPin?: string | undefined;
  readonly userPin?: string | undefined;
  readonly now: number;
}

export interface Ordered {
  readonly id: string;
  readonly credential: AuthProfileCredential;
  readonly why: string;
  readonly cooldown?: Cooldown;
  readonly locked?: boolean;
}

const TYPE_RANK: Readonly<Record<AuthProfileCredential["type"], number>> = { oauth: 0, token: 1, api_key: 2 };

interface Named {
  readonly ids: readonly string[];
  /** The order was configured, not derived. */
  readonly explicit: boolean;
  readonly why: string;
}

function forProvider<T>(map: Readonly<Record<string, T>> | undefined, { provider, canonical }: OrderInput): T | undefined {
  return Object.entries(map ?? {}).find(([name]) => canonical(name) === canonical(provider))?.[1];
}

/** Profiles to try, most specific source first: the agent's order, the configured order, the configured profiles, all stored ones. */
function named(input: OrderInput): Named {
  const { document, config, canonical, provider } = input;
  const own = forProvider(document.order, input);
  if (own && own.length > 0) return { ids: own, explicit: true, why: "the agent's order" };
  const configured = forProvider(config.auth?.order, input);
  if (configured && configured.length > 0) return { ids: configured, explicit: true, why: "auth.order" };
  const profiles = Object.entries(config.auth?.profiles ?? {}).filter(([, profile]) => canonical(profile.provider) === canonical(provider));
  if (profiles.length > 0) return { ids: profiles.map(([id]) => id), explicit: false, why: "auth.profiles" };
  return { ids: Object.keys(document.profiles), explicit: false, why: "stored" };
}

/** The credential of an id when it may serve this provider; otherwise why not. */
export function usable(id: string, { document, config, canonical, provider, now }: OrderInput): AuthProfileCredential | string {
  const credential = credentialOf(document.profiles[id]);
  if (!credential) return document.profiles[id] === undefined ? "no such profile is stored" : "its entry cannot be understood";
  if (canonical(credential.provider) !== canonical(provider)) return `it belongs to ${credential.provider}`;
  const meta = config.auth?.profiles?.[id];
  if (meta && canonical(meta.provider) !== canonical(provider)) return `auth.profiles gives it to ${meta.provider}`;
  if (meta && meta.mode !== credential.type && !(meta.mode === "oauth" && credential.type === "token")) {
    return `auth.profiles says ${meta.mode}, but it is of type ${credential.type}`;
  }
  return whyUnusable(credential, now) ?? credential;
}

/** A pin applies to its own provider only, not to fallbacks of other providers. */
export function isFor(id: string, { document, canonical, provider }: OrderInput): boolean {
  const owner = credentialOf(document.profiles[id])?.provider ?? id.replace(/:.*$/s, "");
  return canonical(owner) === canonical(provider);
}

const endOf = ({ cooldown }: Pick<Ordered, "cooldown">): number => cooldown?.until ?? 0;

/** The profiles that may serve a provider, in the order in which they are to be tried. Pure. */
export function orderProfiles(input: OrderInput): readonly Ordered[] {
  const { document, modelId, userPin, sessionPin, now } = input;
  if (Object.keys(document.profiles).length === 0) return [];
  const entry = (id: string, why: string): Ordered | undefined => {
    const credential = usable(id, input);
    if (typeof credential === "string") return undefined;
    const cooldown = cooldownFor(document, id, modelId, now);
    return { id, credential, why, ...(cooldown ? { cooldown } : {}) };
  };
  if (userPin !== undefined && isFor(userPin, input)) {
    const pinned = entry(userPin, "chosen by the user for this session");
    return pinned ? [{ ...pinned, locked: true }] : [];
  }
  const { ids, explicit, why } = named(input);
  const found = [...new Set(ids)].map((id) => entry(id, why)).filter((item) => item !== undefined);
  const lastUsed = ({ id }: Ordered): number => document.usageStats?.[id]?.lastUsed ?? 0;
  const well = found.filter(({ cooldown }) => !cooldown);
  if (!explicit) well.sort((a, b) => TYPE_RANK[a.credential.type] - TYPE_RANK[b.credential.type] || lastUsed(a) - lastUsed(b));
  const inCooldown = found.filter(({ cooldown }) => cooldown).sort((a, b) => endOf(a) - endOf(b));
  const pinned = well.find(({ id }) => id === sessionPin);
  const first = pinned ? [{ ...pinned, why: "used by this session before" }] : [];
  return [
    ...first,
    ...well.filter((item) => item !== pinned),
    ...inCooldown.map((item) => ({ ...item, why: `${item.why}; rests after ${item.cooldown?.kind}` })),
  ];
}
