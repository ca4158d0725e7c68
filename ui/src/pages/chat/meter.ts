import { css, html, LitElement, nothing, svg, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { inPercent, tokens } from "../../base/figures.ts";
import { sheet } from "../../look/sheet.ts";
import { meterParts, percentOf, type ContextAnswer } from "./meter-parts.ts";
import "./popup.ts";
import { t } from "../../words/words.ts";

const RADIUS = 7;
const AROUND = 2 * Math.PI * RADIUS;

/** How full the model's memory is, and of what. Says `unfold` when the parts are needed and `compact`. */
export class ContextMeter extends LitElement {
  static override styles = [
    sheet,
    css`
      .face {
        display: inline-flex;
        align-items: center;
        gap: 6px;
      }
      svg.ring {
        rotate: -90deg;
      }
      .way {
        stroke: var(--line-strong);
      }
      .full {
        stroke: var(--accent);
      }
      .full.warn {
        stroke: var(--warn);
      }
      .full.bad {
        stroke: var(--bad);
      }
      .panel {
        width: 320px;
        max-width: 100%;
        padding: 8px;
        gap: 10px;
      }
      .small {
        font-size: var(--type-small);
        line-height: 17px;
      }
      svg.bar {
        display: block;
        width: 100%;
        height: 14px;
        border-radius: 4px;
        background: var(--sunken);
      }
      ul {
        list-style: none;
        margin: 0;
        padding: 0;
        font-size: var(--type-ui);
      }
      li {
        display: flex;
        gap: 8px;
        align-items: baseline;
        padding: 2px 0;
      }
      .key {
        flex: none;
        width: 10px;
        height: 10px;
        border-radius: 3px;
      }
      details {
        font-size: var(--type-ui);
      }
      summary {
        cursor: pointer;
        color: var(--ink-soft);
      }
      details ul {
        max-height: 200px;
        overflow-y: auto;
      }
      .series-0 {
        fill: var(--ink-faint);
        background: var(--ink-faint);
      }
      .series-1 {
        fill: var(--series-1);
        background: var(--series-1);
      }
      .series-2 {
        fill: var(--series-2);
        background: var(--series-2);
      }
      .series-3 {
        fill: var(--series-3);
        background: var(--series-3);
      }
      .series-4 {
        fill: var(--series-4);
        background: var(--series-4);
      }
      .series-5 {
        fill: var(--series-5);
        background: var(--series-5);
      }
      .series-6 {
        fill: var(--series-6);
        background: var(--series-6);
      }
      .free {
        background: var(--sunken);
        border: 1px solid var(--line-strong);
      }
      @media (max-width: 720px) {
        .panel {
          width: auto;
        }
      }
    `,
  ];
  /** From the session's row; what `context` says is newer. */
  @property({ attribute: false }) used: number | undefined;
  @property({ attribute: false }) total: number | undefined;
  @property({ attribute: false }) context: ContextAnswer | undefined;
  /** Why there is no `context`. */
  @property() error = "";
  @property({ type: Boolean }) compacting = false;
  @property({ type: Boolean }) mayCompact = false;

  private get percent(): number | undefined {
    return percentOf(this.context?.usedTokens ?? this.used, this.context?.contextTokens ?? this.total);
  }

  private ring(percent: number): TemplateResult {
    const mood = percent >= 90 ? "bad" : percent >= 70 ? "warn" : "";
    return html`<svg class="ring" width="18" height="18" viewBox="0 0 18 18" fill="none" stroke-width="3" aria-hidden="true">
      <circle class="way" cx="9" cy="9" r=${RADIUS}></circle>
      <circle class="full ${mood}" cx="9" cy="9" r=${RADIUS} stroke-dasharray="${(percent / 100) * AROUND} ${AROUND}"></circle>
    </svg>`;
  }

  private parts(context: ContextAnswer): TemplateResult {
    const parts = meterParts(context);
    const free = Math.max(0, context.contextTokens - context.usedTokens);
    return html`<svg class="bar" viewBox="0 0 100 14" preserveAspectRatio="none" aria-hidden="true">
        ${parts.map(({ from, size, series }) => svg`<rect class="series-${series}" x=${from} y="0" width=${size} height="14"></rect>`)}
      </svg>
      <ul aria-label=${t("Context usage")}>
        ${parts
          .toSorted((a, b) => b.tokens - a.tokens)
          .map(
            (part) =>
              html`<li>
                <span class="key series-${part.series}"></span><span class="grow">${part.label}</span>
                <span class="num">${tokens(part.tokens)}</span>
              </li>`,
          )}
        <li><span class="key free"></span><span class="grow soft">${t("free")}</span><span class="num soft">${tokens(free)}</span></li>
      </ul>
      <details>
        <summary>${t("Details")}</summary>
        <ul>
          ${context.parts
            .filter((part) => part.tokens > 0)
            .map(
              (part) =>
                html`<li>
                  <span class="grow">${part.label} ${part.truncated ? html`<span class="badge">${t("Truncated")}</span>` : nothing}</span
                  ><span class="num">${tokens(part.tokens)}</span>
                </li>`,
            )}
        </ul>
      </details>
      <p class="faint">${context.measured ? t("Total reported by the provider; parts are estimates.") : t("All numbers are estimates.")}</p>`;
  }

  private panel(): TemplateResult {
    const { context, percent } = this;
    const used = context?.usedTokens ?? this.used;
    const total = context?.contextTokens ?? this.total;
    return html`<div class="panel stack">
      <div>
        <h2>${t("Context window")}</h2>
        <p class="soft">
          ${used === undefined || total === undefined || percent === undefined ? t("Not measured yet. Available after the first answer.") : t`${tokens(used)} of ${tokens(total)} tokens, ${inPercent(percent)}`}
        </p>
      </div>
      ${context ? this.parts(context) : this.error === "" ? html`<p class="soft" role="status">${t("Loading…")}</p>` : html`<p class="soft">${t`Context details are not available: ${this.error}`}</p>`}
      <p class="soft small">
        ${t("This is what the model reads with your next message. When it is almost full, older messages are summarised automatically; compacting does that now. The conversation stays readable here.")}
      </p>
      <button ?disabled=${this.compacting || !this.mayCompact} @click=${() => this.dispatchEvent(new CustomEvent("compact"))}>
        ${this.compacting ? t("Compacting…") : t("Compact history")}
      </button>
    </div>`;
  }

  protected override render(): TemplateResult {
    const { percent } = this;
    return html`<oc-popup
      side="end"
      up
      label=${t`Context: ${percent === undefined ? t("unknown") : t`${inPercent(percent)} full`}`}
      @unfold=${() => this.dispatchEvent(new CustomEvent("unfold"))}
    >
      <span slot="face" class="face">${this.ring(percent ?? 0)}<span class="num">${percent === undefined ? "–" : inPercent(percent)}</span></span>
      ${this.panel()}
    </oc-popup>`;
  }
}
customElements.define("oc-context-meter", ContextMeter);
