import { css, html, LitElement, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { sheet } from "../look/sheet.ts";

/** On or off, applied at once. Sends `turn` with what is wanted; the caller sets `checked` when it is so. */
export class Switch extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: inline-flex;
        flex: none;
      }
      button {
        position: relative;
        width: 40px;
        padding: 0;
        background: none;
        border: 0;
        box-shadow: none;
      }
      button:hover:not(:disabled) {
        background: none;
      }
      .track {
        width: 34px;
        height: 20px;
        padding: 2px;
        border-radius: 99px;
        background: var(--knob-track);
        transition: background var(--motion);
      }
      .knob {
        display: block;
        width: 16px;
        height: 16px;
        border-radius: 99px;
        background: var(--knob);
        transition: transform var(--motion);
      }
      [aria-checked="true"] .track {
        background: var(--accent);
      }
      [aria-checked="true"] .knob {
        transform: translateX(14px);
      }
      button:disabled {
        opacity: 0.5;
      }
      @media (max-width: 760px) {
        button {
          width: 44px;
        }
      }
    `,
  ];
  static override shadowRootOptions: ShadowRootInit = { ...LitElement.shadowRootOptions, delegatesFocus: true };
  /** What is on or off. */
  @property() label = "";
  @property({ type: Boolean }) checked = false;
  @property({ type: Boolean }) disabled = false;

  private turn(event: Event): void {
    event.stopPropagation();
    this.dispatchEvent(new CustomEvent<boolean>("turn", { detail: !this.checked }));
  }

  protected override render(): TemplateResult {
    return html`<button type="button" role="switch" aria-label=${this.label} aria-checked=${this.checked} ?disabled=${this.disabled} @click=${this.turn}>
      <span class="track"><span class="knob"></span></span>
    </button>`;
  }
}
customElements.define("oc-switch", Switch);
