import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { Watch } from "../base/signal.ts";
import { icon } from "../look/icons.ts";
import { sheet } from "../look/sheet.ts";
import { modal } from "../parts/modal.ts";
import { t } from "../words/words.ts";
import type { PageContext } from "./context.ts";
import { isShown, PAGES, type PageEntry } from "./pages.ts";
import { place } from "./router.ts";

/** The tabs, in order; the other pages are in the sheet behind More. */
const TABS = ["chat", "overview", "jobs", "memory"];

/** The pages on a phone: tabs at the foot of the window, and a sheet with everything else. Sends `find` for the search, and `leave` when something was chosen. */
export class TabBar extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: none;
      }
      nav.bar {
        display: grid;
        grid-auto-flow: column;
        grid-auto-columns: 1fr;
        padding: 4px 4px calc(4px + env(safe-area-inset-bottom));
        background: var(--paper);
        border-top: 1px solid var(--line);
      }
      .bar :is(a, button) {
        display: grid;
        justify-items: center;
        align-content: center;
        gap: 2px;
        min-width: 0;
        min-height: 48px;
        padding: 0 2px;
        font-size: var(--type-micro);
        font-weight: 500;
        line-height: 14px;
        color: var(--ink-faint);
        text-decoration: none;
        background: none;
        border: 0;
        border-radius: var(--radius-small);
        box-shadow: none;
      }
      .bar span {
        max-width: 100%;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      .bar [aria-current="page"] {
        color: var(--ink);
      }
      .bar :focus-visible {
        outline-offset: -2px;
      }
      dialog {
        width: 100vw;
        max-width: none;
        max-height: 85dvh;
        margin: auto 0 0;
        padding: 12px 12px calc(16px + env(safe-area-inset-bottom));
        color: var(--ink);
        background: var(--raised);
        border: 0;
        border-radius: var(--radius-panel) var(--radius-panel) 0 0;
        box-shadow: var(--shadow-high);
      }
      dialog::backdrop {
        background: var(--veil);
      }
      .all {
        display: grid;
        grid-template-columns: 1fr 1fr;
        gap: 4px;
      }
      .all :is(a, button) {
        display: flex;
        align-items: center;
        justify-content: flex-start;
        gap: 12px;
        min-height: 48px;
        padding: 0 12px;
        font-size: var(--type-reading);
        font-weight: 500;
        line-height: 20px;
        color: var(--ink);
        text-decoration: none;
        background: none;
        border: 0;
        border-radius: var(--radius);
        box-shadow: none;
      }
      .all a[aria-current="page"] {
        background: var(--fill);
      }
      .all svg {
        flex: none;
        color: var(--ink-soft);
      }
      @media (max-width: 760px) {
        :host {
          display: block;
        }
      }
    `,
  ];
  @property({ attribute: false }) context!: PageContext;
  @state() private isOpen = false;
  private readonly route = new Watch(
    this,
    () => this.context.router.route,
    () => (this.isOpen = false),
  );

  /** Something was chosen. */
  private leave(): void {
    this.isOpen = false;
    this.dispatchEvent(new CustomEvent("leave"));
  }

  private find(): void {
    this.leave();
    this.dispatchEvent(new CustomEvent("find", { bubbles: true, composed: true }));
  }

  private link({ path, title, icon: name }: PageEntry, size: number): TemplateResult {
    return html`<a href=${place(path)} aria-current=${this.route.value.page === path ? "page" : "false"} @click=${this.leave}
      >${icon(name, size)}<span class="cut">${title}</span></a
    >`;
  }

  private more(): TemplateResult {
    const close = (event: Event): void => void (event.target === event.currentTarget && (this.isOpen = false));
    return html`<dialog ${modal()} aria-label=${t("More pages")} @close=${() => (this.isOpen = false)} @click=${close}>
      <nav class="all" aria-label=${t("More pages")}>
        ${PAGES.filter((page) => !TABS.includes(page.path) && isShown(page)).map((page) => this.link(page, 18))}
        <button @click=${this.find}>${icon("search", 18)}${t("Search or run")}</button>
      </nav>
    </dialog>`;
  }

  protected override render(): TemplateResult {
    const isElsewhere = !TABS.includes(this.route.value.page);
    return html`<nav class="bar" aria-label=${t("Pages")}>
        ${TABS.flatMap((path) => PAGES.find((page) => page.path === path) ?? []).map((page) => this.link(page, 20))}
        <button aria-haspopup="dialog" aria-expanded=${this.isOpen} aria-current=${isElsewhere ? "page" : "false"} @click=${() => (this.isOpen = true)}>
          ${icon("menu", 20)}<span>${t("More")}</span>
        </button>
      </nav>
      ${this.isOpen ? this.more() : nothing}`;
  }
}
customElements.define("oc-tab-bar", TabBar);
