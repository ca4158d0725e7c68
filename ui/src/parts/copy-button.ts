import { css, html, LitElement, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { icon } from "../look/icons.ts";
import { sheet } from "../look/sheet.ts";
import { t } from "../words/words.ts";

/** Copies a text and says so for a moment. */
export class CopyButton extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: inline-flex;
      }
    `,
  ];
  @property() text = "";
  /** What is copied, for the button's name. */
  @property() what = "text";
  /** With words beside the picture. */
  @property({ type: Boolean }) wide = false;
  @state() private said: "copied" | "failed" | undefined;

  private async copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(this.text);
      this.said = "copied";
    } catch {
      this.said = "failed";
    }
    setTimeout(() => (this.said = undefined), 2000);
  }

  protected override render(): TemplateResult {
    const words = this.said === "copied" ? t("Copied") : this.said === "failed" ? t("The browser blocked copying") : t("Copy");
    return html`<button class=${this.wide ? "small" : "small plain"} aria-label=${t`Copy ${this.what}`} title=${words} @click=${() => void this.copy()}>
        ${icon(this.said === "copied" ? "check" : "copy", 16)}${this.wide ? words : ""}
      </button>
      <span class="visually-hidden" role="status">${this.said === undefined ? "" : words}</span>`;
  }
}
customElements.define("oc-copy-button", CopyButton);
