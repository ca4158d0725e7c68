import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { failureText, isMissing } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import type { PageContext } from "../../shell/context.ts";
import { t } from "../../words/words.ts";

const WAIT_MS = 120_000;

/** Logs an account in by a code that a phone scans, or by one that is typed there. Sends `done` when it is in. */
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
      form {
        display: flex;
        flex-wrap: wrap;
        align-items: end;
        gap: 8px;
        margin: 8px 0;
      }
      .code {
        display: block;
        margin: 10px 0;
        font: 600 var(--type-figure)/1.2 var(--mono);
        letter-spacing: 0.15em;
      }
    `,
  ];
  @property({ attribute: false }) context!: Pick<PageContext, "link">;
  @property() accountId = "";
  @state() private picture: string | undefined;
  /** To be typed on the phone. */
  @state() private code: string | undefined;
  @state() private phone = "";
  @state() private said = "";
  @state() private busy = false;

  private async start(phoneNumber?: string): Promise<void> {
    const { link } = this.context;
    const accountId = this.accountId;
    const asked = { accountId, timeoutMs: 30_000, ...(phoneNumber === undefined ? {} : { phoneNumber }) };
    this.busy = true;
    this.said = t("Requesting a code…");
    try {
      const { message, qrDataUrl, code } = await link.request("web.login.start", asked, { timeoutMs: 40_000 });
      this.said = message;
      this.picture = qrDataUrl?.startsWith("data:image/") ? qrDataUrl : undefined;
      this.code = code;
      if (this.picture === undefined && code === undefined) return;
      const { connected, message: end } = await link.request("web.login.wait", { accountId, timeoutMs: WAIT_MS }, { timeoutMs: WAIT_MS + 5000 });
      this.said = end;
      if (connected) this.dispatchEvent(new CustomEvent("done", { bubbles: true, composed: true }));
    } catch (error) {
      this.said = isMissing(error) ? t("No channel here supports QR code login.") : failureText(error);
    } finally {
      this.picture = undefined;
      this.code = undefined;
      this.busy = false;
    }
  }

  private submit(event: Event): void {
    event.preventDefault();
    const phone = this.phone.trim();
    if (phone !== "" && !this.busy) void this.start(phone);
  }

  protected override render(): TemplateResult {
    return html`<button class="small" ?disabled=${this.busy} @click=${() => void this.start()}>${t("Log in with QR code")}</button>
      ${this.picture === undefined ? nothing : html`<img src=${this.picture} alt=${t("QR code to scan with your phone")} />`}
      ${this.code === undefined ? nothing : html`<output class="code" aria-label=${t("Code to enter on your phone")}>${this.code}</output>`}
      <form @submit=${this.submit}>
        <label
          >${t("Phone number, to link with a code instead")}
          <input
            type="tel"
            autocomplete="off"
            placeholder="+15551234567"
            .value=${this.phone}
            @input=${(event: InputEvent) => (this.phone = (event.target as HTMLInputElement).value)}
          />
        </label>
        <button class="small" ?disabled=${this.busy || this.phone.trim() === ""}>${t("Get code")}</button>
      </form>
      <span class="faint" role="status">${this.said}</span>`;
  }
}
customElements.define("oc-qr-login", QrLogin);
