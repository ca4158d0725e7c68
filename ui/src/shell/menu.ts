import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { keep } from "../base/keep.ts";
import { Watch } from "../base/signal.ts";
import { icon, type IconName } from "../look/icons.ts";
import { logo } from "../look/logo.ts";
import { plural } from "../base/figures.ts";
import { sheet } from "../look/sheet.ts";
import { count } from "../parts/state.ts";
import type { ThemeChoice } from "../look/theme.ts";
import type { PageContext } from "./context.ts";
import { isShown, PAGE_GROUPS, PAGES, type PageEntry, type PageGroup } from "./pages.ts";
import { place } from "./router.ts";
import { chooseLanguage, language, LANGUAGES, t } from "../words/words.ts";

const THEMES: readonly { readonly choice: ThemeChoice; readonly label: string; readonly icon: IconName }[] = [
  { choice: "system", label: t("System"), icon: "half" },
  { choice: "light", label: t("Light"), icon: "sun" },
  { choice: "dark", label: t("Dark"), icon: "moon" },
];

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
  }
  .pages {
    display: flex;
    flex: 1;
    flex-direction: column;
    min-height: 0;
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
    font-size: var(--type-ui);
    font-weight: 600;
  }
  .brand .logo {
    flex: none;
  }
  .find {
    justify-content: flex-start;
    gap: 8px;
    margin: 10px 0 12px;
    padding: 0 6px 0 8px;
    color: var(--ink-faint);
    font-weight: 400;
    white-space: nowrap;
  }
  .find .word {
    flex: 1;
    overflow: hidden;
    text-align: start;
    text-overflow: ellipsis;
  }
  kbd {
    margin-inline-start: auto;
  }
  h2 {
    padding: 14px 9px 4px;
    font-size: var(--type-small);
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
    font-size: var(--type-ui);
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
    display: flex;
    gap: 2px;
    padding-top: 6px;
    border-top: 1px solid var(--line);
  }
  .narrow .foot {
    flex-direction: column;
  }
  .foot .fold {
    margin-inline-start: auto;
  }
  /* Every page is in sight on a laptop. */
  @media (max-height: 860px) {
    a {
      min-height: 26px;
    }
    h2 {
      padding: 4px 9px 2px;
    }
  }
  .foot .word,
  .narrow .word,
  .narrow kbd {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
  }
  .gateway b {
    display: block;
    font-size: var(--type-ui);
    line-height: 16px;
    font-weight: 600;
  }
  .gateway small {
    display: flex;
    align-items: center;
    gap: 5px;
    font-size: var(--type-small);
    line-height: 16px;
    font-weight: 400;
    color: var(--ink-faint);
  }
  a .counter {
    margin-inline-start: auto;
  }
  .narrow a .counter {
    position: absolute;
    margin: -14px 0 0 14px;
  }
  @media (max-width: 760px) {
    :host {
      display: none;
    }
  }
`;

/** The sidebar: gateway, search, pages, theme. A phone has the tab bar instead. */
export class Menu extends LitElement {
  static override styles = [sheet, look];
  context!: PageContext;
  @state() private narrow = keep.text("menu") === "narrow";
  private readonly route = new Watch(this, () => this.context.router.route);
  private readonly connection = new Watch(this, () => this.context.link.state);
  private readonly waiting = new Watch(this, () => this.context.approvals.state);
  private readonly theme = new Watch(this, () => this.context.theme.choice);

  private fold(): void {
    this.narrow = !this.narrow;
    keep.setText("menu", this.narrow ? "narrow" : undefined);
  }

  private nextTheme(): void {
    const at = THEMES.findIndex(({ choice }) => choice === this.theme.value);
    this.context.theme.choose(THEMES[(at + 1) % THEMES.length]!.choice);
  }

  private nextLanguage(): void {
    const at = LANGUAGES.findIndex(({ tag }) => tag === language);
    chooseLanguage(LANGUAGES[(at + 1) % LANGUAGES.length]!.tag);
  }

  private find(): void {
    this.dispatchEvent(new CustomEvent("find", { bubbles: true, composed: true }));
  }

  private link(page: PageEntry): TemplateResult {
    const waiting = this.waiting.value.waiting.length;
    return html`<a href=${place(page.path)} title=${this.narrow ? page.title : ""} aria-current=${this.route.value.page === page.path ? "page" : "false"}
      >${icon(page.icon, 16)}<span class="word">${page.title}</span
      >${page.path === "approvals" ? count(waiting, plural(waiting, t("approval waiting"), t("approvals waiting"))) : nothing}</a
    >`;
  }

  protected override render(): TemplateResult {
    const theme = THEMES.find(({ choice }) => choice === this.theme.value)!;
    const { name } = LANGUAGES.find(({ tag }) => tag === language)!;
    const isOpen = this.connection.value.kind === "open";
    const inGroup = (group: PageGroup | undefined): TemplateResult[] =>
      PAGES.filter((page) => page.group === group && isShown(page)).map((page) => this.link(page));
    return html`<nav aria-label=${t("Pages")} class=${this.narrow ? "narrow" : ""}>
      <div class="brand gateway">
        ${logo(24)}<span class="word"
          ><b>${t("OpenClaw")}</b><small><i class="dot ${isOpen ? "good" : "warn"}"></i>${isOpen ? location.host : t("Reconnecting")}</small></span
        >
      </div>
      <button class="find" title=${this.narrow ? t`Search (${FIND_KEYS})` : ""} @click=${this.find}>
        ${icon("search", 16)}<span class="word">${t("Search or run")}</span><kbd>${FIND_KEYS}</kbd>
      </button>
      <div class="pages">
        ${inGroup(undefined)}
        ${PAGE_GROUPS.map(
          (group) =>
            html`<h2>${group}</h2>
              ${inGroup(group)}`,
        )}
      </div>
      <div class="foot">
        <button class="item" title=${t`Theme: ${theme.label}`} @click=${this.nextTheme}>
          ${icon(theme.icon, 16)}<span class="word">${t`Theme: ${theme.label}`}</span>
        </button>
        <button class="item" title=${t`Language: ${name}`} @click=${this.nextLanguage}>
          ${icon("globe", 16)}<span class="word" lang=${language}>${name}</span>
        </button>
        <button class="item fold" title=${this.narrow ? t("Expand sidebar") : t("Collapse sidebar")} @click=${this.fold} aria-expanded=${!this.narrow}>
          ${icon("fold", 16)}<span class="word">${this.narrow ? t("Expand sidebar") : t("Collapse sidebar")}</span>
        </button>
      </div>
    </nav>`;
  }
}
customElements.define("oc-menu", Menu);
