import { html, LitElement, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { duration } from "../../../base/figures.ts";

/** How long something takes, counted while it is seen. */
export class Elapsed extends LitElement {
  @property({ type: Number }) since = 0;
  private timer: ReturnType<typeof setInterval> | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.timer = setInterval(() => {
      if (!document.hidden) this.requestUpdate();
    }, 1000);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.timer);
  }

  protected override render(): TemplateResult {
    const ms = Math.max(0, Date.now() - this.since);
    return html`${ms < 1000 ? "" : duration(Math.floor(ms / 1000) * 1000)}`;
  }
}
customElements.define("oc-elapsed", Elapsed);
