import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { ago } from "../../base/figures.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/disclosure.ts";
import "../../parts/select.ts";
import { cardLook } from "./card-look.ts";
import { enteredIn, fieldsFor, gatewayAddress, stepsFor, valueOf } from "./channel-settings.ts";
import { firstChannel, type Outcome, type SetupStatus } from "./outcome.ts";
import type { PageContext } from "../../shell/context.ts";
import "../channels/qr-login.ts";
import "./step-list.ts";
import { followable } from "./words.ts";
import { t } from "../../words/words.ts";

type Channel = SetupStatus["channels"][number];
export type PairingRequest = MethodResult<"channels.pairing.list">["requests"][number];

/** A channel in one step, and then who may write. Says `channel` {channel, fields}, `approve` {request} and `reject` {request}. */
export class ChannelCard extends LitElement {
  static override styles = [sheet, cardLook];
  @property({ attribute: false }) context!: Pick<PageContext, "link">;
  @property({ attribute: false }) channels: SetupStatus["channels"] = [];
  @property({ attribute: false }) outcome: Outcome | undefined;
  /** The channel that was just added. */
  @property() added: string | undefined;
  /** The account of the added channel that a phone has to be linked with. */
  @property() unlinked: string | undefined;
  @property({ attribute: false }) requests: readonly PairingRequest[] = [];
  @property({ type: Boolean }) busy = false;
  @property({ type: Boolean }) wanted = false;
  /** The channel that is chosen at first. */
  @property() asked: string | undefined;
  @state() private chosen = "";
  @state() private values: Readonly<Record<string, string>> = {};

  private get channel(): SetupStatus["channels"][number] | undefined {
    return this.channels.find(({ id }) => id === this.chosen) ?? firstChannel(this.channels);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has("asked") || !this.asked || this.asked === this.chosen) return;
    this.chosen = this.asked;
    this.values = {};
  }

  /** Tokens do not stay in the page. */
  clear(): void {
    this.values = {};
  }

  private submit(event: Event): void {
    event.preventDefault();
    const { channel } = this;
    if (!channel || this.busy) return;
    const fields = enteredIn(channel, this.values);
    this.dispatchEvent(new CustomEvent("channel", { detail: { channel: channel.id, label: channel.label, fields } }));
  }

  private enter(path: string, value: string): void {
    this.values = { ...this.values, [path]: value };
  }

  private choice(channel: Channel, { path, label, choices = [] }: Channel["fields"][number]): TemplateResult {
    return html`<div class="field">
      <label for="field-${path}">${label}</label>
      <oc-select
        block
        id="field-${path}"
        label=${label}
        .value=${valueOf(channel, this.values, path)}
        .options=${choices}
        @choose=${(event: CustomEvent<string>) => this.enter(path, event.detail)}
      ></oc-select>
    </div>`;
  }

  private field({ path, label, help, secret, required, placeholder }: Channel["fields"][number]): TemplateResult {
    return html`<div class="field">
      <label for="field-${path}">${label}${required ? "" : html` <span class="faint">${t("(optional)")}</span>`}</label>
      <input
        id="field-${path}"
        type=${secret ? "password" : "text"}
        autocomplete="off"
        spellcheck="false"
        ?required=${required}
        placeholder=${placeholder ?? ""}
        .value=${this.values[path] ?? ""}
        @input=${(event: InputEvent) => this.enter(path, (event.target as HTMLInputElement).value)}
      />
      ${help === undefined ? nothing : html`<p class="faint">${followable(help)}</p>`}
    </div>`;
  }

  private form(): TemplateResult {
    const { channel } = this;
    return html`<form @submit=${this.submit}>
      <div class="field">
        <label for="channel">${t("Channel")}</label>
        <oc-select
          block
          id="channel"
          label=${t("Channel")}
          .value=${channel?.id ?? ""}
          .options=${this.channels.map(({ id, label, configured }) => ({ value: id, label, hint: configured ? t("set up") : undefined }))}
          @choose=${(event: CustomEvent<string>) => {
            this.chosen = event.detail;
            this.values = {};
          }}
        ></oc-select>
        ${channel?.help === undefined ? nothing : html`<p class="faint">${followable(channel.help)}</p>`}
      </div>
      ${
        channel === undefined || channel.steps.length === 0
          ? nothing
          : html`<oc-disclosure label=${t`How to set up ${channel.label}`} ?open=${!channel.configured}>
              <oc-step-list .steps=${stepsFor(channel, this.values, gatewayAddress(location))}></oc-step-list>
            </oc-disclosure>`
      }
      ${channel && fieldsFor(channel, this.values).map((field) => (field.choices ? this.choice(channel, field) : this.field(field)))}
      <div><button class="primary" ?disabled=${this.busy}>${this.busy ? t("Saving…") : t("Connect")}</button></div>
    </form>`;
  }

  private pairing(): TemplateResult | typeof nothing {
    const label = this.channels.find(({ id }) => id === this.added)?.label;
    if (label === undefined && this.requests.length === 0) return nothing;
    return html`<section class="stack" aria-label=${t("Pairing requests")}>
      <h3>${t("Pairing requests")}</h3>
      ${
        this.requests.length === 0
          ? html`<p role="status">${t`Now send it a message on ${label}. It replies with a code, and the request appears here.`}</p>`
          : html`<ul>
              ${this.requests.map(
                (request) =>
                  html`<li class="row wrap">
                    <span class="grow"
                      >${request.meta["name"] ?? request.senderId} <code>${request.code}</code>
                      <span class="faint">${request.channel}, ${ago(request.createdAtMs)}</span></span
                    >
                    <button class="small primary" @click=${() => this.decide("approve", request)}>${t("Approve")}</button>
                    <button class="small" @click=${() => this.decide("reject", request)}>${t("Reject")}</button>
                  </li>`,
              )}
            </ul>`
      }
    </section>`;
  }

  private decide(what: "approve" | "reject", request: PairingRequest): void {
    this.dispatchEvent(new CustomEvent(what, { detail: { request } }));
  }

  protected override render(): TemplateResult {
    return html`<section class="card ${this.wanted ? "wanted" : ""}" aria-labelledby="title">
      <h2 id="title" tabindex="-1">${icon("channels")} ${t("Connect a channel")}</h2>
      <p class="soft">${t("Chat from your phone. New senders get a code that you approve here.")}</p>
      ${this.channels.length === 0 ? html`<p>${t("No installed plugin provides a channel.")} <a href="plugins">${t("Plugins")}</a></p>` : this.form()}
      <div aria-live="polite">
        ${
          this.outcome
            ? html`<p class="note ${this.outcome.look}">
                ${this.outcome.text}${this.outcome.detail === undefined ? nothing : html`<br /><span class="faint">${this.outcome.detail}</span>`}
              </p>`
            : nothing
        }
      </div>
      ${this.unlinked === undefined ? this.pairing() : html`<oc-qr-login .context=${this.context} .accountId=${this.unlinked}></oc-qr-login>`}
    </section>`;
  }
}
customElements.define("oc-start-channel", ChannelCard);
