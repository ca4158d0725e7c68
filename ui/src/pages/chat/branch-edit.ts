import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, query, state } from "lit/decorators.js";
import { dialogSheet } from "../../look/dialog-sheet.ts";
import { sheet } from "../../look/sheet.ts";
import { modal } from "../../parts/modal.ts";
import { t } from "../../words/words.ts";
import type { Draft } from "./model/state.ts";

/** A message that was sent, to be changed. Dispatches `send` with the draft. */
export class EditMessage extends LitElement {
  static override styles = [
    sheet,
    dialogSheet,
    css`
      dialog {
        width: min(680px, calc(100vw - 32px));
      }
      textarea {
        width: 100%;
        min-height: 120px;
        max-height: 50dvh;
        field-sizing: content;
        margin: 12px 0;
      }
      footer {
        display: flex;
        flex-wrap: wrap;
        justify-content: flex-end;
        gap: 8px;
      }
    `,
  ];
  /** An answer is in progress: nothing can be changed above it. */
  @property({ type: Boolean }) running = false;
  @state() private draft: Draft | undefined;
  @state() private text = "";
  @query("textarea") private box!: HTMLTextAreaElement | null;

  open(draft: Draft): void {
    this.draft = draft;
    this.text = draft.text;
    void this.updateComplete.then(() => {
      if (!this.box) return;
      this.box.value = draft.text;
      this.box.focus();
      this.box.setSelectionRange(draft.text.length, draft.text.length);
    });
  }

  private get ready(): boolean {
    return !this.running && (this.text.trim() !== "" || (this.draft?.attachments.length ?? 0) > 0);
  }

  private send(): void {
    if (!this.draft || !this.ready) return;
    const detail: Draft = { ...this.draft, text: this.text };
    this.draft = undefined;
    this.dispatchEvent(new CustomEvent("send", { detail }));
  }

  private key(event: KeyboardEvent): void {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.send();
  }

  protected override render(): TemplateResult | typeof nothing {
    const { draft } = this;
    if (!draft) return nothing;
    const files = draft.attachments.map(({ fileName }) => fileName).join(", ");
    return html`<dialog ${modal()} aria-labelledby="title" @close=${() => (this.draft = undefined)}>
      <h2 id="title">${t("Edit message")}</h2>
      <textarea dir="auto" aria-label=${t("Edited message")} @input=${() => (this.text = this.box?.value ?? "")} @keydown=${this.key}></textarea>
      ${files === "" ? nothing : html`<p class="soft">${t`Sent again with it: ${files}`}</p>`}
      <p class="soft">
        ${
          this.running
            ? t("An answer is in progress. Wait until it is finished, or stop it, to send your change.")
            : t("The conversation continues from here. The previous version stays: switch between them with the arrows.")
        }
      </p>
      <footer>
        <button @click=${() => (this.draft = undefined)}>${t("Cancel")}</button>
        <button class="primary" ?disabled=${!this.ready} @click=${this.send}>${t("Send")}</button>
      </footer>
    </dialog>`;
  }
}
customElements.define("oc-edit-message", EditMessage);
