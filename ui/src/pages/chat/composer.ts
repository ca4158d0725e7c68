import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, query, state } from "lit/decorators.js";
import type { Shelf } from "../../base/shelf.ts";
import { sheet } from "../../look/sheet.ts";
import type { PageContext } from "../../shell/context.ts";
import { attachedFiles, composerBar, NO_SPACE, QUEUES, USUAL } from "./composer-bar.ts";
import { choicesList, promptsDialog } from "./composer-choices.ts";
import { commandHelp, completions, type Command, type Completion } from "./composer-commands.ts";
import { createDrafts } from "./composer-drafts.ts";
import { sizeOfFiles, pastedFile, fittingFiles, keptFiles, messageWith, takeFiles, type AttachedFile } from "./composer-files.ts";
import type { ComposerHelp, Offered } from "./composer-help.ts";
import { composerLook } from "./composer-look.ts";
import type { Draft } from "./model/conversation.ts";
import { tooMuch } from "./model/message-size.ts";
import type { PromptsDialog } from "./prompts/prompts-dialog.ts";
import { t } from "../../words/words.ts";

/** A pasted text of more characters becomes a file. */
const LONG_PASTE = 4000;

/** Where the draft of a session is kept. */
const draftKey = (sessionKey: string): string => `draft.${sessionKey}`;

const NONE: Offered = { what: "commands", choices: [] };

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
  @property({ attribute: false }) context!: PageContext;
  /** Who answers here: files are those of its workspace. */
  @property() agentId = "";
  /** What stands in the empty box. */
  @property() invitation = t("Message");
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
  @state() private offered: Offered = NONE;
  @state() private at = 0;
  /** A prompt is being filled in: Tab goes to its next placeholder. */
  @state() private filling = false;
  @state() private managing = false;
  @query("textarea") private box!: HTMLTextAreaElement;
  @query("oc-prompts") private library!: PromptsDialog | null;
  private readonly drafts = createDrafts();
  private helping: ComposerHelp | undefined;
  private wanted: Disposable | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.wanted = this.context.router.route.subscribe(() => void this.follow());
    void this.follow();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.wanted?.[Symbol.dispose]();
    this.helping?.stop();
  }

  /** What is needed for mentions and prompts, loaded with the first one. */
  private async help(): Promise<ComposerHelp> {
    const { createComposerHelp } = await import("./composer-help.ts");
    const { context } = this;
    return (this.helping ??= createComposerHelp({ context, agentId: () => this.agentId, openPrompts: () => void this.manage() }));
  }

  /** Bytes of a message that the gateway takes. */
  private get limit(): number | undefined {
    return this.context.link.hello?.policy.maxPayload;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    // What is typed may be ahead of them.
    if (changed.has("commands") && this.shadowRoot?.activeElement === this.box) this.offerHelp();
    if (!changed.has("sessionKey")) return;
    this.text = this.drafts.load(this.place);
    this.files = [];
    this.notes = [];
    this.offered = NONE;
    this.filling = false;
    void this.bring();
  }

  protected override updated(): void {
    if (this.box.value !== this.text) this.box.value = this.text;
    if (!GROWS) {
      this.box.style.height = "auto";
      this.box.style.height = `${this.box.scrollHeight}px`;
    }
  }

  override focus(): void {
    this.box.focus();
  }

  /** Replaces what is written, to be changed and sent. */
  async write(text: string, [from, to]: readonly [from: number, to: number] = [text.length, text.length]): Promise<void> {
    this.text = text;
    this.drafts.save(this.place, text);
    this.offered = NONE;
    await this.updateComplete;
    this.box.focus();
    this.box.setSelectionRange(from, to);
  }

  /** Puts a message before what is written in a conversation, and says why it is there. */
  async giveBack(
    text: string,
    { sessionKey, note, files = [] }: { readonly sessionKey: string; readonly note?: string | undefined; readonly files?: readonly AttachedFile[] },
  ): Promise<void> {
    const place = draftKey(sessionKey);
    const isHere = place === this.place;
    const whole = [text, isHere ? this.text : this.drafts.load(place)].filter((part) => part.trim() !== "").join("\n\n");
    if (!isHere) {
      this.drafts.save(place, whole);
      return void (files.length > 0 && this.shelve(place, [...files, ...(await this.keptAt(place))]));
    }
    this.notes = note === undefined ? [] : [note];
    if (files.length > 0) this.attach([...files, ...this.files]);
    await this.write(whole);
  }

  private set(text: string): void {
    this.text = text;
    this.drafts.save(this.place, text);
    this.filling &&= this.helping?.next(text, 0) !== undefined;
    this.offerHelp();
  }

  private offerHelp(): void {
    const { text, commands, helping, box } = this;
    const known = completions(text, commands);
    const take = (offered: Offered): void => {
      if (text === this.text && this.shadowRoot?.activeElement === box) this.offered = offered;
    };
    this.at = 0;
    this.offered = helping?.offer(text, box.selectionStart, known, take) ?? { what: "commands", choices: known };
    if (helping || !/^\/|@/.test(text)) return;
    // More may have been typed while it was loaded, commands may have come, and what was asked first is not always answered first.
    void this.help().then((help) => text === this.text && take(help.offer(text, box.selectionStart, completions(text, this.commands), take)));
  }

  /** Puts a prompt into the box, behind what stands there, and selects its first placeholder. */
  async insert(prompt: string): Promise<void> {
    const { text, select, open } = (await this.help()).filled(this.text, prompt);
    await this.write(text, select);
    this.filling = open;
  }

  /** Opens the saved prompts; with a text, to save it as one. */
  async manage(text?: string): Promise<void> {
    await Promise.all([import("./prompts/prompts-dialog.ts"), this.help()]);
    this.managing = true;
    await this.updateComplete;
    await this.library?.open(text);
  }

  /** Does what the address asks for. */
  private async follow(): Promise<void> {
    if (!this.context.router.route.value.query.has("prompts")) return;
    const wanted = await (await this.help()).wanted();
    if (wanted === true) await this.manage();
    else if (wanted !== undefined) await this.insert(wanted);
  }

  private get place(): string {
    return draftKey(this.sessionKey);
  }

  private async keptAt(place: string): Promise<readonly AttachedFile[]> {
    const there = this.drafts.files(place);
    return there === undefined ? [] : keptFiles(await this.shelf?.load(there));
  }

  /** Files that were attached here before the page was loaded, in front of those that were attached meanwhile. */
  private async bring(): Promise<void> {
    const { place } = this;
    const kept = await this.keptAt(place);
    if (kept.length === 0 || place !== this.place || !this.isConnected) return;
    if (this.files.length === 0) this.files = kept;
    else this.attach([...kept, ...this.files]);
  }

  private attach(files: readonly AttachedFile[]): void {
    this.files = files;
    if (files.length === 0) return this.forgetFiles(this.place);
    this.shelve(this.place, files);
  }

  /** Keeps files until they are sent. */
  private shelve(place: string, files: readonly AttachedFile[]): void {
    void this.shelf?.put(this.drafts.takeFiles(place), files, sizeOfFiles(files));
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
      this.notes = [t`${much} Shorten it or remove files.`];
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
    if (!choice) return;
    const { prompt, select, run } = choice;
    void this.write(run ? "" : choice.text, run ? undefined : select).then(() => {
      this.filling = prompt === true && select !== undefined;
      if (run) run();
      else if (!prompt) this.offerHelp();
    });
  }

  /** Tab selects the next placeholder of a prompt, Escape ends that. */
  private fill(event: KeyboardEvent): boolean {
    if (!this.filling || event.shiftKey || (event.key !== "Tab" && event.key !== "Escape")) return false;
    const next = event.key === "Tab" ? this.helping?.next(this.text, this.box.selectionEnd) : undefined;
    if (next) this.box.setSelectionRange(...next);
    else this.filling = false;
    return true;
  }

  private chooseByKey(event: KeyboardEvent): boolean {
    const { length } = this.offered.choices;
    if (length === 0) return false;
    const choice = this.offered.choices[this.at];
    if (event.key === "ArrowDown") this.at = (this.at + 1) % length;
    else if (event.key === "ArrowUp") this.at = (this.at + length - 1) % length;
    else if (event.key === "Escape") {
      this.helping?.dismiss(this.text, this.box.selectionStart);
      this.offered = NONE;
    } else if (event.key === "Tab" && !event.shiftKey) this.complete(choice);
    else if (event.key === "Enter" && !event.shiftKey) {
      // Typed to the end: there is nothing to complete.
      if (choice?.whole && choice.text.trim() === this.text.trim()) return false;
      this.complete(choice);
    } else return false;
    return true;
  }

  private key(event: KeyboardEvent): void {
    if (event.isComposing) return;
    if (this.chooseByKey(event) || this.fill(event)) {
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
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (files.length === 0 && text.length <= LONG_PASTE) return;
    event.preventDefault();
    if (files.length > 0) return void this.add(files);
    // A long text would bury what is written about it.
    void this.add([pastedFile(text, this.files)]);
  }

  /** Files that are dragged over the chat, or dropped on it, are attached. */
  drag(event: DragEvent): void {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    this.over = event.type === "dragover" && this.may;
    if (event.type === "drop" && this.may) void this.add([...event.dataTransfer.files]);
  }

  private picked(event: Event): void {
    const input = event.target as HTMLInputElement;
    void this.add([...(input.files ?? [])]);
    input.value = "";
  }

  private hint(): string {
    if (!this.may) return t("This browser can read but not send messages. It needs the scope operator.write.");
    if (this.reading || this.keeping) return this.reading ? t("Reading files…") : t("Saving the message…");
    if (this.filling) return t("Tab goes to the next placeholder, Esc ends that.");
    const help = commandHelp(this.text, this.commands);
    if (help !== undefined) return help;
    if (this.unkept) return t("Browser storage is full: messages are lost if you close this page before they arrive.");
    if (!this.connected) return t("Offline: messages you send wait here and go out once connected.");
    if (this.running) return QUEUES;
    return USUAL;
  }

  private writing(): TemplateResult {
    return html`<div class="box ${this.over ? "over" : ""}">
      <slot name="queue"></slot>
      ${attachedFiles(this.files, (file) => this.attach(this.files.filter((other) => other !== file)))}
      <textarea
        rows="1"
        dir="auto"
        aria-label=${t("Message")}
        placeholder=${this.over ? t("Drop to attach") : this.invitation}
        aria-describedby="hint"
        aria-controls=${this.offered.choices.length > 0 ? "choices" : nothing}
        aria-activedescendant=${this.offered.choices.length > 0 ? `choice-${this.at}` : nothing}
        aria-autocomplete="list"
        ?disabled=${!this.may}
        ?readonly=${this.keeping}
        @input=${() => this.set(this.box.value)}
        @keydown=${this.key}
        @paste=${this.paste}
        @blur=${() => (this.offered = NONE)}
      ></textarea>
      ${composerBar({
        may: this.may,
        running: this.running,
        canSend: (this.text.trim() !== "" || this.files.length > 0) && !this.reading && !this.keeping && this.may,
        prompts: this.context.link.has("prompts.list") ? () => void this.manage() : undefined,
        pick: (event) => this.picked(event),
        stop: () => this.dispatchEvent(new CustomEvent("stop")),
        send: () => void this.send(),
      })}
    </div>`;
  }

  protected override render(): TemplateResult {
    return html`${this.notes.length === 0 ? nothing : html`<div class="note warn" role="alert">${this.notes.map((text) => html`<p>${text}</p>`)}</div>`}
      ${choicesList(this.offered.what === "commands" ? t("Commands") : t("Files and agents"), this.offered.choices, this.at, (choice) => this.complete(choice))}
      ${this.writing()}
      <p class="hint faint ${[USUAL, QUEUES].includes(this.hint()) ? "usual" : ""}" id="hint">${this.hint()}</p>
      ${this.managing && this.helping ? promptsDialog(this.helping.prompts, this.context, this, this.text) : nothing}`;
  }
}
customElements.define("oc-composer", Composer);
