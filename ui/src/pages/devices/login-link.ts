import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { moment } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/copy-button.ts";
import { missingNote, pageLook } from "../../parts/page-look.ts";
import type { PageContext } from "../../shell/context.ts";
import { t } from "../../words/words.ts";

/** Makes a link that lets another browser in. */
export class LoginLink extends LitElement {
  static override styles = [
    sheet,
    pageLook,
    css`
      p {
        margin: 6px 0 12px;
      }
      input:not([type="checkbox"]) {
        font-family: var(--mono);
        font-size: var(--type-ui);
      }
    `,
  ];
  @property({ attribute: false }) context!: Pick<PageContext, "link">;
  @state() private made: { readonly address: string; readonly expiresAt: number } | undefined;
  @state() private failure: string | undefined;

  private async make(): Promise<void> {
    this.failure = undefined;
    try {
      const { path, expiresAt } = await this.context.link.request("login.code", {});
      this.made = { address: new URL(path, location.origin).href, expiresAt };
    } catch (error) {
      this.failure = failureText(error);
    }
  }

  protected override render(): TemplateResult {
    const { link } = this.context;
    const { hostname } = location;
    const near = hostname === "localhost" || hostname === "127.0.0.1" || hostname === "[::1]";
    return html`<div class="card">
      <h2>${t("Add a browser")}</h2>
      <p class="soft">
        ${t("The link works once and expires after 10 minutes. Anyone who opens it gets the same access you have here: reading every conversation, changing the configuration, running commands. Send it only to yourself.")}
      </p>
      ${link.has("login.code") ? html`<button class="primary" @click=${() => void this.make()}>${t("Create sign-in link")}</button>` : missingNote(t("Creating sign-in links"))}
      ${this.failure === undefined ? nothing : html`<p class="note bad" role="alert">${this.failure}</p>`}
      ${
        this.made === undefined
          ? nothing
          : html`<br /><br />
              <div class="row">
                <input
                  readonly
                  aria-label=${t("Sign-in link")}
                  .value=${this.made.address}
                  @focus=${(event: Event) => (event.target as HTMLInputElement).select()}
                />
                <oc-copy-button wide what=${t("the sign-in link")} .text=${this.made.address}></oc-copy-button>
              </div>
              <p class="faint" role="status">${t`Valid until ${moment(this.made.expiresAt)}.${near ? t(" This address works on this machine only.") : ""}`}</p>`
      }
    </div>`;
  }
}
customElements.define("oc-login-link", LoginLink);
