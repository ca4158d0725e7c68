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

const ORIGINS = { bundled: "came with the gateway", global: "installed", workspace: "found in the workspace", config: "named in the configuration" } as const;

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
    return html`<section aria-label="Problems">
      ${
        error === undefined
          ? nothing
          : html`<div class="note bad">
              <strong>Failed to load</strong>
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
    const again = breaker?.retryAt === undefined ? "" : `, tried again at ${moment(breaker.retryAt)}`;
    return html`<tr>
      <td>
        <code>${row.hook}</code>
        ${breaker === undefined ? nothing : html`<span class="badge warn">held back${again}</span>`}
        ${row.lastError === undefined ? nothing : html`<div class="faint words">Last error: ${row.lastError}</div>`}
      </td>
      <td class="num">${row.calls.toLocaleString()}</td>
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
      <h2>Hooks since the start</h2>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>Hook</th>
              <th class="num">Calls</th>
              <th class="num">Average</th>
              <td></td>
              <th class="num">Longest</th>
              <th class="num">Failed</th>
              <th class="num">Skipped</th>
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
      <h2>Permissions</h2>
      <ul class="plain">
        ${permissionsOf(this.plugin, this.config).map(
          ({ text, allowed, path }) =>
            html`<li>
              <span class=${allowed ? "yes" : "no"}>${icon(allowed ? "check" : "close", 15)}</span>
              <span class="visually-hidden">${allowed ? "Allowed:" : "Not allowed:"}</span> ${text}
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
          ["Version", plugin.version],
          ["From", ORIGINS[plugin.origin]],
          ["File", html`<code>${plugin.source}</code>`],
          ["Kind", kinds],
          ["State", plugin.reason],
          ["Loaded in", plugin.loadMs === undefined ? undefined : duration(plugin.loadMs + (plugin.registerMs ?? 0))],
          [
            "Runs now",
            plugin.running + plugin.timers + plugin.servers === 0
              ? undefined
              : `${plural(plugin.running, "call")}, ${plural(plugin.timers, "timer")}, ${plural(plugin.servers, "server")}`,
          ],
        ])}
      </section>
      <section>
        <h2>Provides</h2>
        ${
          registered.length === 0
            ? html`<p class="soft">${plugin.enabled ? "Nothing registered" : "Turn the plugin on to see this: its code is not loaded while it is off."}</p>`
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
