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

/** Who may call a model, in which order, and what became of it. */
export interface Credentials {
  /** Those that can be used now, best first. A locked pin gives one or none. With `probe`, one that rests may be tried shortly before its rest is over. */
  candidates(model: ModelEntry, pin?: { readonly profileId: string; readonly locked: boolean }, probe?: boolean): Promise<readonly CredentialCandidate[]>;
  succeeded(candidate: CredentialCandidate, model: ModelEntry): Promise<void>;
  /** It rests from now on, for as long as this kind of failure asks for. */
  failed(candidate: CredentialCandidate, model: ModelEntry, kind: FailureClass, retryAfterMs?: number): Promise<void>;
  /** Why there is no candidate, and what to do. */
  missing(model: ModelEntry): string;
}
