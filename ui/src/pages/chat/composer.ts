import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, query, state } from "lit/decorators.js";
import { bytes } from "../../base/figures.ts";
import type { Shelf } from "../../base/shelf.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { commandHelp, completions, windowOf, type Command, type Completion } from "./composer-commands.ts";
import { createDrafts } from "./composer-drafts.ts";
import { fileSize, filesOf, fittingFiles, keptFiles, messageWith, takeFiles, type AttachedFile } from "./composer-files.ts";
import { composerLook } from "./composer-look.ts";
import type { Draft } from "./model/conversation.ts";
import { tooMuch } from "./model/message-size.ts";

/** Commands that are seen at once. */
const SEEN = 9;
const NO_SPACE =
  "This browser has no space to store the message until the gateway has it, so it was not sent. Send again to send it anyway: it is lost if this page is closed before it arrives.";
const USUAL = "Enter sends, Shift+Enter makes a new line, / lists commands.";

/** The browser makes the box as high as its text. */
const GROWS = CSS.supports("field-sizing", "content");

/** Where one writes. Offers a draft {text, attachments}, says `send` with it when it is to be sent though nothing keeps it, and `stop`. What is written and attached is kept per session until it is sent. */
export class Composer extends LitElement {
  static override styles = [sheet, composerLook];
  @property() sessionKey = "";
  @property({ type: Boolean }) running = false;
  @property({ type: Boolean }) connected = true;
  /** Where attached files are until they are sent. */
  @property({ attribute: false }) shelf: Shelf | undefined;
  /** Sends a draft as soon as this browser keeps it. False when it cannot: nothing was sent. */
  @property({ attribute: false }) offer: (draft: Draft) => Promise<boolean> = async () => false;
  /** Bytes of a message that the gateway takes. */
  @property({ attribute: false }) limit: number | undefined;
  /** This browser may write. */
  @property({ type: Boolean }) may = true;
  @property({ attribute: false }) commands: readonly Command[] = [];
  /** What Up brings back into an empty box. */
  @property() lastOwn = "";
  @state() private text = "";
  @state() private files: readonly AttachedFile[] = [];
  @state() private notes: readonly string[] = [];
  @state() private reading = false;
  /** A message is being kept, before it leaves the box. */
  @state() private keeping = false;
  /** The last message could not be stored, and the user has seen why. */
  @state() private unkept = false;
  @state() private over = false;
  @state() private choices: readonly Completion[] = [];
  @state() private at = 0;
  @query("textarea") private box!: HTMLTextAreaElement;
  private readonly drafts = createDrafts();

  protected override willUpdate(changed: PropertyValues<this>): void {
    // What is typed may be ahead of them.
    if (changed.has("commands") && this.shadowRoot?.activeElement === this.box) this.choices = completions(this.text, this.commands);
    if (!changed.has("sessionKey")) return;
    this.text = this.drafts.load(this.place);
    this.files = [];
    this.notes = [];
    this.choices = [];
    void this.bring();
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

  /** Something is written or attached that was not sent. */
  get filled(): boolean {
    return this.text.trim() !== "" || this.files.length > 0;
  }

  /** Replaces what is written and attached by a message that is to be sent again, and says what that means. */
  async rewrite({ text, attachments }: Draft, note: string): Promise<void> {
    this.attach(filesOf(attachments));
    await this.write(text);
    this.notes = [note];
  }

  /** Puts text before what is written, and says why it is there. */
  async giveBack(text: string, note: string): Promise<void> {
    this.notes = [note];
    await this.write([text, this.text].filter((part) => part.trim() !== "").join("\n\n"));
  }

  private set(text: string): void {
    this.text = text;
    this.drafts.save(this.place, text);
    this.choices = completions(text, this.commands);
    this.at = 0;
  }

  private get place(): string {
    return `draft.${this.sessionKey}`;
  }

  /** Files that were attached here before the page was loaded, in front of those that were attached meanwhile. */
  private async bring(): Promise<void> {
    const { place } = this;
    const there = this.drafts.files(place);
    if (there === undefined) return;
    const kept = keptFiles(await this.shelf?.load(there));
    if (kept.length === 0 || place !== this.place || !this.isConnected) return;
    if (this.files.length === 0) this.files = kept;
    else this.attach([...kept, ...this.files]);
  }

  private attach(files: readonly AttachedFile[]): void {
    this.files = files;
    if (files.length === 0) return this.forgetFiles(this.place);
    void this.shelf?.put(
      this.drafts.takeFiles(this.place),
      files,
      files.reduce((sum, file) => sum + fileSize(file), 0),
    );
  }

  private forgetFiles(place: string): void {
    const there = this.drafts.dropFiles(place);
    if (there !== undefined) void this.shelf?.remove(there);
  }

  private async add(files: readonly File[]): Promise<void> {
    if (files.length === 0) return;
    this.reading = true;
    const { sessionKey } = this;
    const read = await takeFiles(files, this.files.length);
    this.reading = false;
    if (sessionKey !== this.sessionKey || !this.isConnected) return;
    const { taken, refused } = fittingFiles(read.taken, { text: this.text, files: this.files, limit: this.limit });
    this.notes = [...read.refused, ...refused];
    if (taken.length > 0) this.attach([...this.files, ...taken]);
  }

  private async send(): Promise<void> {
    if (this.reading || this.keeping || !this.may) return;
    const draft = messageWith(this.text, this.files);
    if (draft.text === "" && draft.attachments.length === 0) return;
    const much = tooMuch(draft, this.limit);
    if (much !== undefined) {
      this.notes = [`${much} Leave something out.`];
      return;
    }
    const { place } = this;
    this.keeping = true;
    const kept = await this.offer(draft);
    this.keeping = false;
    const known = this.unkept;
    this.unkept = !kept;
    if (kept) return this.sent(place);
    if (place !== this.place) return;
    if (known) {
      this.dispatchEvent(new CustomEvent("send", { detail: draft }));
      return this.sent(place);
    }
    this.notes = [NO_SPACE];
    // Keeping the message may have pushed them out.
    if (this.files.length > 0) this.attach(this.files);
  }

  /** What was written there is on its way. */
  private sent(place: string): void {
    if (place !== this.place) {
      this.drafts.save(place, "");
      return this.forgetFiles(place);
    }
    if (this.files.length > 0) this.attach([]);
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
      void this.send();
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
      <button class="plain small" aria-label="Remove ${file.name}" @click=${() => this.attach(this.files.filter((other) => other !== file))}>
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
    if (this.keeping) return "Keeping the message …";
    const help = commandHelp(this.text, this.commands);
    if (help !== undefined) return help;
    if (this.unkept) return "This browser has no space: what you send is lost if this page is closed before the gateway has it.";
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
          dir="auto"
          aria-label="Message"
          placeholder=${this.over ? "Drop to attach" : "Message"}
          aria-describedby="hint"
          aria-controls=${this.choices.length > 0 ? "choices" : nothing}
          aria-activedescendant=${this.choices.length > 0 ? `choice-${this.at}` : nothing}
          aria-autocomplete="list"
          ?disabled=${!this.may}
          ?readonly=${this.keeping}
          @input=${() => this.set(this.box.value)}
          @keydown=${this.key}
          @paste=${this.paste}
          @blur=${() => (this.choices = [])}
        ></textarea>
        <slot name="talk"></slot>
        ${this.running ? html`<button class="icon stop" aria-label="Stop" title="Stop (Esc)" @click=${() => this.dispatchEvent(new CustomEvent("stop"))}>${icon("stop")}</button>` : nothing}
        ${this.running && empty ? nothing : html`<button class="icon primary" aria-label="Send" title="Send (Enter)" ?disabled=${empty || this.reading || this.keeping || !this.may} @click=${() => void this.send()}>${icon("send")}</button>`}
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
