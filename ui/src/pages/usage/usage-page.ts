import { css, html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { figure, money, tokens } from "../../base/figures.ts";
import { saveFile } from "../../base/save-file.ts";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/chart.ts";
import { largest } from "../../parts/chart-scale.ts";
import { dataTable, tableLook } from "../../parts/data-table.ts";
import { emptyLook, emptyState } from "../../parts/empty.ts";
import { pageHead, pageHeadLook } from "../../parts/page-head.ts";
import { failedNote } from "../../parts/page-look.ts";
import { section, sectionLook } from "../../parts/section.ts";
import "../../parts/segmented.ts";
import { skeleton, skeletonLook } from "../../parts/skeleton.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import { locale, t } from "../../words/words.ts";
import { byDay, daysUntil, type UsageAnswer } from "../overview/usage-series.ts";
import "./budget-list.ts";
import { csvOf, DIMENSIONS, rowsBy, type Dimension, type Measure, type UsageRow } from "./usage-facts.ts";

const PERIODS = [1, 7, 30, 90] as const;
const MOST_BARS = 8;
const dayAndMonth = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", timeZone: "UTC" });

const NAMES: Readonly<Record<Dimension, string>> = {
  model: t("Model"),
  agent: t("Agent"),
  channel: t("Channel"),
  work: t("Cause"),
  session: t("Conversation"),
};

/** What was used, what it cost, and the limits on it. */
export class UsagePage extends Page {
  static override styles = [
    sheet,
    pageHeadLook,
    tableLook,
    emptyLook,
    skeletonLook,
    sectionLook,
    css`
      .sum {
        display: flex;
        flex-wrap: wrap;
        align-items: baseline;
        gap: 4px 12px;
        margin-bottom: 8px;
      }
      .bars {
        padding: 0 16px 16px;
      }
      .page-head .days {
        display: contents;
      }
    `,
  ];
  @state() private usage: UsageAnswer | undefined;
  @state() private failure: string | undefined;
  @state() private measure: Measure | undefined;
  @state() private chosen: Dimension = "model";

  override connectedCallback(): void {
    super.connectedCallback();
    this.every(60_000, () => void this.load());
  }

  private get days(): number {
    const asked = Number(this.route.query.get("days"));
    return PERIODS.find((days) => days === asked) ?? 30;
  }

  private get shown(): Measure {
    return this.measure ?? ((this.usage?.totals.totalCost ?? 0) > 0 ? "cost" : "tokens");
  }

  override async load(): Promise<void> {
    const { days } = this;
    const endDate = new Date().toISOString().slice(0, 10);
    const startDate = daysUntil(Date.now(), days)[0] ?? endDate;
    try {
      const usage = await this.context.link.request("sessions.usage", { startDate, endDate, limit: 1 });
      if (days === this.days) this.usage = usage;
      this.failure = undefined;
    } catch (error) {
      this.failure = failureText(error);
    }
  }

  private dayChart(usage: UsageAnswer, measure: Measure, format: (value: number) => string): TemplateResult {
    const days = daysUntil(usage.updatedAt, this.days);
    const { totalCost, totalTokens } = usage.totals;
    return section({
      id: "by-day",
      title: t("By day"),
      fact: t("Days in UTC"),
      actions: html`<oc-segmented
        label=${t("Metric")}
        .value=${measure}
        .options=${[
          { value: "cost", label: t("Cost") },
          { value: "tokens", label: t("Tokens") },
        ]}
        @choose=${({ detail }: CustomEvent<Measure>) => (this.measure = detail)}
      ></oc-segmented>`,
      body: html`<div class="inside">
        <div class="sum">
          <span class="figure">${format(measure === "cost" ? totalCost : totalTokens)}</span>
          <span class="soft">${measure === "cost" ? t`for ${tokens(totalTokens)} tokens` : t`tokens for ${money(totalCost)}`}</span>
        </div>
        <oc-stacked-bars
          label=${measure === "cost" ? t("Cost by day and model") : t("Tokens by day and model")}
          .labels=${days.map((day) => dayAndMonth.format(new Date(day)))}
          .series=${byDay(usage, days, measure)}
          .format=${format}
        ></oc-stacked-bars>
      </div>`,
    });
  }

  private table(rows: readonly UsageRow[], name: string): TemplateResult {
    return dataTable<UsageRow>({
      label: t`Usage by ${name}`,
      rows,
      keyOf: (row) => row.key ?? row.name,
      columns: [
        { head: name, cell: (row) => (row.key === undefined ? row.name : html`<a href=${place("chat", [row.key])}>${row.name}</a>`) },
        { head: t("Calls"), isNumber: true, isWide: true, cell: ({ calls }) => (calls === 0 ? "" : figure(calls)) },
        { head: t("Input"), isNumber: true, isWide: true, cell: ({ input }) => figure(input) },
        { head: t("Output"), isNumber: true, isWide: true, cell: ({ output }) => figure(output) },
        { head: t("Cached"), isNumber: true, isWide: true, cell: ({ cached }) => figure(cached) },
        { head: t("Tokens"), isNumber: true, cell: (row) => figure(row.tokens) },
        { head: t("Cost"), isNumber: true, cell: ({ cost }) => money(cost) },
      ],
    });
  }

  private breakdown(usage: UsageAnswer, measure: Measure, format: (value: number) => string): TemplateResult {
    const there = DIMENSIONS.filter((dimension) => rowsBy(usage, dimension, measure).length > 0);
    const chosen = there.includes(this.chosen) ? this.chosen : (there[0] ?? "model");
    const rows = rowsBy(usage, chosen, measure);
    const shares = largest(
      rows
        .filter((row) => row[measure] > 0)
        .map((row) => ({ name: row.name, value: row[measure], ...(row.key === undefined ? {} : { href: place("chat", [row.key]) }) })),
      MOST_BARS,
    );
    return section({
      id: "breakdown",
      title: t("Breakdown"),
      actions: html`<oc-segmented
        label=${t("Group by")}
        .value=${chosen}
        .options=${there.map((value) => ({ value, label: NAMES[value] }))}
        @choose=${({ detail }: CustomEvent<Dimension>) => (this.chosen = detail)}
      ></oc-segmented>`,
      body: html`${
        shares.length === 0
          ? nothing
          : html`<div class="bars">
              <oc-ranked-bars
                label=${measure === "cost" ? t`Cost by ${NAMES[chosen]}` : t`Tokens by ${NAMES[chosen]}`}
                .shares=${shares}
                .format=${format}
              ></oc-ranked-bars>
            </div>`
      }${this.table(rows, NAMES[chosen])}`,
    });
  }

  private body(usage: UsageAnswer): TemplateResult {
    if (usage.totals.totalTokens === 0 && usage.totals.totalCost === 0) {
      return section({
        id: "none",
        title: t("Usage"),
        body: emptyState({
          icon: "overview",
          title: t("No usage in this period"),
          text: t("Tokens and cost by day, model, agent, channel and conversation appear here."),
        }),
      });
    }
    const measure = this.shown;
    const format = measure === "cost" ? money : tokens;
    return html`${this.dayChart(usage, measure, format)}${this.breakdown(usage, measure, format)}`;
  }

  private export(usage: UsageAnswer): void {
    const name = `openclaw-usage-${usage.startDate}-${usage.endDate}.csv`;
    saveFile(name, "text/csv", [csvOf(usage)]);
    this.context.toasts.say(t`${name} was saved.`);
  }

  protected override render(): TemplateResult {
    const { usage, failure, days } = this;
    const hasSome = usage !== undefined && usage.totals.totalTokens > 0;
    return html`${pageHead({
        title: t("Usage and budgets"),
        actions: html`<oc-segmented
            label=${t("Period")}
            .value=${String(days)}
            .options=${PERIODS.map((count) => ({ value: String(count), label: count === 1 ? t("Today") : t`${count} days` }))}
            @choose=${({ detail }: CustomEvent<string>) => this.context.router.go(place("usage", [], { days: detail }), { replace: true })}
          ></oc-segmented>
          ${hasSome ? html`<button @click=${() => this.export(usage)}>${icon("download", 16)}${t("Export CSV")}</button>` : nothing}`,
      })}
      <div class="page">
        ${failure === undefined ? nothing : failedNote(failure, () => void this.load())}
        ${usage ? this.body(usage) : failure === undefined ? skeleton(6) : nothing}
        <oc-budget-list .context=${this.context}></oc-budget-list>
      </div>`;
  }
}
customElements.define("oc-usage-page", UsagePage);
