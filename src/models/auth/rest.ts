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
  readonly provider?: string;
  /** What the provider answered last: status and text, redacted. */
  readonly reason?: string;
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
const PASSING_FIRST_MS = 10_000;
const LONGEST_PASSING_MS = MINUTE_MS;
const LEAST_REST_MS = 1_000;
const BILLING_FIRST_HOURS = 5;
const BILLING_MAX_HOURS = 24;
const WINDOW_HOURS = 24;

/** After these a credential rests, across restarts; other trouble is not its fault. */
const RESTING: ReadonlySet<string> = new Set<FailureClass>(["auth", "billing", "rate_limit", "format"]);
/** Trouble of the provider or the network that passes by itself: such a rest is short and stays in memory. */
const PASSING: ReadonlySet<string> = new Set<FailureClass>(["overloaded", "timeout", "network"]);
/** With nothing else left to try, a credential that rests for one of these is tried all the same: the next call may well succeed. */
const TRIED_ANYWAY: ReadonlySet<string> = new Set<FailureClass>([...(PASSING as ReadonlySet<FailureClass>), "format"]);
/** Kinds that are about the account when more than one model shows them. */
const OF_ACCOUNT: ReadonlySet<string> = new Set<FailureClass>(["auth", "billing", "rate_limit"]);

export const isPassing = (kind: string): boolean => PASSING.has(kind);
export const isTriedAnyway = (kind: string): boolean => TRIED_ANYWAY.has(kind);

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
  if (PASSING.has(kind)) return Math.min(PASSING_FIRST_MS * 2 ** Math.min(count - 1, 10), LONGEST_PASSING_MS);
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
  const own = statesOf(document, id, now).map(({ model, kind, state }): Rest => ({
    kind,
    until: state.until,
    modelId: model,
    ...(state.provider === undefined ? {} : { provider: state.provider }),
    ...(state.reason === undefined ? {} : { reason: state.reason }),
  }));
  return foreign ? [foreign, ...own] : own;
}

/**
 * The rest that keeps a credential from a model, if any; one that forbids trying goes before one that only makes others go first. A failure of
 * one model does not keep the others from the account; the same kind of account trouble with two models does. Without a model, only what is
 * about the whole account counts.
 */
export function restFor(document: AuthDocument, id: string, modelId: string | undefined, now: number): Rest | undefined {
  const rests = restsOf(document, id, now);
  const models = (kind: string): number => new Set(rests.filter((rest) => rest.kind === kind).map((rest) => rest.modelId)).size;
  let longest: Rest | undefined;
  for (const rest of rests) {
    const ofAccount = rest.modelId === undefined || (OF_ACCOUNT.has(rest.kind) && models(rest.kind) > 1);
    if (!ofAccount && rest.modelId !== modelId) continue;
    if (longest !== undefined && !outranks(rest, longest)) continue;
    const { modelId: _, ...account } = rest;
    longest = ofAccount ? account : rest;
  }
  return longest;
}

function outranks(rest: Rest, other: Rest): boolean {
  const soft = TRIED_ANYWAY.has(rest.kind);
  return soft === TRIED_ANYWAY.has(other.kind) ? rest.until > other.until : !soft;
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
  for (const { kind, state } of states) failureCounts[kind] = (failureCounts[kind] ?? 0) + state.count;
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
  readonly provider?: string | undefined;
  readonly modelId: string;
  readonly kind: FailureKind;
  readonly retryAfterMs?: number | undefined;
  /** When the failed call began. Calls that were under way when the failure before was noted are part of the same incident. */
  readonly startedAt?: number | undefined;
  readonly reason?: string | undefined;
  readonly now: number;
}

/** The state of one kind of failure after another one. A rest that is over, or a failure too long ago, starts the count again. */
export function nextState(before: FailureState | undefined, failed: Failed, rules: RestRules): FailureState {
  const { kind, now, startedAt, provider, reason } = failed;
  const counts = before !== undefined && before.until > now && now - before.lastFailureAt <= rules.windowMs;
  const sameIncident = counts && startedAt !== undefined && startedAt <= before.lastFailureAt;
  const count = counts ? before.count + (sameIncident ? 0 : 1) : 1;
  const asked = failed.retryAfterMs === undefined ? undefined : Math.min(failed.retryAfterMs, isPassing(kind) ? LONGEST_PASSING_MS : DAY_MS);
  const ladder = restMs(kind, count, rules);
  // The provider knows best how long its limit lasts; when it was wrong about that before, the ladder holds.
  const ms = asked === undefined ? ladder : kind === "rate_limit" && count === 1 ? Math.max(asked, LEAST_REST_MS) : Math.max(asked, ladder);
  const until = sameIncident && asked === undefined ? before.until : Math.max(before?.until ?? 0, now + ms);
  return { count, lastFailureAt: now, until, ...(provider === undefined ? {} : { provider }), ...(reason === undefined ? {} : { reason }) };
}

/** The document after a failed call. */
export function afterFailure(document: AuthDocument, failed: Failed, rules: RestRules): AuthDocument {
  const { id, modelId, kind, now } = failed;
  if (!RESTING.has(kind)) return document;
  const models = live(document.modelFailures ?? {}, id, now);
  const state = nextState(models[modelId]?.[kind], failed, rules);
  const next = withModels(document, id, { ...models, [modelId]: { ...models[modelId], [kind]: state } });
  return failed.isProfile ? withStats(next, id, { ...projected(next, id, now, foreignRest(document, id, now)), lastFailureAt: now }) : next;
}

/**
 * The document without rests after passing trouble. Older versions, and other programs, wrote those down: they would keep a provider from being
 * asked long after it is well again. The same document when there are none.
 */
export function withoutPassing(document: AuthDocument): AuthDocument {
  let out = document;
  for (const [id, models] of Object.entries(document.modelFailures ?? {})) {
    const states = Object.entries(models).flatMap(([model, kinds]) => Object.entries(kinds).map(([kind, state]) => ({ model, kind, state })));
    const passing = states.filter(({ kind }) => PASSING.has(kind));
    if (passing.length === 0) continue;
    const lasting: Record<string, Record<string, FailureState>> = {};
    for (const { model, kind, state } of states) if (!PASSING.has(kind)) (lasting[model] ??= {})[kind] = state;
    out = withModels(out, id, lasting);
    const others = latest(states.filter(({ kind }) => !PASSING.has(kind) && kind !== "billing").map(({ state }) => state.until));
    if ((out.usageStats?.[id]?.cooldownUntil ?? 0) <= latest(passing.map(({ state }) => state.until))) out = withCooldown(out, id, others);
  }
  for (const [id, { failureCounts, cooldownUntil }] of Object.entries(document.usageStats ?? {})) {
    const kinds = Object.keys(failureCounts ?? {});
    if (cooldownUntil !== undefined && kinds.length > 0 && kinds.every((kind) => PASSING.has(kind))) out = withCooldown(out, id, 0);
  }
  return out;
}

/** The documented end of a profile's rest; 0 removes it. */
function withCooldown(document: AuthDocument, id: string, until: number): AuthDocument {
  const stats = document.usageStats?.[id];
  if (stats?.cooldownUntil === undefined) return document;
  const { cooldownUntil: _, ...others } = stats;
  return withStats(document, id, until > 0 ? { ...others, cooldownUntil: until } : others);
}

/** The document with no rest of these credentials; of all without a list. The same document when there was none. */
export function withoutRests(document: AuthDocument, ids?: readonly string[]): AuthDocument {
  const known = [...new Set([...Object.keys(document.modelFailures ?? {}), ...Object.keys(document.usageStats ?? {})])];
  let out = document;
  for (const id of known) {
    if (ids !== undefined && !ids.includes(id)) continue;
    if (out.modelFailures?.[id] !== undefined) out = withModels(out, id, {});
    const stats = out.usageStats?.[id];
    if (stats === undefined || (stats.cooldownUntil === undefined && stats.disabledUntil === undefined && !stats.errorCount)) continue;
    const { cooldownUntil: _c, disabledUntil: _d, disabledReason: _r, failureCounts: _f, ...others } = stats;
    out = withStats(out, id, { ...others, errorCount: 0 });
  }
  return out;
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
