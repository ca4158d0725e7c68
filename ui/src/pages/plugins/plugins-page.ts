import { css, html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/filter-box.ts";
import { failedNote, loadingLine, missingNote, pageLook } from "../../parts/page-look.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import "./install-form.ts";
import "./plugin-detail.ts";
import { inOrder, timingsOf, type Diagnostic, type Plugin, type Stats } from "./plugin-facts.ts";

const STATES = { loaded: ["good", "on"], disabled: ["", "off"], error: ["bad", "broken"] } as const;
const stateBadge = ({ status, enabled }: Plugin): TemplateResult => {
  const [look, word] = STATES[status];
  return html`<span class="badge ${look}">${status === "loaded" && !enabled ? "off after a restart" : word}</span>`;
};

/** Every plugin that was found: what it brings, what it may do, how its hooks do; on and off, installing and removing. */
export class PluginsPage extends Page {
  static override styles = [
    sheet,
    pageLook,
    css`
      td.words {
        max-width: 460px;
      }
      .failed {
        color: var(--bad);
        font-size: 13px;
      }
      oc-install-form {
        display: block;
        margin-bottom: 18px;
      }
    `,
  ];
  @state() private plugins: readonly Plugin[] | undefined;
  @state() private diagnostics: readonly Diagnostic[] = [];
  @state() private stats: Stats | undefined;
  @state() private config: unknown;
  @state() private failure: string | undefined;
  @state() private filter = "";
  @state() private installing = false;
  /** The plugin that is being changed. */
  @state() private busy: string | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.every(5000, () => void this.loadStats());
  }

  override async load(): Promise<void> {
    const { link } = this.context;
    try {
      const [found, config] = await Promise.all([link.request("plugins.list", {}), link.request("config.get", {}).catch(() => undefined)]);
      this.plugins = found.plugins;
      this.diagnostics = found.diagnostics;
      this.config = config?.config;
      this.failure = undefined;
    } catch (error) {
      this.failure = failureText(error);
    }
    await this.loadStats();
  }

  private async loadStats(): Promise<void> {
    this.stats = await this.context.link.request("plugins.stats", {}).catch(() => this.stats);
  }

  private async change(id: string, work: () => Promise<string>): Promise<void> {
    this.busy = id;
    const said = await this.attempt(work);
    if (said !== undefined) this.context.toasts.say(said);
    this.busy = undefined;
    if (this.context.link.state.value.kind === "open") await this.load();
  }

  private async turn({ id, name }: Plugin, enabled: boolean): Promise<void> {
    await this.change(id, async () => {
      const { does, notes } = await this.context.link.request("plugins.enable", { id, enabled }, { timeoutMs: 60_000 });
      return [`${name} is ${enabled ? "on" : "off"}.`, does, ...notes].join(" ");
    });
  }

  private async reload({ id, name }: Plugin): Promise<void> {
    await this.change(id, async () => {
      const { diagnostics } = await this.context.link.request("plugins.reload", { id }, { timeoutMs: 60_000 });
      return [`${name} was reloaded.`, ...diagnostics.map(({ message }) => message)].join(" ");
    });
  }

  private async uninstall({ id, name }: Plugin): Promise<void> {
    const { dialogs, link, router } = this.context;
    const body = "Its files are removed, and what the configuration says of it.";
    if (!(await dialogs.confirm({ title: `Remove ${name}?`, body, yes: "Remove", danger: true }))) return;
    await this.change(id, async () => {
      const { does } = await link.request("plugins.uninstall", { id }, { timeoutMs: 60_000 });
      router.go("plugins");
      return `${name} was removed. ${does}`;
    });
  }

  private switchButton(plugin: Plugin, look = "small"): TemplateResult | typeof nothing {
    if (!this.context.link.has("plugins.enable")) return nothing;
    const word = plugin.enabled ? "Turn off" : "Turn on";
    return html`<button
      class=${look}
      aria-label=${`${word} ${plugin.name}`}
      ?disabled=${this.busy !== undefined}
      @click=${() => void this.turn(plugin, !plugin.enabled)}
    >
      ${this.busy === plugin.id ? "Working…" : word}
    </button>`;
  }

  private row(plugin: Plugin): TemplateResult {
    const failed = timingsOf(this.stats, plugin.id).reduce((sum, { failures }) => sum + failures, 0);
    return html`<tr>
      <td class="words">
        <a href=${place("plugins", [plugin.id])}>${plugin.name}</a>
        ${plugin.description === undefined ? nothing : html`<div class="faint">${plugin.description}</div>`}
        ${plugin.error === undefined ? nothing : html`<div class="failed words">${plugin.error}</div>`}
      </td>
      <td>${stateBadge(plugin)} ${failed > 0 ? html`<span class="badge warn">${failed} hook failures</span>` : nothing}</td>
      <td class="less">${plugin.origin}</td>
      <td class="less">${plugin.version ?? "–"}</td>
      <td class="num">${this.switchButton(plugin)}</td>
    </tr>`;
  }

  private list(plugins: readonly Plugin[]): TemplateResult {
    const shown = inOrder(plugins, this.filter);
    const loose = this.diagnostics.filter(({ pluginId }) => pluginId === undefined || !plugins.some(({ id }) => id === pluginId));
    return html`${loose.map(({ level, message }) => html`<div class="note ${level === "error" ? "bad" : "warn"}">${message}</div>`)}
    ${
      shown.length === 0
        ? html`<div class="empty">${plugins.length === 0 ? "No plugins yet. Install one, or add one to the workspace." : "No matching plugins"}</div>`
        : html`<div class="scroll">
            <table>
              <thead>
                <tr>
                  <th>Plugin</th>
                  <th>State</th>
                  <th class="less">From</th>
                  <th class="less">Version</th>
                  <td></td>
                </tr>
              </thead>
              <tbody>
                ${shown.map((plugin) => this.row(plugin))}
              </tbody>
            </table>
          </div>`
    }`;
  }

  private one(id: string, plugins: readonly Plugin[]): TemplateResult {
    const { link } = this.context;
    const plugin = plugins.find((each) => each.id === id);
    if (!plugin)
      return html`<a class="back" href="plugins">All plugins</a>
        <div class="empty">There is no plugin “${id}”.</div>`;
    const stuck = this.busy !== undefined;
    return html`<a class="back" href="plugins">All plugins</a>
      <header class="head">
        <h1>${plugin.name}</h1>
        ${stateBadge(plugin)} ${this.switchButton(plugin, "")}
        ${plugin.enabled && link.may("operator.admin") ? html`<button ?disabled=${stuck} @click=${() => void this.reload(plugin)}>${icon("retry", 16)}Reload</button>` : nothing}
        ${plugin.configSchema ? html`<a class="button" href=${place("config", [], { path: `plugins.entries.${id}` })}>Settings</a>` : nothing}
        ${plugin.origin === "global" && link.has("plugins.uninstall") ? html`<button class="danger" ?disabled=${stuck} @click=${() => void this.uninstall(plugin)}>Remove</button>` : nothing}
      </header>
      ${
        plugin.description === undefined
          ? nothing
          : html`<p class="soft">${plugin.description}</p>
              <br />`
      }
      <oc-plugin-detail
        .plugin=${plugin}
        .stats=${this.stats}
        .config=${this.config}
        .diagnostics=${this.diagnostics.filter(({ pluginId }) => pluginId === id)}
      ></oc-plugin-detail>`;
  }

  protected override render(): TemplateResult {
    const { link } = this.context;
    const [id] = this.route.rest;
    const failed = this.failure === undefined ? nothing : failedNote(this.failure, () => void this.load());
    if (!this.plugins)
      return html`<div class="page">
        <h1>Plugins</h1>
        <br />${this.failure === undefined ? loadingLine() : failed}
      </div>`;
    if (id !== undefined) return html`<div class="page">${failed}${this.one(id, this.plugins)}</div>`;
    return html`<div class="page">
      <header class="head">
        <h1>Plugins</h1>
        <oc-filter-box label="Search plugins" .value=${this.filter} @filter=${(event: CustomEvent<string>) => (this.filter = event.detail)}></oc-filter-box>
        ${link.has("plugins.install") ? html`<button aria-expanded=${this.installing} @click=${() => (this.installing = !this.installing)}>${icon("plus", 16)}Install</button>` : nothing}
      </header>
      ${failed} ${this.installing ? html`<oc-install-form .context=${this.context} @installed=${() => void this.load()}></oc-install-form>` : nothing}
      ${this.list(this.plugins)} ${link.has("plugins.enable") ? nothing : missingNote("Turning plugins on and off")}
    </div>`;
  }
}
customElements.define("oc-plugins-page", PluginsPage);
