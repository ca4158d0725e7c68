import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import { pageLook } from "../../parts/page-look.ts";
import type { PageContext } from "../../shell/context.ts";
import type { AgentLine } from "./agent-facts.ts";

/** Makes an agent, or changes one. Sends `saved` with its id. */
export class AgentForm extends LitElement {
  static override styles = [
    sheet,
    pageLook,
    css`
      .fields {
        margin: 12px 0;
      }
    `,
  ];
  @property({ attribute: false }) context!: PageContext;
  /** Without it one is made. */
  @property({ attribute: false }) agent: AgentLine | undefined;
  @state() private busy = false;
  @state() private templates: MethodResult<"agents.templates">["templates"] = [];
  @state() private chosen = "personal";

  override connectedCallback(): void {
    super.connectedCallback();
    if (!this.agent) void this.loadTemplates();
  }

  /** Without them an agent is made as before: the form goes without the choice. */
  private async loadTemplates(): Promise<void> {
    const { link } = this.context;
    if (!link.has("agents.templates")) return;
    this.templates = await link.request("agents.templates", {}).then(
      ({ templates }) => templates,
      () => [],
    );
  }

  private async save(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const word = (name: string): string => form.querySelector<HTMLInputElement>(`[name=${name}]`)?.value.trim() ?? "";
    const { link, toasts } = this.context;
    const [name, workspace, model, emoji] = [word("name"), word("workspace"), word("model"), word("emoji")];
    this.busy = true;
    try {
      const { agentId } = this.agent
        ? await link.request("agents.update", {
            agentId: this.agent.id,
            ...(name ? { name } : {}),
            ...(workspace ? { workspace } : {}),
            ...(model ? { model } : {}),
          })
        : await link.request("agents.create", {
            name,
            workspace,
            ...(emoji ? { emoji } : {}),
            ...(this.templates.length > 0 ? { template: this.chosen } : {}),
          });
      toasts.say(`${name || agentId} was saved.`);
      this.dispatchEvent(new CustomEvent<string>("saved", { detail: agentId }));
    } catch (error) {
      toasts.warn(failureText(error));
    } finally {
      this.busy = false;
    }
  }

  private templateField(): TemplateResult | typeof nothing {
    const { templates, chosen } = this;
    if (templates.length === 0) return nothing;
    return html`<label
      >Template
      <select name="template" @change=${(event: Event) => (this.chosen = (event.target as HTMLSelectElement).value)}>
        ${templates.map(({ id, label }) => html`<option value=${id} ?selected=${id === chosen}>${label}</option>`)}
      </select>
      <span class="faint">${templates.find(({ id }) => id === chosen)?.summary}</span>
    </label>`;
  }

  protected override render(): TemplateResult {
    const { agent } = this;
    return html`<form class="card" @submit=${this.save}>
      <h2>${agent ? "Edit agent" : "New agent"}</h2>
      <div class="fields">
        ${agent ? nothing : this.templateField()}
        <label>Name <input name="name" required .value=${agent?.name ?? ""} autocomplete="off" /></label>
        <label
          >Workspace, a folder on the gateway
          <input name="workspace" ?required=${!agent} .value=${agent?.workspace ?? ""} autocomplete="off" spellcheck="false"
        /></label>
        ${
          agent
            ? html`<label>Model <input name="model" .value=${agent.model} placeholder="provider/model" autocomplete="off" spellcheck="false" /></label>`
            : html`<label>Emoji <input name="emoji" maxlength="8" autocomplete="off" /></label>`
        }
      </div>
      <button class="primary" ?disabled=${this.busy}>${agent ? "Save" : "Create"}</button>
    </form>`;
  }
}
customElements.define("oc-agent-form", AgentForm);
