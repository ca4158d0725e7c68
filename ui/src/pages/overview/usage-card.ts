import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { money, moment, tokens } from "../../base/figures.ts";
import type { MethodResult } from "openclaw/client";
import { sheet } from "../../look/sheet.ts";
import "../../parts/chart.ts";
import { largest } from "../../parts/chart-scale.ts";
import { byAgent, byDay, byModel, bySession, daysUntil, type Measure, type UsageAnswer, type Used } from "./usage-series.ts";

const MOST = 6;
const dayAndMonth = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });

/** What was used and what it cost. Says `days` when more or fewer days are wanted. */
export class UsageCard extends LitElement {
  static override styles = [
    sheet,
    css`
      .parts {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(min(320px, 100%), 1fr));
        gap: 24px 32px;
        margin-top: 20px;
      }
      .wide {
        grid-column: 1 / -1;
      }
      h3 {
        margin-bottom: 8px;
        color: var(--ink-soft);
      }
      select {
        width: auto;
      }
      .sum {
        margin: 2px 0 12px;
      }
      .big {
        font-size: 26px;
        line-height: 32px;
        font-weight: 600;
        letter-spacing: -0.02em;
        font-variant-numeric: tabular-nums;
      }
      td,
      th {
        padding: 5px 6px;
      }
      meter {
        display: block;
        width: 100%;
        height: 14px;
      }
      .used {
        width: 40%;
        vertical-align: middle;
      }
      .allowance {
        margin-top: 20px;
      }
    `,
  ];
  @property({ attribute: false }) usage: UsageAnswer | undefined;
  @property({ attribute: false }) allowances: MethodResult<"usage.status"> | undefined;
  @property({ attribute: false }) days = 30;
  @state() private measure: Measure | undefined;

  /** What costs nothing is shown by its tokens. */
  private get shown(): Measure {
    return this.measure ?? ((this.usage?.totals.totalCost ?? 0) > 0 ? "cost" : "tokens");
  }

  protected override render(): TemplateResult {
    const { usage, shown } = this;
    const format = shown === "cost" ? money : tokens;
    return html`<section class="card" aria-labelledby="usage">
      <div class="row wrap">
        <h2 id="usage" class="grow">Usage and cost</h2>
        <select aria-label="Measure" @change=${(event: Event) => (this.measure = (event.target as HTMLSelectElement).value as Measure)}>
          ${(["cost", "tokens"] as const).map((name) => html`<option value=${name} ?selected=${name === shown}>${name === "cost" ? "Cost" : "Tokens"}</option>`)}
        </select>
        <select
          aria-label="Days"
          @change=${(event: Event) => this.dispatchEvent(new CustomEvent("days", { detail: Number((event.target as HTMLSelectElement).value) }))}
        >
          ${[7, 30, 90].map((count) => html`<option value=${count} ?selected=${count === this.days}>${count} days</option>`)}
        </select>
      </div>
      ${usage === undefined ? html`<p class="soft">Loading…</p>` : usage.totals.totalTokens === 0 ? this.nothingYet() : this.charts(usage, shown, format)}
      ${this.windows()}
    </section>`;
  }

  private nothingYet(): TemplateResult {
    return html`<p class="soft">No usage in the last ${this.days} days. Tokens and cost by day, model, agent and session appear here.</p>`;
  }

  private charts(usage: UsageAnswer, measure: Measure, format: (value: number) => string): TemplateResult {
    const days = daysUntil(usage.updatedAt, this.days);
    const short = days.map((day) => dayAndMonth.format(new Date(day)));
    const shares = (rows: readonly Used[]) =>
      largest(
        rows.map((row) => ({ name: row.name, value: row[measure] })),
        MOST,
      );
    const name = measure === "cost" ? "Cost" : "Tokens";
    return html`<p class="sum">
        <span class="big">${format(measure === "cost" ? usage.totals.totalCost : usage.totals.totalTokens)}</span>
        <span class="soft"
          >${measure === "cost" ? `for ${tokens(usage.totals.totalTokens)} tokens` : `tokens for ${money(usage.totals.totalCost)}`} in ${this.days} days</span
        >
      </p>
      <oc-stacked-bars label="${name} by day (UTC) and model" .labels=${short} .series=${byDay(usage, days, measure)} .format=${format}></oc-stacked-bars>
      <div class="parts">
        <div>
          <h3>By model</h3>
          <oc-ranked-bars label="${name} by model" .shares=${shares(byModel(usage))} .format=${format}></oc-ranked-bars>
        </div>
        <div>
          <h3>By agent</h3>
          <oc-ranked-bars label="${name} by agent" .shares=${shares(byAgent(usage))} .format=${format}></oc-ranked-bars>
        </div>
        <div class="wide">
          <h3>By session</h3>
          <oc-ranked-bars label="${name} by session" .shares=${bySession(usage, measure, MOST)} .format=${format}></oc-ranked-bars>
        </div>
      </div>`;
  }

  private windows(): TemplateResult | typeof nothing {
    const providers = (this.allowances?.providers ?? []).filter(({ windows, error }) => windows.length > 0 || error !== undefined);
    if (providers.length === 0) return nothing;
    return html`<h3 class="allowance">Allowances</h3>
      <table>
        <tbody>
          ${providers.flatMap(({ displayName, plan, windows, error }) =>
            error !== undefined
              ? [
                  html`<tr>
                    <td>${displayName}</td>
                    <td colspan="3" class="soft">${error}</td>
                  </tr>`,
                ]
              : windows.map(
                  ({ label, usedPercent, resetAt }) =>
                    html`<tr>
                      <td>${displayName}${plan === undefined ? "" : ` (${plan})`}, ${label}</td>
                      <td class="used">
                        <meter min="0" max="100" low="70" high="90" optimum="0" .value=${usedPercent} aria-label="${displayName}, ${label}"></meter>
                      </td>
                      <td class="num">${Math.round(usedPercent)} %</td>
                      <td class="soft">${resetAt === undefined ? "" : `until ${moment(resetAt)}`}</td>
                    </tr>`,
                ),
          )}
        </tbody>
      </table>`;
  }
}
customElements.define("oc-usage-card", UsageCard);
