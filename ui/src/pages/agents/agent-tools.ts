import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/filter-box.ts";
import { emptyLook, emptyState } from "../../parts/empty.ts";
import { failedNote, pageLook } from "../../parts/page-look.ts";
import { settingLook } from "../../parts/setting-look.ts";
import { skeleton, skeletonLook } from "../../parts/skeleton.ts";
import { badge } from "../../parts/state.ts";
import "../../parts/switch.ts";
import "../../parts/tip.ts";
import type { PageContext } from "../../shell/context.ts";
import { place } from "../../shell/router.ts";
import { verdictsIn, type Verdict } from "./agent-facts.ts";
import { canTurn, turnTool } from "./tool-switch.ts";
import { t } from "../../words/words.ts";

/** Descriptions are written for models and go on; the beginning says what a tool does. */
const firstSentence = (text: string): string => /^.*?[.:](?=\s|$)/s.exec(text)?.[0].replace(/:$/, "") ?? text;

/** Which tools an agent may use in its main session, and what decided that. */
export class AgentTools extends LitElement {
  static override styles = [
    sheet,
    pageLook,
    settingLook,
    emptyLook,
    skeletonLook,
    css`
      .top {
        margin-bottom: 12px;
      }
      .top p {
        flex-basis: 260px;
      }
      .setting p.why {
        margin-top: 2px;
        color: var(--ink-soft);
      }
      .below {
        margin-top: 10px;
      }
    `,
  ];
  @property({ attribute: false }) context!: PageContext;
  @property() agentId = "";
  @state() private explained: MethodResult<"tools.explain"> | undefined;
  /** What each tool does, by its name. */
  @state() private about: ReadonlyMap<string, string> = new Map();
  @state() private config: unknown;
  @state() private failure: string | undefined;
  @state() private filter = "";
  @state() private busy: string | undefined;

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("agentId")) void this.ask();
  }

  private async ask(): Promise<void> {
    const { link } = this.context;
    const { agentId } = this;
    try {
      const [explained, catalog, config] = await Promise.all([
        link.request("tools.explain", { agentId }),
        link.request("tools.catalog", { agentId }).catch(() => undefined),
        link.may("operator.admin") ? link.request("config.get", {}).catch(() => undefined) : undefined,
      ]);
      this.explained = explained;
      this.about = new Map(catalog?.tools.map(({ name, description }) => [name, description]));
      this.config = config?.config;
      this.failure = undefined;
    } catch (error) {
      this.failure = failureText(error);
    }
  }

  private async turn(name: string, on: boolean): Promise<void> {
    const { link, toasts } = this.context;
    this.busy = name;
    try {
      await turnTool(link, this.agentId, name, on);
      toasts.say(on ? t`${name} is on.` : t`${name} is off.`, { label: t("Undo"), run: () => void this.turn(name, !on) });
    } catch (error) {
      toasts.warn(failureText(error));
    }
    await this.ask();
    this.busy = undefined;
  }

  private reason({ why, path, entry, layer, allowed }: Verdict): TemplateResult {
    const isDefault = path === undefined && (layer === undefined || layer === "default");
    if (allowed && isDefault) return html`<p class="why">${t("On by default")}</p>`;
    const where =
      path === undefined
        ? isDefault
          ? nothing
          : layer
        : html`<a href=${place("config", [], { path })}><code>${path}</code></a
            >${entry === undefined ? "" : `: ${entry}`}`;
    return html`<p class="why">${why}${where === nothing ? nothing : html` (${where})`}</p>`;
  }

  private row(tool: Verdict): TemplateResult {
    const { name, allowed, source } = tool;
    const can = this.context.link.may("operator.admin") && canTurn(this.config, this.agentId, tool);
    return html`<div class="setting narrow">
      <div>
        <b><code>${name}</code> ${allowed ? nothing : badge("", t("Off"))} ${source === "core" ? nothing : html`<span class="faint">${source}</span>`}</b>
        <p title=${this.about.get(name) ?? nothing}>${firstSentence(this.about.get(name) ?? "")}</p>
        ${this.reason(tool)}
      </div>
      <oc-tip text=${can ? "" : t("Another setting decides about this tool.")}>
        <oc-switch
          label=${name}
          .checked=${allowed}
          ?disabled=${!can || this.busy !== undefined}
          @turn=${(event: CustomEvent<boolean>) => void this.turn(name, event.detail)}
        ></oc-switch
      ></oc-tip>
    </div>`;
  }

  protected override render(): TemplateResult {
    if (this.failure !== undefined) return failedNote(this.failure, () => void this.ask());
    if (!this.explained) return skeleton(6);
    const { tools, sessionKey } = this.explained;
    const allowed = tools.filter((tool) => tool.allowed).length;
    const shown = verdictsIn(tools, this.filter);
    return html`<div class="row wrap top">
        <p class="soft grow">${t`${allowed} of ${tools.length} tools are available in`} <code>${sessionKey}</code>.</p>
        <oc-filter-box label=${t("Search tools")} @filter=${(event: CustomEvent<string>) => (this.filter = event.detail)}></oc-filter-box>
      </div>
      ${shown.length === 0 ? emptyState({ icon: "search", title: t("No matching tools") }) : html`<div class="settings">${shown.map((tool) => this.row(tool))}</div>`}
      <p class="faint below">${t("To allow a tool that another setting denies, follow the link in its reason.")}</p>`;
  }
}
customElements.define("oc-agent-tools", AgentTools);
