import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/filter-box.ts";
import { failedNote, loadingLine, pageLook } from "../../parts/page-look.ts";
import type { PageContext } from "../../shell/context.ts";
import { lacks, skillState, type Skill } from "./agent-facts.ts";

const LOOKS = { on: "good", off: "", "lacks something": "warn" } as const;

/** Skills of an agent: which it has, which are off, what they lack. */
export class AgentSkills extends LitElement {
  static override styles = [
    sheet,
    pageLook,
    css`
      td.words {
        max-width: 560px;
      }
      oc-filter-box {
        margin-bottom: 10px;
      }
      td.num button {
        margin-inline-start: 6px;
      }
    `,
  ];
  @property({ attribute: false }) context!: PageContext;
  @property() agentId = "";
  @state() private skills: readonly Skill[] | undefined;
  @state() private failure: string | undefined;
  @state() private filter = "";
  @state() private busy: string | undefined;

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("agentId")) void this.list();
  }

  private async list(): Promise<void> {
    try {
      this.skills = (await this.context.link.request("skills.status", { agentId: this.agentId })).skills;
      this.failure = undefined;
    } catch (error) {
      this.failure = failureText(error);
    }
  }

  private async change(skillKey: string, work: () => Promise<string>): Promise<void> {
    this.busy = skillKey;
    try {
      this.context.toasts.say(await work());
    } catch (error) {
      this.context.toasts.warn(failureText(error));
    }
    this.busy = undefined;
    await this.list();
  }

  private turn({ skillKey, name, disabled }: Skill): Promise<void> {
    return this.change(skillKey, async () => {
      await this.context.link.request("skills.update", { skillKey, enabled: disabled });
      return `${name} is ${disabled ? "on" : "off"}.`;
    });
  }

  private async install({ skillKey, name }: Skill, { id, label }: Skill["install"][number]): Promise<void> {
    const body = "The gateway runs the installer with its own rights.";
    if (!(await this.context.dialogs.confirm({ title: `${label}?`, body, yes: "Install" }))) return;
    await this.change(skillKey, async () => {
      const { ok, message } = await this.context.link.request("skills.install", { name, installId: id }, { timeoutMs: 600_000 });
      if (!ok) throw new Error(message);
      return message;
    });
  }

  private row(skill: Skill): TemplateResult {
    const { link } = this.context;
    const word = skillState(skill);
    const missing = skill.disabled ? [] : lacks(skill);
    return html`<tr>
      <td class="words">
        ${skill.emoji ?? ""} ${skill.name}
        <div class="faint">${skill.description}</div>
        ${missing.length === 0 ? nothing : html`<div class="faint"><strong>Missing:</strong> ${missing.join("; ")}</div>`}
      </td>
      <td><span class="badge ${LOOKS[word]}">${word}</span></td>
      <td class="faint less">${skill.source}</td>
      <td class="num">
        ${missing.length > 0 && link.has("skills.install") ? skill.install.map((way) => html`<button class="small" ?disabled=${this.busy !== undefined} @click=${() => void this.install(skill, way)}>${way.label}</button>`) : nothing}
        ${
          link.has("skills.update")
            ? html`<button
                class="small"
                aria-label=${`Turn ${skill.name} ${skill.disabled ? "on" : "off"}`}
                ?disabled=${this.busy !== undefined}
                @click=${() => void this.turn(skill)}
              >
                ${this.busy === skill.skillKey ? "Working…" : skill.disabled ? "Turn on" : "Turn off"}
              </button>`
            : nothing
        }
      </td>
    </tr>`;
  }

  protected override render(): TemplateResult {
    if (this.failure !== undefined) return failedNote(this.failure, () => void this.list());
    if (!this.skills) return loadingLine();
    const wanted = this.filter.trim().toLowerCase();
    const shown = this.skills.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(wanted));
    if (this.skills.length === 0)
      return html`<div class="empty">This agent has no skills. Put a folder with a SKILL.md into its workspace’s <code>skills</code>.</div>`;
    return html`<oc-filter-box label="Search skills" @filter=${(event: CustomEvent<string>) => (this.filter = event.detail)}></oc-filter-box>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>Skill</th>
              <th>State</th>
              <th class="less">From</th>
              <td></td>
            </tr>
          </thead>
          <tbody>
            ${shown.map((skill) => this.row(skill))}
          </tbody>
        </table>
      </div>`;
  }
}
customElements.define("oc-agent-skills", AgentSkills);
