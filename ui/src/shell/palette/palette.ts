import { html, LitElement, nothing, type TemplateResult } from "lit";
import { property, query, state } from "lit/decorators.js";
import { plural } from "../../base/figures.ts";
import { dialogSheet } from "../../look/dialog-sheet.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { modal } from "../../parts/modal.ts";
import { t } from "../../words/words.ts";
import type { PageContext } from "../context.ts";
import { createCatalog, type Catalog, type Scope } from "./catalog.ts";
import { arranged, fits, GROUPS, marked, readInput, type Entry } from "./entries.ts";
import { paletteLook } from "./palette-look.ts";
import { commandEntries } from "./commands.ts";
import { nodeEntries } from "./node-entries.ts";
import { promptEntries, settingEntries } from "./sources.ts";

const TYPING_MS = 150;
/** So many settings are shown where nothing else is. */
const SETTINGS = 40;

/** Goes anywhere and does anything by typing. Enter runs, Tab opens what else can be done. */
export class Palette extends LitElement {
  static override styles = [sheet, dialogSheet, paletteLook];
  @property({ attribute: false }) context!: PageContext;
  @state() private shown = false;
  @state() private input = "";
  /** The entry that Enter runs, once someone has gone to one; otherwise the first. It stays the same when answers move it. */
  @state() private marked: string | undefined;
  /** What the page is about comes first, until that is taken away. */
  @state() private isScoped = true;
  /** The entry whose further actions are shown. */
  @state() private inside: Scope | undefined;
  /** What an entry asks for: the input is the answer. */
  @state() private asking: Entry | undefined;
  @query("dialog") private dialog!: HTMLDialogElement | null;
  @query("input") private field!: HTMLInputElement | null;
  private catalog: Catalog | undefined;
  private changes: Disposable | undefined;
  private rest: ReturnType<typeof setTimeout> | undefined;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.changes?.[Symbol.dispose]();
    this.changes = undefined;
    this.catalog = undefined;
  }

  async open(): Promise<void> {
    this.catalog ??= createCatalog(this.context);
    const { catalog } = this;
    this.changes ??= catalog.known.subscribe(() => this.requestUpdate());
    this.type("");
    this.inside = this.asking = undefined;
    this.isScoped = true;
    this.shown = true;
    await catalog.load();
  }

  /** What the page is about, as far as the gateway has answered. */
  private get scope(): Scope | undefined {
    return this.isScoped ? this.catalog?.scope() : undefined;
  }

  private type(input: string): void {
    this.input = input;
    this.marked = undefined;
    clearTimeout(this.rest);
  }

  protected override updated(): void {
    this.renderRoot.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }

  private get entries(): readonly Entry[] {
    const { catalog, scope } = this;
    if (!catalog) return [];
    const answer = this.input.trim();
    if (this.asking?.ask) return answer === "" ? [] : [this.asking.ask.entry(answer)];
    const { mode, words } = readInput(this.input);
    if (this.inside) return this.inside.entries.filter((entry) => fits(entry, this.input.trim()));
    const found = catalog.entries(words);
    const further =
      mode === "commands"
        ? [
            ...commandEntries(this.context, catalog.known.value.defaultAgent),
            ...promptEntries(this.context, catalog.known.value.prompts),
            ...catalog.known.value.nodes.flatMap((node) => nodeEntries(this.context, node)),
          ]
        : mode === "settings"
          ? settingEntries(this.context, catalog.known.value.hints, words === "" ? "." : words, SETTINGS)
          : [];
    return arranged([...(scope?.entries ?? []), ...further, ...found], mode, words);
  }

  private typed(event: InputEvent): void {
    this.type((event.target as HTMLInputElement).value);
    if (this.asking) return;
    const { words } = readInput(this.input);
    this.rest = setTimeout(() => void this.catalog?.find(words), TYPING_MS);
  }

  private close(): void {
    this.shown = false;
    clearTimeout(this.rest);
  }

  private run(entry: Entry | undefined): void {
    if (!entry) return;
    if (entry.ask) return void this.ask(entry, entry.ask.value);
    this.close();
    void entry.run();
  }

  private async ask(entry: Entry, value: string): Promise<void> {
    this.asking = entry;
    this.type(value);
    await this.updateComplete;
    this.field?.focus();
    this.field?.select();
  }

  private enter(entry: Entry | undefined): void {
    const entries = entry?.more?.() ?? [];
    if (!entry || entries.length === 0) return;
    this.inside = { title: entry.label, entries: [{ ...entry, label: t("Open"), hint: entry.label, group: "object" }, ...entries] };
    this.type("");
  }

  /** Leaves a question, what Tab opened, or else the page's object. */
  private unscope(): void {
    if (this.asking) {
      this.asking = undefined;
      this.type("");
    } else if (this.inside) this.inside = undefined;
    else this.isScoped = false;
    this.marked = undefined;
    this.field?.focus();
  }

  private key(event: KeyboardEvent): void {
    const { entries } = this;
    const last = Math.max(0, entries.length - 1);
    const at = this.place(entries);
    const mark = (next: number): void => void (this.marked = entries[next]?.id);
    // Those keys choose among the candidates of an input method.
    if (event.isComposing) return;
    if (event.key === "ArrowDown") mark(at >= last ? 0 : at + 1);
    else if (event.key === "ArrowUp") mark(at === 0 ? last : at - 1);
    else if (event.key === "PageDown") mark(Math.min(last, at + 8));
    else if (event.key === "PageUp") mark(Math.max(0, at - 8));
    else if (event.key === "Enter") this.run(entries[at]);
    else if (event.key === "Tab" && !event.shiftKey) this.enter(entries[at]);
    else if (event.key === "Backspace" && this.input === "" && (this.asking ?? this.inside ?? this.scope)) this.unscope();
    else if (event.key === "Escape" && (this.asking ?? this.inside)) this.unscope();
    else return;
    event.preventDefault();
  }

  private words(text: string): readonly (string | TemplateResult)[] {
    const words = this.asking ? "" : readInput(this.input).words;
    return marked(text, words).map((piece) => (piece.isFound ? html`<mark>${piece.text}</mark>` : piece.text));
  }

  /** Where the marked entry is. */
  private place(entries: readonly Entry[]): number {
    return Math.max(
      0,
      entries.findIndex(({ id }) => id === this.marked),
    );
  }

  private row(entry: Entry, at: number, isMarked: boolean): TemplateResult {
    return html`<div
      class="option"
      id="choice-${at}"
      role="option"
      aria-selected=${isMarked}
      @pointermove=${() => (this.marked = entry.id)}
      @click=${() => this.run(entry)}
    >
      <span class="tile ${entry.needsPerson ? "warn" : ""}">${icon(entry.icon, 16)}</span><span class="label cut">${this.words(entry.label)}</span>
      <span class="hint cut">${entry.hint === undefined ? nothing : this.words(entry.hint)}</span>
      <span class="keys">${entry.keys?.split("-").map((key) => html`<kbd>${key.charAt(0).toUpperCase()}${key.slice(1)}</kbd>`) ?? nothing}</span>
    </div>`;
  }

  private rows(entries: readonly Entry[]): readonly TemplateResult[] {
    const scope = this.inside ?? this.scope;
    const chosen = this.place(entries);
    return entries.map((entry, at) => {
      const isFirst = entry.group !== entries[at - 1]?.group;
      const title = entry.group === "object" && scope ? scope.title : GROUPS[entry.group];
      return html`${isFirst ? html`<div class="heading cut" role="presentation">${title}</div>` : nothing}${this.row(entry, at, at === chosen)}`;
    });
  }

  private foot(): TemplateResult {
    return html`<footer aria-hidden="true">
      <span><kbd>↑</kbd><kbd>↓</kbd>${t("Move")}</span><span><kbd>Enter</kbd>${t("Run")}</span><span><kbd>Tab</kbd>${t("More actions")}</span>
      <span class="end"><kbd>&gt;</kbd>${t("Commands")}</span><span><kbd>@</kbd>${t("Chats")}</span><span><kbd>#</kbd>${t("Settings")}</span>
    </footer>`;
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.shown) return nothing;
    const { entries } = this;
    const scope = this.asking ? { title: this.asking.label } : (this.inside ?? this.scope);
    const beyond = this.inside || this.asking ? 0 : (this.catalog?.known.value.beyond ?? 0);
    const hint = this.asking?.ask?.hint ?? t("Search, or > commands, @ chats, # settings");
    return html`<dialog
      ${modal()}
      aria-label=${t("Search or run")}
      @close=${this.close}
      @click=${(event: Event) => event.target === event.currentTarget && this.dialog?.close()}
    >
      <div class="input">
        ${icon("search", 18)}
        ${scope ? html`<button class="scope" aria-label=${this.asking ? t("Back") : t`Search everywhere, not only in ${scope.title}`} @click=${this.unscope}><span class="cut">${scope.title}</span>${icon("close", 12)}</button>` : nothing}
        <input
          type="text"
          placeholder=${hint}
          aria-label=${this.asking ? hint : t("Search or run")}
          role="combobox"
          aria-expanded="true"
          aria-controls="choices"
          aria-activedescendant=${entries.length === 0 ? nothing : `choice-${this.place(entries)}`}
          autocomplete="off"
          spellcheck="false"
          autofocus
          .value=${this.input}
          @input=${this.typed}
          @keydown=${this.key}
        />
        <kbd>Esc</kbd>
      </div>
      <div class="list" id="choices" role="listbox" tabindex="-1" aria-label=${t("Results")}>${this.rows(entries)}</div>
      ${entries.length === 0 ? html`<p class="none soft" role="status">${this.asking ? hint : t("No results")}</p>` : nothing}
      ${beyond > 0 ? html`<p class="none faint" role="status">${t`${plural(beyond, t("more session"), t("more sessions"))}: type to find them.`}</p>` : nothing}
      ${this.foot()}
    </dialog>`;
  }
}
customElements.define("oc-palette", Palette);
