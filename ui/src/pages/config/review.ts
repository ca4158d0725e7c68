import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { dialogSheet } from "../../look/dialog-sheet.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/diff-view.ts";
import { modal } from "../../parts/modal.ts";
import "./changes-list.ts";
import { conflictNotice } from "./conflict.ts";
import type { Check } from "./model/draft.ts";
import type { Conflict } from "./model/editor.ts";
import { t } from "../../words/words.ts";

const RELOADS = {
  none: t("No restart needed."),
  hot: t("Takes effect immediately, without restarting the gateway."),
  restart: t("The gateway restarts. Queued messages are kept and answered afterwards; this page reconnects automatically."),
} as const;

/** The last look before the file is written; when the file is another one by then, what to do about that. Says `save`, `merge`, `reload` and `close`. */
export class ReviewDialog extends LitElement {
  static override styles = [
    sheet,
    dialogSheet,
    css`
      dialog {
        width: min(960px, calc(100vw - 24px));
        max-height: calc(100dvh - 32px);
      }
      .end {
        justify-content: flex-end;
        flex-wrap: wrap;
      }
      oc-diff {
        --diff-height: 34vh;
      }
    `,
  ];
  @property({ attribute: false }) check!: Check;
  @property() old = "";
  @property() now = "";
  @property({ type: Boolean }) busy = false;
  @property({ attribute: false }) conflict: Conflict | undefined;

  private say(what: "save" | "merge" | "reload" | "close"): void {
    this.dispatchEvent(new CustomEvent(what));
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has("conflict") && this.conflict) this.renderRoot.querySelector<HTMLElement>("#title")?.focus();
  }

  private conflicting(conflict: Conflict): TemplateResult {
    return html`<dialog ${modal()} aria-labelledby="title" @close=${() => this.say("close")}>
      <div class="stack">
        <h2 id="title" tabindex="-1">${t("Nothing was saved")}</h2>
        ${conflictNotice(this.old, conflict, { merge: () => this.say("merge"), reload: () => this.say("reload") })}
        <div class="row end"><button @click=${() => this.say("close")}>${t("Keep editing")}</button></div>
      </div>
    </dialog>`;
  }

  protected override render(): TemplateResult {
    const { check, conflict } = this;
    if (conflict) return this.conflicting(conflict);
    const restarts = check.reload.kind === "restart";
    return html`<dialog ${modal()} aria-labelledby="title" @close=${() => this.say("close")}>
      <div class="stack">
        <h2 id="title">${t("Review changes")}</h2>
        <p class="note ${restarts ? "warn" : ""}">${RELOADS[check.reload.kind]}</p>
        <oc-config-changes .changes=${check.changes} .reload=${check.reload}></oc-config-changes>
        ${check.warnings.map(({ path, message }) => html`<p class="note warn"><code>${path}</code> ${message}</p>`)}
        <h3>${t("Text changes")}</h3>
        <oc-diff .old=${this.old} .now=${this.now}></oc-diff>
        <div class="row end">
          ${check.valid ? nothing : html`<span class="badge bad grow">${t("The gateway rejects this configuration")}</span>`}
          <button @click=${() => this.say("close")}>${t("Keep editing")}</button>
          <button class="primary" ?disabled=${this.busy || !check.valid} @click=${() => this.say("save")}>
            ${restarts ? t("Save and restart") : t("Save")}
          </button>
        </div>
      </div>
    </dialog>`;
  }
}
customElements.define("oc-config-review", ReviewDialog);
