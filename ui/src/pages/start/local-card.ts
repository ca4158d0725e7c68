import { html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/disclosure.ts";
import "../../parts/select.ts";
import { cardLook } from "./card-look.ts";
import type { Outcome, SetupStatus } from "./outcome.ts";
import { t } from "../../words/words.ts";

type Server = SetupStatus["local"][number];

/** A model on this machine in one step. Says `local` {id, url?, model} and `look`. */
export class LocalCard extends LitElement {
  static override styles = [sheet, cardLook];
  @property({ attribute: false }) servers: readonly Server[] = [];
  @property({ attribute: false }) outcome: Outcome | undefined;
  @property({ type: Boolean }) busy = false;
  @property({ type: Boolean }) wanted = false;
  @state() private models: Readonly<Record<string, string>> = {};
  @state() private kind = "";
  @state() private url = "";
  @state() private model = "";

  private say(detail: { readonly id: string; readonly url?: string; readonly model: string }): void {
    this.dispatchEvent(new CustomEvent("local", { detail }));
  }

  private server({ id, label, url, models }: Server): TemplateResult {
    const model = this.models[id] ?? models[0] ?? "";
    if (models.length === 0) return html`<li><strong>${label}</strong> ${t("runs at")} <span class="mono">${url}</span> ${t("and has no model yet.")}</li>`;
    return html`<li class="field">
      <label for="model-${id}">${label} <span class="badge good">${t("Running")}</span></label>
      <div class="row">
        <oc-select
          block
          class="grow"
          id="model-${id}"
          label=${label}
          .value=${model}
          .options=${models.map((name) => ({ value: name, label: name }))}
          @choose=${(event: CustomEvent<string>) => (this.models = { ...this.models, [id]: event.detail })}
        ></oc-select>
        <button class="primary" ?disabled=${this.busy} @click=${() => this.say({ id, model })}>${t("Use model")}</button>
      </div>
    </li>`;
  }

  private submit(event: Event): void {
    event.preventDefault();
    const id = this.kind || this.servers[0]?.id;
    if (id === undefined || this.model.trim() === "") return;
    this.say({ id, model: this.model.trim(), ...(this.url.trim() === "" ? {} : { url: this.url.trim() }) });
  }

  private address(): TemplateResult {
    const chosen = this.servers.find(({ id }) => id === this.kind) ?? this.servers[0];
    const typed = (set: (text: string) => void) => (event: Event) => set((event.target as HTMLInputElement).value);
    return html`<oc-disclosure label=${t("Another address")} ?open=${!this.servers.some(({ running }) => running)}>
      <form @submit=${this.submit}>
        <div class="field">
          <label for="kind">${t("Server")}</label>
          <oc-select
            block
            id="kind"
            label=${t("Server")}
            .value=${chosen?.id ?? ""}
            .options=${this.servers.map(({ id, label }) => ({ value: id, label }))}
            @choose=${(event: CustomEvent<string>) => (this.kind = event.detail)}
          ></oc-select>
        </div>
        <div class="field">
          <label for="url">${t("Address")}</label>
          <input id="url" type="text" inputmode="url" placeholder=${chosen?.url ?? ""} .value=${this.url} @input=${typed((text) => (this.url = text))} />
        </div>
        <div class="field">
          <label for="model">${t("Model")}</label>
          <input id="model" type="text" placeholder=${t("Model name on the server")} .value=${this.model} @input=${typed((text) => (this.model = text))} />
        </div>
        <div><button ?disabled=${this.busy || this.model.trim() === ""}>${this.busy ? t("Loading…") : t("Use model")}</button></div>
      </form>
    </oc-disclosure>`;
  }

  protected override render(): TemplateResult {
    const running = this.servers.filter((server) => server.running);
    const others = this.servers.filter((server) => !server.running).map(({ label }) => label);
    return html`<section class="card ${this.wanted ? "wanted" : ""}" aria-labelledby="title">
      <h2 id="title" tabindex="-1">${icon("devices")} ${t("Use a local model")}</h2>
      <p class="soft">${t("Free and private: nothing leaves this machine.")}</p>
      ${
        running.length > 0
          ? html`<ul aria-label=${t("Servers found")}>
              ${running.map((server) => this.server(server))}
            </ul>`
          : html`<p>
              ${t`No server was found${others.length > 0 ? t` (tried ${others.join(", ")})` : ""}. Start one, then`}
              <button class="small" ?disabled=${this.busy} @click=${() => this.dispatchEvent(new CustomEvent("look"))}>${t("search again")}</button>
            </p>`
      }
      ${this.servers.length > 0 ? this.address() : nothing}
      <div aria-live="polite">${this.outcome ? html`<p class="note ${this.outcome.look}">${this.outcome.text}</p>` : nothing}</div>
    </section>`;
  }
}
customElements.define("oc-start-local", LocalCard);
