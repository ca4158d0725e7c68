import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { dialogSheet } from "../../look/dialog-sheet.ts";
import { sheet } from "../../look/sheet.ts";

const KEYS: readonly (readonly [keys: readonly string[], does: string])[] = [
  [["Enter"], "Send"],
  [["Shift", "Enter"], "New line"],
  [["Esc"], "Stop the answer"],
  [["↑"], "In an empty box: your last message again"],
  [["/"], "To the message box; in it: commands"],
  [["Tab"], "Take the command that is marked"],
  [["Ctrl", "Shift", "O"], "New chat"],
  [["Ctrl", "K"], "Go to a page or a conversation"],
  [["?"], "This list"],
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
        font-size: 13px;
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

  protected override updated(): void {
    const dialog = this.renderRoot.querySelector("dialog");
    if (dialog && !dialog.open) dialog.showModal();
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.shown) return nothing;
    return html`<dialog aria-labelledby="title" @close=${() => (this.shown = false)}>
      <h2 id="title">Keyboard shortcuts</h2>
      <dl>
        ${KEYS.map(
          ([keys, does]) =>
            html`<dt>${keys.map((key, at) => html`${at > 0 ? " + " : ""}<kbd>${key}</kbd>`)}</dt>
              <dd>${does}</dd>`,
        )}
      </dl>
      <button autofocus @click=${() => (this.shown = false)}>Close</button>
    </dialog>`;
  }
}
customElements.define("oc-keys-help", KeysHelp);
