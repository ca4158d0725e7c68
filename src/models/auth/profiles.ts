import type { AuthProfileCredential, OAuthCredential } from "../../protocol/index.ts";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Redactor } from "../../base/redaction.ts";
import type { Env, OpenClawConfig, SecretInput } from "../../config/index.ts";
import type { FailureKind, Cooldown } from "./cooldowns.ts";

/** Credential types, best first; an ambient one is found by the provider's SDK. */
export type CredentialType = "oauth" | "token" | "api_key" | "ambient";

/** One credential that may serve a provider, without the secret. */
export interface Candidate {
  readonly source: "profile" | "env" | "config" | "ambient";
  /** A profile id, `env:<NAME>`, `config:<path>`, `aws-sdk` or `ambient`. */
  readonly id: string;
  readonly provider: string;
  readonly type: CredentialType;
  /** Why it has this position, for people. */
  readonly why: string;
  /** Its cooldown: it should not be tried before it is over, and comes after usable candidates. */
  readonly cooldown?: Cooldown;
  /** The user chose it: nothing else may be tried for this provider. */
  readonly locked?: boolean;
}

/** A credential with its secret. */
export interface Access {
  /** The key or token; absent when the provider's SDK finds one. */
  readonly apiKey?: string;
  readonly type: CredentialType;
  /** Milliseconds since the epoch at which it stops working, if it says so. */
  readonly expires?: number;
  readonly accountId?: string;
  readonly projectId?: string;
  /** Base URL that the login provided. */
  readonly baseUrl?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** What a request carries: the access after exchanges, with the URL that it is for. */
export interface Credential {
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Base URL that some logins provide. */
  readonly baseUrl?: string;
}

export interface CandidateOptions {
  /** The model to be called: failures of other models do not count. */
  readonly modelId?: string | undefined;
  /** The profile this session used last: tried first while it works. */
  readonly sessionPin?: string | undefined;
  /** The profile the user chose for this session: the only one for its provider. */
  readonly userPin?: string | undefined;
}

/** One stored profile as shown to people. */
export interface ProfileView {
  readonly id: string;
  readonly provider: string;
  readonly type: "oauth" | "token" | "api_key";
  /** Enough of the secret to distinguish two. */
  readonly masked: string;
  readonly email?: string;
  readonly expires?: number;
  readonly lastUsed?: number;
  /** Which file contains it. */
  readonly from: "agent" | "main";
  /** Why it cannot be used at all. */
  readonly unusable?: string;
  /** Models for which this profile is in cooldown. */
  readonly rests: readonly Cooldown[];
}

/** Facts about a failed call besides its class. */
export interface FailureFacts {
  /** The provider's retry hint. */
  readonly retryAfterMs?: number | undefined;
  /** When the call started, in milliseconds since the epoch. */
  readonly startedAt?: number | undefined;
  /** What the provider answered, redacted. */
  readonly reason?: string | undefined;
}

/** A credential in cooldown, with the reason. */
export interface CredentialCooldown extends Cooldown {
  /** A profile id, `env:<NAME>` or `config:<path>`. */
  readonly id: string;
}

export interface CooldownFilter {
  readonly provider?: string | undefined;
  readonly id?: string | undefined;
}

export interface AuthProfiles {
  /** Candidates for `provider`, in the order in which they should be tried. */
  candidates(provider: string, options?: CandidateOptions): Promise<readonly Candidate[]>;
  /** The secret itself; an expired login is renewed, once for all processes. Rejects with `MODEL_FAILED` when it is unavailable. */
  credential(candidate: Candidate): Promise<Access>;
  /** A call with this candidate and model was answered. */
  succeeded(candidate: Candidate, modelId: string): Promise<void>;
  /** A call failed. Returns the resulting cooldown, if any. */
  failed(candidate: Candidate, modelId: string, kind: FailureKind, facts?: FailureFacts): Promise<Cooldown | undefined>;
  /** All current cooldowns: of profiles, and of keys from the environment and the configuration. */
  cooldowns(): Promise<readonly CredentialCooldown[]>;
  /** Ends cooldowns, of one provider or credential or all of them. Resolves to those that were ended. */
  clearCooldowns(which?: CooldownFilter): Promise<readonly CredentialCooldown[]>;
  list(): Promise<readonly ProfileView[]>;
  /** Stores a credential in the agent's file, replacing the one with this id. */
  add(id: string, credential: AuthProfileCredential): Promise<void>;
  /** False when it did not exist. */
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
  /** The agent whose profiles all agents share. */
  readonly mainAgentDir: string;
  readonly config: () => OpenClawConfig;
  readonly env: () => Env;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "hex">;
  readonly log: Logger;
  /** Every secret is registered here as soon as it is read. */
  readonly redactor: Pick<Redactor, "register" | "text">;
  /** Fetches a configured key from a file or a program. */
  readonly secret?: ((input: SecretInput, path: string) => Promise<string>) | undefined;
  /** Variables that hold a provider's key, in order. */
  readonly envNames: (provider: string) => readonly string[];
  /** The provider's SDK finds a credential here. */
  readonly ambient?: ((provider: string) => boolean) | undefined;
  /** The canonical name of a provider. */
  readonly canonical?: ((provider: string) => string) | undefined;
  /** A plugin's own renewal for its provider; other logins are renewed at their token URL. */
  readonly refresh?: ((provider: string) => Refresh | undefined) | undefined;
  /** Formats a login as the provider's API key, where a plugin does so. */
  readonly formatKey?: ((provider: string) => ((credential: AuthProfileCredential) => string) | undefined) | undefined;
  /** `credentials/oauth.json` of old installations. */
  readonly oauthFile?: string | undefined;
  /** The user's home, where other programs store their logins. */
  readonly home?: string | undefined;
  /** Sent as `user-agent`. */
  readonly version: string;
  readonly fetch?: typeof fetch | undefined;
}
