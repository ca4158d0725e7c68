import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { styleMap } from "../../look/style-map.ts";
import { duration, moment, plural } from "../../base/figures.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { facts, factsLook } from "../../parts/key-value.ts";
import { pageLook } from "../../parts/page-look.ts";
import { place } from "../../shell/router.ts";
import { permissionsOf, registeredBy, timingsOf, type Diagnostic, type HookTiming, type Plugin, type Stats } from "./plugin-facts.ts";
import { locale, t } from "../../words/words.ts";

const ORIGINS = {
  bundled: t("bundled with the gateway"),
  global: t("installed"),
  workspace: t("found in the workspace"),
  config: t("set in the configuration"),
} as const;

/** Everything that is known of one plugin. */
export class PluginDetail extends LitElement {
  static override styles = [
    sheet,
    factsLook,
    pageLook,
    css`
      .bar {
        width: 90px;
        height: 8px;
        margin-top: 6px;
        background: var(--sunken);
        border-radius: 4px;
        overflow: hidden;
      }
      .bar > i {
        display: block;
        height: 100%;
        background: var(--series-2);
      }
      ul.plain {
        list-style: none;
        margin: 0;
        padding: 0;
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        gap: 6px;
        overflow-wrap: anywhere;
      }
      .yes {
        color: var(--good);
      }
      .no {
        color: var(--ink-faint);
      }
      pre {
        white-space: pre-wrap;
        overflow-wrap: anywhere;
        margin: 4px 0 0;
      }
    `,
  ];
  @property({ attribute: false }) plugin!: Plugin;
  @property({ attribute: false }) stats: Stats | undefined;
  @property({ attribute: false }) config: unknown;
  @property({ attribute: false }) diagnostics: readonly Diagnostic[] = [];

  private problems(): TemplateResult | typeof nothing {
    const { error } = this.plugin;
    const remarks = this.diagnostics.filter(({ message }) => message !== error);
    if (error === undefined && remarks.length === 0) return nothing;
    return html`<section aria-label=${t("Problems")}>
      ${
        error === undefined
          ? nothing
          : html`<div class="note bad">
              <strong>${t("Failed to load")}</strong>
              <pre>${error}</pre>
            </div>`
      }
      ${remarks.map(({ level, message, source, line }) => {
        const where = source === undefined ? nothing : html`<div class="faint mono">${source}${line === undefined ? "" : `:${line}`}</div>`;
        return html`<div class=${level === "error" ? "note bad" : "note warn"}>${message}${where}</div>`;
      })}
    </section>`;
  }

  private timing(row: HookTiming): TemplateResult {
    const { breaker } = row;
    const again = breaker?.retryAt === undefined ? "" : t`, retry at ${moment(breaker.retryAt)}`;
    return html`<tr>
      <td>
        <code>${row.hook}</code>
        ${breaker === undefined ? nothing : html`<span class="badge warn">${t`Paused${again}`}</span>`}
        ${row.lastError === undefined ? nothing : html`<div class="faint words">${t`Last error: ${row.lastError}`}</div>`}
      </td>
      <td class="num">${row.calls.toLocaleString(locale)}</td>
      <td class="num">${row.calls === 0 ? "–" : duration(row.averageMs)}</td>
      <td>
        <div class="bar" aria-hidden="true"><i style=${styleMap({ width: `${Math.round(row.share * 100)}%` })}></i></div>
      </td>
      <td class="num">${row.calls === 0 ? "–" : duration(row.maxMs)}</td>
      <td class="num">${row.failures === 0 ? "0" : html`<span class="badge bad">${row.failures}</span>`}</td>
      <td class="num">${row.skipped}</td>
    </tr>`;
  }

  private timings(): TemplateResult | typeof nothing {
    const rows = timingsOf(this.stats, this.plugin.id);
    if (rows.length === 0) return nothing;
    return html`<section>
      <h2>${t("Hooks since startup")}</h2>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>${t("Hook")}</th>
              <th class="num">${t("Calls")}</th>
              <th class="num">${t("Average")}</th>
              <td></td>
              <th class="num">${t("Longest")}</th>
              <th class="num">${t("Failed")}</th>
              <th class="num">${t("Skipped")}</th>
            </tr>
          </thead>
          <tbody>
            ${rows.map((row) => this.timing(row))}
          </tbody>
        </table>
      </div>
    </section>`;
  }

  private permissions(): TemplateResult {
    return html`<section>
      <h2>${t("Permissions")}</h2>
      <ul class="plain">
        ${permissionsOf(this.plugin, this.config).map(
          ({ text, allowed, path }) =>
            html`<li>
              <span class=${allowed ? "yes" : "no"}>${icon(allowed ? "check" : "close", 15)}</span>
              <span class="visually-hidden">${allowed ? t("Allowed:") : t("Not allowed:")}</span> ${text}
              ${path === undefined ? nothing : html`<a class="faint mono" href=${place("config", [], { path })}>${path}</a>`}
            </li>`,
        )}
      </ul>
    </section>`;
  }

  protected override render(): TemplateResult {
    const { plugin } = this;
    const registered = registeredBy(plugin);
    const kinds = plugin.kind === undefined ? undefined : [plugin.kind].flat().join(", ");
    return html`${this.problems()}
      <section>
        ${facts([
          ["Id", html`<code>${plugin.id}</code>`],
          [t("Version"), plugin.version],
          [t("From"), ORIGINS[plugin.origin]],
          [t("File"), html`<code>${plugin.source}</code>`],
          [t("Type"), kinds],
          [t("State"), plugin.reason],
          [t("Loaded in"), plugin.loadMs === undefined ? undefined : duration(plugin.loadMs + (plugin.registerMs ?? 0))],
          [
            t("Running now"),
            plugin.running + plugin.timers + plugin.servers === 0
              ? undefined
              : `${plural(plugin.running, t("call"), t("calls"))}, ${plural(plugin.timers, t("timer"), t("timers"))}, ${plural(plugin.servers, t("server"), t("servers"))}`,
          ],
        ])}
      </section>
      <section>
        <h2>${t("Provides")}</h2>
        ${
          registered.length === 0
            ? html`<p class="soft">${plugin.enabled ? t("Nothing registered") : t("Turn on the plugin to see what it provides.")}</p>`
            : facts(
                registered.map(
                  ({ kind, names }) => [kind, html`<div class="chips">${names.map((name) => html`<span class="badge mono">${name}</span>`)}</div>`] as const,
                ),
              )
        }
      </section>
      ${this.timings()}${this.permissions()}`;
  }
}
customElements.define("oc-plugin-detail", PluginDetail);
