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
import "./tab-bar.ts";
import { PAGES, type PageEntry } from "./pages.ts";
import type { Palette } from "./palette/palette.ts";
import { place } from "./router.ts";
import { t } from "../words/words.ts";

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
        /* What is hidden from sight only, such as tables below charts, counts for the height of this and not of the window. */
        position: relative;
        overflow: hidden auto;
        scrollbar-width: thin;
        scrollbar-color: var(--line-strong) transparent;
        background: var(--paper);
        border: 1px solid var(--line);
        border-radius: var(--radius-panel);
        box-shadow: var(--shadow-small);
      }
      oc-tab-bar {
        min-width: 0;
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
      header {
        display: contents;
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
      @media (max-width: 760px) {
        :host {
          grid-template-columns: 1fr;
          grid-template-rows: auto 1fr auto;
        }
        oc-tab-bar {
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
  private failedOffline = false;
  private readonly route = new Watch(this, () => this.context.router.route);
  private readonly connection = new Watch(this, () => this.context.link.state);

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener("keydown", this.findKey);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener("keydown", this.findKey);
  }

  private get entry(): PageEntry | undefined {
    return PAGES.find(({ path }) => path === this.route.value.page);
  }

  protected override willUpdate(_changed: PropertyValues): void {
    const { entry } = this;
    // A browser does not load a file again that it could not load: only a new page does. Who has gone on to another page keeps that.
    if (this.failedOffline && this.failed === entry?.tag && this.connection.value.kind === "open") return location.reload();
    if (!entry || this.loaded === entry.tag || this.failed === entry.tag) return;
    if (!entry.load) this.loaded = entry.tag;
    else
      entry.load().then(
        () => (this.loaded = entry.tag),
        () => {
          this.failed = entry.tag;
          this.failedOffline = this.connection.value.kind !== "open";
        },
      );
  }

  protected override updated(): void {
    document.title = `${this.entry?.title ?? t("Page not found")} – OpenClaw`;
  }

  private page(): TemplateResult | typeof nothing {
    const { entry } = this;
    if (!entry) {
      return staticFree`<div class="page stack"><h1>${t("Page not found")}</h1><p>${t("There is no page at this address.")}</p><p><a href=${place("chat")}>${t("Go to Chat")}</a></p></div>`;
    }
    if (this.failed === entry.tag) {
      return staticFree`<div class="page stack"><h1>${t("This page could not be loaded")}</h1>
        <p>${t("The gateway may have been updated, or it cannot be reached.")}</p>
        <p><button class="primary" @click=${() => location.reload()}>${icon("retry")} ${t("Reload")}</button></p></div>`;
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
    // An open chat has the whole window of a phone; its list has the tabs.
    const isOpenChat = this.route.value.page === "chat";
    return staticFree`<header><a class="skip button" href="#main" data-outside @click=${this.skip}>${t("Skip to content")}</a></header>
      <oc-menu .context=${this.context} @find=${this.find}></oc-menu>
      <oc-connection-bar .link=${this.context.link}></oc-connection-bar>
      <main id="main" tabindex="-1" class=${this.entry?.full ? "full" : ""} @find=${this.find}>${this.page()}</main>
      ${isOpenChat ? nothing : staticFree`<oc-tab-bar .context=${this.context} @find=${this.find}></oc-tab-bar>`}
      <oc-palette .context=${this.context}></oc-palette>`;
  }

  /** Ctrl+K, ⌘K on a Mac, anywhere. */
  private readonly findKey = (event: KeyboardEvent): void => {
    if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || event.key.toLowerCase() !== "k") return;
    event.preventDefault();
    void this.find();
  };

  /** The palette's code comes when it is first wanted. */
  private async find(): Promise<void> {
    await import("./palette/palette.ts").catch(() => this.context.toasts.warn(t("This page could not be loaded")));
    await this.renderRoot.querySelector<Palette>("oc-palette")?.open?.();
  }

  private skip(event: Event): void {
    event.preventDefault();
    this.renderRoot.querySelector<HTMLElement>("#main")?.focus();
  }
}
customElements.define("oc-app", App);
