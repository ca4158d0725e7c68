import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import { facts, factsLook } from "../../parts/key-value.ts";
import { stateDot } from "../../parts/state.ts";
import "../../parts/switch.ts";
import type { PageContext } from "../../shell/context.ts";
import { place } from "../../shell/router.ts";
import { t } from "../../words/words.ts";
import { missingOf, settableEnv, sourceName, stateOf, storedFor, type Skill, type SkillLine } from "./skill-facts.ts";

const INSTALL_MS = 600_000;
type Way = Skill["install"][number];

/** One skill: what it is for, what it lacks and how to get it, its key and who has it. Sends `changed` and `removed`. */
export class SkillDetail extends LitElement {
  static override styles = [
    sheet,
    factsLook,
    css`
      :host {
        display: grid;
        gap: 20px;
        overflow-wrap: anywhere;
      }
      h3 {
        margin-bottom: 6px;
        font-size: var(--type-small);
        line-height: 16px;
        color: var(--ink-faint);
      }
      dl.facts {
        font-size: var(--type-ui);
        grid-template-columns: 84px minmax(0, 1fr);
      }
      .top {
        display: flex;
        align-items: center;
        justify-content: space-between;
        gap: 12px;
        margin-top: 10px;
      }
      form {
        display: flex;
        align-items: end;
        gap: 8px;
        margin-top: 8px;
      }
      form label {
        flex: 1;
        min-width: 0;
        display: grid;
        gap: 4px;
        color: var(--ink-soft);
      }
      .ways {
        display: flex;
        flex-wrap: wrap;
        gap: 8px;
        margin-top: 8px;
      }
      .line {
        margin-top: 8px;
        font-size: var(--type-small);
        color: var(--ink-soft);
      }
      ul {
        display: grid;
        gap: 4px;
        list-style: none;
        margin: 0;
        padding: 0;
      }
    `,
  ];
  @property({ attribute: false }) context!: PageContext;
  @property({ attribute: false }) line!: SkillLine;
  /** Of this skill's page. */
  @property() href = "";
  @property({ attribute: false }) config: unknown;
  @state() private busy = false;
  @state() private progress: string | undefined;
  private heard: Disposable | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.heard = this.context.link.on("skills.install.progress", ({ name, step, steps, command, text }) => {
      if (name === this.line.skill.name) this.progress = t`Step ${step} of ${steps}: ${text ?? command}`;
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.heard?.[Symbol.dispose]();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("line") && changed.get("line")?.skill.baseDir !== this.line.skill.baseDir) this.progress = undefined;
  }

  private async change(work: () => Promise<string>, undo?: () => void): Promise<void> {
    const { toasts } = this.context;
    this.busy = true;
    try {
      toasts.say(await work(), undo && { label: t("Undo"), run: undo });
    } catch (error) {
      toasts.warn(failureText(error));
    }
    this.busy = false;
    this.dispatchEvent(new CustomEvent("changed"));
  }

  private turn(skill: Skill, on: boolean): Promise<void> {
    const { skillKey, name } = skill;
    const work = async (): Promise<string> => {
      await this.context.link.request("skills.update", { skillKey, enabled: on });
      return on ? t`${name} is on.` : t`${name} is off.`;
    };
    return this.change(work, () => void this.turn(skill, !on));
  }

  private async install({ name }: Skill, { id, label }: Way): Promise<void> {
    const { dialogs, link } = this.context;
    if (!(await dialogs.confirm({ title: `${label}?`, body: t("The gateway runs the installer with its own permissions."), yes: t("Install") }))) return;
    await this.change(async () => {
      const { message } = await link.request("skills.install", { name, installId: id }, { timeoutMs: INSTALL_MS });
      return message;
    });
    this.progress = undefined;
  }

  private async setKey(event: SubmitEvent, { skillKey, name }: Skill): Promise<void> {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const written = new FormData(form).get("key");
    const apiKey = typeof written === "string" ? written.trim() : "";
    if (apiKey === "") return;
    await this.change(async () => {
      await this.context.link.request("skills.update", { skillKey, apiKey });
      form.reset();
      return t`The key of ${name} was saved.`;
    });
  }

  private async forgetKey({ skillKey, name }: Skill): Promise<void> {
    const { dialogs, link } = this.context;
    const body = t("It is deleted from the configuration. To use the skill again, enter the key again.");
    if (!(await dialogs.confirm({ title: t`Remove the key of ${name}?`, body, yes: t("Remove"), danger: true }))) return;
    await this.change(async () => {
      await link.request("skills.update", { skillKey, apiKey: "" });
      return t`The key of ${name} was removed.`;
    });
  }

  private async setVariable(event: SubmitEvent, { skillKey }: Skill, variable: string): Promise<void> {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const written = new FormData(form).get("value");
    const value = typeof written === "string" ? written.trim() : "";
    if (value === "") return;
    await this.change(async () => {
      await this.context.link.request("skills.update", { skillKey, env: { [variable]: value } });
      form.reset();
      return t`${variable} was saved.`;
    });
  }

  private head(skill: Skill, mayChange: boolean): TemplateResult {
    const { tone, word } = stateOf(skill);
    return html`<section>
      <p>${skill.description}</p>
      <div class="top">
        ${stateDot(tone, word)}
        ${
          mayChange
            ? html`<oc-switch
                label=${skill.name}
                .checked=${!skill.disabled}
                ?disabled=${this.busy}
                @turn=${() => void this.turn(skill, skill.disabled)}
              ></oc-switch>`
            : nothing
        }
      </div>
    </section>`;
  }

  private missing(skill: Skill, mayChange: boolean): TemplateResult | typeof nothing {
    const missing = skill.disabled ? [] : missingOf(skill);
    const allow = skill.blockedByAllowlist
      ? html`<p class="soft">
          ${t("It is not listed in")} <a href=${place("config", [], { path: "skills.allowBundled" })}><code>skills.allowBundled</code></a>
        </p>`
      : nothing;
    if (missing.length === 0) return allow;
    const ways = mayChange && this.context.link.has("skills.install") ? skill.install : [];
    return html`${allow}
      <section aria-label=${t("Missing")}>
        <h3>${t("Missing")}</h3>
        ${facts(missing.map(({ kind, names }) => [kind, html`<code>${names.join(", ")}</code>`] as const))}
        <div class="ways">
          ${ways.map((way) => html`<button class="small" ?disabled=${this.busy} @click=${() => void this.install(skill, way)}>${way.label}</button>`)}
        </div>
        <p class="line" role="status">${this.progress ?? ""}</p>
        ${mayChange ? settableEnv(skill).map((name) => this.variable(skill, name)) : nothing}
      </section>`;
  }

  private variable(skill: Skill, name: string): TemplateResult {
    return html`<form @submit=${(event: SubmitEvent) => void this.setVariable(event, skill, name)}>
      <label><code>${name}</code><input name="value" type="password" autocomplete="off" /></label>
      <button ?disabled=${this.busy} aria-label=${t`Save ${name}`}>${t("Save")}</button>
    </form>`;
  }

  private key(skill: Skill, mayChange: boolean): TemplateResult | typeof nothing {
    const { primaryEnv, skillKey } = skill;
    if (primaryEnv === undefined || !mayChange) return nothing;
    const { hasKey } = storedFor(this.config, skillKey);
    return html`<section aria-label=${t("API key")}>
      <h3>${t("API key")}</h3>
      <p class="soft">${hasKey ? t("A key is stored.") : t("No key is stored.")} ${t("Commands of this skill get it as")} <code>${primaryEnv}</code></p>
      <form @submit=${(event: SubmitEvent) => void this.setKey(event, skill)}>
        <label>${hasKey ? t("New key") : t("Key")}<input name="key" type="password" autocomplete="off" /></label>
        <button ?disabled=${this.busy} aria-label=${t("Save the key")}>${t("Save")}</button>
      </form>
      ${hasKey ? html`<div class="ways"><button class="small plain danger" @click=${() => void this.forgetKey(skill)}>${t("Remove the key")}</button></div>` : nothing}
    </section>`;
  }

  private who({ agents }: SkillLine): TemplateResult {
    return html`<section aria-label=${t("Agents")}>
      <h3>${t("Agents")}</h3>
      <ul>
        ${agents.map(
          ({ id, name, isAllowed }) =>
            html`<li>
              <a href=${place("agents", [id, "skills"])}>${name}</a> ${isAllowed ? nothing : html`<span class="soft">${t("not in its list of skills")}</span>`}
            </li>`,
        )}
      </ul>
    </section>`;
  }

  protected override render(): TemplateResult {
    const { line, href } = this;
    const { skill } = line;
    const { link } = this.context;
    const mayChange = link.may("operator.admin") && link.has("skills.update");
    return html`${this.head(skill, mayChange)} ${this.missing(skill, mayChange)} ${this.key(skill, mayChange)} ${this.who(line)}
    ${facts([
      [t("From"), sourceName(skill.source)],
      [
        t("Homepage"),
        skill.homepage?.startsWith("https://") ? html`<a href=${skill.homepage} target="_blank" rel="noreferrer">${skill.homepage}</a>` : skill.homepage,
      ],
      [t("File"), html`<code>${skill.filePath}</code>`],
    ])}
    ${link.has("skills.file.get") ? html`<div><a class="button" href=${href}>${t("Open SKILL.md")}</a></div>` : nothing}`;
  }
}
customElements.define("oc-skill-detail", SkillDetail);
