import type { ThinkingLevel } from "../../protocol/index.ts";
import type { ModelFailure } from "../failure.ts";
import type { FailureClass } from "./classify.ts";

/** What to do after a failed attempt. */
export type Step =
  /** The same again, after a pause. */
  | { readonly do: "retry"; readonly afterMs: number }
  /** The same model with another credential; this one gets a cooldown. */
  | { readonly do: "rotate" }
  /** The next model of the list. */
  | { readonly do: "next-model" }
  | { readonly do: "lower-thinking"; readonly to: ThinkingLevel }
  /** The same with a shorter answer: the provider counts its length as part of the window, or allows less. */
  | { readonly do: "lower-output"; readonly to: number }
  /** Further attempts would not help. */
  | { readonly do: "stop" };

export interface Situation {
  readonly kind: FailureClass;
  /** Attempts of this model with this credential, including this one. */
  readonly attempt: number;
  readonly retryAfterMs?: number | undefined;
  /** Part of the answer has been shown: another attempt would show it twice. */
  readonly afterContent: boolean;
  readonly moreProfiles: boolean;
  readonly moreModels: boolean;
  readonly thinking: ThinkingLevel;
  /** The provider did not answer within its time, or stopped in the middle: each attempt costs minutes. */
  readonly hung?: boolean;
  /** How often repeating the call unchanged can help. */
  readonly retries?: number | undefined;
  /** Length of an answer, in tokens, that the provider would accept. */
  readonly outputTokens?: number | undefined;
  /** Random number in 0..1, for the jitter of pauses. */
  readonly chance: number;
}

/** What each class of failure allows. */
interface Rule {
  /** How often the same call is repeated before anything else is tried. */
  readonly retries: number;
  /** Another credential may help. */
  readonly rotate: boolean;
  /** Another model may help. */
  readonly next: boolean;
}

/** Transient errors: 5xx, overload, resets, timeouts. After pauses of up to 0.5, 1, 2 and 4 s they are over, or not transient. */
const PASSING_RETRIES = 4;
/** A provider that hangs costs minutes each time. */
const HUNG_RETRIES = 3;
const HUNG_RETRIES_WITH_OTHERS = 1;

const RULES: Readonly<Record<FailureClass, Rule>> = {
  auth: { retries: 0, rotate: true, next: true },
  billing: { retries: 0, rotate: true, next: true },
  budget: { retries: 0, rotate: false, next: true },
  rate_limit: { retries: 0, rotate: true, next: true },
  overloaded: { retries: PASSING_RETRIES, rotate: true, next: true },
  timeout: { retries: PASSING_RETRIES, rotate: true, next: true },
  network: { retries: PASSING_RETRIES, rotate: false, next: true },
  format: { retries: 1, rotate: true, next: true },
  model_unknown: { retries: 0, rotate: false, next: true },
  unknown: { retries: 0, rotate: false, next: false },
  refused: { retries: 0, rotate: false, next: false },
  context_overflow: { retries: 0, rotate: false, next: false },
  role_order: { retries: 0, rotate: false, next: false },
  image_size: { retries: 0, rotate: false, next: false },
  tool_schema: { retries: 0, rotate: false, next: true },
  thinking_level: { retries: 0, rotate: false, next: true },
  aborted: { retries: 0, rotate: false, next: false },
};

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;
/** A provider that wants a longer pause is skipped: another may answer sooner. */
const LONGEST_ASKED_MS = 10_000;
/** The longest wait when there is no alternative. */
const LONGEST_ASKED_ALONE_MS = 60_000;
const LOWER: Readonly<Record<ThinkingLevel, ThinkingLevel | undefined>> = {
  xhigh: "high",
  high: "medium",
  medium: "low",
  low: "minimal",
  minimal: "off",
  off: undefined,
};

/** The whole failover logic: one situation, one step. Pure. */
export function decide(situation: Situation): Step {
  const { kind, attempt, retryAfterMs, afterContent, moreProfiles, moreModels, thinking } = situation;
  const rule = RULES[kind];
  if (kind === "thinking_level") {
    const to = LOWER[thinking];
    if (to !== undefined) return { do: "lower-thinking", to };
  }
  if (situation.outputTokens !== undefined) return { do: "lower-output", to: situation.outputTokens };
  if (afterContent && kind !== "format" && kind !== "timeout" && kind !== "network" && kind !== "overloaded") return { do: "stop" };
  // An alternative is taken at once; otherwise the wait is as long as reasonable.
  const alone = !(rule.rotate && moreProfiles) && !(rule.next && moreModels);
  const asked = retryAfterMs !== undefined && retryAfterMs <= (alone ? LONGEST_ASKED_ALONE_MS : LONGEST_ASKED_MS);
  const again = attempt <= retriesOf(situation, asked, alone) && (retryAfterMs === undefined || asked);
  if (again) return { do: "retry", afterMs: Math.max(retryAfterMs ?? 0, pause(attempt, situation.chance)) };
  if (rule.rotate && moreProfiles) return { do: "rotate" };
  if (rule.next && moreModels) return { do: "next-model" };
  return { do: "stop" };
}

function retriesOf({ kind, hung = false, retries }: Situation, asked: boolean, alone: boolean): number {
  const most = retries ?? Number.POSITIVE_INFINITY;
  if (kind === "rate_limit") return Math.min(most, asked && alone ? 1 : 0);
  if (hung) return Math.min(most, alone ? HUNG_RETRIES : HUNG_RETRIES_WITH_OTHERS);
  // A known repair (a malformed call of the model) allows what the class alone would not.
  return retries ?? RULES[kind].retries;
}

/** Doubles with each attempt; half of it is random, so that many callers do not retry together. */
function pause(attempt: number, chance: number): number {
  const full = Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_PAUSE_MS);
  return Math.round(full / 2 + (full / 2) * chance);
}

/** Classes after which a credential may get a cooldown. */
const COOLED: ReadonlySet<FailureClass> = new Set<FailureClass>(["auth", "billing", "rate_limit", "timeout", "format", "overloaded", "network"]);

/** Errors about the region, the request or the account's options: another call with the same credential may well succeed. */
const NOT_THE_CREDENTIAL =
  /extra usage is required for long context|oauth authentication is currently not supported|not supported for the api use|public access is disabled|proxy authentication required|sorry, you have been blocked|use case details have not been submitted|no auth credentials found|temporarily rate-limited upstream/i;
/** The provider does not serve this machine's region: no other key helps. */
const REGION =
  /(?:country|region|territory|location)s?\b[^.]{0,40}\b(?:is|are)? ?(?:not|un)[- ]?(?:supported|available|allowed)|not (?:available|supported|allowed|offered|accessible) in your (?:current )?(?:region|country|location|territory)|(?:unsupported|restricted|blocked) (?:country|region|territory|location)|unsupported_country/i;
const REGION_CODE = "unsupported_country_region_territory";

const REGION_STATUSES: ReadonlySet<number | undefined> = new Set([undefined, 400, 403, 451]);

/** Whether a provider refused because of the request's region. */
export const isRegion = ({ status, text, codes = [] }: Pick<ModelFailure, "status" | "text" | "codes">): boolean =>
  codes.includes(REGION_CODE) || (REGION_STATUSES.has(status) && REGION.test(text));

const NOT_THE_CREDENTIAL_CODES: ReadonlySet<string> = new Set([REGION_CODE, "html_blocked", "upstream_provider_shared_pool"]);

/** Whether the credential gets a cooldown after this failure. */
export function startsCooldown(failure: ModelFailure, kind: FailureClass): boolean {
  if (!COOLED.has(kind)) return false;
  // A model's answer is not the credential's fault, and a wrong URL is the configuration's.
  if (failure.malformed === true && failure.phase === "answer") return false;
  if (failure.status === 404 || failure.status === 407 || (failure.html && kind === "auth")) return false;
  // If only the free tier is unavailable, a paid key helps.
  if (kind !== "billing" && isRegion(failure)) return false;
  return !NOT_THE_CREDENTIAL.test(failure.text) && !(failure.codes ?? []).some((code) => NOT_THE_CREDENTIAL_CODES.has(code));
}

/** Retrying is pointless: the certificate, the URL or the protocol is wrong. */
const HOPELESS_CODES = /^(?:CERT_.*|ERR_TLS_.*|SELF_SIGNED_CERT.*|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_.*|EPROTO)$/;

/** How often repeating the call unchanged can help, where it differs from the class's default. */
export function retryLimit({ code, codes = [], html, status, text }: ModelFailure, kind: FailureClass): number | undefined {
  if (code !== undefined && HOPELESS_CODES.test(code)) return 0;
  if (code === "ENOTFOUND") return 1;
  if (isRegion({ text, codes, ...(status === undefined ? {} : { status }) })) return 0;
  if (html && (status === 403 || status === undefined)) return kind === "timeout" && status === undefined ? 1 : 0;
  // The model produced a malformed call: the next answer may be valid.
  if (kind === "tool_schema" && codes.some((each) => /^(?:tool_use_failed|MALFORMED_FUNCTION_CALL)$/.test(each))) return 1;
  if (/requires more system memory/i.test(text)) return 0;
  return undefined;
}

/** Less than this is not an answer: the conversation has to get shorter. */
const LEAST_OUTPUT_TOKENS = 1_024;
/** Token counts of providers and of their errors differ a little. */
const MARGIN_TOKENS = 64;

/** The window does not hold conversation plus answer: `A + B > C`. */
const SUM = /exceed context limit: (\d+) \+ (\d+) > (\d+)/i;
/** The answer may not be this long, or is not affordable: the number that is. */
const CAPS: readonly RegExp[] = [
  /> (\d+), which is the maximum allowed number of output tokens/i,
  /supports at most (\d+) completion tokens/i,
  /maximum tokens you requested exceeds the model limit of (\d+)/i,
  /max tokens must be less than or equal to (\d+)/i,
  /requires more credits, or fewer max_tokens.{0,120}can only afford (\d+)/i,
];

/**
 * The answer length, in tokens, with which the provider would accept the same request; undefined when its error names none, or when less would
 * not help. `now` is the last requested length.
 */
export function fittingOutput({ text, afterContent }: Pick<ModelFailure, "text" | "afterContent">, now: number | undefined): number | undefined {
  if (afterContent) return undefined;
  const sum = SUM.exec(text);
  const remaining = sum ? Number(sum[3]) - Number(sum[1]) - MARGIN_TOKENS : Number(CAPS.map((cap) => cap.exec(text)?.[1]).find((found) => found !== undefined));
  if (!Number.isSafeInteger(remaining) || remaining < LEAST_OUTPUT_TOKENS) return undefined;
  return now === undefined || remaining < now ? remaining : undefined;
}
