/** Signed requests: an HMAC over the raw body, as GitHub, Stripe and Slack send them. Pure functions. */
import { createHmac } from "node:crypto";
import { equalSecrets } from "../../base/equal-secrets.ts";
import { isRecord } from "../../base/records.ts";

export type SignedPreset = "github" | "stripe" | "slack";

export interface SignedRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export type SignatureVerdict =
  /** `seal` is the signature as bytes in lower-case hexadecimal: the same for every way in which it can be written. */
  { readonly ok: true; readonly seal: string } | { readonly ok: false; readonly message: string };

const DAY_MS = 86_400_000;
/** How far the time of a request may be from ours. */
const TOLERANCE_MS = 300_000;
const HEX_SHA256 = /^[0-9a-f]{64}$/i;
/** Signatures of one request that are looked at: a service sends two while its secret is being changed. */
const MOST_SIGNATURES = 5;

interface Scheme {
  /** Signatures that the request carries, in hexadecimal. */
  readonly signatures: (headers: SignedRequest["headers"]) => readonly string[];
  /** Seconds since the epoch, as written; undefined where the service sends none. */
  readonly time?: (headers: SignedRequest["headers"]) => string | undefined;
  /** What stands before the body in the signed text. */
  readonly prefix: (time: string) => string;
  /** How long a signature is remembered, so that it cannot be sent again. */
  readonly memoryMs: number;
}

/** The values of a name in `t=1,v1=…,v1=…`. */
const fieldsOf = (header: string, name: string): readonly string[] =>
  header
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1));

const after = (prefix: string, value: string | undefined): readonly string[] => (value?.startsWith(prefix) ? [value.slice(prefix.length)] : []);

const SCHEMES: Readonly<Record<SignedPreset, Scheme>> = {
  // No time is signed: a signature stays good, so it is remembered for long.
  github: { signatures: (headers) => after("sha256=", headers["x-hub-signature-256"]?.trim()), prefix: () => "", memoryMs: 90 * DAY_MS },
  stripe: {
    signatures: (headers) => fieldsOf(headers["stripe-signature"] ?? "", "v1"),
    time: (headers) => fieldsOf(headers["stripe-signature"] ?? "", "t")[0],
    prefix: (time) => `${time}.`,
    memoryMs: 7 * DAY_MS,
  },
  slack: {
    signatures: (headers) => after("v0=", headers["x-slack-signature"]?.trim()),
    time: (headers) => headers["x-slack-request-timestamp"]?.trim(),
    prefix: (time) => `v0:${time}:`,
    memoryMs: 7 * DAY_MS,
  },
};

export const memoryOf = (preset: SignedPreset): number => SCHEMES[preset].memoryMs;

/** Checks the signature of a request. An empty secret fits nothing. */
export function checkSignature(preset: SignedPreset, { headers, body }: SignedRequest, secret: string, now: number): SignatureVerdict {
  const scheme = SCHEMES[preset];
  const signatures = scheme.signatures(headers).slice(0, MOST_SIGNATURES);
  if (secret.trim() === "" || signatures.length === 0) return { ok: false, message: "Unauthorized: the signature is missing" };
  const time = scheme.time?.(headers);
  if (scheme.time && (time === undefined || !/^\d{1,12}$/.test(time))) return { ok: false, message: "Unauthorized: the signature has no timestamp" };
  const expected = createHmac("sha256", secret)
    .update(scheme.prefix(time ?? ""))
    .update(body)
    .digest();
  const fits = signatures.filter((signature) => HEX_SHA256.test(signature) && equalSecrets(signature.toLowerCase(), expected.toString("hex")));
  if (fits.length === 0) return { ok: false, message: "Unauthorized: the signature does not match the body" };
  if (time !== undefined && Math.abs(now - Number(time) * 1000) > TOLERANCE_MS)
    return { ok: false, message: "Unauthorized: the signed timestamp differs from this machine's clock by more than 5 minutes" };
  return { ok: true, seal: expected.toString("hex") };
}

/** The service's own id of a delivery: a repeat has the same. */
export function deliveryId(preset: SignedPreset, headers: SignedRequest["headers"], payload: unknown): string | undefined {
  const fields = isRecord(payload) ? payload : {};
  const id = preset === "github" ? headers["x-github-delivery"] : preset === "stripe" ? fields["id"] : (fields["event_id"] ?? fields["trigger_id"]);
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** What a service asks for while it is being set up, and the answer to it. No work is started. */
export function setupAnswer(preset: SignedPreset, headers: SignedRequest["headers"], payload: unknown): Readonly<Record<string, unknown>> | undefined {
  if (preset === "github" && headers["x-github-event"] === "ping") return { ok: true, pong: true };
  const isChallenge = preset === "slack" && isRecord(payload) && payload["type"] === "url_verification" && typeof payload["challenge"] === "string";
  return isChallenge ? { challenge: payload["challenge"] } : undefined;
}

/** Whether people are shown the answer to a form, such as a slash command: then it has to be empty. */
export const showsAnswers = (preset: SignedPreset): boolean => preset === "slack";
