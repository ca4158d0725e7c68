import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { bytes } from "../../../base/figures.ts";
import { icon } from "../../../look/icons.ts";
import { dialogSheet } from "../../../look/dialog-sheet.ts";
import { sheet } from "../../../look/sheet.ts";
import { modal } from "../../../parts/modal.ts";
import { t } from "../../../words/words.ts";
import { textOfBytes, typeName, type FileKind } from "./file-kind.ts";

/** Bytes of a text that are shown. */
export const FILE_VIEW_BYTES = 500_000;

interface ViewedFile {
  readonly kind: Exclude<FileKind, "save">;
  readonly name: string;
  readonly mimeType: string;
  /** Of the whole file. */
  readonly bytes: number;
  readonly data: Uint8Array<ArrayBuffer>;
}

/** A file over the page. Dispatches `save`. */
export class FileViewer extends LitElement {
  static override styles = [
    sheet,
    dialogSheet,
    css`
      dialog {
        width: min(960px, calc(100vw - 32px));
        max-height: calc(100dvh - 32px);
        padding: 0;
      }
      .whole {
        display: flex;
        flex-direction: column;
        max-height: calc(100dvh - 34px);
      }
      header {
        display: flex;
        align-items: center;
        gap: 8px;
        padding: 12px 12px 12px 20px;
        border-bottom: 1px solid var(--line);
      }
      h2 {
        font-size: var(--type-row);
      }
      .body {
        flex: 1;
        min-height: 120px;
        overflow: auto;
        padding: 16px 20px;
        outline-offset: -2px;
      }
      pre {
        margin: 0;
        font-size: var(--type-small);
        line-height: 19px;
        white-space: pre-wrap;
        overflow-wrap: anywhere;
      }
      img,
      video {
        display: block;
        max-width: 100%;
        margin: 0 auto;
      }
      audio {
        width: 100%;
      }
      .note {
        margin: 0 20px 16px;
      }
    `,
  ];
  @state() private file: ViewedFile | undefined;
  private url: string | undefined;

  open(file: ViewedFile): void {
    this.forget();
    if (file.kind !== "text") this.url = URL.createObjectURL(new Blob([file.data], { type: file.mimeType }));
    this.file = file;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.forget();
  }

  private readonly forget = (): void => {
    if (this.url !== undefined) URL.revokeObjectURL(this.url);
    this.url = undefined;
    this.file = undefined;
  };

  private body({ kind, name, data }: ViewedFile): TemplateResult {
    if (kind === "picture") return html`<img src=${this.url!} alt=${name} />`;
    if (kind === "audio") return html`<audio controls src=${this.url!} aria-label=${name}></audio>`;
    if (kind === "video") return html`<video controls src=${this.url!} aria-label=${name}></video>`;
    return html`<pre dir="auto">${textOfBytes(data) ?? t("This file cannot be shown as text.")}</pre>`;
  }

  protected override render(): TemplateResult | typeof nothing {
    const { file } = this;
    if (!file) return nothing;
    const { name, mimeType, bytes: size, data } = file;
    return html`<dialog
      ${modal()}
      aria-labelledby="name"
      @close=${this.forget}
      @click=${(event: Event) => event.target === event.currentTarget && this.forget()}
    >
      <div class="whole">
        <header>
          <h2 id="name" class="cut" dir="auto" title=${name}>${name}</h2>
          <span class="faint grow">${typeName(name, mimeType)} · ${bytes(size)}</span>
          <button class="plain icon" aria-label=${t("Save")} title=${t("Save")} @click=${() => this.dispatchEvent(new CustomEvent("save"))}>
            ${icon("download", 16)}
          </button>
          <button class="plain icon" aria-label=${t("Close")} title=${t("Close")} @click=${this.forget}>${icon("close", 16)}</button>
        </header>
        <div class="body" tabindex="0" role="group" aria-label=${t("Content")}>${this.body(file)}</div>
        ${
          data.length < size
            ? html`<p class="note" role="status">${t`Showing the first ${bytes(data.length)} of ${bytes(size)}. Save the file to see all of it.`}</p>`
            : nothing
        }
      </div>
    </dialog>`;
  }
}
customElements.define("oc-file-viewer", FileViewer);
