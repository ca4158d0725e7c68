import type { Clock } from "../../base/clock.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { BudgetScope, ReadInput, ReadResult, SpawnBudget, UsageDimension } from "../../store/index.ts";
import { spentText } from "./messages.ts";

/** How long a budget lasts. */
export type Per = "day" | "month";

/** One day or month in a time zone. */
interface Period {
  /** `2026-11-15` or `2026-11`. */
  readonly name: string;
  /** Milliseconds since the epoch; the end is the start of the next one. */
  readonly from: number;
  readonly to: number;
}

const DAY_MS = 86_400_000;

/** A calendar of one time zone. */
interface Calendar {
  readonly timeZone: string;
  period(per: Per, now: number): Period;
}

/** The calendar of the first valid time zone; the last resort is the machine's. */
export function createCalendar(timeZone: string | undefined): Calendar {
  const format = formatOf(timeZone?.trim()) ?? formatOf(undefined)!;

  /** The local wall-clock time, as if it were UTC. */
  function wall(at: number): number {
    const shown = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const part = (type: Intl.DateTimeFormatPartTypes): number => shown.get(type) ?? 0;
    return Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
  }

  /** The first moment at which the wall clock shows this time or, where it skips it, a later one. */
  function momentOf(shown: number): number {
    const before = wall(shown - DAY_MS) - (shown - DAY_MS);
    const after = wall(shown + DAY_MS) - (shown + DAY_MS);
    const moments = [shown - before, shown - after].filter((at) => wall(at) >= shown);
    return moments.length === 0 ? shown - after : Math.min(...moments);
  }

  return {
    timeZone: format.resolvedOptions().timeZone,
    period(per, now) {
      const date = new Date(wall(now));
      const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
      const [first, next] = per === "day" ? [Date.UTC(year, month, day), Date.UTC(year, month, day + 1)] : [Date.UTC(year, month), Date.UTC(year, month + 1)];
      return { name: new Date(first).toISOString().slice(0, per === "day" ? 10 : 7), from: momentOf(first), to: momentOf(next) };
    },
  };
}

function formatOf(timeZone: string | undefined): Intl.DateTimeFormat | undefined {
  const fields = { year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric", hourCycle: "h23" } as const;
  try {
    return new Intl.DateTimeFormat("en-US", { ...fields, ...(timeZone ? { timeZone } : {}) });
  } catch {
    return undefined;
  }
}

/** Whose call it is. */
export interface Caller {
  readonly agentId: string;
  /** Absent when no user asked: heartbeats, scheduled work. */
  readonly senderId?: string | undefined;
  readonly provider: string;
  /** What is reserved for this session does not count against it. */
  readonly sessionKey?: string | undefined;
}

/** One budget in its current period, for one agent, sender or provider when it has `*` for them. */
export interface BudgetState {
  /** Its path in the configuration: `usage.budgets[0]`. */
  readonly path: string;
  readonly per: Per;
  /** Together with `path` it identifies a warning: notify people once per period. */
  readonly period: Period;
  readonly agent?: string;
  readonly sender?: string;
  readonly provider?: string;
  readonly limit: { readonly usd?: number; readonly tokens?: number };
  readonly used: { readonly usd: number; readonly tokens: number };
  /** Reserved for sub-agents that run, and not used by them yet. */
  readonly reserved?: { readonly usd: number; readonly tokens: number };
  /** Used share of the tighter limit; 1 is all of it. */
  readonly share: number;
  readonly warnAt: number;
  readonly onLimit: "stop" | "warn";
  readonly state: "ok" | "warn" | "stop";
}

/** Whether this call may be made. `text` says why not, or what is nearly used up. */
export type BudgetCheck =
  | { readonly state: "ok"; readonly text?: undefined; readonly budget?: undefined }
  | { readonly state: "warn" | "stop"; readonly text: string; readonly budget: BudgetState };

export interface BudgetReport {
  readonly timeZone: string;
  readonly budgets: readonly BudgetState[];
}

export interface Budgets {
  /** Checked before every call. Without budgets it reads nothing. Concurrent calls do not see each other's cost yet. */
  check(caller: Caller): Promise<BudgetCheck>;
  /** The budgets that a sub-agent for this caller gets a share of: those that stop calls. */
  shared(caller: Caller): readonly SpawnBudget[];
  report(): Promise<BudgetReport>;
}

/** Usage data of the store; an inspected one will do as well. */
export interface UsageSource {
  read(kind: "usage.totals", input: ReadInput<"usage.totals">): Promise<ReadResult<"usage.totals">>;
}

export interface BudgetsDeps {
  readonly store: UsageSource;
  /** What is reserved of a budget for sub-agents that run. Absent: nothing is. */
  readonly reserved?: (input: ReadInput<"subagents.reserved">) => Promise<ReadResult<"subagents.reserved">>;
  readonly clock: Pick<Clock, "now">;
  readonly config: () => OpenClawConfig;
}

type BudgetConfig = NonNullable<NonNullable<OpenClawConfig["usage"]>["budgets"]>[number];
type Scope = "agent" | "sender" | "provider";
type Filter = Partial<Record<Scope, string>>;

const SCOPES: readonly Scope[] = ["agent", "sender", "provider"];
const DIMENSION = { agent: "agentId", sender: "sender", provider: "provider" } as const satisfies Record<Scope, UsageDimension>;
const EACH = "*";
const WARN_AT = 0.8;

/** Limits on what models may cost, summed up from the stored usage. */
export function createBudgets({ store, reserved, clock, config }: BudgetsDeps): Budgets {
  let known: { readonly zone: string | undefined; readonly calendar: Calendar } | undefined;

  /** Creating a calendar costs a millisecond: it is cached until the time zone changes. */
  function calendar(): Calendar {
    const zone = config().agents?.defaults?.userTimezone;
    if (!known || known.zone !== zone) known = { zone, calendar: createCalendar(zone) };
    return known.calendar;
  }

  const listed = (): readonly { readonly budget: BudgetConfig; readonly path: string }[] =>
    (config().usage?.budgets ?? []).map((budget, index) => ({ budget, path: `usage.budgets[${index}]` }));

  async function statesOf(budget: BudgetConfig, path: string, filter: Filter, each: readonly Scope[]): Promise<readonly BudgetState[]> {
    const period = calendar().period(budget.per, clock.now());
    const rows = await store.read("usage.totals", {
      by: each.map((scope) => DIMENSION[scope]),
      // Days narrow the search to an index; timestamps decide.
      fromDay: utcDay(period.from),
      toDay: utcDay(period.to),
      since: period.from,
      before: period.to,
      agentId: filter.agent,
      sender: filter.sender,
      provider: filter.provider,
    });
    return rows.flatMap((row) => {
      const found = each.map((scope) => [scope, row[DIMENSION[scope]]] as const);
      // Calls without a user are in no sender's budget.
      if (found.some(([, value]) => typeof value !== "string")) return [];
      const used = { usd: row.cost, tokens: row.input + row.output + row.cacheRead + row.cacheWrite };
      return [stateOf(budget, { path, period, used, scope: { ...filter, ...Object.fromEntries(found) } })];
    });
  }

  /** A budget for one caller. What is reserved for others stops a call as if it were used. */
  async function stateFor(budget: BudgetConfig, path: string, filter: Filter, { sessionKey }: Caller): Promise<readonly BudgetState[]> {
    const states = await statesOf(budget, path, filter, []);
    if (!reserved || onLimitOf(budget) !== "stop") return states;
    const held = await reserved({ ...scopeOf(calendar().period(budget.per, clock.now()), filter), exceptFor: sessionKey });
    return held.usd > 0 || held.tokens > 0 ? states.map((state) => withReserved(state, held)) : states;
  }

  return {
    async check(caller) {
      if (!config().usage?.budgets?.length) return { state: "ok" };
      const states = await Promise.all(
        listed().flatMap(({ budget, path }) => {
          const filter = filterFor(budget, caller);
          return filter ? [stateFor(budget, path, filter, caller)] : [];
        }),
      );
      const worst = states.flat().toSorted((a, b) => RANK[b.state] - RANK[a.state] || b.share - a.share)[0];
      if (!worst || worst.state === "ok") return { state: "ok" };
      return { state: worst.state, text: spentText(worst, calendar().timeZone), budget: worst };
    },
    shared(caller) {
      const found = new Map<string, SpawnBudget>();
      for (const { budget } of listed()) {
        const filter = onLimitOf(budget) === "stop" ? filterFor(budget, caller) : undefined;
        if (!filter) continue;
        const scope = scopeOf(calendar().period(budget.per, clock.now()), filter);
        const known = found.get(JSON.stringify(scope));
        const limit = { usd: least(known?.limit.usd, budget.usd), tokens: least(known?.limit.tokens, budget.tokens) };
        found.set(JSON.stringify(scope), { ...scope, name: `per ${budget.per}`, limit });
      }
      return [...found.values()];
    },
    async report() {
      const states = await Promise.all(
        listed().map(({ budget, path }) => {
          const named = SCOPES.filter((scope) => isNamed(budget[scope]));
          const filter = Object.fromEntries(named.map((scope) => [scope, keyOf(scope, budget[scope] ?? "")]));
          return statesOf(
            budget,
            path,
            filter,
            SCOPES.filter((scope) => budget[scope]?.trim() === EACH),
          );
        }),
      );
      return { timeZone: calendar().timeZone, budgets: states.flat() };
    },
  };
}

const onLimitOf = ({ onLimit = "stop" }: BudgetConfig): "stop" | "warn" => onLimit;
const scopeOf = ({ from, to }: Period, { agent, sender, provider }: Filter): BudgetScope => ({ since: from, before: to, agentId: agent, sender, provider });

function least(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

function withReserved(state: BudgetState, reserved: NonNullable<BudgetState["reserved"]>): BudgetState {
  const { limit, used } = state;
  const isFull = (unit: "usd" | "tokens"): boolean => (limit[unit] ?? Number.POSITIVE_INFINITY) <= used[unit] + reserved[unit];
  return { ...state, reserved, ...(isFull("usd") || isFull("tokens") ? { state: "stop" } : {}) };
}

const RANK = { ok: 0, warn: 1, stop: 2 } as const;
const utcDay = (at: number): string => new Date(at).toISOString().slice(0, 10);
const isNamed = (value: string | undefined): boolean => value !== undefined && value.trim() !== EACH;

/** Ids as stored: agents and providers in lower case, senders as their channel has them. */
const keyOf = (scope: Scope, value: string): string => (scope === "sender" ? value.trim() : value.trim().toLowerCase());

/** The usage that counts for this caller; undefined when the budget does not apply to it. */
function filterFor(budget: BudgetConfig, { agentId, senderId, provider }: Caller): Filter | undefined {
  const own = { agent: agentId, sender: senderId, provider };
  const filter: Filter = {};
  for (const scope of SCOPES) {
    const configured = budget[scope];
    if (configured === undefined) continue;
    const value = own[scope];
    if (value === undefined) return undefined;
    if (isNamed(configured) && keyOf(scope, configured) !== keyOf(scope, value)) return undefined;
    filter[scope] = keyOf(scope, value);
  }
  return filter;
}

interface UsedBudget {
  readonly path: string;
  readonly period: Period;
  readonly used: BudgetState["used"];
  readonly scope: Filter;
}

function stateOf({ per, usd, tokens, warnAt = WARN_AT, onLimit = "stop" }: BudgetConfig, { path, period, used, scope }: UsedBudget): BudgetState {
  const share = Math.max(usd === undefined ? 0 : used.usd / usd, tokens === undefined ? 0 : used.tokens / tokens);
  const state = share >= 1 ? onLimit : share >= warnAt ? "warn" : "ok";
  const limit = { ...(usd === undefined ? {} : { usd }), ...(tokens === undefined ? {} : { tokens }) };
  return { path, per, period, ...scope, limit, used, share, warnAt, onLimit, state };
}
