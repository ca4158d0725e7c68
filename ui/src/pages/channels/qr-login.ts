import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { failureText, isMissing } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import type { PageContext } from "../../shell/context.ts";

const WAIT_MS = 120_000;

/** Logs an account in by a code that a phone scans. Sends `done` when it is in. */
export class QrLogin extends LitElement {
  static override styles = [
    sheet,
    css`
      img {
        display: block;
        width: 240px;
        max-width: 100%;
        margin: 10px 0;
        border: 1px solid var(--line);
        border-radius: var(--radius-small);
        image-rendering: pixelated;
      }
    `,
  ];
  @property({ attribute: false }) context!: Pick<PageContext, "link">;
  @property() accountId = "";
  @state() private picture: string | undefined;
  @state() private said = "";
  @state() private busy = false;

  private async start(): Promise<void> {
    const { link } = this.context;
    const accountId = this.accountId;
    this.busy = true;
    this.said = "Asking for a code…";
    try {
      const { message, qrDataUrl } = await link.request("web.login.start", { accountId, timeoutMs: 30_000 }, { timeoutMs: 40_000 });
      this.said = message;
      this.picture = qrDataUrl?.startsWith("data:image/") ? qrDataUrl : undefined;
      if (this.picture === undefined) return;
      const { connected, message: end } = await link.request("web.login.wait", { accountId, timeoutMs: WAIT_MS }, { timeoutMs: WAIT_MS + 5000 });
      this.said = end;
      if (connected) this.dispatchEvent(new CustomEvent("done", { bubbles: true, composed: true }));
    } catch (error) {
      this.said = isMissing(error) ? "No channel here logs in by a code." : failureText(error);
    } finally {
      this.picture = undefined;
      this.busy = false;
    }
  }

  protected override render(): TemplateResult {
    return html`<button class="small" ?disabled=${this.busy} @click=${() => void this.start()}>Log in with a code</button>
      ${this.picture === undefined ? nothing : html`<img src=${this.picture} alt="Code to scan with the phone" />`}
      <span class="faint" role="status">${this.said}</span>`;
  }
}
customElements.define("oc-qr-login", QrLogin);
