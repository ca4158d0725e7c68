import { css, html, LitElement, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { failureText } from "../../link/failure.ts";
import type { Link } from "../../link/link.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import type { Reading } from "./talk/aloud.ts";
import { t } from "../../words/words.ts";

/** Sent to the document by the one that begins, so that the others fall silent. */
const BEGINS = "openclaw-reads-aloud";

/** Reads an answer aloud, and stops. The code for it is loaded with the first click. */
export class AloudButton extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: contents;
      }
    `,
  ];
  @property({ attribute: false }) link!: Pick<Link, "request">;
  @property({ attribute: false }) text = "";
  @state() private isOn = false;
  @state() private error: string | undefined;
  private reading: Reading | undefined;
  private readonly whenOthersBegin = ({ target, detail }: Event & { detail?: unknown }): void => {
    if (target === document && detail !== this) this.stop();
  };

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener(BEGINS, this.whenOthersBegin);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener(BEGINS, this.whenOthersBegin);
    this.stop();
  }

  private stop(): void {
    this.isOn = false;
    this.reading?.stop();
    this.reading = undefined;
  }

  private async toggle(): Promise<void> {
    if (this.isOn) return this.stop();
    document.dispatchEvent(new CustomEvent(BEGINS, { detail: this }));
    this.isOn = true;
    this.error = undefined;
    try {
      const { readAloud } = await import("./talk/aloud.ts");
      if (!this.isOn) return;
      const { link, text } = this;
      this.reading = readAloud({ link, text, ended: () => (this.isOn = false), failed: (error) => (this.error = failureText(error)) });
    } catch (error) {
      this.isOn = false;
      this.error = failureText(error);
    }
  }

  protected override render(): TemplateResult {
    const label = this.isOn ? t("Stop reading aloud") : t("Read aloud");
    const title = this.error === undefined ? label : t`Could not be read aloud: ${this.error}`;
    return html`<button class="plain small act" aria-label=${label} aria-pressed=${this.isOn} title=${title} @click=${() => void this.toggle()}>
        ${icon(this.isOn ? "stop" : this.error === undefined ? "speaker" : "warn", 15)}
      </button>
      <span class="visually-hidden" role="status">${this.error === undefined ? "" : title}</span>`;
  }
}
customElements.define("oc-aloud-button", AloudButton);
