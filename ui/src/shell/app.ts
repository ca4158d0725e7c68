import { css, html as staticFree, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { html, unsafeStatic } from "lit/static-html.js";
import { Watch } from "../base/signal.ts";
import { icon } from "../look/icons.ts";
import { sheet } from "../look/sheet.ts";
import type { PageContext } from "./context.ts";
import "./connection-bar.ts";
import "./login-view.ts";
import "./menu.ts";
import { PAGES, type PageEntry } from "./pages.ts";
import "./palette.ts";
import type { Palette } from "./palette.ts";
import { place } from "./router.ts";

/** The frame around every page: menu, connection, page. */
export class App extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: grid;
        grid-template-columns: auto 1fr;
        grid-template-rows: auto 1fr;
        height: 100dvh;
        background: var(--canvas);
      }
      oc-menu {
        grid-row: 1 / 3;
        min-height: 0;
      }
      oc-connection-bar {
        grid-column: 2;
      }
      main {
        grid-column: 2;
        min-width: 0;
        min-height: 0;
        margin: 8px 8px 8px 0;
        overflow: hidden auto;
        scrollbar-width: thin;
        scrollbar-color: var(--line-strong) transparent;
        background: var(--paper);
        border: 1px solid var(--line);
        border-radius: var(--radius-panel);
        box-shadow: var(--shadow-small);
      }
      main:focus-visible {
        outline-offset: -2px;
      }
      main.full {
        overflow: hidden;
      }
      main.alone {
        grid-column: 1 / -1;
        grid-row: 1 / -1;
        margin: 0;
        background: none;
        border: 0;
        border-radius: 0;
        box-shadow: none;
      }
      main:not(.alone) > * {
        display: block;
      }
      main.full > * {
        height: 100%;
      }
      .skip {
        position: absolute;
        inset-inline-start: -9999px;
      }
      .skip:focus {
        inset-inline-start: 8px;
        top: 8px;
        z-index: 70;
      }
      @media (max-width: 720px) {
        :host {
          grid-template-columns: 1fr;
          grid-template-rows: auto 1fr auto;
        }
        oc-menu {
          grid-row: 3;
          grid-column: 1;
        }
        oc-connection-bar,
        main {
          grid-column: 1;
        }
        main {
          margin: 0;
          border: 0;
          border-radius: 0;
          box-shadow: none;
        }
      }
    `,
  ];
  context!: PageContext;
  @state() private loaded: string | undefined;
  @state() private failed: string | undefined;
  private readonly route = new Watch(this, () => this.context.router.route);
  private readonly connection = new Watch(this, () => this.context.link.state);

  private get entry(): PageEntry | undefined {
    return PAGES.find(({ path }) => path === this.route.value.page);
  }

  protected override willUpdate(_changed: PropertyValues): void {
    const { entry } = this;
    if (!entry || this.loaded === entry.tag || this.failed === entry.tag) return;
    if (!entry.load) this.loaded = entry.tag;
    else
      entry.load().then(
        () => (this.loaded = entry.tag),
        () => (this.failed = entry.tag),
      );
  }

  protected override updated(): void {
    document.title = `${this.entry?.title ?? "Page not found"} – OpenClaw`;
  }

  private page(): TemplateResult | typeof nothing {
    const { entry } = this;
    if (!entry) {
      return staticFree`<div class="page stack"><h1>Page not found</h1><p>There is no page at this address.</p><p><a href=${place("chat")}>Go to Chat</a></p></div>`;
    }
    if (this.failed === entry.tag) {
      return staticFree`<div class="page stack"><h1>This page could not be loaded</h1>
        <p>The gateway may have been updated, or it cannot be reached.</p>
        <p><button class="primary" @click=${() => location.reload()}>${icon("retry")} Reload</button></p></div>`;
    }
    if (this.loaded !== entry.tag) return nothing;
    const tag = unsafeStatic(entry.tag);
    return html`<${tag} .context=${this.context} .route=${this.route.value}></${tag}>`;
  }

  protected override render(): TemplateResult {
    const { kind } = this.connection.value;
    if (kind === "login" || kind === "pairing" || kind === "starting") {
      return staticFree`<main id="main" class="alone"><oc-login-view .link=${this.context.link}></oc-login-view></main>`;
    }
    return staticFree`<a class="skip button" href="#main" data-outside @click=${this.skip}>Skip to content</a>
      <oc-menu .context=${this.context} @find=${this.find}></oc-menu>
      <oc-connection-bar .link=${this.context.link}></oc-connection-bar>
      <main id="main" tabindex="-1" class=${this.entry?.full ? "full" : ""}>${this.page()}</main>
      <oc-palette .context=${this.context}></oc-palette>`;
  }

  private find(): void {
    void this.renderRoot.querySelector<Palette>("oc-palette")?.open();
  }

  private skip(event: Event): void {
    event.preventDefault();
    this.renderRoot.querySelector<HTMLElement>("#main")?.focus();
  }
}
customElements.define("oc-app", App);
