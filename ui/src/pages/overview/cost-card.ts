import { css, html, nothing, type TemplateResult } from "lit";
import type { MethodResult } from "openclaw/client";
import { dayTime, inPercent, money, tokens } from "../../base/figures.ts";
import "../../parts/chart.ts";
import "../../parts/meter.ts";
import { skeleton } from "../../parts/skeleton.ts";
import { place } from "../../shell/router.ts";
import { t } from "../../words/words.ts";
import { byDay, daysUntil, type Measure, type UsageAnswer } from "./usage-series.ts";

export type Budgets = MethodResult<"usage.budgets">;
type Budget = Budgets["budgets"][number];

/** For `static styles` of the page. */
export const costLook = css`
  .cost {
    padding: 12px 16px 8px;
  }
  .cost .sums {
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    justify-content: space-between;
    gap: 0 8px;
  }
  .cost .big {
    font-size: var(--type-figure);
    line-height: 32px;
    font-weight: 600;
    letter-spacing: -0.02em;
    font-variant-numeric: tabular-nums;
  }
  .cost .facts {
    display: flex;
    flex-wrap: wrap;
    justify-content: space-between;
    gap: 0 12px;
    margin: 4px 0 12px;
  }
  .cost oc-meter {
    margin: 6px 0 0;
  }
`;

/** A month has no more, and so many bars can be distinguished. */
export const COST_DAYS = 31;

/** The limit on everything together; the one of a day first. */
export function limitOf({ budgets }: Budgets): Budget | undefined {
  const all = budgets.filter(({ agent, sender, provider }) => agent === undefined && sender === undefined && provider === undefined);
  return all.find(({ per }) => per === "day") ?? all[0];
}

export interface Sums {
  readonly today: number;
  readonly average: number;
  readonly month: number;
}

/** Today, a day on average since the first one with usage, and this month. Days are those of UTC. */
export function sumsOf(usage: UsageAnswer, measure: Measure): Sums {
  const days = daysUntil(usage.updatedAt, COST_DAYS);
  const series = byDay(usage, days, measure);
  const totals = days.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const first = totals.findIndex((value) => value > 0);
  const used = first < 0 ? [] : totals.slice(first);
  const month = days.at(-1)?.slice(0, 7) ?? "";
  const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
  return {
    today: totals.at(-1) ?? 0,
    average: used.length === 0 ? 0 : sum(used) / used.length,
    month: sum(totals.filter((_, at) => days[at]?.startsWith(month))),
  };
}

function limitText({ limit, share, per }: Budget): string {
  const amount = limit.usd === undefined ? t`${tokens(limit.tokens ?? 0)} tokens` : money(limit.usd);
  return per === "day"
    ? t`${inPercent(Math.floor(share * 100))} of the daily limit of ${amount}`
    : t`${inPercent(Math.floor(share * 100))} of the monthly limit of ${amount}`;
}

function figures(usage: UsageAnswer, budgets: Budgets | undefined): TemplateResult {
  // What costs nothing is shown by its tokens.
  const measure: Measure = usage.totals.totalCost > 0 ? "cost" : "tokens";
  const format = measure === "cost" ? money : (value: number): string => t`${tokens(value)} tokens`;
  const short = measure === "cost" ? money : tokens;
  const { today, average, month } = sumsOf(usage, measure);
  const days = daysUntil(usage.updatedAt, COST_DAYS);
  const limit = budgets && limitOf(budgets);
  return html`<div class="cost">
    <p class="sums">
      <span><span class="big">${short(today)}</span> <span class="soft">${measure === "cost" ? t("today") : t("tokens today")}</span></span>
      <span class="faint">${t`${format(average)} a day on average`}</span>
    </p>
    ${limit ? html`<oc-meter label=${limitText(limit)} .share=${limit.share} .warnAt=${limit.warnAt}></oc-meter>` : nothing}
    <p class="facts faint">
      <span>${limit ? limitText(limit) : html`${t("No limit set.")} <a href=${place("usage")}>${t("Set a limit")}</a>`}</span>
      <span>${t`${format(month)} this month`}</span>
    </p>
    <oc-stacked-bars
      label=${measure === "cost" ? t("Cost by day (UTC) and model") : t("Tokens by day (UTC) and model")}
      heading=${t("Per day")}
      .height=${104}
      .labels=${days.map((day) => dayTime(Date.parse(`${day}T12:00:00Z`)))}
      .series=${byDay(usage, days, measure)}
      .format=${short}
    ></oc-stacked-bars>
  </div>`;
}

/** Today, the limit, and the days before. */
export function costCard(usage: UsageAnswer | undefined, budgets: Budgets | undefined): TemplateResult {
  const isEmpty = usage?.totals.totalTokens === 0;
  return html`<section class="card flush" aria-labelledby="cost">
    <h2 class="title row"><span id="cost" class="grow">${t("Cost")}</span><a class="more" href=${place("usage")}>${t("Usage and budgets")}</a></h2>
    ${usage === undefined ? html`<div class="cost">${skeleton(4, "text")}</div>` : isEmpty ? html`<p class="soft empty">${t("Nothing used yet")}</p>` : figures(usage, budgets)}
  </section>`;
}
