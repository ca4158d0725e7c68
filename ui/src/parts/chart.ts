import { css, html, LitElement, nothing, svg, type SVGTemplateResult, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { sheet } from "../look/sheet.ts";
import { inPercent } from "../base/figures.ts";
import { linePoints, percentages, piles, shownLabels, topOf, valueTicks, type ChartSeries, type Share } from "./chart-scale.ts";
import { ChartWidth } from "./chart-width.ts";
import "./disclosure.ts";
import { t } from "../words/words.ts";

/** Colours of series, in order; the class is `s1` to `s6`. */
export const seriesClass = (index: number): string => `s${(index % 6) + 1}`;

/** For elements that draw series. */
export const seriesLook = css`
  .s1 {
    fill: var(--series-1);
    background: var(--series-1);
  }
  .s2 {
    fill: var(--series-2);
    background: var(--series-2);
  }
  .s3 {
    fill: var(--series-3);
    background: var(--series-3);
  }
  .s4 {
    fill: var(--series-4);
    background: var(--series-4);
  }
  .s5 {
    fill: var(--series-5);
    background: var(--series-5);
  }
  .s6 {
    fill: var(--series-6);
    background: var(--series-6);
  }
`;

const chartLook = css`
  :host {
    display: block;
    min-width: 0;
  }
  svg {
    display: block;
    max-width: 100%;
  }
  text {
    font-size: var(--type-micro);
    fill: var(--ink-faint);
    font-variant-numeric: tabular-nums;
  }
  .grid {
    stroke: var(--line);
  }
  .chart-head {
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    justify-content: space-between;
    gap: 4px 16px;
    margin-bottom: 4px;
    font-size: var(--type-small);
    line-height: 16px;
    color: var(--ink-faint);
  }
  .keys {
    display: flex;
    flex-wrap: wrap;
    gap: 4px 14px;
    margin: 0;
    padding: 0;
    list-style: none;
    font-size: var(--type-small);
    line-height: 16px;
    color: var(--ink-soft);
  }
  .keys li {
    display: flex;
    align-items: center;
    gap: 6px;
    min-width: 0;
    overflow-wrap: anywhere;
  }
  .scroll {
    max-height: 320px;
    overflow: auto;
  }
  .dot {
    display: inline-block;
    flex: none;
    width: 9px;
    height: 9px;
    border-radius: 2px;
  }
`;

/** Of a digit. */
const DIGIT = 6.4;
const GRID_LINES = 2;
const BOTTOM = 20;
const TOP = 8;

/** Stacked bars over labels, with a table for users who cannot see them. */
export class StackedBars extends LitElement {
  static override styles = [sheet, chartLook, seriesLook];
  /** What it shows, in words. */
  @property() label = "";
  /** Above the chart, beside the legend. */
  @property() heading = "";
  @property({ attribute: false }) labels: readonly string[] = [];
  @property({ attribute: false }) series: readonly ChartSeries[] = [];
  @property({ attribute: false }) format: (value: number) => string = String;
  @property({ type: Number }) height = 170;
  private readonly width = new ChartWidth(this);

  private bars(width: number, left: number, yOf: (value: number) => number): SVGTemplateResult[] {
    const slot = (width - left) / Math.max(1, this.labels.length);
    const thick = Math.max(1, Math.min(28, slot * 0.68));
    return piles(this.series, this.labels.length).map((pile, index) => {
      const x = left + slot * index + (slot - thick) / 2;
      const parts = pile.map(({ series, from, to }) => `${this.series[series]?.name ?? ""}: ${this.format(to - from)}`).join("\n");
      return svg`<g><title>${this.labels[index] ?? ""}${parts === "" ? "" : `\n${parts}`}</title>
        ${pile.map(({ series, from, to }) => svg`<rect class=${seriesClass(series)} x=${x} y=${yOf(to)} width=${thick} height=${Math.max(1, yOf(from) - yOf(to))} rx="1.5"/>`)}
      </g>`;
    });
  }

  private names(width: number, left: number): SVGTemplateResult[] {
    const slot = (width - left) / Math.max(1, this.labels.length);
    const seen = shownLabels(this.labels.length, Math.floor((width - left) / 58));
    return this.labels.flatMap((name, index) => {
      if (!seen.has(index)) return [];
      const end = index === this.labels.length - 1 && this.labels.length > 1;
      return [svg`<text x=${end ? width : left + slot * (index + 0.5)} y=${this.height - 5} text-anchor=${end ? "end" : "middle"}>${name}</text>`];
    });
  }

  protected override render(): TemplateResult {
    const width = this.width.value;
    const ticks = valueTicks(topOf(piles(this.series, this.labels.length)) || 1, GRID_LINES);
    const top = ticks.at(-1) ?? 1;
    const left = 14 + DIGIT * Math.max(...ticks.map((tick) => this.format(tick).length));
    const yOf = (value: number): number => TOP + (1 - value / top) * (this.height - BOTTOM - TOP);
    const keys = this.series.length > 1 ? keysOf(this.series.map(({ name }) => name)) : nothing;
    return html`${keys === nothing && this.heading === "" ? nothing : html`<div class="chart-head"><span>${this.heading}</span>${keys}</div>`}
      <svg role="img" aria-label=${this.label} width=${width} height=${this.height} viewBox="0 0 ${width} ${this.height}">
        ${ticks.map((tick) => svg`<line class="grid" x1=${left} x2=${width} y1=${yOf(tick)} y2=${yOf(tick)}/><text x=${left - 8} y=${yOf(tick) + 4} text-anchor="end">${this.format(tick)}</text>`)}
        ${this.bars(width, left, yOf)}${this.names(width, left)}
      </svg>
      ${tableOf(this.label, this.labels, this.series, this.format)}`;
  }
}
customElements.define("oc-stacked-bars", StackedBars);

const keysOf = (names: readonly string[]): TemplateResult =>
  html`<ul class="keys" aria-hidden="true">
    ${names.map((name, index) => html`<li><span class="dot ${seriesClass(index)}"></span>${name}</li>`)}
  </ul>`;

/** The same in figures, for users who cannot point at a bar or cannot see it: the sum, then the newest first. Where there is nothing is left out. */
function tableOf(label: string, labels: readonly string[], series: readonly ChartSeries[], format: (value: number) => string): TemplateResult {
  const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
  const row = (name: string, values: readonly number[]): TemplateResult =>
    html`<tr>
      <th scope="row">${name}</th>
      ${values.map((value) => html`<td class="num">${format(value)}</td>`)}
      <td class="num">${format(sum(values))}</td>
    </tr>`;
  return html`<oc-disclosure label=${t("Data table")}>
    <div class="scroll" tabindex="0" role="region" aria-label=${t`${label}, data table`}>
      <table>
        <caption class="visually-hidden">
          ${label}
        </caption>
        <thead>
          <tr>
            <th></th>
            ${series.map(({ name }) => html`<th scope="col" class="num">${name}</th>`)}
            <th scope="col" class="num">${t("Total")}</th>
          </tr>
        </thead>
        <tbody>
          ${row(
            t("Total"),
            series.map(({ values }) => sum(values)),
          )}
          ${labels
            .map((name, index) => ({ name, values: series.map(({ values }) => values[index] ?? 0) }))
            .filter(({ values }) => sum(values) > 0)
            .map(({ name, values }) => row(name, values))
            .toReversed()}
        </tbody>
      </table>
    </div>
  </oc-disclosure>`;
}

/** A line without axes, beside a figure. */
export class Sparkline extends LitElement {
  static override styles = [
    sheet,
    chartLook,
    css`
      polyline {
        fill: none;
        stroke: var(--series-2);
        stroke-width: 1.6;
        stroke-linejoin: round;
      }
    `,
  ];
  @property() label = "";
  @property({ attribute: false }) values: readonly number[] = [];
  @property({ type: Number }) width = 96;
  @property({ type: Number }) height = 24;

  protected override render(): TemplateResult | typeof nothing {
    if (this.values.length < 2) return nothing;
    return html`<svg role="img" aria-label=${this.label} width=${this.width} height=${this.height + 4} viewBox="-1 -2 ${this.width + 2} ${this.height + 4}">
      <polyline points=${linePoints(this.values, this.width, this.height)} />
    </svg>`;
  }
}
customElements.define("oc-sparkline", Sparkline);

/** Parts of a whole, the largest first: a name, a bar and its figure in each row. */
export class RankedBars extends LitElement {
  static override styles = [
    sheet,
    chartLook,
    css`
      td,
      th {
        height: 32px;
        padding: 4px 8px;
        vertical-align: middle;
        font-size: var(--type-ui);
        font-weight: 400;
        color: var(--ink);
      }
      td:first-child,
      th:first-child {
        padding-inline-start: 0;
      }
      td:last-child {
        padding-inline-end: 0;
      }
      th {
        width: 45%;
        max-width: 0;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      .bar {
        width: 100%;
      }
      .bar svg {
        width: 100%;
        height: 8px;
      }
      .whole {
        fill: var(--hover);
      }
      .part {
        fill: var(--series-1);
      }
      .num {
        white-space: nowrap;
      }
      tr:last-child > * {
        border-bottom: 0;
      }
    `,
  ];
  @property() label = "";
  @property({ attribute: false }) shares: readonly Share[] = [];
  @property({ attribute: false }) format: (value: number) => string = String;

  protected override render(): TemplateResult {
    const values = this.shares.map(({ value }) => value);
    const most = Math.max(...values, 0);
    const percent = percentages(values);
    return html`<table>
      <caption class="visually-hidden">
        ${this.label}
      </caption>
      <tbody>
        ${this.shares.map(
          ({ name, value, href }, index) =>
            html`<tr>
              <th scope="row" title=${name}>${href === undefined ? name : html`<a href=${href}>${name}</a>`}</th>
              <td class="bar">
                <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                  <rect class="whole" width="100" height="8" rx="2" />
                  <rect class="part" width=${most === 0 ? 0 : (value / most) * 100} height="8" rx="2" />
                </svg>
              </td>
              <td class="num">${this.format(value)}</td>
              <td class="num soft">${inPercent(percent[index] ?? 0)}</td>
            </tr>`,
        )}
      </tbody>
    </table>`;
  }
}
customElements.define("oc-ranked-bars", RankedBars);
