import type { AuthProfileCredential } from "../../protocol/index.ts";
import { isRecord } from "../../base/records.ts";

/** The documented counters of one profile, for all its models together. */
export interface UsageStats {
  readonly lastUsed?: number;
  readonly errorCount?: number;
  readonly failureCounts?: Readonly<Record<string, number>>;
  readonly lastFailureAt?: number;
  readonly cooldownUntil?: number;
  readonly disabledUntil?: number;
  readonly disabledReason?: string;
  readonly [key: string]: unknown;
}

/** Failures of one kind, of one model with one credential. Times are milliseconds since the epoch. */
export interface FailureState {
  readonly count: number;
  readonly lastFailureAt: number;
  readonly until: number;
  readonly provider?: string;
  /** The provider's last answer, redacted. */
  readonly reason?: string;
}

/** Credential id, then model, then kind of failure. */
export type ModelFailures = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, FailureState>>>>>>;

/** `auth-profiles.json`. Unknown fields are preserved. */
export interface AuthDocument {
  readonly version: number;
  readonly profiles: Readonly<Record<string, unknown>>;
  readonly order?: Readonly<Record<string, readonly string[]>>;
  readonly lastGood?: Readonly<Record<string, string>>;
  readonly usageStats?: Readonly<Record<string, UsageStats>>;
  /** Our own section: failures by credential, model and class. */
  readonly modelFailures?: ModelFailures;
  readonly [key: string]: unknown;
}

export const EMPTY_DOCUMENT: AuthDocument = { version: 1, profiles: {} };

/** Sections that must be objects for the file to be valid. */
const SECTIONS = ["profiles", "order", "lastGood", "usageStats", "modelFailures"] as const;

/** The file's value, or what is wrong with it. */
export function parseAuthDocument(text: string): { readonly document: AuthDocument } | { readonly problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message quotes the text, and the text is full of secrets.
    return { problem: text.trim() === "" ? "it is empty" : "it is not JSON" };
  }
  if (!isRecord(value)) return { problem: "it is not a JSON object" };
  for (const name of SECTIONS) {
    if (value[name] !== undefined && !isRecord(value[name])) return { problem: `its "${name}" is not an object` };
  }
  const { version, profiles } = value;
  return { document: { ...value, version: typeof version === "number" ? version : 1, profiles: isRecord(profiles) ? profiles : {} } };
}

const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";

function isCredential(entry: unknown): entry is AuthProfileCredential {
  if (!isRecord(entry) || !isText(entry["provider"])) return false;
  const { type, key, token, access, refresh } = entry;
  if (type === "api_key") return key === undefined || typeof key === "string";
  return type === "token" ? isText(token) : type === "oauth" && (isText(access) || isText(refresh));
}

/** A credential, or undefined for an unknown entry. */
export function credentialOf(entry: unknown): AuthProfileCredential | undefined {
  return isCredential(entry) ? entry : undefined;
}

/** Fields of a credential that are secret. */
const SECRET_FIELDS = ["key", "token", "access", "refresh", "clientSecret", "idToken", "id_token"];

/** Every secret of an entry, of known and unknown types. */
export function secretsOf(entry: unknown): readonly string[] {
  if (!isRecord(entry)) return [];
  return SECRET_FIELDS.map((field) => entry[field]).filter(isText);
}

/** The secret that a request would carry. */
export function mainSecret(credential: AuthProfileCredential): string {
  if (credential.type === "api_key") return credential.key ?? "";
  return credential.type === "token" ? credential.token : (credential.access ?? "");
}

/** Why a credential cannot be used at all, or undefined when it can. An expired login can be renewed. */
export function whyUnusable(credential: AuthProfileCredential, now: number): string | undefined {
  if (credential.type === "api_key") return isText(credential.key) || credential.metadata ? undefined : "it has no key";
  if (credential.type === "token") {
    const { expires } = credential;
    return typeof expires === "number" && Number.isFinite(expires) && expires > 0 && expires <= now ? "it has expired" : undefined;
  }
  return isText(credential.refresh) || (credential.expires ?? 0) > now ? undefined : "it has expired and cannot be renewed";
}
