import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, query, state } from "lit/decorators.js";
import { failureText } from "../../../link/failure.ts";
import { dialogSheet } from "../../../look/dialog-sheet.ts";
import { icon } from "../../../look/icons.ts";
import { sheet } from "../../../look/sheet.ts";
import type { Toasts } from "../../../parts/toasts.ts";
import { t } from "../../../words/words.ts";
import { firstWords, type Prompt, type Prompts } from "./prompts.ts";

const NAME_CHARS = 80;
const TEXT_CHARS = 20_000;

interface Editing {
  readonly id?: string;
  readonly name: string;
  readonly text: string;
}

const look = css`
  dialog {
    width: min(640px, calc(100vw - 24px));
    max-height: min(720px, calc(100dvh - 24px));
  }
  .head,
  .foot {
    display: flex;
    align-items: center;
    gap: 8px;
  }
  .find {
    margin: 12px 0 8px;
  }
  ul {
    margin: 0 -8px;
    padding: 0;
    list-style: none;
    max-height: min(420px, 50dvh);
    overflow-y: auto;
  }
  li {
    display: flex;
    align-items: center;
    gap: 4px;
    padding: 2px 8px;
    border-radius: var(--radius-small);
  }
  li:hover,
  li:focus-within {
    background: var(--hover);
  }
  .take {
    display: block;
    flex: 1;
    min-width: 0;
    min-height: 44px;
    padding: 4px 0;
    text-align: start;
    white-space: normal;
  }
  .take > span {
    display: block;
  }
  .name {
    font-weight: 500;
  }
  label {
    display: block;
    margin-top: 12px;
    font-size: var(--type-ui);
    color: var(--ink-soft);
  }
  label > input,
  label > textarea {
    display: block;
    width: 100%;
    margin-top: 4px;
  }
  textarea {
    min-height: 180px;
    resize: vertical;
  }
  .foot {
    justify-content: flex-end;
    margin-top: 16px;
  }
  .empty {
    padding: 20px 0;
    text-align: center;
  }
  .help {
    margin-top: 6px;
  }
  .bad {
    margin-top: 12px;
  }
`;

/** The name that a text suggests: its first line. */
const suggested = (text: string): string => (text.trim().split("\n")[0] ?? "").replaceAll(/\s+/g, " ").slice(0, 60).toWellFormed().trim();

/** Saved prompts: chosen, written, changed and removed. Sends `insert` with the text of one. */
export class PromptsDialog extends LitElement {
  static override styles = [sheet, dialogSheet, look];
  @property({ attribute: false }) prompts!: Prompts;
  @property({ attribute: false }) toasts!: Toasts;
  @property({ type: Boolean }) may = false;
  /** What stands in the box. */
  @property() draft = "";
  @state() private words = "";
  @state() private editing: Editing | undefined;
  @state() private problem = "";
  @state() private busy = false;
  /** What was removed last, while the dialog is open. */
  @state() private undo: { readonly name: string; readonly run: () => void } | undefined;
  @query("dialog") private dialog!: HTMLDialogElement;
  private changes: Disposable | undefined;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.changes?.[Symbol.dispose]();
    this.changes = undefined;
  }

  /** Shows all prompts, or a new one with this text. */
  async open(text?: string): Promise<void> {
    this.changes ??= this.prompts.list.subscribe(() => this.requestUpdate());
    this.words = "";
    this.problem = "";
    this.editing = text === undefined ? undefined : { name: suggested(text), text: text.slice(0, TEXT_CHARS) };
    if (!this.dialog.open) this.dialog.showModal();
    await this.attempt(() => this.prompts.load());
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLElement>("[data-first]")?.focus();
  }

  private async attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    this.busy = true;
    this.problem = "";
    try {
      return await work();
    } catch (error) {
      this.problem = failureText(error);
      return undefined;
    } finally {
      this.busy = false;
    }
  }

  private get shown(): readonly Prompt[] {
    const words = this.words.toLowerCase().split(/\s+/).filter(Boolean);
    return this.prompts.list.value.filter(({ name, text }) => words.every((word) => `${name} ${text}`.toLowerCase().includes(word)));
  }

  private take(prompt: Prompt): void {
    this.dialog.close();
    this.dispatchEvent(new CustomEvent("insert", { detail: prompt.text }));
  }

  private async edit(editing: Editing | undefined): Promise<void> {
    this.editing = editing;
    this.problem = "";
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLElement>("[data-first]")?.focus();
  }

  private async save(event: Event): Promise<void> {
    event.preventDefault();
    const { editing } = this;
    if (!editing || this.busy) return;
    const saved = await this.attempt(() => this.prompts.save(editing));
    if (!saved) return;
    this.toasts.say(t`Prompt “${saved.name}” saved`);
    await this.edit(undefined);
  }

  private async drop(prompt: Prompt): Promise<void> {
    const removed = await this.attempt(() => this.prompts.remove(prompt.id));
    if (!removed) return;
    const { id, name, text } = removed;
    const undo = (): void => void this.prompts.save({ id, name, text }).catch((error: unknown) => this.toasts.warn(failureText(error)));
    // The dialog lies over the toasts: it has an Undo of its own.
    this.undo = { name, run: undo };
    this.toasts.say(t`Prompt “${name}” deleted`, { label: t("Undo"), run: undo });
    this.renderRoot.querySelector<HTMLElement>("[data-first]")?.focus();
  }

  private undoing(): void {
    this.undo?.run();
    this.undo = undefined;
  }

  private row(prompt: Prompt): TemplateResult {
    const { name, text } = prompt;
    return html`<li>
      <button class="plain take" @click=${() => this.take(prompt)}>
        <span class="name cut" dir="auto">${name}</span><span class="soft cut" dir="auto">${firstWords(text)}</span>
      </button>
      ${
        this.may
          ? html`<button class="plain icon" aria-label=${t`Edit ${name}`} title=${t("Edit")} @click=${() => void this.edit(prompt)}>${icon("edit", 16)}</button>
              <button class="plain icon" aria-label=${t`Delete ${name}`} title=${t("Delete")} ?disabled=${this.busy} @click=${() => void this.drop(prompt)}>
                ${icon("trash", 16)}
              </button>`
          : nothing
      }
    </li>`;
  }

  private list(): TemplateResult {
    const { shown } = this;
    const all = this.prompts.list.value.length;
    return html`<div class="head">
        <h2 class="grow">${t("Prompts")}</h2>
        ${
          this.may && this.draft.trim() !== ""
            ? html`<button class="small" @click=${() => void this.edit({ name: suggested(this.draft), text: this.draft.slice(0, TEXT_CHARS) })}>
                ${t("Save message as prompt")}
              </button>`
            : nothing
        }
        ${this.may ? html`<button class="small" @click=${() => void this.edit({ name: "", text: "" })}>${icon("plus", 14)} ${t("New prompt")}</button>` : nothing}
        <button class="plain icon" aria-label=${t("Close")} @click=${() => this.dialog.close()}>${icon("close", 16)}</button>
      </div>
      <input
        class="find"
        type="search"
        data-first
        aria-label=${t("Search prompts")}
        placeholder=${t("Search")}
        .value=${this.words}
        @input=${(event: Event) => (this.words = (event.target as HTMLInputElement).value)}
      />
      ${this.undo ? html`<p class="row" role="status"><span class="grow">${t`Prompt “${this.undo.name}” deleted`}</span><button class="small" @click=${() => this.undoing()}>${t("Undo")}</button></p>` : nothing}
      ${
        shown.length === 0
          ? html`<p class="empty soft">
              ${all === 0 ? t("Save texts that you send often. All browsers of this gateway have the same ones.") : t("No prompt matches.")}
            </p>`
          : html`<ul aria-label=${t("Prompts")}>
              ${shown.map((prompt) => this.row(prompt))}
            </ul>`
      }`;
  }

  private form({ id, name, text }: Editing): TemplateResult {
    const change = (part: Partial<Editing>): void => void (this.editing = { ...this.editing!, ...part });
    return html`<form @submit=${(event: Event) => void this.save(event)}>
      <h2>${id === undefined ? t("New prompt") : t("Edit prompt")}</h2>
      <label
        >${t("Name")}
        <input
          data-first
          required
          maxlength=${NAME_CHARS}
          .value=${name}
          @input=${(event: Event) => change({ name: (event.target as HTMLInputElement).value })}
        />
      </label>
      <label
        >${t("Text")}
        <textarea
          required
          dir="auto"
          maxlength=${TEXT_CHARS}
          .value=${text}
          aria-describedby="placeholders"
          @input=${(event: Event) => change({ text: (event.target as HTMLTextAreaElement).value })}
        ></textarea>
      </label>
      <p class="help faint" id="placeholders">${t("Words in {braces} are placeholders: they are selected one after the other when you insert the prompt.")}</p>
      <div class="foot">
        <button type="button" @click=${() => void this.edit(undefined)}>${t("Cancel")}</button>
        <button class="primary" ?disabled=${this.busy}>${t("Save")}</button>
      </div>
    </form>`;
  }

  protected override render(): TemplateResult {
    return html`<dialog
      aria-label=${t("Prompts")}
      @close=${() => (this.undo = undefined)}
      @click=${(event: Event) => event.target === event.currentTarget && this.editing === undefined && this.dialog.close()}
    >
      ${this.editing ? this.form(this.editing) : this.list()} ${this.problem === "" ? nothing : html`<p class="note bad" role="alert">${this.problem}</p>`}
    </dialog>`;
  }
}
customElements.define("oc-prompts", PromptsDialog);
