import type { OpenClawConfig } from "../../config/index.ts";
import type { FailureClass } from "../failover/classify.ts";
import type { AuthDocument, FailureState, ModelFailures, UsageStats } from "./document.ts";

export type FailureKind = FailureClass;

/** A time in which a credential is not used. */
export interface Cooldown {
  readonly kind: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
  /** The model it applies to; absent when it applies to the whole account. */
  readonly modelId?: string;
  readonly provider?: string;
  /** The provider's last answer: status and text, redacted. */
  readonly reason?: string;
}

/** The settings of `auth.cooldowns`, in milliseconds. */
export interface CooldownRules {
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
const TRANSIENT_FIRST_MS = 10_000;
const LONGEST_TRANSIENT_MS = MINUTE_MS;
const SHORTEST_COOLDOWN_MS = 1_000;
const BILLING_FIRST_HOURS = 5;
const BILLING_MAX_HOURS = 24;
const WINDOW_HOURS = 24;

/** After these failures a credential gets a cooldown that survives restarts; others are not its fault. */
const COOLED: ReadonlySet<string> = new Set<FailureClass>(["auth", "billing", "rate_limit", "format"]);
/** Transient errors of the provider or the network: such a cooldown is short and in memory only. */
const TRANSIENT_KINDS: readonly FailureClass[] = ["overloaded", "timeout", "network"];
const TRANSIENT: ReadonlySet<string> = new Set(TRANSIENT_KINDS);
/** Without alternatives, a credential in one of these cooldowns is tried anyway: the next call may well succeed. */
const TRIED_ANYWAY: ReadonlySet<string> = new Set<FailureClass>([...TRANSIENT_KINDS, "format"]);
/** Classes that concern the account when more than one model shows them. */
const OF_ACCOUNT: ReadonlySet<string> = new Set<FailureClass>(["auth", "billing", "rate_limit"]);

export const isTransient = (kind: string): boolean => TRANSIENT.has(kind);
export const isTriedAnyway = (kind: string): boolean => TRIED_ANYWAY.has(kind);

export function cooldownRules(config: OpenClawConfig, provider: string, canonical: (provider: string) => string): CooldownRules {
  const { billingBackoffHours, billingBackoffHoursByProvider, billingMaxHours, failureWindowHours } = config.auth?.cooldowns ?? {};
  const own = Object.entries(billingBackoffHoursByProvider ?? {}).find(([name]) => canonical(name) === canonical(provider))?.[1];
  const first = (own ?? billingBackoffHours ?? BILLING_FIRST_HOURS) * HOUR_MS;
  return {
    billingFirstMs: first,
    billingMaxMs: Math.max(first, (billingMaxHours ?? BILLING_MAX_HOURS) * HOUR_MS),
    windowMs: (failureWindowHours ?? WINDOW_HOURS) * HOUR_MS,
  };
}

/** Length of the cooldown after the `count`th failure in a row. */
export function cooldownMs(kind: FailureKind, count: number, rules: CooldownRules): number {
  if (TRANSIENT.has(kind)) return Math.min(TRANSIENT_FIRST_MS * 2 ** Math.min(count - 1, 10), LONGEST_TRANSIENT_MS);
  if (kind === "billing") return Math.min(rules.billingFirstMs * 2 ** Math.min(count - 1, 20), rules.billingMaxMs);
  return Math.min(MINUTE_MS * FACTOR ** Math.min(count - 1, 3), LONGEST_COOLDOWN_MS);
}

/** The state without expired failures and their counters. */
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

/** A cooldown that another program wrote into the documented fields: it applies to the whole account. */
function foreignCooldown(document: AuthDocument, id: string, now: number): Cooldown | undefined {
  const stats = document.usageStats?.[id];
  if (!stats) return undefined;
  const own = statesOf(document, id, now);
  const billing = latest(own.filter(({ kind }) => kind === "billing").map(({ state }) => state.until));
  const others = latest(own.filter(({ kind }) => kind !== "billing").map(({ state }) => state.until));
  const disabled = stats.disabledUntil ?? 0;
  const cooling = stats.cooldownUntil ?? 0;
  if (disabled > now && disabled > billing) return { kind: stats.disabledReason ?? "billing", until: disabled };
  if (cooling > now && cooling > others) return { kind: "cooldown", until: cooling };
  return undefined;
}

/** All current cooldowns of a credential. */
export function cooldownsOf(document: AuthDocument, id: string, now: number): readonly Cooldown[] {
  const foreign = foreignCooldown(document, id, now);
  const own = statesOf(document, id, now).map(({ model, kind, state }): Cooldown => ({
    kind,
    until: state.until,
    modelId: model,
    ...(state.provider === undefined ? {} : { provider: state.provider }),
    ...(state.reason === undefined ? {} : { reason: state.reason }),
  }));
  return foreign ? [foreign, ...own] : own;
}

/**
 * The cooldown of a credential for a model, if any; one that forbids trying comes before one that only lowers priority. A failure of
 * one model does not block the others; the same class of account error with two models does. Without a model, only cooldowns of
 * the whole account count.
 */
export function cooldownFor(document: AuthDocument, id: string, modelId: string | undefined, now: number): Cooldown | undefined {
  if (!document.modelFailures?.[id] && !document.usageStats?.[id]) return undefined;
  const cooldowns = cooldownsOf(document, id, now);
  const models = (kind: string): number => new Set(cooldowns.filter((cooldown) => cooldown.kind === kind).map((cooldown) => cooldown.modelId)).size;
  let longest: Cooldown | undefined;
  for (const cooldown of cooldowns) {
    const ofAccount = cooldown.modelId === undefined || (OF_ACCOUNT.has(cooldown.kind) && models(cooldown.kind) > 1);
    if (!ofAccount && cooldown.modelId !== modelId) continue;
    if (longest !== undefined && !outranks(cooldown, longest)) continue;
    const { modelId: _, ...account } = cooldown;
    longest = ofAccount ? account : cooldown;
  }
  return longest;
}

function outranks(cooldown: Cooldown, other: Cooldown): boolean {
  const soft = TRIED_ANYWAY.has(cooldown.kind);
  return soft === TRIED_ANYWAY.has(other.kind) ? cooldown.until > other.until : !soft;
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

/** The documented counters, derived from our own; a cooldown that another program wrote stays. */
function projected(document: AuthDocument, id: string, now: number, foreign: Cooldown | undefined): UsageStats {
  const { errorCount: _e, failureCounts: _f, cooldownUntil, disabledUntil, disabledReason, ...others } = document.usageStats?.[id] ?? {};
  const states = statesOf(document, id, now);
  const failureCounts: Record<string, number> = {};
  for (const { kind, state } of states) failureCounts[kind] = (failureCounts[kind] ?? 0) + state.count;
  const until = (wanted: boolean): number => latest(states.filter(({ kind }) => (kind === "billing") === wanted).map(({ state }) => state.until));
  const cooling = Math.max(until(false), foreign?.until === cooldownUntil ? (cooldownUntil ?? 0) : 0);
  const disabled = Math.max(until(true), foreign?.until === disabledUntil ? (disabledUntil ?? 0) : 0);
  return {
    ...others,
    errorCount: states.reduce((sum, { state }) => sum + state.count, 0),
    ...(states.length > 0 ? { failureCounts } : {}),
    ...(cooling > now ? { cooldownUntil: cooling } : {}),
    ...(disabled > now ? { disabledUntil: disabled, disabledReason: foreign?.until === disabled ? (disabledReason ?? "billing") : "billing" } : {}),
  };
}

export interface Failed {
  readonly id: string;
  /** False for keys from the environment or the configuration: the documented section covers profiles only. */
  readonly isProfile: boolean;
  readonly provider?: string | undefined;
  readonly modelId: string;
  readonly kind: FailureKind;
  readonly retryAfterMs?: number | undefined;
  /** When the failed call started. Calls that were in flight when the previous failure was recorded belong to the same incident. */
  readonly startedAt?: number | undefined;
  readonly reason?: string | undefined;
  readonly now: number;
}

/** The state of one class after another failure. An expired cooldown, or an old failure, restarts the count. */
export function nextState(before: FailureState | undefined, failed: Failed, rules: CooldownRules): FailureState {
  const { kind, now, startedAt, provider, reason } = failed;
  const counts = before !== undefined && before.until > now && now - before.lastFailureAt <= rules.windowMs;
  const sameIncident = counts && startedAt !== undefined && startedAt <= before.lastFailureAt;
  const count = counts ? before.count + (sameIncident ? 0 : 1) : 1;
  const asked = failed.retryAfterMs === undefined ? undefined : Math.min(failed.retryAfterMs, isTransient(kind) ? LONGEST_TRANSIENT_MS : DAY_MS);
  const ladder = cooldownMs(kind, count, rules);
  // The provider knows best how long its limit lasts; if it was wrong before, the backoff applies.
  const ms = asked === undefined ? ladder : kind === "rate_limit" && count === 1 ? Math.max(asked, SHORTEST_COOLDOWN_MS) : Math.max(asked, ladder);
  const until = sameIncident && asked === undefined ? before.until : Math.max(before?.until ?? 0, now + ms);
  return { count, lastFailureAt: now, until, ...(provider === undefined ? {} : { provider }), ...(reason === undefined ? {} : { reason }) };
}

/** The document after a failed call. */
export function afterFailure(document: AuthDocument, failed: Failed, rules: CooldownRules): AuthDocument {
  const { id, modelId, kind, now } = failed;
  if (!COOLED.has(kind)) return document;
  const models = live(document.modelFailures ?? {}, id, now);
  const state = nextState(models[modelId]?.[kind], failed, rules);
  const next = withModels(document, id, { ...models, [modelId]: { ...models[modelId], [kind]: state } });
  return failed.isProfile ? withStats(next, id, { ...projected(next, id, now, foreignCooldown(document, id, now)), lastFailureAt: now }) : next;
}

/**
 * The document without cooldowns after transient errors. Older versions, and other programs, stored those: they would block a provider
 * long after it works again. Returns the same document when there are none.
 */
export function withoutTransient(document: AuthDocument): AuthDocument {
  let out = document;
  for (const [id, models] of Object.entries(document.modelFailures ?? {})) {
    const states = Object.entries(models).flatMap(([model, kinds]) => Object.entries(kinds).map(([kind, state]) => ({ model, kind, state })));
    const passing = states.filter(({ kind }) => TRANSIENT.has(kind));
    if (passing.length === 0) continue;
    const lasting: Record<string, Record<string, FailureState>> = {};
    for (const { model, kind, state } of states) if (!TRANSIENT.has(kind)) (lasting[model] ??= {})[kind] = state;
    out = withModels(out, id, lasting);
    const others = latest(states.filter(({ kind }) => !TRANSIENT.has(kind) && kind !== "billing").map(({ state }) => state.until));
    if ((out.usageStats?.[id]?.cooldownUntil ?? 0) <= latest(passing.map(({ state }) => state.until))) out = withCooldown(out, id, others);
  }
  for (const [id, { failureCounts, cooldownUntil }] of Object.entries(document.usageStats ?? {})) {
    const kinds = Object.keys(failureCounts ?? {});
    if (cooldownUntil !== undefined && kinds.length > 0 && kinds.every((kind) => TRANSIENT.has(kind))) out = withCooldown(out, id, 0);
  }
  return out;
}

/** The documented end of a profile's cooldown; 0 removes it. */
function withCooldown(document: AuthDocument, id: string, until: number): AuthDocument {
  const stats = document.usageStats?.[id];
  if (stats?.cooldownUntil === undefined) return document;
  const { cooldownUntil: _, ...others } = stats;
  return withStats(document, id, until > 0 ? { ...others, cooldownUntil: until } : others);
}

/** The document without cooldowns of these credentials; of all without a list. Returns the same document when there were none. */
export function withoutCooldowns(document: AuthDocument, ids?: readonly string[]): AuthDocument {
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

/** The document after an answered call: failures of this model are cleared. Returns the same document when there is nothing to write. */
export function afterSuccess(document: AuthDocument, success: Succeeded): AuthDocument {
  const { id, modelId, provider, now } = success;
  const hadFailures = document.modelFailures?.[id]?.[modelId] !== undefined;
  const stats = document.usageStats?.[id];
  const foreign = foreignCooldown(document, id, now) !== undefined;
  const stale = now - (stats?.lastUsed ?? 0) >= success.stampMs;
  const isGood = !success.isProfile || document.lastGood?.[provider] === id;
  if (!hadFailures && !foreign && isGood && (!success.isProfile || !stale)) return document;
  const { [modelId]: _, ...models } = live(document.modelFailures ?? {}, id, now);
  let next = withModels(document, id, models);
  if (!success.isProfile) return next;
  // The answer clears what other programs wrote about the account.
  next = withStats(next, id, { ...projected(next, id, now, undefined), lastUsed: now });
  return { ...next, lastGood: { ...next.lastGood, [provider]: id } };
}
