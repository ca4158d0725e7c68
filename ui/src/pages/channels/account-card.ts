import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { ago, exactly } from "../../base/figures.ts";
import { sheet } from "../../look/sheet.ts";
import { facts, factsLook } from "../../parts/key-value.ts";
import { pageLook } from "../../parts/page-look.ts";
import type { PageContext } from "../../shell/context.ts";
import { place } from "../../shell/router.ts";
import { issuesOf, probeWords, settingsPath, standing, type Account } from "./channel-facts.ts";
import "./qr-login.ts";

const when = (at: number | null | undefined): TemplateResult | undefined => (at ? html`<span title=${exactly(at)}>${ago(at)}</span>` : undefined);

const POLICIES: Readonly<Record<string, string>> = {
  pairing: "whoever has been let in; strangers get a code",
  allowlist: "only who is on the list",
  open: "everybody",
  disabled: "nobody",
};

/** One account of a channel. Sends `logout`. */
export class AccountCard extends LitElement {
  static override styles = [
    sheet,
    factsLook,
    pageLook,
    css`
      .card > .row {
        margin-bottom: 10px;
      }
      .card > .actions {
        margin: 12px 0 0;
        justify-content: flex-end;
      }
      .allow {
        max-height: 96px;
        overflow-y: auto;
      }
    `,
  ];
  @property({ attribute: false }) context!: PageContext;
  @property() channel = "";
  @property({ attribute: false }) account!: Account;
  @property({ attribute: false }) config: unknown;
  /** Also shows the account's name: there are several. */
  @property({ type: Boolean }) named = false;

  private access(): TemplateResult | undefined {
    const { dmPolicy, allowFrom = [] } = this.account;
    if (dmPolicy === undefined && allowFrom.length === 0) return undefined;
    const path = `${settingsPath(this.channel, this.account.accountId, this.config)}.allowFrom`;
    return html`${dmPolicy === undefined ? nothing : html`<div>${POLICIES[dmPolicy] ?? dmPolicy}</div>`}
      <div class="chips allow">${allowFrom.map((who) => html`<span class="badge mono">${who}</span>`)}</div>
      <a class="faint" href=${place("config", [], { path })}>Change the list</a>`;
  }

  protected override render(): TemplateResult {
    const { account, channel } = this;
    const { word, look, why } = standing(account);
    const probe = probeWords(account);
    const path = settingsPath(channel, account.accountId, this.config);
    const shown = account.name ?? account.accountId;
    return html`<div class="card">
      <div class="row wrap">
        <h3 class="grow">${this.named ? shown : (account.name ?? "Account")}</h3>
        <span class="badge ${look}">${word}</span>
      </div>
      ${why === undefined || issuesOf(account).some(({ message }) => why.includes(message)) ? nothing : html`<p class="soft words">${why}</p>`}
      ${issuesOf(account).map(({ message, fix }) => html`<div class="note ${look === "bad" ? "bad" : "warn"}">${message}${fix === undefined ? nothing : html`<div><strong>What to do:</strong> ${fix}</div>`}</div>`)}
      ${facts([
        ["Mode", account.mode],
        ["Connected", when(account.lastConnectedAt)],
        ["Started", when(account.lastStartAt)],
        ["Stopped", account.running ? undefined : when(account.lastStopAt)],
        ["Last message in", when(account.lastInboundAt)],
        ["Last message out", when(account.lastOutboundAt)],
        ["Tried again", account.reconnectAttempts ? `${account.reconnectAttempts} times` : undefined],
        ["Probe", probe === undefined ? undefined : html`<span class="badge ${probe.ok ? "good" : "bad"}">${probe.ok ? "ok" : "failed"}</span> ${probe.text}`],
        ["May write", this.access()],
      ])}
      <div class="row wrap actions">
        ${account.linked === false ? html`<oc-qr-login class="grow" .context=${this.context} .accountId=${account.accountId}></oc-qr-login>` : nothing}
        ${
          account.configured === false
            ? html`<a class="button" href=${place("start", [], { step: "channel", channel })}>Set up</a>`
            : html`<a class="button" href=${place("config", [], { path })}>Settings</a>`
        }
        ${
          account.configured !== false && this.context.link.may("operator.admin")
            ? html`<button class="danger" aria-label=${`Log out ${channel} ${shown}`} @click=${() => this.dispatchEvent(new CustomEvent("logout"))}>
                Log out
              </button>`
            : nothing
        }
      </div>
    </div>`;
  }
}
customElements.define("oc-account-card", AccountCard);
