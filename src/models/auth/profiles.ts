import type { AuthProfileCredential, OAuthCredential } from "../../protocol/index.ts";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Redactor } from "../../base/redaction.ts";
import type { Env, OpenClawConfig, SecretInput } from "../../config/index.ts";
import type { FailureKind, Rest } from "./rest.ts";

/** Kinds of credentials, best first; an ambient one is found by the provider's own library. */
export type CredentialType = "oauth" | "token" | "api_key" | "ambient";

/** One credential that may serve a provider; the secret is not in it. */
export interface Candidate {
  readonly source: "profile" | "env" | "config" | "ambient";
  /** A profile id, `env:<NAME>`, `config:<path>`, `aws-sdk` or `ambient`. */
  readonly id: string;
  readonly provider: string;
  readonly type: CredentialType;
  /** Why it stands where it stands, for people. */
  readonly why: string;
  /** It had failures and should not be tried before this is over; it stands behind those that may. */
  readonly rest?: Rest;
  /** The user chose it: nothing else may be tried for this provider. */
  readonly locked?: boolean;
}

/** What a request is signed with. */
export interface Access {
  /** The key or token; absent when the provider's own library finds one. */
  readonly apiKey?: string;
  readonly type: CredentialType;
  /** Milliseconds since the epoch at which it stops working, if it says so. */
  readonly expires?: number;
  readonly accountId?: string;
  readonly projectId?: string;
  /** Base URL that the login named. */
  readonly baseUrl?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface CandidateOptions {
  /** The model that is to be called: failures of other models do not count against it. */
  readonly modelId?: string | undefined;
  /** The profile this session used last: tried first while it is well. */
  readonly sessionPin?: string | undefined;
  /** The profile the user chose for this session: the only one for its provider. */
  readonly userPin?: string | undefined;
}

/** One stored profile as people may see it. */
export interface ProfileView {
  readonly id: string;
  readonly provider: string;
  readonly type: "oauth" | "token" | "api_key";
  /** Enough of the secret to tell two apart. */
  readonly masked: string;
  readonly email?: string;
  readonly expires?: number;
  readonly lastUsed?: number;
  /** Whose file it stands in. */
  readonly from: "agent" | "main";
  /** Why it cannot serve at all. */
  readonly unusable?: string;
  /** Models that this profile must leave alone for now. */
  readonly rests: readonly Rest[];
}

/** What is known about a failed call besides its kind. */
export interface FailureFacts {
  /** What the provider asked for. */
  readonly retryAfterMs?: number | undefined;
  /** When the call began, in milliseconds since the epoch. */
  readonly startedAt?: number | undefined;
  /** What the provider answered, redacted. */
  readonly reason?: string | undefined;
}

/** A credential that rests, and why. */
export interface CredentialRest extends Rest {
  /** A profile id, `env:<NAME>` or `config:<path>`. */
  readonly id: string;
}

export interface RestFilter {
  readonly provider?: string | undefined;
  readonly id?: string | undefined;
}

export interface AuthProfiles {
  /** Who may serve `provider`, in the order in which they should be tried. */
  candidates(provider: string, options?: CandidateOptions): Promise<readonly Candidate[]>;
  /** The secret itself; an expired login is renewed, once for all processes that ask. Rejects with `MODEL_FAILED` when it cannot be had. */
  credential(candidate: Candidate): Promise<Access>;
  /** A call with this candidate and model was answered. */
  succeeded(candidate: Candidate, modelId: string): Promise<void>;
  /** A call failed. Gives the rest that follows from it, if any. */
  failed(candidate: Candidate, modelId: string, kind: FailureKind, facts?: FailureFacts): Promise<Rest | undefined>;
  /** Everything that rests now: profiles, and keys of the environment and the configuration. */
  rests(): Promise<readonly CredentialRest[]>;
  /** Ends rests, of one provider or credential or all of them. Resolves to those that were ended. */
  clearRests(which?: RestFilter): Promise<readonly CredentialRest[]>;
  list(): Promise<readonly ProfileView[]>;
  /** Stores a credential in the agent's file, in place of the one that had this id. */
  add(id: string, credential: AuthProfileCredential): Promise<void>;
  /** False when there was none. */
  remove(id: string): Promise<boolean>;
  /** The agent's own order for a provider; undefined when it has none. */
  order(provider: string): Promise<readonly string[] | undefined>;
  /** Sets or (with undefined) clears it. */
  setOrder(provider: string, ids: readonly string[] | undefined): Promise<void>;
  readonly storePath: string;
}

/** Renews a login. Rejects when the provider says no. */
export type Refresh = (credential: OAuthCredential) => Promise<OAuthCredential>;

export interface AuthProfilesDeps {
  readonly agentDir: string;
  /** The agent whose profiles serve everybody. */
  readonly mainAgentDir: string;
  readonly config: () => OpenClawConfig;
  readonly env: () => Env;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "hex">;
  readonly log: Logger;
  /** Told every secret as soon as it is read. */
  readonly redactor: Pick<Redactor, "register" | "text">;
  /** Fetches a configured key that is kept in a file or given by a program. */
  readonly secret?: ((input: SecretInput, path: string) => Promise<string>) | undefined;
  /** Variables that hold a provider's key, in order. */
  readonly envNames: (provider: string) => readonly string[];
  /** The provider's own library finds a credential here. */
  readonly ambient?: ((provider: string) => boolean) | undefined;
  /** One name for a provider's many spellings. */
  readonly canonical?: ((provider: string) => string) | undefined;
  /** Renewal that a plugin brings for its provider; others are renewed at the address their login came from. */
  readonly refresh?: ((provider: string) => Refresh | undefined) | undefined;
  /** Turns a login into what the provider takes as key, where a plugin says so. */
  readonly formatKey?: ((provider: string) => ((credential: AuthProfileCredential) => string) | undefined) | undefined;
  /** `credentials/oauth.json` of old installations. */
  readonly oauthFile?: string | undefined;
  /** The user's home, where other programs keep their logins. */
  readonly home?: string | undefined;
  /** Sent as `user-agent`. */
  readonly version: string;
  readonly fetch?: typeof fetch | undefined;
}
