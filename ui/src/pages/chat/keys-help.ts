import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { dialogSheet } from "../../look/dialog-sheet.ts";
import { sheet } from "../../look/sheet.ts";
import { modal } from "../../parts/modal.ts";
import { t } from "../../words/words.ts";

const KEYS: readonly (readonly [keys: readonly string[], does: string])[] = [
  [["Enter"], t("Send")],
  [["Shift", "Enter"], t("New line")],
  [[t("Esc")], t("Stop the answer")],
  [["↑"], t("In an empty box: recall your last message")],
  [["/"], t("Go to the message box; inside it: list commands")],
  [["Tab"], t("Insert the selected command")],
  [[t("Ctrl"), "Shift", "O"], t("New chat")],
  [[t("Ctrl"), "K"], t("Go to a page or a conversation")],
  [["?"], t("Show this list")],
];

/** The keys of the chat, in a dialog. */
export class KeysHelp extends LitElement {
  static override styles = [
    sheet,
    dialogSheet,
    css`
      dialog {
        width: min(480px, calc(100vw - 32px));
      }
      dl {
        display: grid;
        grid-template-columns: max-content 1fr;
        gap: 8px 16px;
        margin: 16px 0 20px;
      }
      dd {
        margin: 0;
      }
      kbd {
        padding: 2px 7px;
        font: inherit;
        font-size: var(--type-ui);
        background: var(--sunken);
        border: 1px solid var(--line-strong);
        border-radius: 5px;
      }
    `,
  ];
  @state() private shown = false;

  /** Shows the list. */
  open(): void {
    this.shown = true;
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.shown) return nothing;
    return html`<dialog ${modal()} aria-labelledby="title" @close=${() => (this.shown = false)}>
      <h2 id="title">${t("Keyboard shortcuts")}</h2>
      <dl>
        ${KEYS.map(
          ([keys, does]) =>
            html`<dt>${keys.map((key, at) => html`${at > 0 ? " + " : ""}<kbd>${key}</kbd>`)}</dt>
              <dd>${does}</dd>`,
        )}
      </dl>
      <button autofocus @click=${() => (this.shown = false)}>${t("Close")}</button>
    </dialog>`;
  }
}
customElements.define("oc-keys-help", KeysHelp);
