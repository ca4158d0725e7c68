import { css, html, LitElement, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { bytes } from "../../../base/figures.ts";
import { failureText } from "../../../link/failure.ts";
import type { Link } from "../../../link/link.ts";
import { sheet } from "../../../look/sheet.ts";

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
      .whole {
        cursor: zoom-out;
      }
      .whole img {
        max-height: none;
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
  @state() private whole = false;
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
      if (!SHOWN.test(mimeType)) throw new Error(`pictures of the kind ${mimeType} are not shown`);
      if (!this.isConnected) return;
      const data8 = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
      this.source = URL.createObjectURL(new Blob([data8], { type: mimeType }));
    } catch (error) {
      this.error = failureText(error);
    }
  }

  protected override render(): TemplateResult {
    if (this.source === undefined) {
      return html`<div class="space faint">${this.error ?? html`Picture${this.size === undefined ? "" : `, ${bytes(this.size)}`}`}</div>`;
    }
    return html`<button
      class=${this.whole ? "whole" : ""}
      aria-pressed=${this.whole}
      aria-label=${this.whole ? "Show the picture smaller" : "Show the whole picture"}
      @click=${() => (this.whole = !this.whole)}
    >
      <img src=${this.source} alt="Picture in the conversation" />
    </button>`;
  }
}
customElements.define("oc-chat-picture", ChatPicture);
