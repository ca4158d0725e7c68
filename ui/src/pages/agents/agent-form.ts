import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/select.ts";
import { pageLook } from "../../parts/page-look.ts";
import type { PageContext } from "../../shell/context.ts";
import { t } from "../../words/words.ts";

/** Makes an agent. Sends `saved` with its id. */
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
  @state() private busy = false;
  @state() private templates: MethodResult<"agents.templates">["templates"] = [];
  @state() private chosen = "personal";

  override connectedCallback(): void {
    super.connectedCallback();
    void this.loadTemplates();
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
    const [name, workspace, emoji] = [word("name"), word("workspace"), word("emoji")];
    this.busy = true;
    try {
      const { agentId } = await link.request("agents.create", {
        name,
        workspace,
        ...(emoji ? { emoji } : {}),
        ...(this.templates.length > 0 ? { template: this.chosen } : {}),
      });
      toasts.say(t`${name || agentId} was saved.`);
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
    return html`<div class="field">
      <label for="template">${t("Template")}</label>
      <oc-select
        block
        id="template"
        name="template"
        label=${t("Template")}
        .value=${chosen}
        .options=${templates.map(({ id, label }) => ({ value: id, label }))}
        @choose=${(event: CustomEvent<string>) => (this.chosen = event.detail)}
      ></oc-select>
      <span class="faint">${templates.find(({ id }) => id === chosen)?.summary}</span>
    </div>`;
  }

  protected override render(): TemplateResult {
    return html`<form class="card" @submit=${this.save}>
      <h2>${t("New agent")}</h2>
      <div class="fields">
        ${this.templateField()}
        <label>${t("Name")} <input name="name" required autocomplete="off" /></label>
        <label>${t("Workspace (folder on the gateway)")} <input name="workspace" required autocomplete="off" spellcheck="false" /></label>
        <label>${t("Emoji")} <input name="emoji" maxlength="8" autocomplete="off" /></label>
      </div>
      <button class="primary" ?disabled=${this.busy}>${t("Create")}</button>
    </form>`;
  }
}
customElements.define("oc-agent-form", AgentForm);
