import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { ago } from "../../base/figures.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { cardLook } from "./card-look.ts";
import { firstChannel, type Outcome, type SetupStatus } from "./outcome.ts";
import type { PageContext } from "../../shell/context.ts";
import "../channels/qr-login.ts";
import "./step-list.ts";
import { followable } from "./words.ts";

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
    const fields = Object.fromEntries(Object.entries(this.values).filter(([, value]) => value.trim() !== ""));
    this.dispatchEvent(new CustomEvent("channel", { detail: { channel: channel.id, label: channel.label, fields } }));
  }

  private field({ path, label, help, secret, required, placeholder }: SetupStatus["channels"][number]["fields"][number]): TemplateResult {
    return html`<div class="field">
      <label for="field-${path}">${label}${required ? "" : html` <span class="faint">(may stay empty)</span>`}</label>
      <input
        id="field-${path}"
        type=${secret ? "password" : "text"}
        autocomplete="off"
        spellcheck="false"
        ?required=${required}
        placeholder=${placeholder ?? ""}
        .value=${this.values[path] ?? ""}
        @input=${(event: InputEvent) => (this.values = { ...this.values, [path]: (event.target as HTMLInputElement).value })}
      />
      ${help === undefined ? nothing : html`<p class="faint">${followable(help)}</p>`}
    </div>`;
  }

  private form(): TemplateResult {
    const { channel } = this;
    return html`<form @submit=${this.submit}>
      <div class="field">
        <label for="channel">Channel</label>
        <select
          id="channel"
          @change=${(event: Event) => {
            this.chosen = (event.target as HTMLSelectElement).value;
            this.values = {};
          }}
        >
          ${this.channels.map(
            ({ id, label, configured }) => html`<option value=${id} ?selected=${id === channel?.id}>${label}${configured ? " (set up)" : ""}</option>`,
          )}
        </select>
        ${channel?.help === undefined ? nothing : html`<p class="faint">${followable(channel.help)}</p>`}
      </div>
      ${
        channel === undefined || channel.steps.length === 0
          ? nothing
          : html`<details ?open=${!channel.configured}>
              <summary>How to set up ${channel.label}</summary>
              <oc-step-list .steps=${channel.steps}></oc-step-list>
            </details>`
      }
      ${channel?.fields.map((field) => this.field(field))}
      <div><button class="primary" ?disabled=${this.busy}>${this.busy ? "Saving …" : "Connect"}</button></div>
    </form>`;
  }

  private pairing(): TemplateResult | typeof nothing {
    const label = this.channels.find(({ id }) => id === this.added)?.label;
    if (label === undefined && this.requests.length === 0) return nothing;
    return html`<section class="stack" aria-label="Who may write">
      <h3>Who may write</h3>
      ${
        this.requests.length === 0
          ? html`<p role="status">Now write a message to it on ${label}. It answers with a code, and the request appears here.</p>`
          : html`<ul>
              ${this.requests.map(
                (request) =>
                  html`<li class="row wrap">
                    <span class="grow"
                      >${request.meta["name"] ?? request.senderId} <code>${request.code}</code>
                      <span class="faint">${request.channel}, ${ago(request.createdAtMs)}</span></span
                    >
                    <button class="small primary" @click=${() => this.decide("approve", request)}>Approve</button>
                    <button class="small" @click=${() => this.decide("reject", request)}>Reject</button>
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
      <h2 id="title" tabindex="-1">${icon("channels")} Connect a channel</h2>
      <p class="soft">Write to it from your phone. Strangers are asked for a code that you approve here.</p>
      ${this.channels.length === 0 ? html`<p>No plugin on this gateway brings a channel. <a href="plugins">Plugins</a></p>` : this.form()}
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
