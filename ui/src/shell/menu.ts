import { css, html, LitElement, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { keep } from "../base/keep.ts";
import { Watch } from "../base/signal.ts";
import { icon, type IconName } from "../look/icons.ts";
import { sheet } from "../look/sheet.ts";
import type { ThemeChoice } from "../look/theme.ts";
import type { PageContext } from "./context.ts";
import { PAGES } from "./pages.ts";
import { place } from "./router.ts";

const THEMES: readonly { readonly choice: ThemeChoice; readonly label: string; readonly icon: IconName }[] = [
  { choice: "system", label: "system", icon: "half" },
  { choice: "light", label: "light", icon: "sun" },
  { choice: "dark", label: "dark", icon: "moon" },
];

/** On a phone these stand in the bar; the rest is behind "More". */
const FIRST_ON_PHONE = 4;

/** Where one can go. A column on wide screens, a bar at the bottom of a phone's. */
export class Menu extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: block;
        background: var(--sunken);
        border-inline-end: 1px solid var(--line);
      }
      nav {
        display: flex;
        flex-direction: column;
        gap: 2px;
        width: 204px;
        height: 100%;
        padding: 14px 10px;
      }
      nav.narrow {
        width: 58px;
      }
      .brand {
        display: flex;
        align-items: center;
        gap: 10px;
        padding: 2px 8px 14px;
        font-weight: 650;
      }
      .brand img {
        width: 24px;
        height: 24px;
      }
      a,
      .item {
        display: flex;
        align-items: center;
        justify-content: flex-start;
        gap: 10px;
        min-height: 36px;
        padding: 6px 9px;
        border: 0;
        border-radius: var(--radius-small);
        background: none;
        color: var(--ink-soft);
        text-decoration: none;
        font-size: 14px;
      }
      a:hover {
        background: var(--hover);
        color: var(--ink);
      }
      a[aria-current="page"] {
        background: var(--accent-soft);
        color: var(--accent-text);
        font-weight: 600;
      }
      .space {
        flex: 1;
      }
      .narrow .word {
        position: absolute;
        width: 1px;
        height: 1px;
        overflow: hidden;
        clip-path: inset(50%);
      }
      .phone {
        display: none;
      }
      @media (max-width: 720px) {
        :host {
          border: 0;
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
        .space,
        .wide {
          display: none;
        }
        a,
        .item,
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
          font-size: 11.5px;
          min-height: 46px;
          padding: 4px 2px;
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
    `,
  ];
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

  protected override render(): TemplateResult {
    const theme = THEMES.find(({ choice }) => choice === this.theme.value)!;
    return html`<nav aria-label="Pages" class="${this.narrow ? "narrow" : ""} ${this.all ? "all" : ""}">
      <div class="brand"><img src="icon.svg" alt="" /><span class="word">OpenClaw</span></div>
      ${PAGES.filter(({ hidden }) => !hidden).map(
        (page, at) =>
          html`<a
            href=${place(page.path)}
            class=${at >= FIRST_ON_PHONE ? "later" : ""}
            title=${this.narrow ? page.title : ""}
            aria-current=${this.route.value.page === page.path ? "page" : "false"}
            >${icon(page.icon)}<span class="word">${page.title}</span></a
          >`,
      )}
      <button class="item phone" aria-expanded=${this.all} @click=${() => (this.all = !this.all)}>
        ${icon("more")}<span>${this.all ? "Less" : "More"}</span>
      </button>
      <div class="space"></div>
      <button class="item wide" title="Colours: ${theme.label}" @click=${this.nextTheme}>
        ${icon(theme.icon)}<span class="word">Colours: ${theme.label}</span>
      </button>
      <button class="item wide" @click=${this.fold} aria-expanded=${!this.narrow}>
        ${icon(this.narrow ? "right" : "left")}<span class="word">${this.narrow ? "Unfold the menu" : "Fold the menu"}</span>
      </button>
    </nav>`;
  }
}
customElements.define("oc-menu", Menu);
