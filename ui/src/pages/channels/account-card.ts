import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { ago, exactly } from "../../base/figures.ts";
import { sheet } from "../../look/sheet.ts";
import { facts, factsLook } from "../../parts/key-value.ts";
import { pageLook } from "../../parts/page-look.ts";
import type { PageContext } from "../../shell/context.ts";
import { place } from "../../shell/router.ts";
import { controlsOf, issuesOf, probeWords, settingsPath, standing, type Account } from "./channel-facts.ts";
import "./qr-login.ts";
import "./senders-list.ts";
import type { Allowed } from "./senders-list.ts";
import { t } from "../../words/words.ts";

const when = (at: number | null | undefined): TemplateResult | undefined => (at ? html`<span title=${exactly(at)}>${ago(at)}</span>` : undefined);

const CONTROLS = { start: t("Start"), restart: t("Restart"), stop: t("Stop") } as const;

/** One account of a channel. Sends `logout`, `run` {start, stop or restart} and `revoke` {the sender's id}. */
export class AccountCard extends LitElement {
  static override styles = [
    sheet,
    factsLook,
    pageLook,
    css`
      .card {
        padding: 0;
        border: 0;
        background: none;
      }
      dl.facts {
        font-size: var(--type-ui);
      }
      .card > .row {
        margin-bottom: 10px;
      }
      .why {
        margin-bottom: 10px;
      }
      .card > .actions {
        margin: 12px 0 0;
        justify-content: flex-start;
      }
    `,
  ];
  @property({ attribute: false }) context!: PageContext;
  @property() channel = "";
  @property({ attribute: false }) account!: Account;
  @property({ attribute: false }) config: unknown;
  /** Who was let in by pairing; undefined when this browser may not know. */
  @property({ attribute: false }) paired: readonly Allowed[] | undefined;
  /** Something is being done about it. */
  @property({ type: Boolean }) busy = false;
  /** Also shows the account's name: there are several. */
  @property({ type: Boolean }) named = false;

  private access(): TemplateResult | undefined {
    const { dmPolicy, allowFrom = [] } = this.account;
    if (dmPolicy === undefined && allowFrom.length === 0 && (this.paired ?? []).length === 0) return undefined;
    return html`<oc-senders-list
      .policy=${dmPolicy}
      .named=${allowFrom.map(String)}
      .paired=${this.paired ?? []}
      .path=${`${settingsPath(this.channel, this.account.accountId, this.config)}.allowFrom`}
      .may=${this.context.link.has("channels.pairing.revoke") && this.context.link.may("operator.pairing")}
      @revoke=${({ detail }: CustomEvent<string>) => this.dispatchEvent(new CustomEvent("revoke", { detail }))}
    ></oc-senders-list>`;
  }

  private controls(shown: string): TemplateResult | typeof nothing {
    const { link } = this.context;
    if (!link.has("channels.stop") || !link.may("operator.admin")) return nothing;
    return html`${controlsOf(this.account).map(
      (verb) =>
        html`<button
          class=${verb === "start" ? "primary" : "plain"}
          ?disabled=${this.busy}
          aria-label=${`${CONTROLS[verb]} ${this.channel} ${shown}`}
          @click=${() => this.dispatchEvent(new CustomEvent("run", { detail: verb }))}
        >
          ${CONTROLS[verb]}
        </button>`,
    )}`;
  }

  protected override render(): TemplateResult {
    const { account, channel } = this;
    const { word, look, why } = standing(account);
    const probe = probeWords(account);
    const path = settingsPath(channel, account.accountId, this.config);
    const shown = account.name ?? account.accountId;
    return html`<div class="card">
      <div class="row wrap">
        <h3 class="grow">${this.named ? shown : (account.name ?? t("Account"))}</h3>
        <span class="badge ${look}">${word}</span>
      </div>
      ${why === undefined ? nothing : html`<p class="soft words why">${why}</p>`}
      ${issuesOf(account).map(({ message, fix }) => html`<div class="note ${look === "bad" ? "bad" : "warn"}">${message}${fix === undefined ? nothing : html`<div><strong>${t("What to do:")}</strong> ${fix}</div>`}</div>`)}
      ${facts([
        [t("Mode"), account.mode],
        [t("Connected"), when(account.lastConnectedAt)],
        [t("Started"), when(account.lastStartAt)],
        [t("Stopped"), account.running ? undefined : when(account.lastStopAt)],
        [t("Last message in"), when(account.lastInboundAt)],
        [t("Last message out"), when(account.lastOutboundAt)],
        [t("Retried"), account.reconnectAttempts ? t`${account.reconnectAttempts} times` : undefined],
        [
          t("Connection check"),
          probe === undefined ? undefined : html`<span class="badge ${probe.ok ? "good" : "bad"}">${probe.ok ? t("OK") : t("Failed")}</span> ${probe.text}`,
        ],
        [t("Allowed senders"), this.access()],
      ])}
      <div class="row wrap actions">
        ${account.linked === false ? html`<oc-qr-login class="grow" .context=${this.context} .accountId=${account.accountId}></oc-qr-login>` : nothing}
        ${
          account.configured === false
            ? html`<a class="button" href=${place("start", [], { step: "channel", channel })}>${t("Set up")}</a>`
            : html`<a class="button" href=${place("config", [], { path })}>${t("Settings")}</a>`
        }
        ${this.controls(shown)}
        ${
          account.configured !== false && this.context.link.may("operator.admin")
            ? html`<button class="plain danger" aria-label=${t`Log out ${channel} ${shown}`} @click=${() => this.dispatchEvent(new CustomEvent("logout"))}>
                ${t("Log out")}
              </button>`
            : nothing
        }
      </div>
    </div>`;
  }
}
customElements.define("oc-account-card", AccountCard);
