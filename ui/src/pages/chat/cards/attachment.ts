import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { bytes } from "../../../base/figures.ts";
import { saveFile } from "../../../base/save-file.ts";
import { failureText } from "../../../link/failure.ts";
import type { Link } from "../../../link/link.ts";
import { icon } from "../../../look/icons.ts";
import { sheet } from "../../../look/sheet.ts";
import { t } from "../../../words/words.ts";
import { bytesOf, firstLines, kindOf, textOfBytes, typeName, type FileKind } from "./file-kind.ts";
import type { FileViewer } from "./file-viewer.ts";

/** Bytes that tell what is in a file. */
const BEGINNING = 4096;

/** What is known about a file before it is opened. */
interface Known {
  readonly bytes: number;
  readonly kind: FileKind;
  /** The first lines of a text. */
  readonly lines: string;
}

/** A file that came with a message: its type, size and first lines. A click shows it, or saves what the page cannot show. */
export class ChatAttachment extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: block;
        width: min(320px, 100%);
      }
      .file {
        display: flex;
        border: 1px solid var(--line);
        border-radius: var(--radius);
        overflow: hidden;
      }
      .open {
        flex: 1;
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        align-content: start;
        justify-content: stretch;
        gap: 6px;
        min-width: 0;
        min-height: 52px;
        padding: 8px;
        text-align: start;
        font-weight: 400;
        border: 0;
        border-radius: 0;
        background: none;
        box-shadow: none;
      }
      .line {
        display: flex;
        align-items: center;
        gap: 10px;
        min-width: 0;
      }
      .thumb {
        display: grid;
        flex: none;
        place-items: center;
        width: 36px;
        height: 36px;
        color: var(--ink-soft);
        background: var(--hover);
        border-radius: var(--radius-small);
      }
      .about {
        display: grid;
        min-width: 0;
        line-height: 18px;
      }
      .name {
        font-size: var(--type-ui);
        font-weight: 500;
      }
      .about .faint {
        font-size: var(--type-small);
      }
      .save {
        flex: none;
        align-self: stretch;
        width: 40px;
        border: 0;
        border-radius: 0;
        color: var(--ink-soft);
      }
      pre {
        margin: 0;
        padding: 6px 8px;
        overflow: hidden;
        font-size: var(--type-micro);
        line-height: 16px;
        color: var(--ink-soft);
        white-space: pre;
        background: var(--hover);
        border-radius: var(--radius-small);
      }
    `,
  ];
  @property({ attribute: false }) link!: Pick<Link, "request">;
  @property({ attribute: false }) sessionKey = "";
  @property({ attribute: false }) seq = 0;
  @property({ attribute: false }) index = 0;
  @property() name = "";
  @property() mimeType = "";
  @state() private known: Known | undefined;
  @state() private error: string | undefined;
  @state() private busy = false;
  @state() private viewed = false;
  private watcher: IntersectionObserver | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.watch();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.watcher?.disconnect();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.get("seq") === undefined && changed.get("index") === undefined && !changed.get("sessionKey")) return;
    this.known = undefined;
    this.error = undefined;
    this.watch();
  }

  /** Asks about it when it comes into view. */
  private watch(): void {
    this.watcher?.disconnect();
    this.watcher = new IntersectionObserver((seen) => seen.some(({ isIntersecting }) => isIntersecting) && void this.look(), { rootMargin: "400px" });
    this.watcher.observe(this);
  }

  private ask(maxBytes?: number) {
    const { sessionKey, seq, index } = this;
    return this.link.request("chat.file", { sessionKey, seq, index, ...(maxBytes === undefined ? {} : { maxBytes }) });
  }

  private async look(): Promise<void> {
    this.watcher?.disconnect();
    if (this.known) return;
    try {
      const { bytes: size, mimeType, data } = await this.ask(BEGINNING);
      const beginning = bytesOf(data);
      const kind = kindOf(mimeType, beginning);
      this.known = { bytes: size, kind, lines: kind === "text" ? firstLines(textOfBytes(beginning) ?? "") : "" };
    } catch (error) {
      this.error = failureText(error);
    }
  }

  private async attempt(work: () => Promise<void>): Promise<void> {
    this.busy = true;
    this.error = undefined;
    await work().catch((error: unknown) => (this.error = failureText(error)));
    this.busy = false;
  }

  private async save(): Promise<void> {
    const { mimeType, data } = await this.ask();
    saveFile(this.name, mimeType, [bytesOf(data)]);
  }

  /** Shows it over the page. The code for that is loaded with the first file. */
  private async view(kind: Exclude<FileKind, "save">): Promise<void> {
    const { FILE_VIEW_BYTES } = await import("./file-viewer.ts");
    const { mimeType, data, bytes: size } = await this.ask(kind === "text" ? FILE_VIEW_BYTES : undefined);
    this.viewed = true;
    await this.updateComplete;
    this.renderRoot.querySelector<FileViewer>("oc-file-viewer")?.open({ kind, name: this.name, mimeType, bytes: size, data: bytesOf(data) });
  }

  private open(): void {
    const { kind } = this.known ?? { kind: "save" };
    void this.attempt(() => (kind === "save" ? this.save() : this.view(kind)));
  }

  protected override render(): TemplateResult {
    const { name, known, error, busy } = this;
    const about = [typeName(name, this.mimeType), known ? bytes(known.bytes) : ""].filter(Boolean).join(" · ");
    const isShown = known !== undefined && known.kind !== "save";
    return html`<div class="file">
        <button
          class="open"
          ?disabled=${busy}
          aria-haspopup=${isShown ? "dialog" : nothing}
          aria-label=${isShown ? t`Open ${name}` : t`Save ${name}`}
          @click=${this.open}
        >
          <span class="line">
            <span class="thumb">${icon("file", 18)}</span>
            <span class="about">
              <span class="name cut" dir="auto" title=${name}>${name}</span>
              <span class="faint cut" title=${error ?? nothing}>${error ?? about}</span>
            </span>
          </span>
          ${known && known.lines !== "" ? html`<pre dir="auto" aria-hidden="true">${known.lines}</pre>` : nothing}
        </button>
        ${
          isShown
            ? html`<button
                class="plain save"
                ?disabled=${busy}
                aria-label=${t`Save ${name}`}
                title=${t("Save")}
                @click=${() => void this.attempt(() => this.save())}
              >
                ${icon("download", 16)}
              </button>`
            : nothing
        }
      </div>
      ${this.viewed ? html`<oc-file-viewer @save=${() => void this.attempt(() => this.save())}></oc-file-viewer>` : nothing}`;
  }
}
customElements.define("oc-chat-attachment", ChatAttachment);
