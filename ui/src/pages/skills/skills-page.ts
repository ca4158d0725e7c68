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
import "../../parts/select.ts";
import { skeleton, skeletonLook } from "../../parts/skeleton.ts";
import { stateDot } from "../../parts/state.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import { t } from "../../words/words.ts";
import "./add-skill.ts";
import "./skill-detail.ts";
import "./skill-editor.ts";
import { loadSkills } from "./load-skills.ts";
import { agentLists, lineAt, linesIn, partsOf, sourceName, stateOf, type SkillLine, type StateFilter } from "./skill-facts.ts";

/** All skills: what each lacks, who has it, its key; to be installed, written, edited and removed. */
export class SkillsPage extends Page {
  static override styles = [
    sheet,
    pageLook,
    pageHeadLook,
    tableLook,
    inspectorLook,
    emptyLook,
    skeletonLook,
    css`
      .bar {
        display: flex;
        flex-wrap: wrap;
        gap: 8px;
        align-items: center;
        margin-bottom: 12px;
      }
      .bar oc-filter-box {
        flex: 1;
        min-width: 180px;
        margin: 0;
      }
      .about {
        display: -webkit-box;
        -webkit-box-orient: vertical;
        -webkit-line-clamp: 1;
        overflow: hidden;
      }
    `,
  ];
  @state() private lines: readonly SkillLine[] | undefined;
  @state() private agents: readonly { readonly id: string; readonly name: string }[] = [];
  @state() private config: unknown;
  @state() private failure: string | undefined;
  @state() private words = "";
  @state() private filter: StateFilter = "all";
  private reads = 0;
  /** The skill whose file is open, and its address: it stays when the list lacks it, as while the file is rewritten elsewhere. */
  private edited: { readonly address: string; readonly line: SkillLine } | undefined;

  override async load(): Promise<void> {
    const { link } = this.context;
    if (!link.has("skills.status")) return;
    const read = (this.reads += 1);
    try {
      const config = link.may("operator.admin") ? await link.request("config.get", {}).catch(() => undefined) : undefined;
      const { lines, agents } = await loadSkills(link, agentLists(config?.config));
      if (read !== this.reads) return;
      this.lines = lines;
      this.agents = agents;
      this.config = config?.config;
      this.failure = undefined;
    } catch (error) {
      if (read === this.reads) this.failure = failureText(error);
    }
  }

  protected override routeChanged(): void {
    if (!this.lines) void this.load();
  }

  private choose(line: SkillLine | undefined): void {
    this.context.router.go(place("skills", line ? partsOf(line, this.lines ?? []) : []));
  }

  private mayAdd(): boolean {
    const { link } = this.context;
    return link.has("skills.review") && link.may("operator.admin");
  }

  private async added(name: string, isNew: boolean): Promise<void> {
    await this.load();
    const line = this.lines?.find(({ skill }) => skill.name === name);
    if (isNew && line) this.context.router.go(this.fileOf(line));
    else this.choose(line);
  }

  private fileOf(line: SkillLine): string {
    return place("skills", partsOf(line, this.lines ?? []), { file: "" });
  }

  private async discard({ skill, agentId }: SkillLine): Promise<void> {
    const { dialogs, link } = this.context;
    const { name, source, baseDir } = skill;
    const body = t`${baseDir} is deleted with its files. Its settings stay.`;
    if (!(await dialogs.confirm({ title: t`Delete ${name}?`, body, yes: t("Delete"), danger: true }))) return;
    await this.attempt(
      async () => {
        await link.request("skills.remove", { name, force: true, ...(source === "openclaw-workspace" ? { agentId } : {}) });
        this.choose(undefined);
      },
      t`${name} was deleted.`,
    );
    await this.load();
  }

  private removeButton(line: SkillLine): TemplateResult | typeof nothing {
    const canGo = ["openclaw-managed", "openclaw-workspace"].includes(line.skill.source);
    if (!canGo || !this.mayAdd()) return nothing;
    return html`<button class="plain danger" aria-label=${t`Delete ${line.skill.name}`} @click=${() => void this.discard(line)}>${t("Delete")}</button>`;
  }

  private table(lines: readonly SkillLine[], all: readonly SkillLine[], chosen: SkillLine | undefined): TemplateResult {
    const has = (line: SkillLine): string => {
      const allowed = line.agents.filter(({ isAllowed }) => isAllowed);
      return allowed.length === this.agents.length ? t("All") : allowed.map(({ name }) => name).join(", ") || t("None");
    };
    return html`<div class="data-card">
      ${dataTable<SkillLine>({
        label: t("Skills"),
        rows: lines,
        keyOf: ({ skill }) => skill.baseDir,
        chosen: chosen?.skill.baseDir,
        open: (line) => this.choose(line),
        columns: [
          {
            head: t("Skill"),
            cell: (line) =>
              html`<a class="name" href=${place("skills", partsOf(line, all))}
                  >${line.skill.emoji ? html`<span aria-hidden="true">${line.skill.emoji}</span>` : nothing}${line.skill.name}</a
                >
                <div class="faint about">${line.skill.description}</div>`,
          },
          {
            head: t("State"),
            cell: ({ skill }) => {
              const { tone, word } = stateOf(skill);
              return stateDot(tone, word);
            },
          },
          ...(chosen
            ? []
            : [
                { head: t("From"), isWide: true, cell: ({ skill }: SkillLine) => html`<span class="soft">${sourceName(skill.source)}</span>` },
                { head: t("Agents"), isWide: true, cell: (line: SkillLine) => html`<span class="soft">${has(line)}</span>` },
              ]),
        ],
      })}
    </div>`;
  }

  private list(all: readonly SkillLine[], chosen: SkillLine | undefined): TemplateResult {
    const shown = linesIn(all, this.words, this.filter);
    const states = [
      ["all", t("All states")],
      ["ready", t("Ready")],
      ["missing", t("Missing requirements")],
      ["off", t("Off")],
    ] as const;
    if (all.length === 0) {
      return emptyState({
        icon: "skills",
        title: t("No skills yet"),
        text: t("A skill is a folder with instructions for one kind of task. Agents read it when a request matches."),
        action: this.mayAdd() ? html`<a class="button" href=${place("skills", [], { add: "new" })}>${t("New skill")}</a>` : nothing,
      });
    }
    return html`<div class="bar">
        <oc-filter-box label=${t("Search skills")} @filter=${(event: CustomEvent<string>) => (this.words = event.detail)}></oc-filter-box>
        <oc-select
          label=${t("State")}
          .value=${this.filter}
          .options=${states.map(([value, label]) => ({ value, label }))}
          @choose=${(event: CustomEvent<StateFilter>) => (this.filter = event.detail)}
        ></oc-select>
      </div>
      ${shown.length === 0 ? emptyState({ icon: "search", title: t("No skill matches") }) : this.table(shown, all, chosen)}`;
  }

  private addPage(kind: "install" | "new"): TemplateResult {
    return html`<div class="filled">
      ${pageHead({ title: kind === "install" ? t("Install skill") : t("New skill"), parent: { title: t("Skills"), href: place("skills") } })}
      <div class="with-inspector">
        <div class="scroller">
          <div class="page">
            <oc-add-skill
              .context=${this.context}
              .kind=${kind}
              .agents=${this.agents}
              @added=${({ detail }: CustomEvent<string>) => void this.added(detail, kind === "new")}
            ></oc-add-skill>
          </div>
        </div>
      </div>
    </div>`;
  }

  private fileChanged(line: SkillLine, name: string): void {
    void this.load().then(() => {
      // Its name is in the file.
      const renamed = name === line.skill.name ? undefined : this.lines?.find(({ skill }) => skill.baseDir === line.skill.baseDir);
      if (renamed) this.context.router.go(this.fileOf(renamed));
    });
  }

  /** The skill whose file the address opens. */
  private editedLine(chosen: SkillLine | undefined): SkillLine | undefined {
    const { rest, query } = this.route;
    const address = rest.join("/");
    if (!query.has("file") || rest.length === 0) this.edited = undefined;
    else if (chosen) this.edited = { address, line: chosen };
    return this.edited?.address === address ? this.edited.line : undefined;
  }

  protected override render(): TemplateResult {
    const { lines } = this;
    const { rest, query } = this.route;
    const adding = query.get("add");
    if ((adding === "install" || adding === "new") && this.mayAdd()) return this.addPage(adding);
    const isThere = this.context.link.has("skills.status");
    const chosen = lines && rest.length > 0 ? lineAt(lines, rest) : undefined;
    const edited = this.editedLine(chosen);
    if (edited) {
      return html`<oc-skill-editor
        .context=${this.context}
        .name=${edited.skill.name}
        .agentId=${edited.agentId}
        @changed=${({ detail }: CustomEvent<string>) => this.fileChanged(edited, detail)}
      ></oc-skill-editor>`;
    }
    const ready = lines?.filter(({ skill }) => stateOf(skill).is === "ready").length ?? 0;
    const actions = this.mayAdd()
      ? html`<a class="button" href=${place("skills", [], { add: "new" })}>${icon("plus", 16)}${t("New skill")}</a>
          <a class="button" href=${place("skills", [], { add: "install" })}>${icon("download", 16)}${t("Install skill")}</a>`
      : nothing;
    return html`<div class="filled">
      ${pageHead({ title: t("Skills"), fact: lines && lines.length > 0 ? t`${ready} of ${lines.length} ready` : nothing, actions })}
      <div class="with-inspector">
        <div class="scroller">
          <div class="page">
            ${this.failure === undefined ? nothing : failedNote(this.failure, () => void this.load())} ${isThere ? nothing : missingNote(t("Viewing skills"))}
            ${lines ? this.list(lines, chosen) : isThere && this.failure === undefined ? skeleton(6) : nothing}
          </div>
        </div>
        ${
          chosen
            ? html`<oc-inspector .heading=${chosen.skill.name} @close=${() => this.choose(undefined)}>
                <oc-skill-detail
                  .context=${this.context}
                  .line=${chosen}
                  .config=${this.config}
                  .href=${this.fileOf(chosen)}
                  @changed=${() => void this.load()}
                ></oc-skill-detail>
                <div class="row">${this.removeButton(chosen)}</div>
              </oc-inspector>`
            : nothing
        }
      </div>
    </div>`;
  }
}
customElements.define("oc-skills-page", SkillsPage);
