import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { keep } from "../../base/keep.ts";
import { randomId } from "../../base/random-id.ts";
import { failureText, isConflict } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import { pageHead, pageHeadLook } from "../../parts/page-head.ts";
import { failedNote, pageLook } from "../../parts/page-look.ts";
import { skeleton, skeletonLook } from "../../parts/skeleton.ts";
import type { PageContext } from "../../shell/context.ts";
import { place } from "../../shell/router.ts";
import { t } from "../../words/words.ts";
import "../memory/note-conflict.ts";
import type { ConflictChoice } from "../memory/note-conflict.ts";
import type { SkillFile } from "./skill-facts.ts";

const FILE = "SKILL.md";
type Remark = MethodResult<"skills.file.set">["remarks"][number];

/** What was written and not saved, with the file that it was written on. */
interface Draft {
  readonly text: string;
  readonly hash: string;
}

/** The SKILL.md of a skill: to be read, and changed where it is the user's own. Sends `changed` with the skill's name. */
export class SkillEditor extends LitElement {
  static override styles = [
    sheet,
    pageLook,
    pageHeadLook,
    skeletonLook,
    css`
      :host {
        display: flex;
        flex-direction: column;
        height: 100%;
        min-height: 0;
      }
      .body {
        display: flex;
        flex-direction: column;
        flex: 1;
        min-height: 0;
        overflow-y: auto;
        padding: 16px var(--gutter) 24px;
      }
      textarea {
        flex: 1;
        min-height: 320px;
        font-family: var(--mono);
        font-size: var(--type-ui) !important;
        line-height: 1.5;
        resize: none;
      }
      .note ul {
        margin: 6px 0 0;
        padding-inline-start: 18px;
      }
      .where {
        margin-bottom: 10px;
        font-size: var(--type-small);
        overflow-wrap: anywhere;
      }
    `,
  ];
  @property({ attribute: false }) context!: PageContext;
  @property() name = "";
  @property() agentId = "";
  @state() private file: SkillFile | undefined;
  @state() private text = "";
  @state() private failure: string | undefined;
  @state() private problem: string | undefined;
  @state() private remarks: readonly Remark[] = [];
  @state() private conflict: SkillFile | undefined;
  @state() private busy = false;
  private readonly guard = (event: BeforeUnloadEvent): void => {
    if (this.isChanged) event.preventDefault();
  };

  private get isChanged(): boolean {
    return this.file !== undefined && this.text !== this.file.content;
  }

  private get draftKey(): string {
    return `draft.skill.${this.agentId}.${this.name}`;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener("beforeunload", this.guard);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener("beforeunload", this.guard);
    if (this.file && this.isChanged) keep.setJson(this.draftKey, { text: this.text, hash: this.file.hash } satisfies Draft);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("name") || changed.has("agentId")) void this.load();
  }

  private read(): Promise<SkillFile> {
    return this.context.link.request("skills.file.get", { name: this.name, agentId: this.agentId });
  }

  private async load(): Promise<void> {
    const before = this.text;
    try {
      const file = await this.read();
      // What was typed meanwhile stays.
      if (this.text !== before) return void (this.file = file);
      const draft = keep.json<Draft>(this.draftKey);
      keep.setJson(this.draftKey, undefined);
      // Saving compares with what the draft was written on: a file that changed since is not overwritten.
      this.file = draft ? { ...file, hash: draft.hash } : file;
      this.text = draft?.text ?? file.content;
      this.failure = undefined;
      this.remarks = [];
    } catch (error) {
      this.failure = failureText(error);
    }
  }

  private async save(hash = this.file?.hash): Promise<void> {
    const { file, text, name, agentId } = this;
    if (!file || hash === undefined || this.busy) return;
    this.busy = true;
    this.problem = undefined;
    try {
      const done = await this.context.link.request("skills.file.set", { name, agentId, content: text, hash, idempotencyKey: randomId() });
      this.file = { ...file, content: text, hash: done.hash };
      this.conflict = undefined;
      this.remarks = done.remarks;
      this.context.toasts.say(t`${done.name} was saved. Agents use it from their next turn.`);
      this.dispatchEvent(new CustomEvent("changed", { detail: done.name }));
    } catch (error) {
      if (isConflict(error)) await this.compare();
      else this.problem = failureText(error);
    } finally {
      this.busy = false;
    }
  }

  /** Shows what someone else wrote beside what was written here. */
  private async compare(): Promise<void> {
    try {
      const now = await this.read();
      if (now.content === this.text) this.file = now;
      else this.conflict = now;
    } catch (error) {
      this.problem = t`The file was changed elsewhere, and it could not be read: ${failureText(error)}`;
    }
  }

  private choose(choice: ConflictChoice): void {
    const { conflict } = this;
    this.conflict = undefined;
    if (!conflict || choice === "edit") return this.renderRoot.querySelector("textarea")?.focus();
    if (choice === "mine") return void this.save(conflict.hash);
    this.file = conflict;
    this.text = conflict.content;
  }

  private keys(event: KeyboardEvent): void {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s") return;
    event.preventDefault();
    if (this.isChanged) void this.save();
  }

  private findings(): TemplateResult | typeof nothing {
    if (this.problem !== undefined) return html`<div class="note bad" role="alert">${t`Not saved: ${this.problem}`}</div>`;
    if (this.remarks.length === 0) return nothing;
    return html`<div class="note warn" role="status">
      ${t("Saved. The check found:")}
      <ul>
        ${this.remarks.map(({ message, file, line }) => html`<li class="words">${line === undefined ? file : `${file}:${line}`} ${message}</li>`)}
      </ul>
    </div>`;
  }

  private editor(file: SkillFile, writes: boolean): TemplateResult {
    return html`<p class="where faint">
        <code>${file.path}</code>
        ${file.editable ? nothing : html`<br />${t("It comes with OpenClaw or a plugin, so it is read-only. To change it, copy its folder to the skills folder of a workspace.")}`}
      </p>
      ${this.findings()}
      <textarea
        aria-label=${FILE}
        spellcheck="false"
        ?readonly=${!writes}
        .value=${this.text}
        @input=${(event: Event) => (this.text = (event.target as HTMLTextAreaElement).value)}
        @keydown=${this.keys}
      ></textarea>`;
  }

  protected override render(): TemplateResult {
    const { file, conflict } = this;
    const writes = file?.editable === true && this.context.link.may("operator.admin");
    const actions = writes
      ? html`<button ?disabled=${!this.isChanged} @click=${() => (this.text = file.content)}>${t("Revert")}</button>
          <button class="primary" ?disabled=${!this.isChanged || this.busy} @click=${() => void this.save()}>${t("Save")}</button>`
      : nothing;
    return html`${pageHead({ title: this.name, fact: this.isChanged ? t("not saved") : FILE, actions, parent: { title: t("Skills"), href: place("skills") } })}
      <div class="body">
        ${this.failure === undefined ? (file ? this.editor(file, writes) : skeleton(8, "text")) : failedNote(this.failure, () => void this.load())}
      </div>
      ${
        conflict
          ? html`<oc-note-conflict
              .path=${conflict.path}
              .saved=${conflict.content}
              .mine=${this.text}
              @choose=${(event: CustomEvent<ConflictChoice>) => this.choose(event.detail)}
            ></oc-note-conflict>`
          : nothing
      }`;
  }
}
customElements.define("oc-skill-editor", SkillEditor);
