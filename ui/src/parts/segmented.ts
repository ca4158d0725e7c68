import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { sheet } from "../look/sheet.ts";

/** One of the two to four choices that are always seen. */
export interface Segment {
  readonly value: string;
  readonly label: string;
  /** Something that needs a person, behind the label. */
  readonly count?: number | undefined;
}

/** One of a few. Sends `choose` with the value. Arrow keys choose, as in a group of radio buttons. */
export class Segmented extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: inline-flex;
        max-width: 100%;
      }
      [role="radiogroup"] {
        display: inline-flex;
        max-width: 100%;
        overflow-x: auto;
        scrollbar-width: none;
        border-radius: var(--radius-small);
        background: var(--fill);
      }
      button {
        flex: 1 0 auto;
        padding: 0 10px;
        color: var(--ink-soft);
        background: none;
        background-clip: padding-box;
        border: 2px solid transparent;
        box-shadow: none;
        white-space: nowrap;
      }
      button:hover:not(:disabled) {
        color: var(--ink);
        background: none;
      }
      button[aria-checked="true"] {
        color: var(--ink);
        background: var(--segment);
        background-clip: padding-box;
        filter: drop-shadow(0 0 0.5px var(--ink-faint));
      }
      button:focus-visible {
        outline-offset: -2px;
      }
      @media (max-width: 760px) {
        button {
          min-width: 44px;
        }
      }
      @media (prefers-contrast: more) {
        button[aria-checked="true"] {
          border-color: var(--ink);
        }
      }
    `,
  ];
  @property() label = "";
  @property() value = "";
  @property({ attribute: false }) options: readonly Segment[] = [];
  @property({ type: Boolean }) disabled = false;

  private choose(value: string): void {
    if (value === this.value) return;
    this.value = value;
    this.dispatchEvent(new CustomEvent<string>("choose", { detail: value, bubbles: true, composed: true }));
  }

  private key(event: KeyboardEvent): void {
    const { options } = this;
    const at = options.findIndex(({ value }) => value === this.value);
    const to: Readonly<Record<string, number>> = {
      ArrowRight: (at + 1) % options.length,
      ArrowDown: (at + 1) % options.length,
      ArrowLeft: (at + options.length - 1) % options.length,
      ArrowUp: (at + options.length - 1) % options.length,
      Home: 0,
      End: options.length - 1,
    };
    const next = to[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.choose(options[next]!.value);
    this.renderRoot.querySelectorAll("button")[next]?.focus();
  }

  protected override render(): TemplateResult {
    const none = !this.options.some(({ value }) => value === this.value);
    return html`<div role="radiogroup" aria-label=${this.label} @keydown=${this.key}>
      ${this.options.map(({ value, label, count }, at) => {
        const isChosen = value === this.value;
        return html`<button
          type="button"
          role="radio"
          data-value=${value}
          aria-checked=${isChosen}
          tabindex=${isChosen || (none && at === 0) ? 0 : -1}
          ?disabled=${this.disabled}
          @click=${() => this.choose(value)}
        >
          ${label}${count ? html`<span class="counter warn">${count}</span>` : nothing}
        </button>`;
      })}
    </div>`;
  }
}
customElements.define("oc-segmented", Segmented);
