import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { createSignal, Watch, type WritableSignal } from "../base/signal.ts";
import { dialogSheet } from "../look/dialog-sheet.ts";
import { sheet } from "../look/sheet.ts";
import { modal } from "./modal.ts";
import { t } from "../words/words.ts";

/** A question that stops everything else. */
export interface Question {
  readonly title: string;
  readonly body?: string | TemplateResult;
  /** The word on the button that does it. */
  readonly yes: string;
  readonly no?: string;
  readonly danger?: boolean;
}

interface Asked {
  readonly question: Question;
  readonly answer: (yes: boolean) => void;
}

export interface Dialogs {
  readonly open: WritableSignal<Asked | undefined>;
  confirm(question: Question): Promise<boolean>;
}

export function createDialogs(): Dialogs {
  const open = createSignal<Asked | undefined>(undefined);
  return {
    open,
    confirm: (question) =>
      new Promise((resolve) => {
        open.value?.answer(false);
        open.set({
          question,
          answer: (yes) => {
            open.set(undefined);
            resolve(yes);
          },
        });
      }),
  };
}

/** Shows the question that is open. Escape means no. */
export class DialogHost extends LitElement {
  static override styles = [
    sheet,
    dialogSheet,
    css`
      dialog {
        width: min(520px, calc(100vw - 32px));
      }
      .body {
        margin: 12px 0 20px;
        overflow-wrap: anywhere;
      }
      .row {
        justify-content: flex-end;
      }
    `,
  ];
  dialogs!: Dialogs;
  private readonly open = new Watch(this, () => this.dialogs.open);

  protected override render(): TemplateResult | typeof nothing {
    const asked = this.open.value;
    if (!asked) return nothing;
    const { title, body, yes, no = t("Cancel"), danger = false } = asked.question;
    return html`<dialog ${modal()} aria-labelledby="title" @close=${() => asked.answer(false)}>
      <h2 id="title">${title}</h2>
      <div class="body">${body ?? nothing}</div>
      <div class="row">
        <button @click=${() => asked.answer(false)}>${no}</button>
        <button class=${danger ? "danger" : "primary"} @click=${() => asked.answer(true)}>${yes}</button>
      </div>
    </dialog>`;
  }
}
customElements.define("oc-dialogs", DialogHost);
