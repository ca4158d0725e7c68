import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { icon } from "../look/icons.ts";
import { sheet } from "../look/sheet.ts";
import type { Leaf } from "./pager-leaf.ts";
import { locale, t } from "../words/words.ts";

/** Goes through a long list leaf by leaf. Sends `turn` with the number of the leaf that is wanted. */
export class Pager extends LitElement {
  static override styles = [
    sheet,
    css`
      nav {
        justify-content: flex-end;
        padding-top: 10px;
      }
    `,
  ];
  @property({ attribute: false }) leaf!: Leaf;
  /** What is listed, in the plural. */
  @property() of = "rows";

  private turn(to: number): void {
    this.dispatchEvent(new CustomEvent<number>("turn", { detail: to, bubbles: true, composed: true }));
  }

  protected override render(): TemplateResult | typeof nothing {
    const { page, pages, from, to, total } = this.leaf;
    if (pages <= 1) return nothing;
    return html`<nav class="row" aria-label=${t`Pages of ${this.of}`}>
      <span class="faint" aria-live="polite">${t`${(from + 1).toLocaleString(locale)}–${to.toLocaleString(locale)} of ${total.toLocaleString(locale)}`}</span>
      <button class="icon" aria-label=${t("Previous page")} ?disabled=${page === 0} @click=${() => this.turn(page - 1)}>${icon("left")}</button>
      <button class="icon" aria-label=${t("Next page")} ?disabled=${page >= pages - 1} @click=${() => this.turn(page + 1)}>${icon("right")}</button>
    </nav>`;
  }
}
customElements.define("oc-pager", Pager);
