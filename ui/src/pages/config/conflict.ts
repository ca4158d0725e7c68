import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { plural } from "../../base/figures.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/diff-view.ts";
import { formatPath, type ValuePath } from "./model/path.ts";

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
    return html`<section class="note warn stack" role="alert" aria-label="The file was changed">
      <p><strong>The file was changed.</strong> Someone else, or a command, wrote it after you started. This is what changed:</p>
      <oc-diff .old=${this.old} .now=${this.now}></oc-diff>
      ${this.clashes.length === 0 ? nothing : html`<p>${plural(this.clashes.length, "key")} changed on both sides; merging takes yours: <code>${names}</code></p>`}
      <div class="row wrap">
        <button class="primary" ?disabled=${!this.mergeable} @click=${() => this.say("merge")}>Put my changes on top</button>
        <button class="danger" @click=${() => this.say("reload")}>Drop my changes and load the file</button>
      </div>
    </section>`;
  }
}
customElements.define("oc-config-conflict", ConflictNotice);
