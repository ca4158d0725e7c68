import { AppError, messageOf, type ErrorCode } from "../base/errors.ts";
import { clip } from "../base/text.ts";
import type { SendFailure } from "../protocol/index.ts";

/** What became of an attempt that did not succeed. */
export interface FailedAttempt extends SendFailure {
  readonly why: string;
  /** It concerns the account, not this message: others would fail as well. */
  readonly ofAccount: boolean;
  /** The account's credential is refused or gone: nothing can be sent until it is mended. */
  readonly isAccountLost: boolean;
  /** No connection came about: no message is to blame for that. */
  readonly isUnconnected: boolean;
}

const MAX_WHY = 500;
const MAX_CAUSES = 6;

/** Nothing can have left before one of these. */
const BEFORE: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ENETDOWN", "UND_ERR_CONNECT_TIMEOUT"]);
const HANDSHAKE = /^(?:ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;
const RETRY: ReadonlySet<ErrorCode> = new Set(["UNAVAILABLE", "OVERLOADED", "LOCKED"]);
const FAILED: ReadonlySet<ErrorCode> = new Set(["INVALID_INPUT", "NOT_FOUND", "PERMISSION_DENIED", "HOST_BLOCKED", "CONFIG_INVALID", "SECRET_UNRESOLVED"]);

type Fields = Readonly<Record<string, unknown>>;

/** Errors have fields as well. */
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;

const fieldsOf = (value: unknown): Fields | undefined => (isFields(value) ? value : undefined);

/** The error and what it was caused by, outermost first. */
function chain(error: unknown): Fields[] {
  const found: Fields[] = [];
  const walk = (value: unknown): void => {
    const fields = fieldsOf(value);
    if (!fields || found.length >= MAX_CAUSES || found.includes(fields)) return;
    found.push(fields);
    walk(fields["cause"]);
    // What several addresses of one host answered.
    if (Array.isArray(fields["errors"])) walk(fields["errors"].find((one) => !connectFailed(fieldsOf(one) ?? {})) ?? fields["errors"][0]);
  };
  walk(error);
  return found;
}

function connectFailed(fields: Fields): boolean {
  const code = fields["code"];
  return typeof code === "string" && (BEFORE.has(code) || HANDSHAKE.test(code));
}

const asMs = (value: unknown, unit: number): number | undefined => {
  const found = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof found === "number" && Number.isFinite(found) && found >= 0 ? Math.ceil(found * unit) : undefined;
};

/** How long the platform asks to wait. Its own field names count in seconds. */
function retryAfter(fields: Fields): number | undefined {
  const inner = fieldsOf(fields["parameters"]) ?? fieldsOf(fields["details"]);
  return (
    asMs(fields["retryAfterMs"], 1) ??
    asMs(inner?.["retryAfterMs"], 1) ??
    asMs(inner?.["retry_after"], 1000) ??
    asMs(fields["retry_after"], 1000) ??
    asMs(fields["retryAfter"], 1000)
  );
}

function statusOf(fields: Fields): number | undefined {
  const response = fieldsOf(fields["response"]);
  const named = [fields["status"], fields["statusCode"], fields["error_code"], fields["httpStatus"], response?.["status"]];
  return named.find((value): value is number => typeof value === "number" && value >= 400 && value < 600);
}

/** What an HTTP answer says about a message. */
function byStatus(status: number, fields: Fields): SendFailure {
  if (status === 429 || status === 425) return { state: "retry", retryAfterMs: retryAfter(fields) };
  // A proxy may say so after the request went through.
  if (status === 408 || status >= 500) return { state: "unknown", retryAfterMs: retryAfter(fields) };
  return { state: "failed" };
}

function judge(error: unknown): SendFailure {
  const causes = chain(error);
  for (const fields of causes) {
    const { state, retryAfterMs, filesNotSent } = fieldsOf(fields["delivery"]) ?? {};
    const notes = Array.isArray(filesNotSent) ? filesNotSent.filter((note) => typeof note === "string").map((note) => clip(note, MAX_WHY)) : [];
    if (state === "failed" || state === "retry" || state === "unknown")
      return { state, retryAfterMs: asMs(retryAfterMs, 1), ...(state === "failed" && notes.length > 0 ? { filesNotSent: notes } : {}) };
  }
  if (causes.some(connectFailed)) return { state: "retry" };
  for (const fields of causes) {
    const status = statusOf(fields);
    if (status !== undefined) return byStatus(status, fields);
  }
  if (error instanceof AppError && RETRY.has(error.code)) return { state: "retry", retryAfterMs: retryAfter(error.details) };
  if (error instanceof AppError && FAILED.has(error.code)) return { state: "failed" };
  // Nobody knows: resets, broken pipes, timeouts, and what has no code at all.
  return { state: "unknown" };
}

/** The channel's own mark; without one, the status that means the credential and nothing else. */
function isAccountLost(causes: readonly Fields[]): boolean {
  if (causes.some(({ permanent }) => permanent === true)) return true;
  return !causes.some(({ delivery }) => delivery !== undefined) && causes.map(statusOf).find((status) => status !== undefined) === 401;
}

/** Whether a message may have arrived, and whether it is of use to try again. */
export function classifyFailure(error: unknown): FailedAttempt {
  const causes = chain(error);
  const codes = causes.flatMap(({ code }) => (typeof code === "string" || typeof code === "number" ? [String(code)] : []));
  const text = messageOf(error) || "no reason given";
  const code = codes.find((one) => !text.includes(one));
  const judged = judge(error);
  // What has to wait because too much was sent says nothing about the account.
  const limited = judged.state === "retry" && judged.retryAfterMs !== undefined;
  const isLost = judged.state !== "unknown" && isAccountLost(causes);
  const ofAccount = isLost || (judged.state !== "failed" && !limited);
  const isUnconnected = judged.state === "retry" && causes.some(connectFailed);
  return { ...judged, ofAccount, isAccountLost: isLost, isUnconnected, why: clip(code === undefined ? text : `${text} (${code})`, MAX_WHY) };
}
