import type { AuthProfileCredential } from "../../protocol/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { cooldownFor, type Cooldown } from "./cooldowns.ts";
import { credentialOf, whyUnusable, type AuthDocument } from "./store/document.ts";

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
  const owner = credentialOf(document.profiles[id])?.provider ?? id.split(":")[0]!;
  return canonical(owner) === canonical(provider);
}

/** The profiles that may serve a provider, in the order in which they are to be tried. Pure. */
export function orderProfiles(input: OrderInput): readonly Ordered[] {
  const { document, modelId, userPin, sessionPin, now } = input;
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
  const inCooldown = found.filter(({ cooldown }) => cooldown).sort((a, b) => a.cooldown!.until - b.cooldown!.until);
  const pinned = well.find(({ id }) => id === sessionPin);
  const first = pinned ? [{ ...pinned, why: "used by this session before" }] : [];
  return [
    ...first,
    ...well.filter((item) => item !== pinned),
    ...inCooldown.map((item) => ({ ...item, why: `${item.why}; rests after ${item.cooldown!.kind}` })),
  ];
}
