import { css, html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/avatar.ts";
import { facts, factsLook } from "../../parts/key-value.ts";
import { failedNote, loadingLine, missingNote, pageLook } from "../../parts/page-look.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import { linesOf, type AgentLine } from "./agent-facts.ts";
import "./agent-files.ts";
import "./agent-form.ts";
import "./agent-skills.ts";
import "./agent-tools.ts";

const TABS = [
  ["", "About"],
  ["files", "Files"],
  ["skills", "Skills"],
  ["tools", "Tools"],
] as const;

/** Who answers: agents, the files that shape them, their skills and tools. */
export class AgentsPage extends Page {
  static override styles = [
    sheet,
    factsLook,
    pageLook,
    css`
      nav {
        display: flex;
        gap: 4px;
        margin-bottom: 18px;
        border-bottom: 1px solid var(--line);
        overflow-x: auto;
      }
      nav a {
        padding: 8px 14px;
        color: var(--ink-soft);
        text-decoration: none;
        border-bottom: 2px solid transparent;
      }
      nav a[aria-current="page"] {
        color: var(--ink);
        border-color: var(--accent);
      }
      .cards {
        grid-template-columns: repeat(auto-fill, minmax(min(300px, 100%), 1fr));
      }
      .card h3 {
        margin-bottom: 8px;
      }
      .large {
        --avatar: 44px;
      }
      oc-agent-form {
        display: block;
        margin: 16px 0;
      }
    `,
  ];
  @state() private found: MethodResult<"agents.list"> | undefined;
  @state() private config: unknown;
  @state() private failure: string | undefined;
  @state() private making = false;

  override async load(): Promise<void> {
    const { link } = this.context;
    try {
      const [found, config] = await Promise.all([link.request("agents.list", {}), link.request("config.get", {}).catch(() => undefined)]);
      this.found = found;
      this.config = config?.config;
      this.failure = undefined;
    } catch (error) {
      this.failure = failureText(error);
    }
  }

  protected override routeChanged(): void {
    if (this.found === undefined) void this.load();
  }

  private async discard({ id, name }: AgentLine): Promise<void> {
    const { dialogs, link, router } = this.context;
    const body = "Its settings and the bindings to it are removed, and its scheduled jobs are switched off. The files of its workspace stay.";
    if (!(await dialogs.confirm({ title: `Delete ${name}?`, body, yes: "Delete", danger: true }))) return;
    const gone = await this.attempt(() => link.request("agents.delete", { agentId: id, deleteFiles: false }), `${name} was deleted.`);
    if (!gone) return;
    router.go("agents");
    await this.load();
  }

  private about(agent: AgentLine): TemplateResult {
    const { link } = this.context;
    return html`<section class="card">
        ${facts([
          ["Id", html`<code>${agent.id}</code>`],
          ["Default", agent.isDefault ? "yes: it answers where no binding says otherwise" : "no"],
          ["Model", agent.model === "" ? "chosen by the gateway" : html`<code>${agent.model}</code>`],
          ["Workspace", agent.workspace === "" ? undefined : html`<code>${agent.workspace}</code>`],
          ["Sessions", html`<a href="sessions">All sessions</a>`],
          ["Settings", html`<a href=${place("config", [], { path: "agents" })}><code>agents</code> in the configuration</a>`],
        ])}
      </section>
      ${link.has("agents.update") ? html`<oc-agent-form .context=${this.context} .agent=${agent} @saved=${() => void this.load()}></oc-agent-form>` : missingNote("Changing an agent with a form")}
      ${link.has("agents.delete") && !agent.isDefault ? html`<button class="danger" @click=${() => void this.discard(agent)}>Delete this agent</button>` : nothing}`;
  }

  private tab(agent: AgentLine, tab: string): TemplateResult {
    const { context } = this;
    if (tab === "files") return html`<oc-agent-files .context=${context} .agentId=${agent.id}></oc-agent-files>`;
    if (tab === "skills") return html`<oc-agent-skills .context=${context} .agentId=${agent.id}></oc-agent-skills>`;
    if (tab === "tools") return html`<oc-agent-tools .context=${context} .agentId=${agent.id}></oc-agent-tools>`;
    return this.about(agent);
  }

  private one(id: string, tab: string, agents: readonly AgentLine[]): TemplateResult {
    const agent = agents.find((each) => each.id === id);
    if (!agent)
      return html`<a class="back" href="agents">All agents</a>
        <div class="empty">There is no agent “${id}”.</div>`;
    return html`<a class="back" href="agents">All agents</a>
      <header class="head">
        <h1 class="row"><oc-avatar class="large" .looks=${agent}></oc-avatar> ${agent.name}</h1>
        ${agent.isDefault ? html`<span class="badge info">default</span>` : nothing}
        <a class="button primary" href=${place("chat", [`agent:${agent.id}:${this.found?.mainKey ?? "main"}`])}>Open chat</a>
      </header>
      <nav aria-label="Parts of the agent">
        ${TABS.map(([path, words]) => html`<a href=${place("agents", path === "" ? [id] : [id, path])} aria-current=${path === tab ? "page" : "false"}>${words}</a>`)}
      </nav>
      ${this.tab(agent, tab)}`;
  }

  private all(agents: readonly AgentLine[]): TemplateResult {
    const makes = this.context.link.has("agents.create");
    return html`<header class="head">
        <h1>Agents</h1>
        ${makes ? html`<button aria-expanded=${this.making} @click=${() => (this.making = !this.making)}>${icon("plus", 16)}New agent</button>` : nothing}
      </header>
      ${this.making ? html`<oc-agent-form .context=${this.context} @saved=${(event: CustomEvent<string>) => void this.made(event.detail)}></oc-agent-form>` : nothing}
      <ul class="cards list">
        ${agents.map(
          (agent) =>
            html`<li class="card">
              <h3 class="row">
                <oc-avatar .looks=${agent}></oc-avatar>
                <a href=${place("agents", [agent.id])}>${agent.name}</a> ${agent.isDefault ? html`<span class="badge info">default</span>` : nothing}
              </h3>
              ${facts([
                ["Id", html`<code>${agent.id}</code>`],
                ["Model", agent.model === "" ? "chosen by the gateway" : agent.model],
                ["Workspace", agent.workspace === "" ? undefined : html`<code>${agent.workspace}</code>`],
              ])}
            </li>`,
        )}
      </ul>
      ${
        makes
          ? nothing
          : html`<br />${missingNote("Making agents with a form")}
              <p class="faint"><a href=${place("config", [], { path: "agents.list" })}>Add one in the configuration</a></p>`
      }`;
  }

  private async made(id: string): Promise<void> {
    this.making = false;
    await this.load();
    this.context.router.go(place("agents", [id]));
  }

  protected override render(): TemplateResult {
    const [id, tab = ""] = this.route.rest;
    const failed = this.failure === undefined ? nothing : failedNote(this.failure, () => void this.load());
    if (!this.found)
      return html`<div class="page">
        <h1>Agents</h1>
        <br />${this.failure === undefined ? loadingLine() : failed}
      </div>`;
    const agents = linesOf(this.found, this.config);
    return html`<div class="page">${failed}${id === undefined ? this.all(agents) : this.one(id, tab, agents)}</div>`;
  }
}
customElements.define("oc-agents-page", AgentsPage);
