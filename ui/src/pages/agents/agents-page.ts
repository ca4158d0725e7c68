import { css, html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { keyed } from "lit/directives/keyed.js";
import type { MethodResult } from "openclaw/client";
import { plural } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/avatar.ts";
import { dataTable, tableLook } from "../../parts/data-table.ts";
import { emptyLook, emptyState } from "../../parts/empty.ts";
import "../../parts/menu.ts";
import { pageHead, pageHeadLook } from "../../parts/page-head.ts";
import { failedNote, missingNote, pageLook } from "../../parts/page-look.ts";
import { skeleton, skeletonLook } from "../../parts/skeleton.ts";
import { badge } from "../../parts/state.ts";
import { tabs, tabsLook } from "../../parts/tabs.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import { linesOf, type AgentLine } from "./agent-facts.ts";
import "./agent-files.ts";
import "./agent-form.ts";
import "./agent-general.ts";
import "./agent-skills.ts";
import "./agent-tools.ts";
import { t } from "../../words/words.ts";

const TABS = [
  ["", t("General")],
  ["tools", t("Tools")],
  ["skills", t("Skills")],
  ["files", t("Files")],
] as const;

/** Who answers: agents, the files that shape them, their skills and tools. */
export class AgentsPage extends Page {
  static override styles = [
    sheet,
    pageLook,
    pageHeadLook,
    tabsLook,
    tableLook,
    emptyLook,
    skeletonLook,
    css`
      oc-agent-form {
        display: block;
        margin: 0 0 16px;
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
    const body = t("Its settings and bindings are removed, and its scheduled jobs are turned off. The files in its workspace are kept.");
    if (!(await dialogs.confirm({ title: t`Delete ${name}?`, body, yes: t("Delete"), danger: true }))) return;
    const gone = await this.attempt(() => link.request("agents.delete", { agentId: id, deleteFiles: false }), t`${name} was deleted.`);
    if (!gone) return;
    router.go("agents");
    await this.load();
  }

  /** What is written for one agent must not be saved for another. */
  private tab(agent: AgentLine, tab: string): unknown {
    return keyed(agent.id, this.tabOf(agent, tab));
  }

  private tabOf(agent: AgentLine, tab: string): TemplateResult {
    const { context } = this;
    if (tab === "files") return html`<oc-agent-files .context=${context} .agentId=${agent.id}></oc-agent-files>`;
    if (tab === "skills") return html`<oc-agent-skills .context=${context} .agentId=${agent.id}></oc-agent-skills>`;
    if (tab === "tools") return html`<oc-agent-tools .context=${context} .agentId=${agent.id}></oc-agent-tools>`;
    return html`<oc-agent-general .context=${context} .agent=${agent} @saved=${() => void this.load()}></oc-agent-general>`;
  }

  private one(id: string, tab: string, agents: readonly AgentLine[]): TemplateResult {
    const { link } = this.context;
    const parent = { title: t("Agents"), href: place("agents") };
    const agent = agents.find((each) => each.id === id);
    if (!agent)
      return html`${pageHead({ title: id, parent })}
        <div class="page">${emptyState({ icon: "agents", title: t`There is no agent “${id}”.` })}</div>`;
    const remove = { label: t("Delete this agent"), icon: "trash", danger: true, run: () => void this.discard(agent) } as const;
    const entries = [
      { label: t("Memory"), icon: "memory", href: place("memory", [], { agent: id }) },
      { label: t("All sessions"), icon: "sessions", href: "sessions" },
      ...(link.has("agents.delete") && !agent.isDefault ? [remove] : []),
    ] as const;
    return html`${pageHead({
        title: agent.name,
        parent,
        fact: agent.isDefault ? t("default agent") : nothing,
        actions: html`<a class="button" href=${place("chat", [`agent:${agent.id}:${this.found?.mainKey ?? "main"}`])}>${icon("chat", 16)}${t("Open chat")}</a>
          <oc-menu-button label=${t("More about this agent")} .entries=${entries}></oc-menu-button>`,
      })}
      ${tabs(
        t("Agent sections"),
        TABS.map(([path, label]) => ({ label, href: place("agents", path === "" ? [id] : [id, path]), isCurrent: path === tab })),
      )}
      <div class="page">${this.tab(agent, tab)}</div>`;
  }

  private all(agents: readonly AgentLine[]): TemplateResult {
    const makes = this.context.link.has("agents.create");
    const actions = makes
      ? html`<button aria-expanded=${this.making} @click=${() => (this.making = !this.making)}>${icon("plus", 16)}${t("New agent")}</button>`
      : nothing;
    return html`${pageHead({ title: t("Agents"), fact: plural(agents.length, t("agent"), t("agents")), actions })}
      <div class="page">
        ${this.making ? html`<oc-agent-form .context=${this.context} @saved=${(event: CustomEvent<string>) => void this.made(event.detail)}></oc-agent-form>` : nothing}
        <div class="data-card">
          ${dataTable<AgentLine>({
            label: t("Agents"),
            rows: agents,
            keyOf: ({ id }) => id,
            open: ({ id }) => this.context.router.go(place("agents", [id])),
            actions: ({ id }) =>
              html`<a class="button plain small" href=${place("chat", [`agent:${id}:${this.found?.mainKey ?? "main"}`])}>${t("Open chat")}</a>`,
            columns: [
              {
                head: t("Agent"),
                cell: (agent) =>
                  html`<a class="name" href=${place("agents", [agent.id])}><oc-avatar .looks=${agent}></oc-avatar>${agent.name}</a>
                    ${agent.isDefault ? badge("", t("Default")) : nothing}`,
              },
              { head: t("Model"), cell: ({ model }) => (model === "" ? html`<span class="soft">${t("chosen by the gateway")}</span>` : model) },
              { head: t("Workspace"), isWide: true, cell: ({ workspace }) => html`<code class="soft">${workspace}</code>` },
            ],
          })}
        </div>
        ${
          makes
            ? nothing
            : html`<br />${missingNote(t("Creating agents"))}
                <p class="faint"><a href=${place("config", [], { path: "agents.list" })}>${t("Add one in the configuration")}</a></p>`
        }
      </div>`;
  }

  private async made(id: string): Promise<void> {
    this.making = false;
    await this.load();
    this.context.router.go(place("agents", [id]));
  }

  protected override render(): TemplateResult {
    const [id, tab = ""] = this.route.rest;
    const failed = this.failure === undefined ? nothing : html`<div class="page">${failedNote(this.failure, () => void this.load())}</div>`;
    if (!this.found) return html`${pageHead({ title: t("Agents") })}${this.failure === undefined ? html`<div class="page">${skeleton(4)}</div>` : failed}`;
    const agents = linesOf(this.found, this.config);
    return html`${failed}${id === undefined ? this.all(agents) : this.one(id, tab, agents)}`;
  }
}
customElements.define("oc-agents-page", AgentsPage);
