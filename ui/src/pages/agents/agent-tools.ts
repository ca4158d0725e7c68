import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/filter-box.ts";
import { failedNote, loadingLine, pageLook } from "../../parts/page-look.ts";
import type { PageContext } from "../../shell/context.ts";
import { place } from "../../shell/router.ts";
import { verdictsIn, type Verdict } from "./agent-facts.ts";

/** Which tools an agent may use in its main session, and what decided that. */
export class AgentTools extends LitElement {
  static override styles = [
    sheet,
    pageLook,
    css`
      p {
        margin-bottom: 10px;
        overflow-wrap: anywhere;
      }
      oc-filter-box {
        margin-bottom: 10px;
      }
    `,
  ];
  @property({ attribute: false }) context!: PageContext;
  @property() agentId = "";
  @state() private explained: MethodResult<"tools.explain"> | undefined;
  @state() private failure: string | undefined;
  @state() private filter = "";

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("agentId")) void this.ask();
  }

  private async ask(): Promise<void> {
    try {
      this.explained = await this.context.link.request("tools.explain", { agentId: this.agentId });
      this.failure = undefined;
    } catch (error) {
      this.failure = failureText(error);
    }
  }

  private row({ name, allowed, why, path, entry, layer, source }: Verdict): TemplateResult {
    return html`<tr>
      <td><code>${name}</code></td>
      <td><span class="badge ${allowed ? "good" : "bad"}">${allowed ? "allowed" : "denied"}</span></td>
      <td class="words">
        ${why}
        ${
          path === undefined
            ? layer === undefined || layer === "default"
              ? nothing
              : html`<div class="faint">${layer}</div>`
            : html`<div class="faint">
                <a href=${place("config", [], { path })}><code>${path}</code></a
                >${entry === undefined ? "" : `: ${entry}`}
              </div>`
        }
      </td>
      <td class="faint less">${source}</td>
    </tr>`;
  }

  protected override render(): TemplateResult {
    if (this.failure !== undefined) return failedNote(this.failure, () => void this.ask());
    if (!this.explained) return loadingLine();
    const { tools, sessionKey } = this.explained;
    const allowed = tools.filter((tool) => tool.allowed).length;
    return html`<p class="soft">${allowed} of ${tools.length} tools may be used in <code>${sessionKey}</code>.</p>
      <oc-filter-box label="Search tools" @filter=${(event: CustomEvent<string>) => (this.filter = event.detail)}></oc-filter-box>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>Tool</th>
              <th>Status</th>
              <th>Decided by</th>
              <th class="less">From</th>
            </tr>
          </thead>
          <tbody>
            ${verdictsIn(tools, this.filter).map((tool) => this.row(tool))}
          </tbody>
        </table>
      </div>`;
  }
}
customElements.define("oc-agent-tools", AgentTools);
