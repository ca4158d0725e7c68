import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { icon } from "../look/icons.ts";
import { sheet } from "../look/sheet.ts";

/** A line that opens to what is behind it. Sends `turn` with whether it is open. */
export class Disclosure extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: block;
      }
      summary {
        display: flex;
        align-items: center;
        gap: 6px;
        min-height: var(--control);
        padding-inline: 4px 8px;
        margin-inline-start: -4px;
        font-size: var(--type-ui);
        font-weight: 500;
        color: var(--ink-soft);
        border-radius: var(--radius-small);
        cursor: pointer;
        list-style: none;
      }
      summary:hover {
        color: var(--ink);
        background: var(--fill);
      }
      summary::-webkit-details-marker {
        display: none;
      }
      summary > svg {
        flex: none;
        color: var(--ink-faint);
        transition: rotate var(--motion);
      }
      details[open] > summary > svg {
        rotate: 90deg;
      }
      .fact {
        font-weight: 400;
        color: var(--ink-faint);
        font-size: var(--type-small);
      }
      .body {
        padding: 8px 0 4px 18px;
      }
    `,
  ];
  @property() label = "";
  /** A fact about what is behind it. */
  @property() fact = "";
  @property({ type: Boolean }) open = false;

  private toggled(event: Event): void {
    const { open } = event.target as HTMLDetailsElement;
    if (open === this.open) return;
    this.open = open;
    this.dispatchEvent(new CustomEvent<boolean>("turn", { detail: open }));
  }

  protected override render(): TemplateResult {
    return html`<details ?open=${this.open} @toggle=${this.toggled}>
      <summary>${icon("right", 14)}<span>${this.label}</span>${this.fact === "" ? nothing : html`<span class="fact">${this.fact}</span>`}</summary>
      <div class="body"><slot></slot></div>
    </details>`;
  }
}
customElements.define("oc-disclosure", Disclosure);
