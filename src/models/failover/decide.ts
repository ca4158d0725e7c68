import type { ThinkingLevel } from "../../protocol/index.ts";
import type { FailureClass } from "./classify.ts";

/** What to do after a failed attempt. */
export type Step =
  /** The same again, after a pause. */
  | { readonly do: "retry"; readonly afterMs: number }
  /** The same model with another credential; this one rests. */
  | { readonly do: "rotate" }
  /** The next model of the list. */
  | { readonly do: "next-model" }
  | { readonly do: "lower-thinking"; readonly to: ThinkingLevel }
  /** Trying on would not help. */
  | { readonly do: "stop" };

export interface Situation {
  readonly kind: FailureClass;
  /** Of this model with this credential, this one included. */
  readonly attempt: number;
  readonly retryAfterMs?: number | undefined;
  /** Part of the answer has been shown: trying again would show it twice. */
  readonly afterContent: boolean;
  readonly moreProfiles: boolean;
  readonly moreModels: boolean;
  readonly thinking: ThinkingLevel;
  /** Chosen by 0..1, for the jitter of pauses. */
  readonly chance: number;
}

/** What each kind of trouble allows. */
interface Rule {
  /** Times the same call is made again before anything else is tried. */
  readonly retries: number;
  /** Another credential may help. */
  readonly rotate: boolean;
  /** Another model may help. */
  readonly next: boolean;
}

const RULES: Readonly<Record<FailureClass, Rule>> = {
  auth: { retries: 0, rotate: true, next: true },
  billing: { retries: 0, rotate: true, next: true },
  budget: { retries: 0, rotate: false, next: true },
  rate_limit: { retries: 0, rotate: true, next: true },
  overloaded: { retries: 2, rotate: true, next: true },
  timeout: { retries: 0, rotate: true, next: true },
  network: { retries: 2, rotate: false, next: true },
  format: { retries: 1, rotate: true, next: true },
  model_unknown: { retries: 0, rotate: false, next: true },
  unknown: { retries: 0, rotate: false, next: false },
  refused: { retries: 0, rotate: false, next: false },
  context_overflow: { retries: 0, rotate: false, next: false },
  role_order: { retries: 0, rotate: false, next: false },
  image_size: { retries: 0, rotate: false, next: false },
  thinking_level: { retries: 0, rotate: false, next: true },
  aborted: { retries: 0, rotate: false, next: false },
};

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;
/** A provider that asks for more than this is left alone: somebody else may answer sooner. */
const LONGEST_ASKED_MS = 10_000;
const LOWER: Readonly<Record<ThinkingLevel, ThinkingLevel | undefined>> = {
  xhigh: "high",
  high: "medium",
  medium: "low",
  low: "minimal",
  minimal: "off",
  off: undefined,
};

/** The whole of failover: one situation, one step. Pure. */
export function decide(situation: Situation): Step {
  const { kind, attempt, retryAfterMs, afterContent, moreProfiles, moreModels, thinking } = situation;
  const rule = RULES[kind];
  if (kind === "thinking_level") {
    const to = LOWER[thinking];
    if (to !== undefined) return { do: "lower-thinking", to };
  }
  if (afterContent && kind !== "format" && kind !== "timeout" && kind !== "network" && kind !== "overloaded") return { do: "stop" };
  // Who knows another way goes it at once; who does not waits as long as is reasonable.
  const asked = retryAfterMs !== undefined && retryAfterMs <= LONGEST_ASKED_MS;
  const alone = !(rule.rotate && moreProfiles) && !(rule.next && moreModels);
  const retries = kind === "rate_limit" && asked && alone ? 1 : rule.retries;
  if (attempt <= retries && (retryAfterMs === undefined || asked)) return { do: "retry", afterMs: retryAfterMs ?? pause(attempt, situation.chance) };
  if (rule.rotate && moreProfiles) return { do: "rotate" };
  if (rule.next && moreModels) return { do: "next-model" };
  return { do: "stop" };
}

/** Doubles with each attempt; half of it is chance, so that many callers do not come back together. */
function pause(attempt: number, chance: number): number {
  const full = Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_PAUSE_MS);
  return Math.round(full / 2 + (full / 2) * chance);
}

/** A credential rests after these. */
export function rests(kind: FailureClass): boolean {
  return kind === "auth" || kind === "billing" || kind === "rate_limit" || kind === "timeout" || kind === "format" || kind === "overloaded";
}
