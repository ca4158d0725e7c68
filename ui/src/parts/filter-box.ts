import { css, html, LitElement, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { icon } from "../look/icons.ts";
import { sheet } from "../look/sheet.ts";
import { t } from "../words/words.ts";

/** A search box over what is shown. Sends `filter` with the text after a short rest. */
export class FilterBox extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: block;
        position: relative;
        flex: 1 1 200px;
        max-width: 420px;
      }
      svg {
        position: absolute;
        inset-inline-start: 9px;
        top: 50%;
        translate: 0 -50%;
        color: var(--ink-faint);
        pointer-events: none;
      }
      input:not([type="checkbox"]) {
        padding-inline-start: 32px;
      }
    `,
  ];
  @property() value = "";
  @property() label = t("Search");
  @property() placeholder = "";
  private rest: ReturnType<typeof setTimeout> | undefined;

  private typed(event: Event): void {
    const { value } = event.target as HTMLInputElement;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.dispatchEvent(new CustomEvent<string>("filter", { detail: value })), 120);
  }

  protected override render(): TemplateResult {
    return html`${icon("search", 16)}<input
        type="search"
        aria-label=${this.label}
        placeholder=${this.placeholder || this.label}
        autocomplete="off"
        spellcheck="false"
        .value=${this.value}
        @input=${this.typed}
      />`;
  }
}
customElements.define("oc-filter-box", FilterBox);
