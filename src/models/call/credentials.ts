import type { ModelEntry } from "../entry.ts";
import type { FailureClass } from "../failover/classify.ts";

/** What a request carries to be let in. */
export interface Credential {
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Some logins say where to ask. */
  readonly baseUrl?: string;
}

/** A way to be let in that has not been tried yet. */
export interface CredentialCandidate {
  /** Absent for keys that belong to no profile: environment, configuration. */
  readonly profileId?: string;
  /** Refreshes what has expired. */
  credential(): Promise<Credential>;
}

export interface CandidateWish {
  /** A profile that is preferred, or the only one allowed: then there is one candidate or none. */
  readonly pin?: { readonly profileId: string; readonly locked: boolean } | undefined;
  /** One that rests may be tried shortly before its rest is over. */
  readonly probe?: boolean;
  /** No other model is left: what rests only after passing trouble is tried all the same. */
  readonly last?: boolean;
}

/** What is known about a failed call besides its kind. */
export interface FailedCall {
  readonly retryAfterMs?: number | undefined;
  /** When the call began with this credential, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** What the provider answered, redacted. */
  readonly reason: string;
}

/** Who may call a model, in which order, and what became of it. */
export interface Credentials {
  /** Those that can be used now, best first. */
  candidates(model: ModelEntry, wish?: CandidateWish): Promise<readonly CredentialCandidate[]>;
  succeeded(candidate: CredentialCandidate, model: ModelEntry): Promise<void>;
  /** It rests from now on, for as long as this kind of failure asks for. */
  failed(candidate: CredentialCandidate, model: ModelEntry, kind: FailureClass, call: FailedCall): Promise<void>;
  /** Why there is no candidate: no key at all (`auth`), or what they rest after; and what to do. */
  missing(model: ModelEntry): { readonly kind: FailureClass; readonly text: string; readonly retryAfterMs?: number };
  /** Milliseconds until one of a model's credentials may be used again; undefined when one may be used now, or there is none. */
  restsFor?(model: ModelEntry): Promise<number | undefined>;
}
