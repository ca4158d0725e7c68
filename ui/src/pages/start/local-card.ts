import { html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { cardLook } from "./card-look.ts";
import type { Outcome, SetupStatus } from "./outcome.ts";

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
    if (models.length === 0) return html`<li><strong>${label}</strong> runs at <span class="mono">${url}</span> and has no model yet.</li>`;
    return html`<li class="field">
      <label for="model-${id}">${label} <span class="badge good">running</span></label>
      <div class="row">
        <select id="model-${id}" @change=${(event: Event) => (this.models = { ...this.models, [id]: (event.target as HTMLSelectElement).value })}>
          ${models.map((name) => html`<option ?selected=${name === model}>${name}</option>`)}
        </select>
        <button class="primary" ?disabled=${this.busy} @click=${() => this.say({ id, model })}>Use it</button>
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
    return html`<details ?open=${!this.servers.some(({ running }) => running)}>
      <summary>Another address</summary>
      <form @submit=${this.submit}>
        <div class="field">
          <label for="kind">Server</label>
          <select id="kind" @change=${typed((text) => (this.kind = text))}>
            ${this.servers.map(({ id, label }) => html`<option value=${id} ?selected=${id === chosen?.id}>${label}</option>`)}
          </select>
        </div>
        <div class="field">
          <label for="url">Address</label>
          <input id="url" type="text" inputmode="url" placeholder=${chosen?.url ?? ""} .value=${this.url} @input=${typed((text) => (this.url = text))} />
        </div>
        <div class="field">
          <label for="model">Model</label>
          <input id="model" type="text" placeholder="As the server calls it" .value=${this.model} @input=${typed((text) => (this.model = text))} />
        </div>
        <div><button ?disabled=${this.busy || this.model.trim() === ""}>${this.busy ? "Looking …" : "Use it"}</button></div>
      </form>
    </details>`;
  }

  protected override render(): TemplateResult {
    const running = this.servers.filter((server) => server.running);
    const others = this.servers.filter((server) => !server.running).map(({ label }) => label);
    return html`<section class="card ${this.wanted ? "wanted" : ""}" aria-labelledby="title">
      <h2 id="title" tabindex="-1">${icon("devices")} Use a local model</h2>
      <p class="soft">Nothing leaves this machine, and nothing costs.</p>
      ${
        running.length > 0
          ? html`<ul aria-label="Servers found">
              ${running.map((server) => this.server(server))}
            </ul>`
          : html`<p>
              No server was found${others.length > 0 ? ` (looked for ${others.join(", ")})` : ""}. Start one, then
              <button class="small" ?disabled=${this.busy} @click=${() => this.dispatchEvent(new CustomEvent("look"))}>look again</button>
            </p>`
      }
      ${this.servers.length > 0 ? this.address() : nothing}
      <div aria-live="polite">${this.outcome ? html`<p class="note ${this.outcome.look}">${this.outcome.text}</p>` : nothing}</div>
    </section>`;
  }
}
customElements.define("oc-start-local", LocalCard);
