import { html, type TemplateResult } from "lit";
import { sheet } from "../../look/sheet.ts";
import { Page } from "../../shell/page.ts";

/** Being written. */
export class OverviewPage extends Page {
  static override styles = [sheet];

  override async load(): Promise<void> {}

  protected override render(): TemplateResult {
    return html`<div class="page"><h1>Overview</h1></div>`;
  }
}
customElements.define("oc-overview-page", OverviewPage);
