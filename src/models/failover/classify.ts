import type { ModelFailure } from "../failure.ts";

/** What kind of trouble a failed call is. */
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
  | "thinking_level"
  | "refused"
  | "model_unknown"
  | "aborted"
  | "unknown";

/** First match decides. Texts are compared in lower case: they are the providers' own, and they are not in any order of importance. */
const TEXTS: readonly { readonly kind: FailureClass; readonly any: RegExp }[] = [
  {
    kind: "context_overflow",
    any: /context (?:length|window|overflow)|maximum context|context_length_exceeded|prompt is too long|too many (?:input )?tokens|input (?:is )?too long|exceeds? the (?:model'?s? )?(?:maximum )?(?:context|token)|request_too_large|request exceeds the maximum size/,
  },
  { kind: "role_order", any: /roles must alternate|incorrect role information|unexpected role|must alternate between/ },
  { kind: "image_size", any: /image (?:exceeds|dimensions exceed|too large|size)|image.{0,40}(?:maximum|max|limit).{0,20}(?:mb|bytes|pixels|px)/ },
  {
    kind: "thinking_level",
    any: /(?:reasoning[._ ]?effort|thinking(?: level|_level|\.type)?).{0,80}(?:not support|unsupported|invalid|must be one of|supported values)|unsupported value.{0,40}reasoning/,
  },
  {
    kind: "billing",
    any: /insufficient (?:credit|balance|funds|quota)|credit balance|payment required|billing|plan (?:and|has) .{0,20}billing|exceeded your current quota|out of credits/,
  },
  { kind: "overloaded", any: /overloaded|over capacity|server is busy|currently unavailable due to high/ },
  { kind: "rate_limit", any: /rate[ _-]?limit|too many requests|usage limit|quota|resource[ _]exhausted|throttl/ },
  {
    kind: "auth",
    any: /invalid (?:api )?key|incorrect api key|invalid.{0,12}token|token.{0,12}(?:expired|revoked|invalid)|unauthori[sz]ed|authentication|expired (?:api )?key|permission denied|forbidden|no api key/,
  },
  { kind: "model_unknown", any: /model.{0,60}(?:not found|does not exist|not available|no access)|unknown model|no such model/ },
  { kind: "timeout", any: /timed? ?out|deadline exceeded|gateway time-?out/ },
  { kind: "format", any: /tool_use\.id|tool_call_id|string should match pattern|invalid request format|malformed|messages?\.\d+/ },
];

/** Statuses that say more than any text. */
const STATUSES: Readonly<Record<number, FailureClass>> = {
  401: "auth",
  402: "billing",
  403: "auth",
  408: "timeout",
  413: "context_overflow",
  429: "rate_limit",
  529: "overloaded",
};
/** What a text may still change about a status: a 429 because the account is empty, a 400 that is really an overflow. */
const TEXT_FIRST: Readonly<Record<number, readonly FailureClass[]>> = {
  400: ["context_overflow", "role_order", "image_size", "thinking_level", "billing", "auth", "rate_limit", "model_unknown"],
  403: ["billing", "rate_limit"],
  404: ["model_unknown"],
  413: ["image_size"],
  422: ["context_overflow", "role_order", "image_size", "thinking_level"],
  429: ["billing", "overloaded"],
  503: ["overloaded", "rate_limit"],
};
const NETWORK_CODES =
  /^(?:ECONNRESET|ECONNREFUSED|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_SOCKET|UND_ERR_CONNECT_TIMEOUT|CERT_.*|DEPTH_ZERO_SELF_SIGNED_CERT)$/;
const REFUSALS = /^(?:content_filter|refusal|sensitive|SAFETY|BLOCKLIST|PROHIBITED_CONTENT|RECITATION|SPII)$/;

/** What a failed call was, from its status, the provider's words and where it broke. Total. */
export function classify(failure: ModelFailure): FailureClass {
  if (failure.aborted) return "aborted";
  if (failure.hung) return "timeout";
  if (failure.code !== undefined && REFUSALS.test(failure.code)) return "refused";
  const text = `${failure.code ?? ""} ${failure.text}`.toLowerCase();
  const said = TEXTS.find(({ any }) => any.test(text))?.kind;
  const { status } = failure;
  if (status !== undefined) {
    if (said !== undefined && TEXT_FIRST[status]?.includes(said)) return said;
    const known = STATUSES[status];
    if (known) return known;
    if (status >= 500) return said === "overloaded" ? "overloaded" : "timeout";
    if (status === 400 || status === 422) return "format";
    if (status === 404) return "model_unknown";
    return said ?? "unknown";
  }
  if (failure.malformed) return "format";
  if (failure.code === "ETIMEDOUT" || failure.code === "UND_ERR_HEADERS_TIMEOUT" || failure.code === "UND_ERR_BODY_TIMEOUT") return "timeout";
  if (failure.code !== undefined && NETWORK_CODES.test(failure.code)) return "network";
  return said ?? (failure.phase === "connect" || failure.phase === "stream" ? "network" : "unknown");
}
