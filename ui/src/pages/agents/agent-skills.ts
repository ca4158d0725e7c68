import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/filter-box.ts";
import { tableLook } from "../../parts/data-table.ts";
import { failedNote, pageLook } from "../../parts/page-look.ts";
import { skeleton, skeletonLook } from "../../parts/skeleton.ts";
import "../../parts/switch.ts";
import type { PageContext } from "../../shell/context.ts";
import { lacks, skillState, type Skill } from "./agent-facts.ts";
import { t } from "../../words/words.ts";

const STATES = {
  on: { look: "good", label: t("On") },
  off: { look: "", label: t("Off") },
  incomplete: { look: "warn", label: t("Missing requirements") },
} as const;

/** Skills of an agent: which it has, which are off, what they lack. */
export class AgentSkills extends LitElement {
  static override styles = [
    sheet,
    pageLook,
    tableLook,
    skeletonLook,
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

  private async change(skillKey: string, work: () => Promise<string>, undo?: () => void): Promise<void> {
    this.busy = skillKey;
    try {
      this.context.toasts.say(await work(), undo && { label: t("Undo"), run: undo });
    } catch (error) {
      this.context.toasts.warn(failureText(error));
    }
    this.busy = undefined;
    await this.list();
  }

  private turn(skill: Skill): Promise<void> {
    const { skillKey, name, disabled } = skill;
    const work = async (): Promise<string> => {
      await this.context.link.request("skills.update", { skillKey, enabled: disabled });
      return disabled ? t`${name} is on.` : t`${name} is off.`;
    };
    return this.change(skillKey, work, () => void this.turn({ ...skill, disabled: !disabled }));
  }

  private async install({ skillKey, name }: Skill, { id, label }: Skill["install"][number]): Promise<void> {
    const body = t("The gateway runs the installer with its own permissions.");
    if (!(await this.context.dialogs.confirm({ title: `${label}?`, body, yes: t("Install") }))) return;
    await this.change(skillKey, async () => {
      const { ok, message } = await this.context.link.request("skills.install", { name, installId: id }, { timeoutMs: 600_000 });
      if (!ok) throw new Error(message);
      return message;
    });
  }

  private row(skill: Skill): TemplateResult {
    const { link } = this.context;
    const { look, label } = STATES[skillState(skill)];
    const missing = skill.disabled ? [] : lacks(skill);
    return html`<tr>
      <td class="words">
        ${skill.emoji ?? ""} ${skill.name}
        <div class="faint">${skill.description}</div>
        ${missing.length === 0 ? nothing : html`<div class="faint"><strong>${t("Missing:")}</strong> ${missing.join("; ")}</div>`}
      </td>
      <td><span class="badge ${look}">${label}</span></td>
      <td class="faint less">${skill.source}</td>
      <td class="num">
        ${missing.length > 0 && link.has("skills.install") ? skill.install.map((way) => html`<button class="small" ?disabled=${this.busy !== undefined} @click=${() => void this.install(skill, way)}>${way.label}</button>`) : nothing}
        ${
          link.has("skills.update")
            ? html`<oc-switch
                label=${skill.name}
                .checked=${!skill.disabled}
                ?disabled=${this.busy !== undefined}
                @turn=${() => void this.turn(skill)}
              ></oc-switch>`
            : nothing
        }
      </td>
    </tr>`;
  }

  protected override render(): TemplateResult {
    if (this.failure !== undefined) return failedNote(this.failure, () => void this.list());
    if (!this.skills) return skeleton(6);
    const wanted = this.filter.trim().toLowerCase();
    const shown = this.skills.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(wanted));
    if (this.skills.length === 0)
      return html`<div class="empty">${t("This agent has no skills. Add a folder with a SKILL.md file to its workspace under")} <code>skills</code>.</div>`;
    return html`<oc-filter-box label=${t("Search skills")} @filter=${(event: CustomEvent<string>) => (this.filter = event.detail)}></oc-filter-box>
      <div class="data-card">
        <table class="data">
          <thead>
            <tr>
              <th>${t("Skill")}</th>
              <th>${t("State")}</th>
              <th class="less">${t("From")}</th>
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
