import { css, html, LitElement, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { styleMap } from "../look/style-map.ts";

/** How much of something is used, from nothing to all of it. Amber near the end, red at it. */
export class Meter extends LitElement {
  static override styles = css`
    :host {
      display: block;
      min-width: 40px;
    }
    div {
      height: 6px;
      overflow: hidden;
      border-radius: 3px;
      background: var(--fill-strong);
    }
    i {
      display: block;
      height: 100%;
      border-radius: 3px;
      background: var(--series-1);
    }
    .warn {
      background: var(--warn-solid);
    }
    .bad {
      background: var(--bad-solid);
    }
  `;
  @property() label = "";
  /** 1 is all of it. */
  @property({ type: Number }) share = 0;
  @property({ type: Number }) warnAt = 0.8;

  protected override render(): TemplateResult {
    const share = Math.max(0, Math.min(1, this.share));
    const tone = this.share >= 1 ? "bad" : this.share >= this.warnAt ? "warn" : "";
    return html`<div role="meter" aria-label=${this.label} aria-valuemin="0" aria-valuemax="100" aria-valuenow=${Math.round(share * 100)}>
      <i class=${tone} style=${styleMap({ width: `${share * 100}%` })}></i>
    </div>`;
  }
}
customElements.define("oc-meter", Meter);
