import type { ModelEntry } from "../entry.ts";
import type { FailureClass } from "../failover/classify.ts";

/** What a request authenticates with. */
export interface Credential {
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Base URL that some logins provide. */
  readonly baseUrl?: string;
}

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
