import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, query, state } from "lit/decorators.js";
import { bytes } from "../../base/figures.ts";
import { keep } from "../../base/keep.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { commandHelp, completions, windowOf, type Command, type Completion } from "./composer-commands.ts";
import { messageWith, takeFiles, type AttachedFile } from "./composer-files.ts";
import { composerLook } from "./composer-look.ts";

/** Commands that are seen at once. */
const SEEN = 9;
const USUAL = "Enter sends, Shift+Enter makes a new line, / lists commands.";

/** The browser makes the box as high as its text. */
const GROWS = CSS.supports("field-sizing", "content");

/** Where one writes. Says `send` with a draft {text, attachments} and `stop`. What is written is kept per session until it is sent. */
export class Composer extends LitElement {
  static override styles = [sheet, composerLook];
  @property() sessionKey = "";
  @property({ type: Boolean }) running = false;
  @property({ type: Boolean }) connected = true;
  /** This browser may write. */
  @property({ type: Boolean }) may = true;
  @property({ attribute: false }) commands: readonly Command[] = [];
  /** What Up brings back into an empty box. */
  @property() lastOwn = "";
  @state() private text = "";
  @state() private files: readonly AttachedFile[] = [];
  @state() private notes: readonly string[] = [];
  @state() private reading = false;
  @state() private over = false;
  @state() private choices: readonly Completion[] = [];
  @state() private at = 0;
  @query("textarea") private box!: HTMLTextAreaElement;

  protected override willUpdate(changed: PropertyValues<this>): void {
    // What is typed may be ahead of them.
    if (changed.has("commands") && this.shadowRoot?.activeElement === this.box) this.choices = completions(this.text, this.commands);
    if (!changed.has("sessionKey")) return;
    this.text = keep.text(`draft.${this.sessionKey}`) ?? "";
    this.files = [];
    this.notes = [];
    this.choices = [];
  }

  protected override updated(): void {
    if (this.box.value !== this.text) this.box.value = this.text;
    if (!GROWS) {
      this.box.style.height = "auto";
      this.box.style.height = `${this.box.scrollHeight}px`;
    }
  }

  /** Puts the cursor into the box. */
  override focus(): void {
    this.box.focus();
  }

  /** Replaces what is written, to be changed and sent. */
  async write(text: string): Promise<void> {
    this.set(text);
    await this.updateComplete;
    this.box.focus();
    this.box.setSelectionRange(text.length, text.length);
  }

  /** Puts text before what is written, and says why it is there. */
  async giveBack(text: string, note: string): Promise<void> {
    this.notes = [note];
    await this.write([text, this.text].filter((part) => part.trim() !== "").join("\n\n"));
  }

  private set(text: string): void {
    this.text = text;
    keep.setText(`draft.${this.sessionKey}`, text.trim() === "" ? undefined : text);
    this.choices = completions(text, this.commands);
    this.at = 0;
  }

  private async add(files: readonly File[]): Promise<void> {
    if (files.length === 0) return;
    this.reading = true;
    const { sessionKey } = this;
    const { taken, refused } = await takeFiles(files, this.files.length);
    this.reading = false;
    this.notes = refused;
    if (sessionKey === this.sessionKey) this.files = [...this.files, ...taken];
  }

  private send(): void {
    if (this.reading || !this.may) return;
    const draft = messageWith(this.text, this.files);
    if (draft.text === "" && draft.attachments.length === 0) return;
    this.dispatchEvent(new CustomEvent("send", { detail: draft }));
    this.files = [];
    this.notes = [];
    this.set("");
  }

  private complete(choice: Completion | undefined): void {
    if (choice) void this.write(choice.text);
  }

  private chooseByKey(event: KeyboardEvent): boolean {
    const { length } = this.choices;
    if (length === 0) return false;
    const choice = this.choices[this.at];
    if (event.key === "ArrowDown") this.at = (this.at + 1) % length;
    else if (event.key === "ArrowUp") this.at = (this.at + length - 1) % length;
    else if (event.key === "Escape") this.choices = [];
    else if (event.key === "Tab" && !event.shiftKey) this.complete(choice);
    else if (event.key === "Enter" && !event.shiftKey) {
      // Typed to the end: there is nothing to complete.
      if (choice?.whole && choice.text.trim() === this.text.trim()) return false;
      this.complete(choice);
    } else return false;
    return true;
  }

  private key(event: KeyboardEvent): void {
    if (event.isComposing) return;
    if (this.chooseByKey(event)) {
      event.preventDefault();
      event.stopPropagation();
    } else if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.send();
    } else if (event.key === "ArrowUp" && this.text === "" && this.lastOwn !== "") {
      event.preventDefault();
      void this.write(this.lastOwn);
    } else if (event.key === "Escape" && this.running) {
      event.preventDefault();
      this.dispatchEvent(new CustomEvent("stop"));
    }
  }

  private paste(event: ClipboardEvent): void {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    void this.add(files);
  }

  private drop(event: DragEvent): void {
    event.preventDefault();
    this.over = false;
    void this.add([...(event.dataTransfer?.files ?? [])]);
  }

  private drag(event: DragEvent): void {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    this.over = true;
  }

  private picked(event: Event): void {
    const input = event.target as HTMLInputElement;
    void this.add([...(input.files ?? [])]);
    input.value = "";
  }

  private file(file: AttachedFile): TemplateResult {
    return html`<li>
      ${file.kind === "image" ? html`<img src="data:${file.mimeType};base64,${file.data}" alt="" />` : icon("sessions")}
      <span class="cut" title=${file.name}>${file.name}</span><span class="faint">${bytes(file.bytes)}</span>
      <button class="plain small" aria-label="Remove ${file.name}" @click=${() => (this.files = this.files.filter((other) => other !== file))}>
        ${icon("close", 14)}
      </button>
    </li>`;
  }

  private list(): TemplateResult | typeof nothing {
    if (this.choices.length === 0) return nothing;
    const { from, seen } = windowOf(this.choices, this.at, SEEN);
    return html`<ul class="choices" id="choices" role="listbox" aria-label="Commands">
      ${seen.map(
        (choice, at) =>
          html`<li
            id="choice-${from + at}"
            role="option"
            aria-selected=${from + at === this.at}
            aria-setsize=${this.choices.length}
            aria-posinset=${from + at + 1}
            @pointerdown=${(event: Event) => event.preventDefault()}
            @click=${() => this.complete(choice)}
          >
            <span class="mono">${choice.label}</span><span class="soft cut">${choice.detail}</span>
          </li>`,
      )}
    </ul>`;
  }

  private hint(): string {
    if (!this.may) return "This browser may read, not write (scope operator.write).";
    if (this.reading) return "Reading files …";
    const help = commandHelp(this.text, this.commands);
    if (help !== undefined) return help;
    if (!this.connected) return "No connection: what you send waits here and goes out by itself.";
    if (this.running) return "An answer is under way. What you send now waits for its turn. Esc stops.";
    return USUAL;
  }

  private writing(): TemplateResult {
    const empty = this.text.trim() === "" && this.files.length === 0;
    return html`<div class="box ${this.over ? "over" : ""}" @dragover=${this.drag} @dragleave=${() => (this.over = false)} @drop=${this.drop}>
      ${
        this.files.length === 0
          ? nothing
          : html`<ul class="files" aria-label="Attached">
              ${this.files.map((file) => this.file(file))}
            </ul>`
      }
      <div class="line">
        <label class="attach" title="Attach pictures or text">
          ${icon("attach")}<span class="visually-hidden">Attach pictures or text</span>
          <input type="file" multiple ?disabled=${!this.may} @change=${this.picked} />
        </label>
        <textarea
          rows="1"
          aria-label="Message"
          placeholder=${this.over ? "Drop to attach" : "Message"}
          aria-describedby="hint"
          aria-controls=${this.choices.length > 0 ? "choices" : nothing}
          aria-activedescendant=${this.choices.length > 0 ? `choice-${this.at}` : nothing}
          aria-autocomplete="list"
          ?disabled=${!this.may}
          @input=${() => this.set(this.box.value)}
          @keydown=${this.key}
          @paste=${this.paste}
          @blur=${() => (this.choices = [])}
        ></textarea>
        ${this.running ? html`<button class="icon stop" aria-label="Stop" title="Stop (Esc)" @click=${() => this.dispatchEvent(new CustomEvent("stop"))}>${icon("stop")}</button>` : nothing}
        ${this.running && empty ? nothing : html`<button class="icon primary" aria-label="Send" title="Send (Enter)" ?disabled=${empty || this.reading || !this.may} @click=${this.send}>${icon("send")}</button>`}
      </div>
    </div>`;
  }

  protected override render(): TemplateResult {
    return html`${this.notes.length === 0 ? nothing : html`<div class="note warn" role="alert">${this.notes.map((text) => html`<p>${text}</p>`)}</div>`}
      ${this.list()} ${this.writing()}
      <p class="hint faint ${this.hint() === USUAL ? "usual" : ""}" id="hint">${this.hint()}</p>`;
  }
}
customElements.define("oc-composer", Composer);
