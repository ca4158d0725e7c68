import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { inPercent, money, moment, tokens } from "../../base/figures.ts";
import type { MethodResult } from "openclaw/client";
import { sheet } from "../../look/sheet.ts";
import "../../parts/chart.ts";
import { largest } from "../../parts/chart-scale.ts";
import "../../parts/meter.ts";
import "../../parts/segmented.ts";
import "../../parts/select.ts";
import { skeleton, skeletonLook } from "../../parts/skeleton.ts";
import { byAgent, byModel, bySession, type Measure, type UsageAnswer, type Used } from "./usage-series.ts";
import { t } from "../../words/words.ts";

const MOST = 6;

/** What was used and what it cost. Says `days` when more or fewer days are wanted. */
export class UsageCard extends LitElement {
  static override styles = [
    sheet,
    skeletonLook,
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
      .sum {
        margin: 2px 0 12px;
      }
      td,
      th {
        padding: 5px 6px;
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

  /** What costs nothing is shown by its tokens. Before that is known nothing is chosen, or choosing it would change nothing and be forgotten. */
  private get shown(): Measure {
    return this.measure ?? ((this.usage?.totals.totalCost ?? 0) > 0 ? "cost" : "tokens");
  }

  protected override render(): TemplateResult {
    const { usage, shown } = this;
    const format = shown === "cost" ? money : tokens;
    return html`<section class="card" aria-labelledby="usage">
      <div class="row wrap">
        <h2 id="usage" class="grow">${t("Usage and cost")}</h2>
        <oc-segmented
          label=${t("Metric")}
          .value=${usage === undefined ? (this.measure ?? "") : shown}
          .options=${[
            { value: "cost", label: t("Cost") },
            { value: "tokens", label: t("Tokens") },
          ]}
          @choose=${(event: CustomEvent<Measure>) => (this.measure = event.detail)}
        ></oc-segmented>
        <oc-select
          label=${t("Days")}
          .value=${String(this.days)}
          .options=${[7, 30, 90].map((count) => ({ value: String(count), label: t`${count} days` }))}
          @choose=${(event: CustomEvent<string>) => this.dispatchEvent(new CustomEvent("days", { detail: Number(event.detail) }))}
        ></oc-select>
      </div>
      ${usage === undefined ? skeleton(4, "text") : usage.totals.totalTokens === 0 ? this.nothingYet() : this.breakdown(usage, shown, format)} ${this.windows()}
    </section>`;
  }

  private nothingYet(): TemplateResult {
    return html`<p class="soft">${t`No usage in the last ${this.days} days. Tokens and cost by day, model, agent and session appear here.`}</p>`;
  }

  private breakdown(usage: UsageAnswer, measure: Measure, format: (value: number) => string): TemplateResult {
    const shares = (rows: readonly Used[]) =>
      largest(
        rows.map((row) => ({ name: row.name, value: row[measure] })),
        MOST,
      );
    const name = measure === "cost" ? t("Cost") : t("Tokens");
    return html`<p class="sum soft">
        ${t`${measure === "cost" ? t`${money(usage.totals.totalCost)} for ${tokens(usage.totals.totalTokens)} tokens` : t`${tokens(usage.totals.totalTokens)} tokens`} in ${this.days} days`}
      </p>
      <div class="parts">
        <div>
          <h3>${t("By model")}</h3>
          <oc-ranked-bars label=${t`${name} by model`} .shares=${shares(byModel(usage))} .format=${format}></oc-ranked-bars>
        </div>
        <div>
          <h3>${t("By agent")}</h3>
          <oc-ranked-bars label=${t`${name} by agent`} .shares=${shares(byAgent(usage))} .format=${format}></oc-ranked-bars>
        </div>
        <div class="wide">
          <h3>${t("By session")}</h3>
          <oc-ranked-bars label=${t`${name} by session`} .shares=${bySession(usage, measure, MOST)} .format=${format}></oc-ranked-bars>
        </div>
      </div>`;
  }

  private windows(): TemplateResult | typeof nothing {
    const providers = (this.allowances?.providers ?? []).filter(({ windows, error }) => windows.length > 0 || error !== undefined);
    if (providers.length === 0) return nothing;
    return html`<h3 class="allowance">${t("Usage limits")}</h3>
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
                        <oc-meter label="${displayName}, ${label}" .share=${usedPercent / 100}></oc-meter>
                      </td>
                      <td class="num">${inPercent(Math.round(usedPercent))}</td>
                      <td class="soft">${resetAt === undefined ? "" : t`until ${moment(resetAt)}`}</td>
                    </tr>`,
                ),
          )}
        </tbody>
      </table>`;
  }
}
customElements.define("oc-usage-card", UsageCard);
