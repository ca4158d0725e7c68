import { css, html, LitElement, nothing, svg, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { sheet } from "../../look/sheet.ts";
import "../../parts/copy-button.ts";
import { t } from "../../words/words.ts";
import { drawStep, type Shape, type Step, type StepPicture } from "./step-shapes.ts";
import { followable } from "./words.ts";

const shapeOf = (shape: Shape): TemplateResult<2> =>
  shape.kind === "box"
    ? svg`<rect class=${shape.look} x=${shape.x} y=${shape.y} width=${shape.width} height=${shape.height} rx=${shape.round}></rect>`
    : svg`<text class="${shape.look}${shape.middle ? " middle" : ""}" x=${shape.x} y=${shape.y}>${shape.text}</text>`;

/** What to do at a platform before its channel can be connected, with drawings of where to click. */
export class StepList extends LitElement {
  static override styles = [
    sheet,
    css`
      ol {
        margin: 0;
        padding-left: 20px;
        display: grid;
        gap: 12px;
      }
      pre {
        margin: 6px 0 0;
        max-height: 160px;
        overflow: auto;
        padding: 8px;
        border: 1px solid var(--line);
        border-radius: var(--radius);
        background: var(--sunken);
        font: var(--type-micro)/1.4 var(--mono);
      }
      svg {
        display: block;
        width: 100%;
        max-width: 360px;
        height: auto;
        margin-top: 6px;
      }
      text {
        font: var(--type-micro) var(--font);
        fill: var(--ink);
      }
      text.middle {
        text-anchor: middle;
      }
      text.strong {
        font-weight: 600;
      }
      text.faint {
        fill: var(--ink-faint);
      }
      text.light {
        font-family: var(--mono);
        font-size: var(--type-micro);
        fill: var(--ink);
      }
      text.on-button,
      text.on-badge {
        fill: var(--accent-ink);
      }
      .frame {
        fill: var(--raised);
        stroke: var(--line-strong);
      }
      .bar,
      .side,
      .theirs,
      .terminal {
        fill: var(--sunken);
      }
      .dot {
        fill: var(--line-strong);
      }
      .input,
      .knob {
        fill: var(--raised);
        stroke: var(--line-strong);
      }
      .button,
      .badge {
        fill: var(--accent);
      }
      .track {
        fill: var(--good);
      }
      .mine {
        fill: var(--accent-soft);
      }
      .cell {
        fill: var(--ink);
      }
      .ring {
        fill: none;
        stroke: var(--accent);
        stroke-width: 2;
      }
    `,
  ];
  @property({ attribute: false }) steps: readonly Step[] = [];

  private picture(picture: StepPicture): TemplateResult {
    const { width, height, shapes } = drawStep(picture);
    return html`<svg viewBox="0 0 ${width} ${height}" aria-hidden="true">${shapes.map(shapeOf)}</svg>`;
  }

  /** A text to paste at the platform. */
  private copy(text: string): TemplateResult {
    return html`<pre tabindex="0" aria-label=${t("Text to paste")}>${text}</pre>
      <oc-copy-button wide .text=${text} what=${t("text to paste")}></oc-copy-button>`;
  }

  protected override render(): TemplateResult {
    return html`<ol>
      ${this.steps.map(
        ({ text, copy = [], picture }) =>
          html`<li>${followable(text)}${copy.map((one) => this.copy(one.text))}${picture === undefined ? nothing : this.picture(picture)}</li>`,
      )}
    </ol>`;
  }
}
customElements.define("oc-step-list", StepList);
