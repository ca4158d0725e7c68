import { css, html, LitElement, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { keep } from "../base/keep.ts";
import { Watch } from "../base/signal.ts";
import { icon, type IconName } from "../look/icons.ts";
import { sheet } from "../look/sheet.ts";
import type { ThemeChoice } from "../look/theme.ts";
import type { PageContext } from "./context.ts";
import { PAGE_GROUPS, PAGES, type PageEntry, type PageGroup } from "./pages.ts";
import { place } from "./router.ts";

const THEMES: readonly { readonly choice: ThemeChoice; readonly label: string; readonly icon: IconName }[] = [
  { choice: "system", label: "System", icon: "half" },
  { choice: "light", label: "Light", icon: "sun" },
  { choice: "dark", label: "Dark", icon: "moon" },
];

/** In the bar of a phone; the others are behind "More". */
const ON_PHONE: ReadonlySet<string> = new Set(["chat", "overview", "jobs", "memory"]);

const FIND_KEYS = /Mac|iPhone|iPad/.test(navigator.userAgent) ? "⌘K" : "Ctrl K";

const look = css`
  :host {
    display: block;
    background: var(--canvas);
  }
  nav {
    display: flex;
    flex-direction: column;
    width: 216px;
    height: 100%;
    padding: 12px 8px 8px 12px;
    overflow: hidden auto;
    scrollbar-width: none;
  }
  nav.narrow {
    width: 56px;
  }
  .brand {
    display: flex;
    align-items: center;
    gap: 10px;
    min-height: 40px;
    padding: 4px 7px;
    font-size: 13px;
    font-weight: 600;
  }
  .brand img {
    width: 24px;
    height: 24px;
  }
  .find {
    justify-content: flex-start;
    gap: 8px;
    margin: 10px 0 12px;
    padding: 0 6px 0 8px;
    color: var(--ink-faint);
    font-weight: 400;
  }
  kbd {
    margin-inline-start: auto;
    padding: 0 5px;
    font: 11px/18px var(--font);
    color: var(--ink-soft);
    background: var(--sunken);
    border: 1px solid var(--line);
    border-radius: 4px;
  }
  h2 {
    padding: 14px 9px 4px;
    font-size: 12px;
    line-height: 16px;
    font-weight: 500;
    color: var(--ink-faint);
  }
  .narrow h2 {
    height: 9px;
    margin: 4px 8px;
    padding: 0;
    border-bottom: 1px solid var(--line);
    color: transparent;
  }
  a,
  .item {
    display: flex;
    align-items: center;
    justify-content: flex-start;
    gap: 9px;
    flex: none;
    min-height: 32px;
    padding: 0 9px;
    border: 0;
    border-radius: var(--radius-small);
    background: none;
    box-shadow: none;
    color: var(--ink-soft);
    text-decoration: none;
    font-size: 13px;
    font-weight: 500;
  }
  a:hover,
  .item:hover:not(:disabled) {
    background: var(--hover);
    color: var(--ink);
  }
  a[aria-current="page"] {
    background: var(--selected);
    color: var(--ink);
  }
  .foot {
    margin-top: auto;
    padding-top: 6px;
    border-top: 1px solid var(--line);
  }
  .foot .item {
    width: 100%;
  }
  .narrow .word,
  .narrow kbd {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
  }
  .phone {
    display: none;
  }
`;

const phoneLook = css`
  @media (max-width: 720px) {
    :host {
      border-top: 1px solid var(--line);
    }
    nav,
    nav.narrow {
      flex-direction: row;
      justify-content: space-around;
      width: auto;
      height: auto;
      padding: 4px 4px calc(4px + env(safe-area-inset-bottom));
    }
    .brand,
    .find,
    .foot,
    h2 {
      display: none;
    }
    .narrow .word {
      position: static;
      width: auto;
      height: auto;
      clip-path: none;
    }
    a,
    .item {
      flex: 1;
      flex-direction: column;
      justify-content: center;
      gap: 1px;
      font-size: 11px;
      line-height: 16px;
      min-height: 46px;
      padding: 4px 2px;
    }
    a[aria-current="page"] {
      background: none;
      color: var(--accent-text);
    }
    a.later {
      display: none;
    }
    .phone {
      display: flex;
    }
    nav.all {
      flex-wrap: wrap;
    }
    nav.all a {
      display: flex;
      flex: 0 0 25%;
    }
  }
`;

/** The sidebar: search, pages, theme. On a phone, a bar at the bottom. */
export class Menu extends LitElement {
  static override styles = [sheet, look, phoneLook];
  context!: PageContext;
  @state() private narrow = keep.text("menu") === "narrow";
  @state() private all = false;
  private readonly route = new Watch(
    this,
    () => this.context.router.route,
    () => (this.all = false),
  );
  private readonly theme = new Watch(this, () => this.context.theme.choice);

  private fold(): void {
    this.narrow = !this.narrow;
    keep.setText("menu", this.narrow ? "narrow" : undefined);
  }

  private nextTheme(): void {
    const at = THEMES.findIndex(({ choice }) => choice === this.theme.value);
    this.context.theme.choose(THEMES[(at + 1) % THEMES.length]!.choice);
  }

  private find(): void {
    this.dispatchEvent(new CustomEvent("find", { bubbles: true, composed: true }));
  }

  private link(page: PageEntry): TemplateResult {
    return html`<a
      href=${place(page.path)}
      class=${ON_PHONE.has(page.path) ? "" : "later"}
      title=${this.narrow ? page.title : ""}
      aria-current=${this.route.value.page === page.path ? "page" : "false"}
      >${icon(page.icon, 16)}<span class="word">${page.title}</span></a
    >`;
  }

  protected override render(): TemplateResult {
    const theme = THEMES.find(({ choice }) => choice === this.theme.value)!;
    const inGroup = (group: PageGroup | undefined): TemplateResult[] => PAGES.filter((page) => page.group === group).map((page) => this.link(page));
    return html`<nav aria-label="Pages" class="${this.narrow ? "narrow" : ""} ${this.all ? "all" : ""}">
      <div class="brand"><img src="icon.svg" alt="" /><span class="word">OpenClaw</span></div>
      <button class="find" title=${this.narrow ? `Search (${FIND_KEYS})` : ""} @click=${this.find}>
        ${icon("search", 16)}<span class="word">Search or run</span><kbd>${FIND_KEYS}</kbd>
      </button>
      ${inGroup(undefined)}
      ${PAGE_GROUPS.map(
        (group) =>
          html`<h2>${group}</h2>
            ${inGroup(group)}`,
      )}
      <button class="item phone" aria-expanded=${this.all} @click=${() => (this.all = !this.all)}>
        ${icon("more", 16)}<span>${this.all ? "Less" : "More"}</span>
      </button>
      <div class="foot">
        <button class="item" title="Theme: ${theme.label}" @click=${this.nextTheme}>
          ${icon(theme.icon, 16)}<span class="word">Theme: ${theme.label}</span>
        </button>
        <button class="item" @click=${this.fold} aria-expanded=${!this.narrow}>
          ${icon(this.narrow ? "right" : "left", 16)}<span class="word">${this.narrow ? "Expand sidebar" : "Collapse sidebar"}</span>
        </button>
      </div>
    </nav>`;
  }
}
customElements.define("oc-menu", Menu);
