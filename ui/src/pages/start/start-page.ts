import { html, type TemplateResult } from "lit";
import { sheet } from "../../look/sheet.ts";
import { Page } from "../../shell/page.ts";

/** Being written. */
export class StartPage extends Page {
  static override styles = [sheet];

  override async load(): Promise<void> {}

  protected override render(): TemplateResult {
    return html`<div class="page"><h1>Start</h1></div>`;
  }
}
customElements.define("oc-start-page", StartPage);
