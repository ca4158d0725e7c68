import { formatDuration } from "../../base/text.ts";
import type { CredentialCandidate, Credentials } from "../call/credentials.ts";
import type { ModelEntry } from "../entry.ts";
import type { FailureClass } from "../failover/classify.ts";
import type { AuthProfiles, Candidate } from "./profiles.ts";
import { isTriedAnyway } from "./rest.ts";
import type { RequestAccess } from "./request/request-access.ts";

export interface CallCredentialsDeps {
  readonly auth: AuthProfiles;
  /** It is on this machine, or built in: it can be called without a key. */
  readonly needsNoKey: (provider: string) => boolean;
  readonly now: () => number;
  /** From a credential to what a request carries; as it stands when absent. */
  readonly requestAccess?: RequestAccess | undefined;
  /** When each provider was last tried before its rest was over; outlives a call. */
  readonly probed?: Map<string, number> | undefined;
}

/** From so long before the end of its rest, and so often, a provider is tried again. */
const PROBE_BEFORE_MS = 2 * 60_000;
const PROBE_EVERY_MS = 30_000;

/** Profiles as calls see them: those that rest are not offered, except the one that the user chose. */
export function createCallCredentials({ auth, needsNoKey, now, requestAccess, probed = new Map() }: CallCredentialsDeps): Credentials {
  const known = new WeakMap<CredentialCandidate, Candidate>();
  const resting = new Map<string, readonly Candidate[]>();
  const key = (model: ModelEntry): string => `${model.provider}/${model.id}`;

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
      resting.set(
        key(model),
        all.filter(({ rest }) => rest),
      );
      const free = all.filter(({ rest, locked }) => !rest || locked);
      // A provider that failed a moment ago may be well again: with nobody else to ask, it is asked.
      const usable = free.length === 0 && last ? all.filter(({ rest }) => rest && isTriedAnyway(rest.kind)) : free;
      if (usable.length === 0 && all.length === 0 && needsNoKey(model.provider)) return [{ credential: async () => ({}) }];
      if (usable.length === 0 && probe) {
        const soon = all.find(({ rest }) => rest && rest.kind !== "billing" && rest.until - now() <= PROBE_BEFORE_MS);
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
    async restsFor(model) {
      const all = await auth.candidates(model.provider, { modelId: model.id });
      const ends = all.map(({ rest }) => (rest && rest.until > now() && !isTriedAnyway(rest.kind) ? rest.until - now() : 0));
      const soonest = ends.length === 0 ? 0 : Math.min(...ends);
      return soonest > 0 ? soonest : undefined;
    },
    missing(model) {
      // The one that may be used first.
      const [first] = (resting.get(key(model)) ?? []).toSorted((a, b) => (a.rest?.until ?? 0) - (b.rest?.until ?? 0));
      if (!first?.rest) {
        const text = `No API key found for provider "${model.provider}". Auth store: ${auth.storePath}. Add one with: openclaw models auth add --provider ${model.provider}`;
        return { kind: "auth", text };
      }
      const { kind, until, reason } = first.rest;
      const left = formatDuration(Math.max(1000, until - now()));
      const why = `${WHY[kind] ?? `after ${kind} failures`}${reason === undefined ? "" : ` (${reason})`}`;
      const text = `${model.provider} was not asked: its credential ${first.id} rests for ${left} more ${why}. Details: openclaw models auth status; to end the rest now: openclaw models auth clear`;
      return { kind: kind === "cooldown" ? "rate_limit" : (kind as FailureClass), text, retryAfterMs: Math.max(1, until - now()) };
    },
  };
}

/** Why a credential rests, in the words of a sentence. */
const WHY: Readonly<Record<string, string>> = {
  auth: "because the provider rejected it",
  billing: "because the account has no credit left",
  rate_limit: "because the provider's rate limit was reached",
  format: "because the provider rejected requests as malformed",
  overloaded: "because the provider was overloaded a moment ago",
  timeout: "because the provider failed a moment ago",
  network: "because the provider could not be reached a moment ago",
};
