import { html, LitElement, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";

const two = (count: number): string => String(count).padStart(2, "0");

/** A time as a clock shows it: `0:48`, `12:05`, `1:02:03`. */
export function clockOf(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

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
    return html`${clockOf(Math.max(0, Date.now() - this.since))}`;
  }
}
customElements.define("oc-elapsed", Elapsed);
