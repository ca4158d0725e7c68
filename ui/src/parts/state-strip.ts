import { css, html, LitElement, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { styleMap } from "../look/style-map.ts";

/** From then to then it was so: `good`, `warn`, `bad`, or `quiet` where it was off or nobody knows. */
export interface StateSpan {
  readonly from: number;
  readonly to: number;
  readonly tone: "good" | "warn" | "bad" | "quiet";
}

/** The states of a part over a period, left to right. What was wrong is seen however short it was. */
export class StateStrip extends LitElement {
  static override styles = css`
    :host {
      display: block;
      min-width: 0;
    }
    div {
      position: relative;
      height: 16px;
      overflow: hidden;
      border-radius: 3px;
      background: var(--fill);
    }
    i {
      position: absolute;
      inset-block: 0;
      border-radius: 2px;
    }
    .good {
      min-width: 2px;
      background: var(--strip-good);
    }
    .quiet {
      background: var(--fill-strong);
    }
    .warn {
      min-width: 4px;
      background: var(--warn-solid);
      box-shadow: 0 0 0 2px var(--paper);
    }
    .bad {
      min-width: 4px;
      background: var(--bad-solid);
      box-shadow: 0 0 0 2px var(--paper);
    }
  `;
  /** What it shows, in words. */
  @property() label = "";
  @property({ type: Number }) from = 0;
  @property({ type: Number }) to = 1;
  @property({ attribute: false }) spans: readonly StateSpan[] = [];

  protected override render(): TemplateResult {
    const { from, to } = this;
    const place = (at: number): number => Math.max(0, Math.min(1, (at - from) / (to - from))) * 100;
    // Drawn last, and so above the others.
    const order = { quiet: 0, good: 1, warn: 2, bad: 3 };
    return html`<div role="img" aria-label=${this.label}>
      ${this.spans
        .toSorted((a, b) => order[a.tone] - order[b.tone])
        .map((span) => {
          const start = place(span.from);
          // A short one at the very end stays inside.
          const left = span.tone === "warn" || span.tone === "bad" ? `min(${start}%, calc(100% - 4px))` : `${start}%`;
          return html`<i class=${span.tone} style=${styleMap({ left, width: `${place(span.to) - start}%` })}></i>`;
        })}
    </div>`;
  }
}
customElements.define("oc-state-strip", StateStrip);
