import { css, html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { loadWebDevice } from "openclaw/client";
import { ago, exactly } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import { browserKeys } from "../../link/keys.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/copy-button.ts";
import { facts, factsLook } from "../../parts/key-value.ts";
import { failedNote, loadingLine, missingNote, pageLook } from "../../parts/page-look.ts";
import { Page } from "../../shell/page.ts";
import { inOrder, lastSeen, liveTokens, nameOf, programOf, scopeWords, type Paired, type Token, type Waiting } from "./device-facts.ts";
import "./login-link.ts";

const when = (at: number | undefined): TemplateResult | undefined => (at === undefined ? undefined : html`<span title=${exactly(at)}>${ago(at)}</span>`);

/** Who may connect: devices that wait, devices that are in, and this browser. */
export class DevicesPage extends Page {
  static override styles = [
    sheet,
    factsLook,
    pageLook,
    css`
      .card > .row {
        margin-bottom: 10px;
      }
      .own {
        border-color: var(--accent);
      }
      .card > .actions {
        margin: 12px 0 0;
        justify-content: flex-end;
      }
      h3 {
        overflow-wrap: anywhere;
      }
    `,
  ];
  @state() private waiting: readonly Waiting[] = [];
  @state() private paired: readonly Paired[] | undefined;
  @state() private own: string | undefined;
  @state() private failure: string | undefined;
  /** A token that was made just now: shown once. */
  @state() private fresh: { readonly deviceId: string; readonly role: string; readonly token: string } | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    const { link } = this.context;
    this.during(link.on("device.pair.requested", () => void this.load()));
    this.during(link.on("device.pair.resolved", () => void this.load()));
    this.every(20_000, () => void this.load());
  }

  override async load(): Promise<void> {
    if (!this.context.link.may("operator.pairing")) return;
    this.own ??= globalThis.isSecureContext
      ? await loadWebDevice(browserKeys).then(
          ({ id }) => id,
          () => undefined,
        )
      : undefined;
    try {
      const { pending, paired } = await this.context.link.request("device.pair.list", {});
      this.waiting = pending;
      this.paired = paired;
      this.failure = undefined;
    } catch (error) {
      this.failure = failureText(error);
    }
  }

  private async change(work: () => Promise<unknown>, done: string): Promise<void> {
    await this.attempt(work, done);
    if (this.context.link.state.value.kind === "open") await this.load();
  }

  private async sure(title: string, body: string, yes: string): Promise<boolean> {
    return this.context.dialogs.confirm({ title, body, yes, danger: true });
  }

  private async forget(device: Paired): Promise<void> {
    const { link } = this.context;
    const name = nameOf(device);
    if (!(await this.sure(`Remove ${name}?`, "Its tokens are revoked and its connections closed. It has to be approved again.", "Remove"))) return;
    await this.change(() => link.request("device.pair.remove", { deviceId: device.deviceId }), `${name} was removed.`);
  }

  private async revoke({ deviceId }: Paired, { role }: Token): Promise<void> {
    const { link } = this.context;
    if (!(await this.sure(`Revoke the ${role} token?`, "Connections with it are closed at once.", "Revoke"))) return;
    await this.change(() => link.request("device.token.revoke", { deviceId, role }), "Token revoked");
  }

  private async rotate({ deviceId }: Paired, { role }: Token): Promise<void> {
    const { link } = this.context;
    if (
      !(await this.sure(`Rotate the ${role} token?`, "The old token stops working at once. The new one is shown here once: enter it on the device.", "Rotate"))
    )
      return;
    await this.change(async () => {
      const { token } = await link.request("device.token.rotate", { deviceId, role });
      this.fresh = { deviceId, role, token };
    }, "New token created");
  }

  private async logout(): Promise<void> {
    const body = "To sign in again you need the gateway’s token, its password or a sign-in link.";
    if (await this.sure("Sign out this browser?", body, "Sign out")) this.context.link.logout();
  }

  private scopes(scopes: readonly string[]): TemplateResult {
    return html`<span class="chips">${scopes.map((scope) => html`<span class="badge" title=${scope}>${scopeWords(scope)}</span>`)}</span>`;
  }

  private waitingCard(request: Waiting): TemplateResult {
    const { link } = this.context;
    const { requestId, deviceId, role, scopes = [], remoteIp, isRepair, ts } = request;
    const name = nameOf(request);
    return html`<li class="card">
      <div class="row">
        <h3 class="grow">${name}</h3>
        <span class="badge warn">${isRepair ? "asks for more" : "waits"}</span>
      </div>
      ${facts([
        ["Asked", when(ts)],
        ["Wants to", this.scopes(scopes)],
        ["Role", role],
        ["Program", programOf(request)],
        ["From", remoteIp],
        ["Device", html`<code>${deviceId}</code>`],
      ])}
      <div class="row actions">
        <button
          class="small"
          aria-label=${`Reject ${name}`}
          @click=${() => void this.change(() => link.request("device.pair.reject", { requestId }), `${name} was rejected`)}
        >
          Reject
        </button>
        <button
          class="small primary"
          aria-label=${`Approve ${name}`}
          @click=${() => void this.change(() => link.request("device.pair.approve", { requestId }), `${name} approved`)}
        >
          Approve
        </button>
      </div>
    </li>`;
  }

  private tokenRow(device: Paired, token: Token, isOwn: boolean): TemplateResult {
    const { fresh } = this;
    const shown = fresh !== undefined && fresh.deviceId === device.deviceId && fresh.role === token.role ? fresh.token : undefined;
    return html`<div>
      ${this.scopes(token.scopes)}
      ${
        isOwn
          ? nothing
          : html`<button class="small plain" aria-label=${`New token for ${nameOf(device)} as ${token.role}`} @click=${() => void this.rotate(device, token)}>
                New token
              </button>
              <button class="small plain" aria-label=${`Revoke the ${token.role} token of ${nameOf(device)}`} @click=${() => void this.revoke(device, token)}>
                Revoke
              </button>`
      }
      ${
        shown === undefined
          ? nothing
          : html`<div class="note">
              <code>${shown}</code> <oc-copy-button what="the new token" .text=${shown}></oc-copy-button>
              <div class="faint">It is not shown again.</div>
            </div>`
      }
    </div>`;
  }

  private card(device: Paired): TemplateResult {
    const isOwn = device.deviceId === this.own;
    const tokens = liveTokens(device);
    return html`<li class=${isOwn ? "card own" : "card"}>
      <div class="row wrap">
        <h3 class="grow">${nameOf(device)}</h3>
        ${isOwn ? html`<span class="badge info">this browser</span>` : nothing}
        ${tokens.length === 0 ? html`<span class="badge warn">has no token</span>` : nothing}
      </div>
      ${facts([
        ["Last seen", when(lastSeen(device)) ?? "never"],
        ["Approved", when(device.approvedAtMs)],
        ["Program", programOf(device)],
        ["From", device.remoteIp],
        ...tokens.map((token) => [`As ${token.role}`, this.tokenRow(device, token, isOwn)] as const),
        ["Device", html`<code>${device.deviceId}</code>`],
      ])}
      <div class="row actions">
        ${
          isOwn
            ? html`<button class="small" @click=${() => void this.logout()}>Sign out this browser</button>`
            : html`<button class="small danger" aria-label=${`Remove ${nameOf(device)}`} @click=${() => void this.forget(device)}>Remove</button>`
        }
      </div>
    </li>`;
  }

  private lists(paired: readonly Paired[]): TemplateResult {
    const isKnown = paired.some(({ deviceId }) => deviceId === this.own);
    return html`<section aria-live="polite">
        <h2>Pending requests</h2>
        ${
          this.waiting.length === 0
            ? html`<p class="soft">No pending requests. A device that connects for the first time appears here.</p>`
            : html`<ul class="cards list">
                ${this.waiting.map((request) => this.waitingCard(request))}
              </ul>`
        }
      </section>
      <section>
        <h2>Approve</h2>
        ${
          isKnown
            ? nothing
            : html`<div class="note">
                This browser is logged in without a device of its
                own${globalThis.isSecureContext ? "" : ": browsers keep an identity only over HTTPS or on this machine"}.
                <button class="small" @click=${() => void this.logout()}>Sign out this browser</button>
              </div>`
        }
        ${
          paired.length === 0
            ? html`<div class="empty">No paired devices</div>`
            : html`<ul class="cards list">
                ${inOrder(paired, this.own).map((device) => this.card(device))}
              </ul>`
        }
      </section>`;
  }

  protected override render(): TemplateResult {
    const allowed = this.context.link.may("operator.pairing");
    return html`<div class="page">
      <header class="head"><h1>Devices</h1></header>
      ${this.failure === undefined ? nothing : failedNote(this.failure, () => void this.load())} ${allowed ? nothing : missingNote("Seeing devices")}
      ${this.paired ? this.lists(this.paired) : allowed && this.failure === undefined ? loadingLine() : nothing}
      <section><oc-login-link .context=${this.context}></oc-login-link></section>
    </div>`;
  }
}
customElements.define("oc-devices-page", DevicesPage);
