import type { OpenClawConfig } from "../../config/index.ts";
import type { FailureClass } from "../failover/classify.ts";
import type { AuthDocument, FailureState, ModelFailures, UsageStats } from "./store/document.ts";

export type FailureKind = FailureClass;

/** A time in which a credential is left alone. */
export interface Rest {
  readonly kind: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
  /** The model it is about; absent when all models of the account are meant. */
  readonly modelId?: string;
}

/** The settings of `auth.cooldowns`, in milliseconds. */
export interface RestRules {
  readonly billingFirstMs: number;
  readonly billingMaxMs: number;
  /** Failures further apart than this do not count together. */
  readonly windowMs: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const FACTOR = 5;
const LONGEST_COOLDOWN_MS = HOUR_MS;
const BILLING_FIRST_HOURS = 5;
const BILLING_MAX_HOURS = 24;
const WINDOW_HOURS = 24;

/** After these a credential rests; other trouble is not its fault. */
const RESTING: ReadonlySet<string> = new Set<FailureClass>(["auth", "billing", "rate_limit", "overloaded", "timeout", "network", "format"]);
/** Kinds that are about the account when more than one model shows them. */
const OF_ACCOUNT: ReadonlySet<string> = new Set<FailureClass>(["auth", "billing", "rate_limit"]);
/** The reasons that `usageStats.failureCounts` documents. */
const DOCUMENTED: Readonly<Record<string, string>> = { overloaded: "rate_limit", network: "timeout" };

export function restRules(config: OpenClawConfig, provider: string, canonical: (provider: string) => string): RestRules {
  const { billingBackoffHours, billingBackoffHoursByProvider, billingMaxHours, failureWindowHours } = config.auth?.cooldowns ?? {};
  const own = Object.entries(billingBackoffHoursByProvider ?? {}).find(([name]) => canonical(name) === canonical(provider))?.[1];
  const first = (own ?? billingBackoffHours ?? BILLING_FIRST_HOURS) * HOUR_MS;
  return {
    billingFirstMs: first,
    billingMaxMs: Math.max(first, (billingMaxHours ?? BILLING_MAX_HOURS) * HOUR_MS),
    windowMs: (failureWindowHours ?? WINDOW_HOURS) * HOUR_MS,
  };
}

/** How long the `count`th failure in a row costs. */
export function restMs(kind: FailureKind, count: number, rules: RestRules): number {
  if (kind === "billing") return Math.min(rules.billingFirstMs * 2 ** Math.min(count - 1, 20), rules.billingMaxMs);
  return Math.min(MINUTE_MS * FACTOR ** Math.min(count - 1, 3), LONGEST_COOLDOWN_MS);
}

/** The state without failures that are over, and counters with them. */
function live(failures: ModelFailures, id: string, now: number): Readonly<Record<string, Readonly<Record<string, FailureState>>>> {
  const models: Record<string, Record<string, FailureState>> = {};
  for (const [model, kinds] of Object.entries(failures[id] ?? {})) {
    const still = Object.entries(kinds).filter(([, state]) => state.until > now);
    if (still.length > 0) models[model] = Object.fromEntries(still);
  }
  return models;
}

function statesOf(document: AuthDocument, id: string, now: number): readonly { readonly model: string; readonly kind: string; readonly state: FailureState }[] {
  return Object.entries(live(document.modelFailures ?? {}, id, now)).flatMap(([model, kinds]) =>
    Object.entries(kinds).map(([kind, state]) => ({ model, kind, state })),
  );
}

const latest = (values: readonly number[]): number => values.reduce((most, value) => Math.max(most, value), 0);

/** A rest that somebody else wrote into the documented fields: for them it is about the whole account. */
function foreignRest(document: AuthDocument, id: string, now: number): Rest | undefined {
  const stats = document.usageStats?.[id];
  if (!stats) return undefined;
  const ours = statesOf(document, id, now);
  const billing = latest(ours.filter(({ kind }) => kind === "billing").map(({ state }) => state.until));
  const others = latest(ours.filter(({ kind }) => kind !== "billing").map(({ state }) => state.until));
  const disabled = stats.disabledUntil ?? 0;
  const cooling = stats.cooldownUntil ?? 0;
  if (disabled > now && disabled > billing) return { kind: stats.disabledReason ?? "billing", until: disabled };
  if (cooling > now && cooling > others) return { kind: "cooldown", until: cooling };
  return undefined;
}

/** Everything this credential must leave alone for now. */
export function restsOf(document: AuthDocument, id: string, now: number): readonly Rest[] {
  const foreign = foreignRest(document, id, now);
  const own = statesOf(document, id, now).map(({ model, kind, state }): Rest => ({ kind, until: state.until, modelId: model }));
  return foreign ? [foreign, ...own] : own;
}

/**
 * The rest that keeps a credential from a model, if any. A failure of one model does not keep the others from the account; the same kind
 * of account trouble with two models does. Without a model, only what is about the whole account counts.
 */
export function restFor(document: AuthDocument, id: string, modelId: string | undefined, now: number): Rest | undefined {
  const rests = restsOf(document, id, now);
  const models = (kind: string): number => new Set(rests.filter((rest) => rest.kind === kind).map((rest) => rest.modelId)).size;
  let longest: Rest | undefined;
  for (const rest of rests) {
    const ofAccount = rest.modelId === undefined || (OF_ACCOUNT.has(rest.kind) && models(rest.kind) > 1);
    if (!ofAccount && rest.modelId !== modelId) continue;
    if (longest === undefined || rest.until > longest.until) longest = ofAccount ? { kind: rest.kind, until: rest.until } : rest;
  }
  return longest;
}

function withStats(document: AuthDocument, id: string, stats: UsageStats): AuthDocument {
  return { ...document, usageStats: { ...document.usageStats, [id]: stats } };
}

function withModels(document: AuthDocument, id: string, models: ModelFailures[string]): AuthDocument {
  const { [id]: _, ...others } = document.modelFailures ?? {};
  const modelFailures = Object.keys(models).length > 0 ? { ...others, [id]: models } : others;
  if (Object.keys(modelFailures).length > 0) return { ...document, modelFailures };
  const { modelFailures: _gone, ...rest } = document;
  return rest;
}

/** The documented counters, from ours; a rest that somebody else wrote stays. */
function projected(document: AuthDocument, id: string, now: number, foreign: Rest | undefined): UsageStats {
  const { errorCount: _e, failureCounts: _f, cooldownUntil, disabledUntil, disabledReason, ...kept } = document.usageStats?.[id] ?? {};
  const states = statesOf(document, id, now);
  const failureCounts: Record<string, number> = {};
  for (const { kind, state } of states) failureCounts[DOCUMENTED[kind] ?? kind] = (failureCounts[DOCUMENTED[kind] ?? kind] ?? 0) + state.count;
  const until = (wanted: boolean): number => latest(states.filter(({ kind }) => (kind === "billing") === wanted).map(({ state }) => state.until));
  const cooling = Math.max(until(false), foreign?.until === cooldownUntil ? (cooldownUntil ?? 0) : 0);
  const disabled = Math.max(until(true), foreign?.until === disabledUntil ? (disabledUntil ?? 0) : 0);
  return {
    ...kept,
    errorCount: states.reduce((sum, { state }) => sum + state.count, 0),
    ...(states.length > 0 ? { failureCounts } : {}),
    ...(cooling > now ? { cooldownUntil: cooling } : {}),
    ...(disabled > now ? { disabledUntil: disabled, disabledReason: foreign?.until === disabled ? (disabledReason ?? "billing") : "billing" } : {}),
  };
}

export interface Failed {
  readonly id: string;
  /** False for keys from the environment or the configuration: the documented section knows profiles only. */
  readonly isProfile: boolean;
  readonly modelId: string;
  readonly kind: FailureKind;
  readonly retryAfterMs?: number | undefined;
  readonly now: number;
}

/** The document after a failed call. A rest that is over, or a failure too long ago, starts the count anew. */
export function afterFailure(document: AuthDocument, failed: Failed, rules: RestRules): AuthDocument {
  const { id, modelId, kind, now } = failed;
  if (!RESTING.has(kind)) return document;
  const models = live(document.modelFailures ?? {}, id, now);
  const before = models[modelId]?.[kind];
  const count = before && now - before.lastFailureAt <= rules.windowMs ? before.count + 1 : 1;
  const asked = Math.min(failed.retryAfterMs ?? 0, DAY_MS);
  const state: FailureState = { count, lastFailureAt: now, until: Math.max(before?.until ?? 0, now + Math.max(restMs(kind, count, rules), asked)) };
  const next = withModels(document, id, { ...models, [modelId]: { ...models[modelId], [kind]: state } });
  return failed.isProfile ? withStats(next, id, { ...projected(next, id, now, foreignRest(document, id, now)), lastFailureAt: now }) : next;
}

export interface Succeeded {
  readonly id: string;
  readonly isProfile: boolean;
  readonly provider: string;
  readonly modelId: string;
  readonly now: number;
  /** How old the stored time of use may become before it is written again. */
  readonly stampMs: number;
}

/** The document after an answered call: nothing is held against this model any more. The same document when there is nothing to write. */
export function afterSuccess(document: AuthDocument, success: Succeeded): AuthDocument {
  const { id, modelId, provider, now } = success;
  const hadFailures = document.modelFailures?.[id]?.[modelId] !== undefined;
  const stats = document.usageStats?.[id];
  const foreign = foreignRest(document, id, now) !== undefined;
  const stale = now - (stats?.lastUsed ?? 0) >= success.stampMs;
  const isGood = !success.isProfile || document.lastGood?.[provider] === id;
  if (!hadFailures && !foreign && isGood && (!success.isProfile || !stale)) return document;
  const { [modelId]: _, ...models } = live(document.modelFailures ?? {}, id, now);
  let next = withModels(document, id, models);
  if (!success.isProfile) return next;
  // What others wrote about the account is refuted by the answer.
  next = withStats(next, id, { ...projected(next, id, now, undefined), lastUsed: now });
  return { ...next, lastGood: { ...next.lastGood, [provider]: id } };
}
