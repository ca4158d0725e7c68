import { formatDuration } from "../../base/text.ts";
import { isTriedAnyway } from "../auth/cooldowns.ts";
import type { RequestAccess } from "../auth/access.ts";
import type { AuthProfiles, Candidate, Credential } from "../auth/profiles.ts";
import type { ModelEntry } from "../entry.ts";
import type { FailureClass } from "../failover/classify.ts";

/** A credential that has not been tried yet. */
export interface CredentialCandidate {
  /** Absent for keys without a profile: environment, configuration. */
  readonly profileId?: string;
  /** Renews it when it has expired. */
  credential(): Promise<Credential>;
}

export interface CandidateOptions {
  /** A preferred profile, or the only one allowed: then there is one candidate or none. */
  readonly pin?: { readonly profileId: string; readonly locked: boolean } | undefined;
  /** A credential in cooldown may be tried shortly before its end. */
  readonly probe?: boolean;
  /** No other model is left: a credential in cooldown only after transient errors is tried anyway. */
  readonly last?: boolean;
}

/** Facts about a failed call besides its class. */
export interface FailedCall {
  readonly retryAfterMs?: number | undefined;
  /** When the call with this credential started, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** What the provider answered, redacted. */
  readonly reason: string;
}

/** The credentials that may call a model, in order, and their outcomes. */
export interface Credentials {
  /** Usable candidates, best first. */
  candidates(model: ModelEntry, wish?: CandidateOptions): Promise<readonly CredentialCandidate[]>;
  succeeded(candidate: CredentialCandidate, model: ModelEntry): Promise<void>;
  /** Starts a cooldown, as long as this class of failure requires. */
  failed(candidate: CredentialCandidate, model: ModelEntry, kind: FailureClass, call: FailedCall): Promise<void>;
  /** Why there is no candidate: no key at all (`auth`), or the reason of the cooldowns; and what to do. */
  missing(model: ModelEntry): { readonly kind: FailureClass; readonly text: string; readonly retryAfterMs?: number };
  /** Milliseconds until one of a model's credentials may be used again; undefined when one may be used now, or there is none. */
  cooldownLeft?(model: ModelEntry): Promise<number | undefined>;
}

export interface CallCredentialsDeps {
  readonly auth: AuthProfiles;
  /** It runs on this machine, is built in, or is configured without one. */
  readonly needsNoKey: (provider: string) => boolean;
  readonly now: () => number;
  /** Turns a credential into what a request carries; unchanged when absent. */
  readonly requestAccess?: RequestAccess | undefined;
  /** When each provider was last probed during its cooldown; outlives a call. */
  readonly probed?: Map<string, number> | undefined;
}

/** How long before the end of its cooldown, and how often, a provider is probed. */
const PROBE_BEFORE_MS = 2 * 60_000;
const PROBE_EVERY_MS = 30_000;

/** Profiles as calls see them: those in cooldown are not offered, except the one that the user chose. */
export function createCallCredentials({ auth, needsNoKey, now, requestAccess, probed = new Map() }: CallCredentialsDeps): Credentials {
  const known = new WeakMap<CredentialCandidate, Candidate>();
  const inCooldown = new Map<string, readonly Candidate[]>();

  function offered(candidate: Candidate, model: ModelEntry): CredentialCandidate {
    const offer: CredentialCandidate = {
      ...(candidate.source === "profile" ? { profileId: candidate.id } : {}),
      async credential() {
        const access = await auth.credential(candidate);
        if (requestAccess) return requestAccess(model.provider, access, model.baseUrl);
        const { apiKey, baseUrl } = access;
        return { ...(apiKey === undefined ? {} : { apiKey }), ...(baseUrl === undefined ? {} : { baseUrl }) };
      },
    };
    known.set(offer, candidate);
    return offer;
  }

  return {
    async candidates(model, { pin, probe = false, last = false } = {}) {
      const pins = pin === undefined ? {} : pin.locked ? { userPin: pin.profileId } : { sessionPin: pin.profileId };
      const all = await auth.candidates(model.provider, { modelId: model.id, ...pins });
      const [resting, free]: [Candidate[], Candidate[]] = [[], []];
      for (const candidate of all) {
        if (candidate.cooldown) resting.push(candidate);
        if (!candidate.cooldown || candidate.locked) free.push(candidate);
      }
      inCooldown.set(`${model.provider}/${model.id}`, resting);
      // A provider that failed a moment ago may work again: without alternatives it is tried.
      const usable = free.length === 0 && last ? resting.filter(({ cooldown }) => cooldown && isTriedAnyway(cooldown.kind)) : free;
      if (usable.length === 0 && all.length === 0 && needsNoKey(model.provider)) return [{ credential: async () => ({}) }];
      if (usable.length === 0 && probe) {
        const soon = all.find(({ cooldown }) => cooldown && cooldown.kind !== "billing" && cooldown.until - now() <= PROBE_BEFORE_MS);
        if (soon && now() - (probed.get(model.provider) ?? Number.NEGATIVE_INFINITY) >= PROBE_EVERY_MS) {
          probed.set(model.provider, now());
          return [offered(soon, model)];
        }
      }
      return usable.map((candidate) => offered(candidate, model));
    },
    async succeeded(offer, model) {
      const candidate = known.get(offer);
      if (candidate) await auth.succeeded(candidate, model.id);
    },
    async failed(offer, model, kind, call) {
      const candidate = known.get(offer);
      if (candidate) await auth.failed(candidate, model.id, kind, call);
    },
    async cooldownLeft(model) {
      const all = await auth.candidates(model.provider, { modelId: model.id });
      const ends = all.map(({ cooldown }) => (cooldown && cooldown.until > now() && !isTriedAnyway(cooldown.kind) ? cooldown.until - now() : 0));
      const soonest = ends.length === 0 ? 0 : Math.min(...ends);
      return soonest > 0 ? soonest : undefined;
    },
    missing(model) {
      // The one that becomes usable first.
      const [first] = (inCooldown.get(`${model.provider}/${model.id}`) ?? []).toSorted((a, b) => (a.cooldown?.until ?? 0) - (b.cooldown?.until ?? 0));
      if (!first?.cooldown) {
        const text = `No API key found for provider "${model.provider}". Auth store: ${auth.storePath}. Add one with: openclaw models auth add --provider ${model.provider}`;
        return { kind: "auth", text };
      }
      const { kind, until, reason } = first.cooldown;
      const left = formatDuration(Math.max(1000, until - now()));
      const why = `${WHY[kind] ?? `after ${kind} failures`}${reason === undefined ? "" : ` (${reason})`}`;
      const text = `${model.provider} was not called: its credential ${first.id} is in cooldown for another ${left} ${why}. Details: openclaw models auth status; to end the cooldown now: openclaw models auth clear`;
      return { kind: kind === "cooldown" ? "rate_limit" : (kind as FailureClass), text, retryAfterMs: Math.max(1, until - now()) };
    },
  };
}

/** Why a credential is in cooldown, as part of a sentence. */
const WHY: Readonly<Record<string, string>> = {
  auth: "because the provider rejected it",
  billing: "because the account has no credit left",
  rate_limit: "because the provider's rate limit was reached",
  format: "because the provider rejected requests as malformed",
  overloaded: "because the provider was overloaded a moment ago",
  timeout: "because the provider failed a moment ago",
  network: "because the provider could not be reached a moment ago",
};
