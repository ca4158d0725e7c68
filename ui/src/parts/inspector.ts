import { css, html, LitElement, type TemplateResult } from "lit";
import { property, query, state } from "lit/decorators.js";
import { icon } from "../look/icons.ts";
import { sheet } from "../look/sheet.ts";
import { holdFocus, modal } from "./modal.ts";
import { t } from "../words/words.ts";

/** For `static styles` of pages with an inspector: `.with-inspector` holds a `.scroller` and the inspector, below the page's head. */
export const inspectorLook = css`
  :host(.filled),
  .filled {
    display: flex;
    flex-direction: column;
    height: 100%;
    min-height: 0;
  }
  .with-inspector {
    display: flex;
    flex: 1;
    min-height: 0;
  }
  .with-inspector > .scroller {
    flex: 1;
    min-width: 0;
    overflow: hidden auto;
    scrollbar-width: thin;
    scrollbar-color: var(--line-strong) transparent;
  }
  dl.kv {
    display: grid;
    grid-template-columns: 92px minmax(0, 1fr);
    gap: 6px 12px;
    margin: 0;
    font-size: var(--type-ui);
    line-height: 20px;
  }
  dl.kv dt {
    font-size: var(--type-small);
    color: var(--ink-faint);
  }
  dl.kv dd {
    margin: 0;
    overflow-wrap: anywhere;
  }
`;

/** What one entry of a list is: at the right of it, or on a phone a sheet at the foot. Slots: content, and `foot` for its buttons. Sends `close`. */
export class Inspector extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: block;
        flex: none;
        min-height: 0;
      }
      aside {
        display: flex;
        flex-direction: column;
        width: var(--inspector);
        height: 100%;
        min-height: 0;
        border-inline-start: 1px solid var(--line);
      }
      header {
        display: flex;
        align-items: center;
        gap: 8px;
        flex: none;
        min-height: 48px;
        padding: 0 8px 0 16px;
        border-bottom: 1px solid var(--line);
      }
      .body {
        display: grid;
        align-content: start;
        gap: 16px;
        flex: 1;
        min-height: 0;
        padding: 16px;
        overflow-y: auto;
        font-size: var(--type-ui);
        scrollbar-width: thin;
        scrollbar-color: var(--line-strong) transparent;
      }
      .body:focus-visible {
        outline-offset: -2px;
      }
      dialog {
        flex-direction: column;
        width: 100vw;
        max-width: none;
        max-height: 85dvh;
        margin: auto 0 0;
        padding: 0 0 env(safe-area-inset-bottom);
        color: var(--ink);
        background: var(--raised);
        border: 0;
        border-radius: var(--radius-panel) var(--radius-panel) 0 0;
        box-shadow: var(--shadow-high);
      }
      dialog[open] {
        display: flex;
      }
      dialog::backdrop {
        background: var(--veil);
      }
    `,
  ];
  @property() heading = "";
  @state() private isSheet = false;
  @query("dialog") private dialog!: HTMLDialogElement | null;
  private readonly narrow = matchMedia("(max-width: 760px)");
  private giveBack: (() => void) | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.narrow.addEventListener("change", this.measured);
    this.measured();
    this.giveBack = holdFocus();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.narrow.removeEventListener("change", this.measured);
    this.giveBack?.();
  }

  private readonly measured = (): void => {
    this.isSheet = this.narrow.matches;
  };

  private close(): void {
    this.dispatchEvent(new CustomEvent("close"));
  }

  private key(event: KeyboardEvent): void {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.stopPropagation();
    this.close();
  }

  private pressed(event: Event): void {
    if (event.target === this.dialog) this.close();
  }

  protected override render(): TemplateResult {
    const content = html`<header>
        <h2 class="grow cut">${this.heading}</h2>
        <button class="plain icon" aria-label=${t("Close details")} @click=${this.close}>${icon("close", 16)}</button>
      </header>
      <div class="body" tabindex="0" role="group" aria-label=${this.heading}><slot></slot></div>`;
    return this.isSheet
      ? html`<dialog ${modal()} aria-label=${this.heading} @close=${this.close} @click=${this.pressed}>${content}</dialog>`
      : html`<aside aria-label=${this.heading} @keydown=${this.key}>${content}</aside>`;
  }
}
customElements.define("oc-inspector", Inspector);
