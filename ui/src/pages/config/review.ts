import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { dialogSheet } from "../../look/dialog-sheet.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/diff-view.ts";
import "./changes-list.ts";
import type { Check } from "./model/draft.ts";

const RELOADS = {
  none: "Nothing restarts.",
  hot: "It takes effect at once, without a restart of the gateway.",
  restart: "The gateway restarts. Messages that wait are kept and answered afterwards; this page connects again by itself.",
} as const;

/** The last look before the file is written. Says `save` and `close`. */
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

  protected override firstUpdated(): void {
    this.renderRoot.querySelector("dialog")?.showModal();
  }

  private say(what: "save" | "close"): void {
    this.dispatchEvent(new CustomEvent(what));
  }

  protected override render(): TemplateResult {
    const { check } = this;
    const restarts = check.reload.kind === "restart";
    return html`<dialog aria-labelledby="title" @close=${() => this.say("close")}>
      <div class="stack">
        <h2 id="title">Review the changes</h2>
        <p class="note ${restarts ? "warn" : ""}">${RELOADS[check.reload.kind]}</p>
        <oc-config-changes .changes=${check.changes} .reload=${check.reload}></oc-config-changes>
        ${check.warnings.map(({ path, message }) => html`<p class="note warn"><code>${path}</code> ${message}</p>`)}
        <h3>The text</h3>
        <oc-diff .old=${this.old} .now=${this.now}></oc-diff>
        <div class="row end">
          ${check.valid ? nothing : html`<span class="badge bad grow">The gateway refuses this text</span>`}
          <button @click=${() => this.say("close")}>Keep editing</button>
          <button class="primary" ?disabled=${this.busy || !check.valid} @click=${() => this.say("save")}>${restarts ? "Save and restart" : "Save"}</button>
        </div>
      </div>
    </dialog>`;
  }
}
customElements.define("oc-config-review", ReviewDialog);
