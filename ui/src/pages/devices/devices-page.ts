import { html, type TemplateResult } from "lit";
import { sheet } from "../../look/sheet.ts";
import { Page } from "../../shell/page.ts";

/** Being written. */
export class DevicesPage extends Page {
  static override styles = [sheet];

  override async load(): Promise<void> {}

  protected override render(): TemplateResult {
    return html`<div class="page"><h1>Devices</h1></div>`;
  }
}
customElements.define("oc-devices-page", DevicesPage);
