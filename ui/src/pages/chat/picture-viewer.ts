import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, query, state } from "lit/decorators.js";
import { inPercent } from "../../base/figures.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { styleMap } from "../../look/style-map.ts";
import { t } from "../../words/words.ts";

const STEP = 1.4;
const MOST = 8;

/** A picture over the whole page. Keys: + and − zoom, 0 fits, arrows move, Escape closes. */
export class PictureViewer extends LitElement {
  static override styles = [
    sheet,
    css`
      dialog {
        width: 100vw;
        max-width: none;
        height: 100dvh;
        max-height: none;
        padding: 0;
        color: var(--ink);
        background: none;
        border: 0;
      }
      dialog::backdrop {
        background: light-dark(rgb(20 20 28 / 86%), rgb(0 0 0 / 88%));
      }
      .canvas {
        display: flex;
        width: 100%;
        height: 100%;
        overflow: auto;
        outline: none;
      }
      img {
        flex: none;
        max-width: 92vw;
        max-height: 86vh;
        margin: auto;
        border-radius: var(--radius-small);
      }
      img.large {
        max-width: none;
        max-height: none;
      }
      .bar {
        position: fixed;
        inset-block-start: 12px;
        inset-inline-end: 12px;
        display: flex;
        gap: 4px;
        padding: 4px;
        background: var(--raised);
        border-radius: var(--radius);
        box-shadow: var(--shadow);
      }
      .bar .num {
        align-self: center;
        min-width: 48px;
        font-size: var(--type-small);
        text-align: center;
      }
    `,
  ];
  @property() source: string | undefined;
  @property() name = "";
  @state() private zoom = 1;
  @query("dialog") private dialog!: HTMLDialogElement | null;
  @query(".canvas") private canvas!: HTMLElement | null;
  @query("img") private image!: HTMLImageElement | null;
  /** How wide the picture is where it fits. */
  private fitted = 0;

  open(): void {
    this.zoom = 1;
    this.dialog?.showModal();
    this.canvas?.focus();
  }

  private by(factor: number): void {
    if (this.zoom === 1) this.fitted = this.image?.clientWidth ?? 0;
    const next = Math.min(MOST, Math.max(1, this.zoom * factor));
    this.zoom = next < 1.05 ? 1 : next;
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "+" || event.key === "=") this.by(STEP);
    else if (event.key === "-") this.by(1 / STEP);
    else if (event.key === "0") this.zoom = 1;
    else return;
    event.preventDefault();
  }

  private tool(name: "plus" | "minus" | "download" | "close", label: string, work: () => void): TemplateResult {
    return html`<button class="plain icon" aria-label=${label} title=${label} @click=${work}>${name === "minus" ? "−" : icon(name, 16)}</button>`;
  }

  private readonly save = (): void => {
    if (this.source !== undefined) Object.assign(document.createElement("a"), { href: this.source, download: this.name || "picture" }).click();
  };

  protected override render(): TemplateResult {
    const { zoom, source } = this;
    const width = zoom === 1 ? undefined : `${Math.round(this.fitted * zoom)}px`;
    return html`<dialog
      aria-label=${t("Picture")}
      @keydown=${this.key}
      @click=${(event: Event) => (event.target as Element).localName === "dialog" && this.dialog?.close()}
    >
      <div class="canvas" tabindex="0" @click=${(event: Event) => event.target === event.currentTarget && this.dialog?.close()}>
        ${source === undefined ? nothing : html`<img class=${zoom === 1 ? "" : "large"} style=${styleMap({ width })} src=${source} alt=${this.name || t("Picture in the conversation")} @dblclick=${() => (zoom === 1 ? this.by(STEP * STEP) : (this.zoom = 1))} />`}
      </div>
      <div class="bar" role="toolbar" aria-label=${t("Picture")}>
        ${this.tool("minus", t("Zoom out"), () => this.by(1 / STEP))}<span class="num">${inPercent(Math.round(zoom * 100))}</span>
        ${this.tool("plus", t("Zoom in"), () => this.by(STEP))} ${this.tool("download", t("Download"), this.save)}
        ${this.tool("close", t("Close"), () => this.dialog?.close())}
      </div>
    </dialog>`;
  }
}
customElements.define("oc-picture-viewer", PictureViewer);
