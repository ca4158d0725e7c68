import { css, html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { dataTable, tableLook } from "../../parts/data-table.ts";
import { emptyLook, emptyState } from "../../parts/empty.ts";
import "../../parts/filter-box.ts";
import { inspectorLook } from "../../parts/inspector.ts";
import { pageHead, pageHeadLook } from "../../parts/page-head.ts";
import { failedNote, missingNote, pageLook } from "../../parts/page-look.ts";
import { skeleton, skeletonLook } from "../../parts/skeleton.ts";
import { stateDot } from "../../parts/state.ts";
import "../../parts/switch.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import "./install-form.ts";
import "./plugin-detail.ts";
import { inOrder, timingsOf, type Diagnostic, type Plugin, type Stats } from "./plugin-facts.ts";
import { t } from "../../words/words.ts";

const STATES = { loaded: ["good", t("Running")], disabled: ["", t("Off")], error: ["bad", t("Failed")] } as const;
const stateOf = ({ status, enabled }: Plugin): TemplateResult => {
  const [tone, word] = STATES[status];
  return status === "loaded" && !enabled ? stateDot("warn", t("Off after a restart")) : stateDot(tone, word);
};

/** Every plugin that was found: what it brings, what it may do, how its hooks do; on and off, installing and removing. */
export class PluginsPage extends Page {
  static override styles = [
    sheet,
    pageLook,
    pageHeadLook,
    tableLook,
    inspectorLook,
    emptyLook,
    skeletonLook,
    css`
      .what {
        max-width: 70ch;
      }
      .failed {
        color: var(--bad);
        font-size: var(--type-ui);
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

  private async change(id: string, work: () => Promise<string>, undo?: () => void): Promise<void> {
    this.busy = id;
    const said = await this.attempt(work);
    if (said !== undefined) this.context.toasts.say(said, undo && { label: t("Undo"), run: undo });
    this.busy = undefined;
    if (this.context.link.state.value.kind === "open") await this.load();
  }

  private async turn({ id, name }: Plugin, enabled: boolean, undo?: () => void): Promise<void> {
    const work = async (): Promise<string> => {
      const { does, notes } = await this.context.link.request("plugins.enable", { id, enabled }, { timeoutMs: 60_000 });
      return [enabled ? t`${name} is on.` : t`${name} is off.`, does, ...notes].join(" ");
    };
    await this.change(id, work, undo);
  }

  private async reload({ id, name }: Plugin): Promise<void> {
    await this.change(id, async () => {
      const { diagnostics } = await this.context.link.request("plugins.reload", { id }, { timeoutMs: 60_000 });
      return [t`${name} was reloaded.`, ...diagnostics.map(({ message }) => message)].join(" ");
    });
  }

  private async uninstall({ id, name }: Plugin): Promise<void> {
    const { dialogs, link, router } = this.context;
    const body = t("Its files and configuration will be removed.");
    if (!(await dialogs.confirm({ title: t`Remove ${name}?`, body, yes: t("Remove"), danger: true }))) return;
    await this.change(id, async () => {
      const { does } = await link.request("plugins.uninstall", { id }, { timeoutMs: 60_000 });
      router.go("plugins");
      return t`${name} was removed. ${does}`;
    });
  }

  private switchOf(plugin: Plugin): TemplateResult | typeof nothing {
    if (!this.context.link.has("plugins.enable")) return nothing;
    return html`<oc-switch
      label=${plugin.name}
      .checked=${plugin.enabled}
      ?disabled=${this.busy !== undefined}
      @turn=${(event: CustomEvent<boolean>) => void this.turn(plugin, event.detail, () => void this.turn(plugin, !event.detail))}
    ></oc-switch>`;
  }

  private table(plugins: readonly Plugin[], chosen: string | undefined): TemplateResult {
    const failures = (id: string): number => timingsOf(this.stats, id).reduce((sum, { failures: failed }) => sum + failed, 0);
    return html`<div class="data-card">
      ${dataTable<Plugin>({
        label: t("Plugins"),
        rows: plugins,
        keyOf: ({ id }) => id,
        chosen,
        open: ({ id }) => this.context.router.go(place("plugins", [id])),
        columns: [
          {
            head: t("Plugin"),
            cell: ({ id, name, description, error }) =>
              html`<a class="name" href=${place("plugins", [id])}>${name}</a
                >${error === undefined ? html`<div class="faint what">${description ?? nothing}</div>` : html`<div class="failed words">${error}</div>`}`,
          },
          {
            head: t("State"),
            cell: (plugin) =>
              html`${stateOf(plugin)} ${failures(plugin.id) > 0 ? html`<span class="badge warn">${t`${failures(plugin.id)} hook failures`}</span>` : nothing}`,
          },
          ...(chosen === undefined
            ? [
                { head: t("From"), isWide: true, cell: ({ origin }: Plugin) => html`<span class="soft">${origin}</span>` },
                { head: t("Version"), isWide: true, isNumber: true, cell: ({ version }: Plugin) => html`<span class="soft">${version ?? "–"}</span>` },
              ]
            : []),
          { head: t("Enabled"), isNumber: true, cell: (plugin) => this.switchOf(plugin) },
        ],
      })}
    </div>`;
  }

  private list(plugins: readonly Plugin[], chosen: string | undefined): TemplateResult {
    const shown = inOrder(plugins, this.filter);
    const loose = this.diagnostics.filter(({ pluginId }) => pluginId === undefined || !plugins.some(({ id }) => id === pluginId));
    return html`${loose.map(({ level, message }) => html`<div class="note ${level === "error" ? "bad" : "warn"}">${message}</div>`)}
    ${
      shown.length > 0
        ? this.table(shown, chosen)
        : plugins.length === 0
          ? emptyState({
              icon: "plugins",
              title: t("No plugins yet"),
              text: t("Plugins add channels, tools and hooks. Install one, or add one to the workspace."),
              action: this.context.link.has("plugins.install")
                ? html`<button @click=${() => (this.installing = true)}>${t("Install plugin")}</button>`
                : nothing,
            })
          : emptyState({ icon: "search", title: t("No matching plugins") })
    }`;
  }

  private inspector(id: string, plugins: readonly Plugin[]): TemplateResult {
    const { link, router } = this.context;
    const plugin = plugins.find((each) => each.id === id);
    const close = (): void => router.go("plugins");
    if (!plugin) return html`<oc-inspector .heading=${id} @close=${close}><p>${t`There is no plugin “${id}”.`}</p></oc-inspector>`;
    const stuck = this.busy !== undefined;
    return html`<oc-inspector .heading=${plugin.name} @close=${close}>
      <div class="row">${stateOf(plugin)}<span class="grow"></span>${this.switchOf(plugin)}</div>
      ${plugin.description === undefined ? nothing : html`<p class="soft">${plugin.description}</p>`}
      <div class="row wrap">
        ${plugin.configSchema ? html`<a class="button" href=${place("config", [], { path: `plugins.entries.${id}` })}>${icon("config", 16)}${t("Settings")}</a>` : nothing}
        ${plugin.enabled && link.may("operator.admin") ? html`<button class="plain" ?disabled=${stuck} @click=${() => void this.reload(plugin)}>${icon("retry", 16)}${t("Reload")}</button>` : nothing}
        ${plugin.origin === "global" && link.has("plugins.uninstall") ? html`<button class="plain danger" ?disabled=${stuck} @click=${() => void this.uninstall(plugin)}>${t("Remove")}</button>` : nothing}
      </div>
      <oc-plugin-detail
        .plugin=${plugin}
        .stats=${this.stats}
        .config=${this.config}
        .diagnostics=${this.diagnostics.filter(({ pluginId }) => pluginId === id)}
      ></oc-plugin-detail>
    </oc-inspector>`;
  }

  protected override render(): TemplateResult {
    const { link } = this.context;
    const [id] = this.route.rest;
    const { plugins } = this;
    const on = plugins?.filter(({ enabled }) => enabled).length ?? 0;
    const actions = html`<oc-filter-box
        label=${t("Search plugins")}
        .value=${this.filter}
        @filter=${(event: CustomEvent<string>) => (this.filter = event.detail)}
      ></oc-filter-box>
      ${link.has("plugins.install") ? html`<button aria-expanded=${this.installing} @click=${() => (this.installing = !this.installing)}>${icon("plus", 16)}${t("Install")}</button>` : nothing}`;
    return html`<div class="filled">
      ${pageHead({ title: t("Plugins"), fact: plugins ? t`${on} of ${plugins.length} enabled` : nothing, actions })}
      <div class="with-inspector">
        <div class="scroller">
          <div class="page">
            ${this.failure === undefined ? nothing : failedNote(this.failure, () => void this.load())}
            ${this.installing ? html`<oc-install-form .context=${this.context} @installed=${() => void this.load()}></oc-install-form>` : nothing}
            ${plugins ? this.list(plugins, id) : this.failure === undefined ? skeleton(8) : nothing}
            ${!plugins || link.has("plugins.enable") ? nothing : missingNote(t("Turning plugins on and off"))}
          </div>
        </div>
        ${plugins && id !== undefined ? this.inspector(id, plugins) : nothing}
      </div>
    </div>`;
  }
}
customElements.define("oc-plugins-page", PluginsPage);
