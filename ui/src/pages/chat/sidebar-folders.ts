import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { query, state } from "lit/decorators.js";
import { dialogSheet } from "../../look/dialog-sheet.ts";
import { sheet } from "../../look/sheet.ts";
import { modal } from "../../parts/modal.ts";
import { t } from "../../words/words.ts";

/** What is asked: which folder something goes into, or what a folder is called from now on. */
export interface FolderQuestion {
  readonly title: string;
  /** Folders to choose from. */
  readonly folders: readonly string[];
  /** What stands in the box. */
  readonly name: string;
  /** The word on the button for the name in the box. */
  readonly yes: string;
  /** Resolves with why it was refused: the dialog then stays as it is. */
  readonly choose: (name: string) => Promise<string | undefined>;
}

/** Asks for a folder: one of those that there are, or a new one. */
export class FolderDialog extends LitElement {
  static override styles = [
    sheet,
    dialogSheet,
    css`
      dialog {
        width: min(400px, calc(100vw - 32px));
      }
      .folders {
        display: grid;
        gap: 2px;
        max-height: 40dvh;
        margin: 12px 0;
        overflow-y: auto;
      }
      .folders button {
        justify-content: flex-start;
        min-width: 0;
      }
      .refused {
        color: var(--bad);
        overflow-wrap: anywhere;
      }
      form {
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        gap: 12px;
      }
      footer {
        display: flex;
        justify-content: flex-end;
        gap: 8px;
      }
    `,
  ];
  @state() private asked: FolderQuestion | undefined;
  @state() private name = "";
  @state() private refused: string | undefined;
  @state() private busy = false;
  @query("input") private box!: HTMLInputElement | null;

  ask(question: FolderQuestion): void {
    this.asked = question;
    this.name = question.name;
    this.refused = undefined;
    this.busy = false;
    void this.updateComplete.then(() => this.box?.select());
  }

  private async choose(name: string): Promise<void> {
    const { asked } = this;
    if (!asked || this.busy) return;
    this.busy = true;
    this.refused = undefined;
    const refused = await asked.choose(name);
    // It was left meanwhile.
    if (this.asked !== asked) return;
    this.busy = false;
    this.refused = refused;
    if (refused === undefined) this.asked = undefined;
    else this.box?.focus();
  }

  private readonly submit = (event: Event): void => {
    event.preventDefault();
    if (this.name.trim() !== "") void this.choose(this.name.trim());
  };

  protected override render(): TemplateResult | typeof nothing {
    const { asked } = this;
    if (!asked) return nothing;
    const cancel = (): void => void (this.asked = undefined);
    return html`<dialog ${modal()} aria-labelledby="title" @close=${cancel}>
      <h2 id="title">${asked.title}</h2>
      ${
        asked.folders.length === 0
          ? nothing
          : html`<div class="folders" role="group" aria-label=${t("Folders")}>
              ${asked.folders.map((name) => html`<button class="plain" @click=${() => void this.choose(name)}><span class="cut" dir="auto">${name}</span></button>`)}
            </div>`
      }
      <form @submit=${this.submit}>
        <label
          >${asked.folders.length === 0 ? t("Name of the folder") : t("New folder")}
          <input
            maxlength="64"
            dir="auto"
            .value=${asked.name}
            aria-invalid=${this.refused !== undefined}
            aria-describedby="refused"
            @input=${() => (this.name = this.box?.value ?? "")}
          />
        </label>
        <p class="refused" id="refused" role="alert" ?hidden=${this.refused === undefined}>${this.refused}</p>
        <footer>
          <button type="button" @click=${cancel}>${t("Cancel")}</button>
          <button class="primary" ?disabled=${this.busy || this.name.trim() === ""}>${asked.yes}</button>
        </footer>
      </form>
    </dialog>`;
  }
}
customElements.define("oc-folder-dialog", FolderDialog);
