import { css, html, LitElement, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { dialogSheet } from "../../look/dialog-sheet.ts";
import { sheet } from "../../look/sheet.ts";
import { diffLines, type DiffLine } from "../../parts/diff.ts";
import { modal } from "../../parts/modal.ts";
import { t } from "../../words/words.ts";

export type ConflictChoice = "edit" | "saved" | "mine";

/** A note that changed while it was edited: both versions side by side, and what can be done. Says `choose`. */
export class NoteConflict extends LitElement {
  static override styles = [
    sheet,
    dialogSheet,
    css`
      dialog {
        width: min(980px, calc(100vw - 32px));
        max-height: calc(100vh - 48px);
      }
      .both {
        display: grid;
        grid-template-columns: repeat(2, minmax(0, 1fr));
        gap: 14px;
        margin: 14px 0 18px;
      }
      h3 {
        margin-bottom: 6px;
      }
      .text {
        height: 42vh;
        overflow: auto;
        border: 1px solid var(--line);
        border-radius: var(--radius-small);
        background: var(--code);
        font: var(--type-ui)/1.6 var(--mono);
      }
      .line {
        min-height: 1.6em;
        padding: 0 10px;
        white-space: pre-wrap;
        overflow-wrap: anywhere;
      }
      .added {
        background: var(--good-soft);
      }
      .removed {
        background: var(--bad-soft);
      }
      .row {
        justify-content: flex-end;
      }
      @media (max-width: 760px) {
        .both {
          grid-template-columns: minmax(0, 1fr);
        }
        .text {
          height: 24vh;
        }
      }
    `,
  ];
  @property() path = "";
  @property() saved = "";
  @property() mine = "";
  /** The note was deleted; there is no saved version. */
  @property({ type: Boolean }) gone = false;

  private choose(choice: ConflictChoice): void {
    this.dispatchEvent(new CustomEvent<ConflictChoice>("choose", { detail: choice }));
  }

  private version(title: string, lines: readonly DiffLine[], left: "added" | "removed"): TemplateResult {
    return html`<div>
      <h3>${title}</h3>
      <div class="text" tabindex="0" role="region" aria-label=${title}>
        ${lines.filter(({ kind }) => kind !== left).map(({ kind, text }) => html`<div class="line ${kind}">${kind === "same" ? "" : html`<span class="visually-hidden">${t("Only here:")} </span>`}${text}</div>`)}
      </div>
    </div>`;
  }

  protected override render(): TemplateResult {
    const lines = diffLines(this.saved, this.mine);
    const cancel = (event: Event): void => {
      event.preventDefault();
      this.choose("edit");
    };
    return html`<dialog ${modal()} aria-labelledby="title" aria-describedby="body" @cancel=${cancel}>
      <h2 id="title">${this.gone ? t`${this.path} was deleted while you were editing it` : t`${this.path} was changed while you were editing it`}</h2>
      <p id="body" class="soft">
        ${t("The agent, another window or an editor made this change. Choose the version to keep. Highlighted lines are in one version only.")}
      </p>
      <div class="both">
        ${this.version(this.gone ? t("Saved version (deleted)") : t("Saved version"), lines, "added")}${this.version(t("Your version"), lines, "removed")}
      </div>
      <div class="row wrap">
        <button @click=${() => this.choose("edit")}>${t("Keep editing")}</button>
        <button @click=${() => this.choose("saved")}>${t("Use saved version")}</button>
        <button class="danger" @click=${() => this.choose("mine")}>${t("Save your version")}</button>
      </div>
    </dialog>`;
  }
}
customElements.define("oc-note-conflict", NoteConflict);
