import type { ModelFailure } from "../failure.ts";
import { coarseCode, specificCode } from "./codes.ts";
import { OVERFLOW, PATTERNS } from "./patterns.ts";

/** The class of a failed call. */
export type FailureClass =
  | "auth"
  | "billing"
  /** Our own limit, not the provider's. */
  | "budget"
  | "rate_limit"
  | "overloaded"
  | "timeout"
  | "network"
  | "format"
  | "context_overflow"
  | "role_order"
  | "image_size"
  | "tool_schema"
  | "thinking_level"
  | "refused"
  | "model_unknown"
  | "aborted"
  | "unknown";

/** What a failure was where the name of its class says less, or something else: `timeout` where nothing took too long, `format` of an empty answer. */
export type Trouble = "server error" | "bad answer" | "empty answer";

/** What a status means when neither a code nor a text says more. */
const STATUSES: Readonly<Record<number, FailureClass>> = {
  400: "format",
  401: "auth",
  402: "billing",
  403: "auth",
  404: "model_unknown",
  407: "auth",
  408: "timeout",
  409: "timeout",
  412: "billing",
  413: "context_overflow",
  422: "format",
  424: "timeout",
  429: "rate_limit",
  498: "overloaded",
  499: "timeout",
  529: "overloaded",
};
/** Classes that a text may not derive from a status: a 429 is never about the key, a rejected key never a rate limit. */
const NOT_BY_TEXT: Readonly<Record<number, readonly FailureClass[]>> = {
  401: ["rate_limit", "timeout", "format", "overloaded"],
  402: ["auth", "format", "timeout"],
  403: ["format", "timeout", "overloaded"],
  404: ["auth", "rate_limit", "timeout"],
  408: ["format", "auth", "rate_limit"],
  429: ["auth", "format", "timeout", "model_unknown", "thinking_level", "role_order"],
};
/** A 402 that will be over soon is not about billing. */
const COMES_BACK = /try again later|rolling window|usage limit.{0,80}reset/;
const HTML_SIZE = new Set([413]);
const NETWORK_CODES =
  /^(?:ECONNRESET|ECONNREFUSED|ECONNABORTED|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|EPROTO|UND_ERR_SOCKET|UND_ERR_CONNECT_TIMEOUT|ERR_SOCKET_CONNECTION_TIMEOUT|ERR_STREAM_PREMATURE_CLOSE|CERT_.*|ERR_TLS_.*|SELF_SIGNED_CERT.*|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_.*)$/;
const TIMEOUT_CODES = /^(?:ETIMEDOUT|ESOCKETTIMEDOUT|UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT)$/;
const REFUSALS = /^(?:content_filter|refusal|sensitive|SAFETY|IMAGE_SAFETY|BLOCKLIST|PROHIBITED_CONTENT|RECITATION|SPII)$/;

/**
 * Classifies a failed call by its status, the provider's codes and message, and where it broke. Total. A specific code comes before the text, the
 * text before coarse codes, and the status last.
 */
export function classify(failure: ModelFailure): FailureClass {
  if (failure.aborted) return "aborted";
  if (failure.hung) return "timeout";
  const { code } = failure;
  if (code !== undefined && REFUSALS.test(code)) return "refused";
  const codes = failure.codes ?? (code === undefined ? [] : [code]);
  if (failure.html) return ofPage(failure.status, codes);
  if (failure.status !== undefined && failure.status >= 500) return ofServer(failure, codes);
  if (failure.malformed) return failure.phase === "answer" ? "format" : "timeout";
  if (code !== undefined && TIMEOUT_CODES.test(code)) return "timeout";
  if (code !== undefined && NETWORK_CODES.test(code)) return "network";
  return ofRequest(failure, codes);
}

/** Statuses of a proxy or provider that waited in vain. */
const TIMEOUT_STATUSES: ReadonlySet<number> = new Set([408, 499, 504, 522, 524]);

/** The classes `timeout` and `format` cover several faults. Undefined: it did take too long, or the class says it all. */
export function troubleOf({ hung, code, status, malformed, html, empty }: ModelFailure, kind: FailureClass): Trouble | undefined {
  if (empty) return "empty answer";
  if (kind !== "timeout" || hung || (code !== undefined && TIMEOUT_CODES.test(code))) return undefined;
  if (status !== undefined && status >= 400) return TIMEOUT_STATUSES.has(status) ? undefined : "server error";
  return malformed || html ? "bad answer" : undefined;
}

/** The text of an HTML page is not the provider's: its status and the kind of page decide. */
function ofPage(status: number | undefined, codes: readonly string[]): FailureClass {
  const known = specificCode(codes);
  if (known !== undefined) return known;
  if (status === undefined || status >= 500) return "timeout";
  return HTML_SIZE.has(status) ? "image_size" : (STATUSES[status] ?? "unknown");
}

/** The provider failed. Only a 500 in its own format can be an overflow: proxies write many things into theirs. */
function ofServer({ status, text, structured }: ModelFailure, codes: readonly string[]): FailureClass {
  if (status === 529) return "overloaded";
  const known = specificCode(codes);
  if (known !== undefined) return known;
  const lower = text.toLowerCase();
  if (status === 500 && structured === true && OVERFLOW.test(lower)) return "context_overflow";
  const matched = PATTERNS.find(({ any }) => any.test(lower))?.kind;
  if (matched === "overloaded") return "overloaded";
  if (status === 503 && matched === "rate_limit") return "rate_limit";
  return (status === 503 || status === 500) && structured === true && coarseCode(codes) === "overloaded" ? "overloaded" : "timeout";
}

/** The request was refused, or an error came without a status. */
function ofRequest({ status, text, code, phase, retryAfterMs }: ModelFailure, codes: readonly string[]): FailureClass {
  // "Exceeded your current quota" means money at one provider and minutes at Google: its code shows which.
  const lower = text.toLowerCase();
  const isGoogle = codes.includes("RESOURCE_EXHAUSTED");
  const known = isGoogle ? googleQuota(lower, codes) : specificCode(codes);
  if (known === "billing" && status === 402 && (retryAfterMs !== undefined || COMES_BACK.test(lower))) return "rate_limit";
  if (known !== undefined) return known;
  if (status === 402 && (retryAfterMs !== undefined || COMES_BACK.test(lower))) return "rate_limit";
  const first = code ?? codes[0];
  const all = first === undefined ? lower : `${first.toLowerCase()} ${lower}`;
  const excluded = (status === undefined ? undefined : NOT_BY_TEXT[status]) ?? [];
  const matched = PATTERNS.find(({ kind, any }) => !excluded.includes(kind) && any.test(all))?.kind;
  if (matched !== undefined) return matched;
  // Wrong error types are common with 429, and so are bare numbers.
  const coarse = coarseCode(codes);
  const ofStatus = status === undefined ? undefined : STATUSES[status];
  if (ofStatus !== undefined && !(coarse !== undefined && coarse !== "format" && status === 400)) return ofStatus;
  return coarse ?? ofStatus ?? (status === undefined && (phase === "connect" || phase === "stream") ? "network" : "unknown");
}

/** Google's quotas reset with time, unless billing is missing. */
function googleQuota(lower: string, codes: readonly string[]): FailureClass {
  const reason = specificCode(codes);
  if (reason === "overloaded") return reason;
  if (/billing (?:has not been|is not|not) enabled|credits are depleted/.test(lower)) return "billing";
  return /resource exhausted\. please try again later/.test(lower) ? "overloaded" : "rate_limit";
}
