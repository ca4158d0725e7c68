import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { Watch } from "../base/signal.ts";
import { logo } from "../look/logo.ts";
import { sheet } from "../look/sheet.ts";
import { programOfGateway } from "../link/entrance.ts";
import type { Link } from "../link/link.ts";
import "../parts/segmented.ts";
import { t } from "../words/words.ts";

/** Signs a browser in: a login link, a token or a password. */
export class LoginView extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: grid;
        place-items: center;
        min-height: 100dvh;
        padding: 24px;
      }
      .card {
        width: min(460px, 100%);
        padding: 28px;
        box-shadow: var(--shadow);
      }
      pre {
        margin: 0;
        padding: 10px 12px;
        background: var(--code);
        border-radius: var(--radius-small);
        white-space: pre-wrap;
        overflow-wrap: anywhere;
      }
    `,
  ];
  link!: Link;
  @state() private kind: "token" | "password" = "token";
  @state() private busy = false;
  /** What to type in a terminal to run the gateway's program. */
  @state() private program = "openclaw";
  private readonly connection = new Watch(
    this,
    () => this.link.state,
    () => (this.busy = false),
  );

  override connectedCallback(): void {
    super.connectedCallback();
    void programOfGateway().then((program) => (this.program = program ?? this.program));
  }

  private async submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const secret = new FormData(event.target as HTMLFormElement).get("secret");
    if (typeof secret !== "string" || secret.trim() === "") return;
    this.busy = true;
    await this.link.login(this.kind === "token" ? { token: secret.trim() } : { password: secret });
    this.busy = false;
  }

  private pairing(deviceId: string): TemplateResult {
    return html`<h1>${t("Approve this browser")}</h1>
      <p>${t("On the gateway's machine, run this, then come back:")}</p>
      <pre>
${this.program} devices list
${this.program} devices approve</pre>
      <p class="faint">${t("Browser ID:")} <span class="mono">${deviceId.slice(0, 12)}…</span></p>
      <button class="primary" @click=${() => this.link.retry()}>${t("Try again")}</button>`;
  }

  private form(message: string | undefined): TemplateResult {
    const word = this.kind === "token" ? t("Token") : t("Password");
    return html`<h1>${t("Sign in")}</h1>
      ${message ? html`<p class="note warn" role="alert">${message}</p>` : nothing}
      <p>${t("On the gateway's machine, run this and open the link it prints. The link works once, for 10 minutes.")}</p>
      <pre>${this.program} dashboard</pre>
      <form class="stack" @submit=${this.submit}>
        <oc-segmented
          label=${t("Sign in with")}
          .value=${this.kind}
          .options=${[
            { value: "token", label: t("Token") },
            { value: "password", label: t("Password") },
          ]}
          @choose=${(event: CustomEvent<"token" | "password">) => (this.kind = event.detail)}
        ></oc-segmented>
        <label>
          ${t`${word} of the gateway`}
          <input name="secret" type="password" autocomplete="current-password" required ?disabled=${this.busy} />
        </label>
        <button class="primary" ?disabled=${this.busy}>${this.busy ? t("Signing in…") : t("Sign in")}</button>
      </form>
      <p class="faint">${t("It is used once to give this browser its own token, and is not stored.")}</p>`;
  }

  protected override render(): TemplateResult {
    const { value } = this.connection;
    return html`<div class="card stack">
      ${logo(44, t("OpenClaw"))}
      ${value.kind === "pairing" ? this.pairing(value.deviceId) : value.kind === "login" ? this.form(value.message) : html`<p role="status" class="soft">${t("Connecting…")}</p>`}
    </div>`;
  }
}
customElements.define("oc-login-view", LoginView);
