import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { guard } from "lit/directives/guard.js";
import { copyText } from "../../base/copy-text.ts";
import { randomId } from "../../base/random-id.ts";
import { ago, exactly } from "../../base/figures.ts";
import { failureText, isConflict } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { failedNote, loadingLine, pageLook } from "../../parts/page-look.ts";
import type { PageContext } from "../../shell/context.ts";
import { prose } from "../chat/markdown/draw.ts";
import { proseLook } from "../chat/markdown/look.ts";
import "./note-conflict.ts";
import type { ConflictChoice } from "./note-conflict.ts";
import { drawnLine, noteBlocks, occurrence, splitAtLine, writtenLine } from "./note-lines.ts";
import { noteLook } from "./note-look.ts";
import { t } from "../../words/words.ts";

/** A longer text is shown as it is written: drawing it would take seconds. */
const MOST_DRAWN = 300_000;

interface Version {
  readonly text: string;
  /** Empty while there is no such file. */
  readonly hash: string;
}

/** What was removed, and how it comes back. */
export interface Removed {
  readonly path: string;
  readonly undo: string;
}

/** One note: read, edited, deleted. Says `changed` after it was written and `removed` with a `Removed`. */
export class NoteView extends LitElement {
  static override styles = [sheet, pageLook, proseLook, noteLook];
  @property({ attribute: false }) context!: PageContext;
  @property() agentId = "";
  @property() path = "";
  /** A line to go to. */
  @property({ type: Number }) line: number | undefined;
  /** When the file was last written, as the list says. */
  @property({ type: Number }) updatedAt: number | undefined;
  /** In which times are shown. */
  @property() timeZone: string | undefined;
  /** Opens in the editor. */
  @property({ type: Boolean }) editing = false;
  @state() private note: Version | undefined;
  @state() private failure: string | undefined;
  @state() private draft: string | undefined;
  @state() private conflict: Version | undefined;
  @state() private busy = false;
  private guarded: Disposable | undefined;
  private asked = 0;
  /** The editor opens with the text. */
  private toEdit = false;
  private shownLine = "";
  private readonly beforeUnload = (event: BeforeUnloadEvent): void => {
    if (this.isChanged) event.preventDefault();
  };

  /** Someone writes in it. */
  get isEdited(): boolean {
    return this.draft !== undefined;
  }

  private get isChanged(): boolean {
    return this.draft !== undefined && this.note !== undefined && this.draft !== this.note.text;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener("beforeunload", this.beforeUnload);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener("beforeunload", this.beforeUnload);
    this.guarded?.[Symbol.dispose]();
    this.guarded = undefined;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("agentId") || changed.has("path")) {
      this.note = undefined;
      this.draft = undefined;
      this.conflict = undefined;
      this.toEdit = this.editing;
      void this.read();
    } else if (changed.has("updatedAt") && this.draft === undefined) void this.read();
    else if (changed.has("editing") && this.editing && this.note) this.draft ??= this.note.text;
  }

  private async read(): Promise<void> {
    const asked = (this.asked += 1);
    const { agentId, path } = this;
    try {
      const { text, hash } = await this.context.link.request("memory.notes.get", { agentId, path });
      if (asked !== this.asked) return;
      this.note = { text, hash };
      this.failure = undefined;
      if (this.toEdit) this.draft = text;
      this.toEdit = false;
    } catch (error) {
      if (asked === this.asked) this.failure = failureText(error);
    }
  }

  protected override updated(): void {
    if (this.isChanged) this.guarded ??= this.context.router.guard(() => this.mayLeave());
    else {
      this.guarded?.[Symbol.dispose]();
      this.guarded = undefined;
    }
    this.toLine();
  }

  private mayLeave(): Promise<boolean> {
    return this.context.dialogs.confirm({
      title: t("Discard your changes?"),
      body: t`The changes to ${this.path} are not saved.`,
      yes: t("Discard"),
      no: t("Keep editing"),
      danger: true,
    });
  }

  /** Scrolls to the wanted line and marks what is drawn of it, once. */
  private toLine(): void {
    const { note } = this;
    const wanted = `${this.agentId} ${this.path} ${this.line ?? ""}`;
    if (this.line === undefined || !note || this.draft !== undefined || this.shownLine === wanted) return;
    const plain = this.renderRoot.querySelector<HTMLElement>("pre.plain .line");
    if (plain) {
      this.shownLine = wanted;
      plain.classList.add("found");
      return plain.scrollIntoView({ block: "center" });
    }
    const line = writtenLine(note.text, this.line);
    const blocks = [...this.renderRoot.querySelectorAll<HTMLElement>(".block")];
    const block = blocks.findLast((one) => Number(one.dataset["first"]) <= line);
    if (!block) return;
    this.shownLine = wanted;
    for (const old of this.renderRoot.querySelectorAll(".found")) old.classList.remove("found");
    const text = drawnLine(note.text, line);
    const read = (element: Element): string => (element.textContent ?? "").replaceAll(/\s+/g, " ");
    const inside = text === "" ? [] : [...block.querySelectorAll("li, p, h3, h4, h5, tr, pre, blockquote")].filter((element) => read(element).includes(text));
    // Of those that contain each other the innermost one; of those that read alike the one at this line.
    const innermost = inside.filter((element) => !inside.some((other) => other !== element && element.contains(other)));
    const target = innermost[occurrence(note.text, line, Number(block.dataset["first"]))] ?? innermost[0] ?? block;
    target.classList.add("found");
    target.scrollIntoView({ block: "center" });
  }

  private edit(): void {
    this.draft = this.note?.text ?? "";
    void this.updateComplete.then(() => this.renderRoot.querySelector("textarea")?.focus());
  }

  /** Back to reading. Leaving is not asked about any more when this is said. */
  private async stop(): Promise<void> {
    this.draft = undefined;
    await this.updateComplete;
    this.dispatchEvent(new CustomEvent("stopped"));
  }

  private async save(hash = this.note?.hash): Promise<void> {
    const { agentId, path, draft } = this;
    if (draft === undefined || this.busy) return;
    this.busy = true;
    try {
      const params = { agentId, path, text: draft, idempotencyKey: randomId(), ...(hash === undefined ? {} : { hash }) };
      const saved = await this.context.link.request("memory.notes.set", params);
      this.note = { text: draft, hash: saved.hash };
      this.conflict = undefined;
      this.context.toasts.say(t`${path} was saved`);
      this.dispatchEvent(new CustomEvent("changed"));
      await this.stop();
    } catch (error) {
      if (isConflict(error)) await this.openConflict();
      else this.context.toasts.warn(failureText(error));
    } finally {
      this.busy = false;
    }
  }

  private async openConflict(): Promise<void> {
    const { agentId, path } = this;
    try {
      const { text, hash } = await this.context.link.request("memory.notes.get", { agentId, path });
      this.conflict = { text, hash };
    } catch (error) {
      this.context.toasts.warn(t`${path} was not saved. It was changed elsewhere, and it could not be read: ${failureText(error)}`);
    }
  }

  private choose(choice: ConflictChoice): void {
    const { conflict } = this;
    this.conflict = undefined;
    if (!conflict || choice === "edit") return this.renderRoot.querySelector("textarea")?.focus();
    if (choice === "mine") return void this.save(conflict.hash);
    this.note = conflict;
    void this.stop();
    this.dispatchEvent(new CustomEvent("changed"));
  }

  private async erase(): Promise<void> {
    const { agentId, path, note } = this;
    if (!note || this.busy) return;
    this.busy = true;
    try {
      const params = { agentId, path, hash: note.hash, idempotencyKey: randomId() };
      const { undo } = await this.context.link.request("memory.notes.delete", params);
      this.dispatchEvent(new CustomEvent<Removed>("removed", { detail: { path, undo } }));
    } catch (error) {
      if (isConflict(error)) await this.read();
      this.context.toasts.warn(isConflict(error) ? t`${path} has just changed. Review it before deleting it.` : failureText(error));
    } finally {
      this.busy = false;
    }
  }

  private keys(event: KeyboardEvent): void {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s") return;
    event.preventDefault();
    if (this.isChanged) void this.save();
  }

  private drawn({ text }: Version): TemplateResult {
    if (text.trim() === "") return html`<p class="soft">${t("This note is empty.")}</p>`;
    if (text.length > MOST_DRAWN) {
      const [before, line, after] = splitAtLine(text, this.line);
      return html`<pre class="plain" tabindex="0">
${before}${line === undefined ? nothing : html`<span class="line">${line === "" ? " " : line}</span>`}${after}</pre>`;
    }
    const copy = (code: string): void =>
      void copyText(code).then(
        () => this.context.toasts.say(t("Copied")),
        (error: unknown) => this.context.toasts.warn(failureText(error)),
      );
    const blocks = noteBlocks(text).map(({ text: block, first }) => html`<div class="block" data-first=${first}>${prose(block, { copy })}</div>`);
    return html`<div class="reading" dir="auto">${blocks}</div>`;
  }

  private actions(note: Version): TemplateResult | typeof nothing {
    if (!this.context.link.may("operator.admin")) return nothing;
    if (this.draft !== undefined) {
      return html`<span class="faint" role="status">${this.isChanged ? t("Not saved") : ""}</span>
        <button class="small" @click=${() => void this.cancel()}>${t("Cancel")}</button>
        <button class="small primary" ?disabled=${!this.isChanged || this.busy} @click=${() => void this.save()}>${t("Save")}</button>`;
    }
    return html`<button class="small" @click=${() => this.edit()}>${icon("edit", 14)}${note.hash === "" ? t("Create note") : t("Edit")}</button>
      ${note.hash === "" ? nothing : html`<button class="small plain" aria-label=${t`Delete ${this.path}`} ?disabled=${this.busy} @click=${() => void this.erase()}>${icon("trash", 14)}${t("Delete")}</button>`}`;
  }

  private async cancel(): Promise<void> {
    if (!this.isChanged || (await this.mayLeave())) await this.stop();
  }

  private content(note: Version): TemplateResult {
    if (this.draft !== undefined) {
      return html`<textarea
        aria-label=${t`Text of ${this.path}`}
        spellcheck="false"
        dir="auto"
        .value=${this.draft}
        @input=${(event: Event) => (this.draft = (event.target as HTMLTextAreaElement).value)}
        @keydown=${(event: KeyboardEvent) => this.keys(event)}
      ></textarea>`;
    }
    if (note.hash === "") return html`<div class="body"><p class="soft">${t("There is no note with this name.")}</p></div>`;
    return html`<div class="body">${guard([note.text, note.text.length > MOST_DRAWN ? this.line : undefined], () => this.drawn(note))}</div>`;
  }

  protected override render(): TemplateResult {
    const { note, conflict, updatedAt } = this;
    if (this.failure !== undefined) return failedNote(this.failure, () => void this.read());
    if (!note) return loadingLine();
    return html`<article class="card" aria-label=${this.path}>
        <header>
          <div class="grow">
            <h2>${this.path}</h2>
            ${updatedAt === undefined ? nothing : html`<span class="faint" title=${exactly(updatedAt, this.timeZone)}>${t`Changed ${ago(updatedAt)}`}</span>`}
          </div>
          ${this.actions(note)}
        </header>
        ${this.content(note)}
      </article>
      ${
        conflict
          ? html`<oc-note-conflict
              .path=${this.path}
              .saved=${conflict.text}
              .mine=${this.draft ?? ""}
              ?gone=${conflict.hash === ""}
              @choose=${(event: CustomEvent<ConflictChoice>) => this.choose(event.detail)}
            ></oc-note-conflict>`
          : nothing
      }`;
  }
}
customElements.define("oc-note-view", NoteView);
