import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { plural } from "../../base/figures.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/diff-view.ts";
import type { Conflict } from "./model/editor.ts";
import { formatPath, type ValuePath } from "./model/path.ts";
import { t } from "../../words/words.ts";

/** The file changed while it was edited here: what changed, and the two ways on. Says `merge` and `reload`. */
export class ConflictNotice extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: block;
      }
      oc-diff {
        --diff-height: 26vh;
      }
    `,
  ];
  /** The file when editing began, and as it is now. */
  @property() old = "";
  @property() now = "";
  /** Keys that both changed, each in its own way. */
  @property({ attribute: false }) clashes: readonly ValuePath[] = [];
  @property({ type: Boolean }) mergeable = true;

  private say(what: "merge" | "reload"): void {
    this.dispatchEvent(new CustomEvent(what));
  }

  protected override render(): TemplateResult {
    const names = this.clashes.map(formatPath).join(", ");
    return html`<section class="note warn stack" role="alert" aria-label=${t("The file was changed")}>
      <p><strong>${t("The file was changed.")}</strong> ${t("Someone else or a command changed it after you started editing. This is what changed:")}</p>
      <oc-diff .old=${this.old} .now=${this.now}></oc-diff>
      ${this.clashes.length === 0 ? nothing : html`<p>${t`${plural(this.clashes.length, t("key"), t("keys"))} changed on both sides; merging keeps yours:`} <code>${names}</code></p>`}
      <div class="row wrap">
        <button class="primary" ?disabled=${!this.mergeable} @click=${() => this.say("merge")}>${t("Merge my changes")}</button>
        <button class="danger" @click=${() => this.say("reload")}>${t("Discard my changes and reload the file")}</button>
      </div>
    </section>`;
  }
}
customElements.define("oc-config-conflict", ConflictNotice);

export const conflictNotice = (
  old: string,
  { text, clashes, mergeable }: Conflict,
  ways: { readonly merge: () => unknown; readonly reload: () => unknown },
): TemplateResult =>
  html`<oc-config-conflict
    .old=${old}
    .now=${text}
    .clashes=${clashes}
    ?mergeable=${mergeable}
    @merge=${() => ways.merge()}
    @reload=${() => ways.reload()}
  ></oc-config-conflict>`;
