import { html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/select.ts";
import { cardLook } from "./card-look.ts";
import type { Further, Outcome, SetupStatus } from "./outcome.ts";
import { followable } from "./words.ts";
import { t } from "../../words/words.ts";

/** What is asked for a provider. Without a key the one that is there is meant; a model that is named answers without a check. */
export interface KeyWish {
  readonly provider: string;
  readonly label: string;
  readonly key?: string;
  readonly model?: string;
}

/** A provider's key in one step. Says `key` with what is wished for. */
export class KeyCard extends LitElement {
  static override styles = [sheet, cardLook];
  @property({ attribute: false }) providers: SetupStatus["providers"] = [];
  @property({ attribute: false }) outcome: Outcome | undefined;
  @property({ type: Boolean }) busy = false;
  @property({ type: Boolean }) wanted = false;
  @state() private chosen = "";
  @state() private key = "";

  private get provider(): SetupStatus["providers"][number] | undefined {
    return this.providers.find(({ id }) => id === this.chosen) ?? this.providers[0];
  }

  /** What was typed goes: it is kept elsewhere now, or was wrong. */
  clear(): void {
    this.key = "";
  }

  private wish(detail: KeyWish): void {
    if (!this.busy) this.dispatchEvent(new CustomEvent("key", { detail }));
  }

  private submit(event: Event): void {
    event.preventDefault();
    const { provider } = this;
    const key = this.key.trim();
    if (!provider || (key === "" && !provider.hasKey)) return;
    this.wish({ provider: provider.id, label: provider.label, ...(key === "" ? {} : { key }) });
  }

  private outcomeView({ look, text, detail, further = [] }: Outcome): TemplateResult {
    const button = ({ label, provider, name, model }: Further): TemplateResult =>
      html`<button class="small" ?disabled=${this.busy} @click=${() => this.wish({ provider, label: name, ...(model === undefined ? {} : { model }) })}>
        ${label}
      </button>`;
    return html`<div class="note ${look}">
      <p>${text}${detail === undefined ? nothing : html`<br /><span class="faint">${detail}</span>`}</p>
      ${further.length === 0 ? nothing : html`<div class="row wrap further">${further.map(button)}</div>`}
    </div>`;
  }

  protected override render(): TemplateResult {
    const { provider, outcome } = this;
    const asIs = this.key.trim() === "" && provider?.hasKey === true;
    return html`<section class="card ${this.wanted ? "wanted" : ""}" aria-labelledby="title">
      <h2 id="title" tabindex="-1">${icon("key")} ${t("Add a provider key")}</h2>
      <p class="soft">${t("The key is checked with one small request, stays on the gateway's machine and is never shown again.")}</p>
      <form @submit=${this.submit}>
        <div class="field">
          <label for="provider">${t("Provider")}</label>
          <oc-select
            block
            id="provider"
            label=${t("Provider")}
            .value=${provider?.id ?? ""}
            .options=${this.providers.map(({ id, label, hasKey }) => ({ value: id, label, hint: hasKey ? t("has a key") : undefined }))}
            @choose=${(event: CustomEvent<string>) => (this.chosen = event.detail)}
          ></oc-select>
          ${provider?.help === undefined ? nothing : html`<p class="faint">${followable(provider.help)}</p>`}
          ${provider?.hasKey ? html`<p class="faint">${t`A key already exists${provider.from === undefined ? "" : ` (${provider.from})`}; a new one replaces it.`}</p>` : nothing}
        </div>
        <div class="field">
          <label for="key">${t("Key")}</label>
          <input
            id="key"
            type="password"
            autocomplete="off"
            spellcheck="false"
            maxlength="8192"
            .value=${this.key}
            @input=${(event: InputEvent) => (this.key = (event.target as HTMLInputElement).value)}
          />
          ${provider?.model === undefined ? nothing : html`<p class="faint">${t("With this key,")} <span class="mono">${provider.model}</span> ${t("can answer.")}</p>`}
        </div>
        <div>
          <button class="primary" ?disabled=${this.busy || (this.key.trim() === "" && !asIs)}>
            ${this.busy ? t("Checking…") : asIs ? t("Check the existing key") : t("Check and save")}
          </button>
        </div>
      </form>
      <div aria-live="polite">${outcome ? this.outcomeView(outcome) : nothing}</div>
    </section>`;
  }
}
customElements.define("oc-start-key", KeyCard);
