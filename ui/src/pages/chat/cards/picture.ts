import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { bytes } from "../../../base/figures.ts";
import { failureText } from "../../../link/failure.ts";
import type { Link } from "../../../link/link.ts";
import { sheet } from "../../../look/sheet.ts";
import type { PictureViewer } from "../picture-viewer.ts";
import { t } from "../../../words/words.ts";

const SHOWN = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/i;

/** A picture of a conversation, fetched when it comes into view. */
export class ChatPicture extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: block;
      }
      button {
        display: block;
        padding: 0;
        border: 1px solid var(--line);
        overflow: hidden;
        cursor: zoom-in;
        max-width: 100%;
      }
      img {
        display: block;
        max-width: 100%;
        max-height: 260px;
      }
      .space {
        display: grid;
        place-items: center;
        width: 180px;
        max-width: 100%;
        min-height: 120px;
        padding: 10px;
        border: 1px dashed var(--line-strong);
        border-radius: var(--radius-small);
        text-align: center;
      }
    `,
  ];
  @property({ attribute: false }) link!: Pick<Link, "request">;
  @property({ attribute: false }) sessionKey = "";
  @property({ attribute: false }) seq = 0;
  @property({ attribute: false }) index = 0;
  @property({ attribute: false }) size: number | undefined;
  @state() private source: string | undefined;
  @state() private error: string | undefined;
  @state() private viewed = false;
  private watcher: IntersectionObserver | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.watcher = new IntersectionObserver(
      (seen) => {
        if (seen.some(({ isIntersecting }) => isIntersecting)) void this.load();
      },
      { rootMargin: "400px" },
    );
    this.watcher.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.watcher?.disconnect();
    this.forget();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.get("seq") !== undefined || changed.get("index") !== undefined || changed.get("sessionKey")) this.forget();
  }

  private forget(): void {
    if (this.source !== undefined) URL.revokeObjectURL(this.source);
    this.source = undefined;
    this.error = undefined;
  }

  private async load(): Promise<void> {
    this.watcher?.disconnect();
    if (this.source !== undefined) return;
    try {
      const { mimeType, data } = await this.link.request("chat.image", { sessionKey: this.sessionKey, seq: this.seq, index: this.index });
      if (!SHOWN.test(mimeType)) throw new Error(t`Pictures of the type ${mimeType} are not shown.`);
      if (!this.isConnected) return;
      const data8 = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
      this.source = URL.createObjectURL(new Blob([data8], { type: mimeType }));
    } catch (error) {
      this.error = failureText(error);
    }
  }

  /** Shows it over the page. The code for that is loaded with the first picture. */
  private async view(): Promise<void> {
    await import("../picture-viewer.ts");
    this.viewed = true;
    await this.updateComplete;
    const viewer = this.renderRoot.querySelector<PictureViewer>("oc-picture-viewer");
    await viewer?.updateComplete;
    viewer?.open();
  }

  protected override render(): TemplateResult {
    if (this.source === undefined) {
      return html`<div class="space faint">${this.error ?? html`${t`Picture${this.size === undefined ? "" : `, ${bytes(this.size)}`}`}`}</div>`;
    }
    return html`<button aria-haspopup="dialog" aria-label=${t("Show full picture")} @click=${() => void this.view()}>
        <img src=${this.source} alt=${t("Picture in the conversation")} />
      </button>
      ${this.viewed ? html`<oc-picture-viewer .source=${this.source}></oc-picture-viewer>` : nothing}`;
  }
}
customElements.define("oc-chat-picture", ChatPicture);
