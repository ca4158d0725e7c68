import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { failureText } from "../../../link/failure.ts";
import type { Link } from "../../../link/link.ts";
import { icon } from "../../../look/icons.ts";
import { sheet } from "../../../look/sheet.ts";
import { t } from "../../../words/words.ts";

const PICTURE = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/i;

const nameOf = (target: string): string => target.split(/[/\\]/).at(-1) || target;

interface Shown {
  readonly name: string;
  readonly mimeType: string;
  /** Of the file in this browser. */
  readonly url: string;
}

/** A file that an answer sends: played or shown where the browser can, and saved. Fetched when it comes into view. */
export class ChatFile extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: block;
        margin-block: 8px;
      }
      audio {
        width: min(100%, 420px);
      }
      img,
      video {
        display: block;
        max-width: 100%;
        max-height: 360px;
        border-radius: var(--radius-small);
      }
      .line {
        display: flex;
        gap: 8px;
        align-items: center;
        flex-wrap: wrap;
      }
    `,
  ];
  @property({ attribute: false }) link!: Pick<Link, "request">;
  @property({ attribute: false }) sessionKey = "";
  @property({ attribute: false }) seq = 0;
  @property({ attribute: false }) index = 0;
  /** What the answer names it. */
  @property({ attribute: false }) target = "";
  @state() private shown: Shown | undefined;
  @state() private error: string | undefined;
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
    if (this.shown) URL.revokeObjectURL(this.shown.url);
    this.shown = undefined;
  }

  private async load(): Promise<void> {
    this.watcher?.disconnect();
    if (this.shown || /^https?:/i.test(this.target)) return;
    try {
      const { sessionKey, seq, index } = this;
      const { name, mimeType, data } = await this.link.request("chat.file", { sessionKey, seq, index });
      if (!this.isConnected) return;
      const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
      this.shown = { name, mimeType, url: URL.createObjectURL(new Blob([bytes], { type: mimeType })) };
    } catch (error) {
      this.error = failureText(error);
    }
  }

  private player({ mimeType, url, name }: Shown): TemplateResult | typeof nothing {
    if (mimeType.startsWith("audio/")) return html`<audio controls src=${url} aria-label=${name}></audio>`;
    if (mimeType.startsWith("video/")) return html`<video controls src=${url} aria-label=${name}></video>`;
    return PICTURE.test(mimeType) ? html`<img src=${url} alt=${name} />` : nothing;
  }

  protected override render(): TemplateResult {
    const { target, shown, error } = this;
    if (/^https?:/i.test(target)) return html`<a href=${target} target="_blank" rel="noopener noreferrer">${target}</a>`;
    if (!shown) return html`<p class=${error === undefined ? "faint" : "note bad wrapped"}>${error ?? nameOf(target)}</p>`;
    return html`${this.player(shown)}
      <div class="line">
        <span class="faint cut">${shown.name}</span>
        <a class="button small" href=${shown.url} download=${shown.name}>${icon("download", 14)}${t("Download")}</a>
      </div>`;
  }
}
customElements.define("oc-chat-file", ChatFile);
