import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { sheet } from "../../look/sheet.ts";

/**
 * A button that unfolds a panel below it (or above, with `up`). Slots: `face` of the button, and the panel's content. Says `unfold` when it opens.
 * Escape and whatever happens outside fold it.
 */
export class Popup extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        position: relative;
        display: inline-block;
        min-width: 0;
      }
      button.face {
        max-width: 100%;
        padding: 2px 8px;
        color: var(--ink-soft);
        font-size: var(--type-ui);
      }
      button.face[aria-expanded="true"] {
        background: var(--hover);
      }
      ::slotted([slot="face"]) {
        display: inline-flex;
        align-items: center;
        min-width: 0;
      }
      .panel {
        position: absolute;
        z-index: 30;
        top: calc(100% + 6px);
        min-width: 220px;
        max-width: min(420px, calc(100vw - 24px));
        padding: 6px;
        background: var(--raised);
        border: 1px solid var(--line);
        border-radius: var(--radius);
        box-shadow: var(--shadow-high);
      }
      :host([side="end"]) .panel {
        inset-inline-end: 0;
      }
      :host([up]) .panel {
        top: auto;
        bottom: calc(100% + 6px);
      }
      @media (max-width: 720px) {
        .panel,
        :host([side="end"]) .panel {
          position: fixed;
          top: auto;
          inset-inline: 8px;
          max-width: none;
          margin-top: 6px;
          max-height: 70vh;
          overflow-y: auto;
        }
        /* Above the menu at the foot, wherever the button is. */
        :host([low]) .panel {
          bottom: 72px;
        }
        :host([up]) .panel {
          bottom: 140px;
        }
      }
    `,
  ];
  /** What the button is called. */
  @property() label = "";
  @property({ type: Boolean }) disabled = false;
  /** The panel is above the button. */
  @property({ type: Boolean, reflect: true }) up = false;
  /** On a phone the panel is at the foot of the window: the button may be anywhere. */
  @property({ type: Boolean, reflect: true }) low = false;
  /** Which edge of the button the panel keeps to. */
  @property({ reflect: true }) side: "start" | "end" = "start";
  @state() private shown = false;

  private readonly outside = (event: Event): void => {
    if (!event.composedPath().includes(this)) this.fold();
  };

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.fold();
  }

  /** Closes the panel. */
  fold(): void {
    this.shown = false;
    document.removeEventListener("pointerdown", this.outside);
    document.removeEventListener("focusin", this.outside);
  }

  private toggle(): void {
    if (this.shown) return this.fold();
    this.shown = true;
    document.addEventListener("pointerdown", this.outside);
    document.addEventListener("focusin", this.outside);
    this.dispatchEvent(new CustomEvent("unfold"));
  }

  private key(event: KeyboardEvent): void {
    if (event.key !== "Escape" || !this.shown) return;
    event.preventDefault();
    event.stopPropagation();
    this.fold();
    this.renderRoot.querySelector("button")?.focus();
  }

  protected override render(): TemplateResult {
    return html`<div @keydown=${this.key}>
      <button class="face plain" aria-label=${this.label} title=${this.label} aria-expanded=${this.shown} ?disabled=${this.disabled} @click=${this.toggle}>
        <slot name="face"></slot>
      </button>
      ${this.shown ? html`<div class="panel" role="group" aria-label=${this.label}><slot></slot></div>` : nothing}
    </div>`;
  }
}
customElements.define("oc-popup", Popup);
