import { html, nothing, type TemplateResult } from "lit";
import { query, state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { randomId } from "../../base/random-id.ts";
import { bytes, duration, plural } from "../../base/figures.ts";
import { isWriting } from "../../base/writing.ts";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { emptyState } from "../../parts/empty.ts";
import "../../parts/select.ts";
import { pageHead } from "../../parts/page-head.ts";
import { failedNote, loadingLine, missingNote, pageLook } from "../../parts/page-look.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import { titleOf } from "../chat/sidebar-groups.ts";
import {
  groupsOf,
  isNote,
  KINDS,
  kindOf,
  noteName,
  notePathOf,
  noteToShow,
  type Hit,
  type HitKind,
  type Note,
  type Recall,
  type Status,
} from "./memory-facts.ts";
import { memoryLook } from "./memory-look.ts";
import { createMemorySearch, type MemorySearch } from "./memory-search.ts";
import { spotOf, type Spot } from "./memory-spot.ts";
import "./memory-status.ts";
import "./note-view.ts";
import type { NoteView, Removed } from "./note-view.ts";
import "./recalls.ts";
import { noResults, type SearchResults } from "./search-results.ts";
import { t } from "../../words/words.ts";

const REST_MS = 180;
const LIST_MS = 10_000;
const INDEXING_MS = 1500;
const TITLES = 500;
const RECALLS = 100;

/** What agents remember: their notes, a search over notes and conversations, and what was recalled. */
export class MemoryPage extends Page {
  static override styles = [sheet, pageLook, memoryLook];
  @state() private agents: MethodResult<"agents.list"> | undefined;
  @state() private notes: readonly Note[] | undefined;
  @state() private truncated = false;
  @state() private status: Status | undefined;
  /** In which times are shown: the user's, not necessarily this browser's. */
  @state() private timeZone: string | undefined;
  @state() private recalls: readonly Recall[] | undefined;
  @state() private titles: ReadonlyMap<string, string> = new Map();
  @state() private failure: string | undefined;
  @state() private kind: HitKind | "" = "";
  @state() private removed: Removed | undefined;
  @state() private adding = false;
  @query(".search input") private box!: HTMLInputElement | null;
  @query("oc-note-view") private noteView!: NoteView | null;
  private shown: { readonly agentId?: string; readonly path?: string | undefined } = {};
  @query("oc-memory-results") private results!: SearchResults | null;
  private search!: MemorySearch;
  private rest: ReturnType<typeof setTimeout> | undefined;
  private asked = "";
  private shownAgent: string | undefined;

  private readonly key = (event: KeyboardEvent): void => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isWriting(event.composedPath()[0])) return;
    event.preventDefault();
    this.box?.focus();
    this.box?.select();
  };

  override connectedCallback(): void {
    this.search = createMemorySearch(this.context.link, () => this.requestUpdate());
    this.during(this.search);
    super.connectedCallback();
    addEventListener("keydown", this.key);
    this.during({ [Symbol.dispose]: () => removeEventListener("keydown", this.key) });
    this.during({ [Symbol.dispose]: () => clearTimeout(this.rest) });
    this.every(LIST_MS, () => void this.freshen());
    this.every(INDEXING_MS, () => void ((this.status?.status.indexing || this.status?.status.dirty) && this.readStatus()));
  }

  private get agentId(): string {
    return this.route.query.get("agent") ?? this.agents?.defaultId ?? "";
  }

  private get spot(): Spot {
    return spotOf(this.route.query);
  }

  /** The address of a spot of the page, for the agent that is shown. */
  private at(spot: Spot = {}): string {
    return place("memory", [], { agent: this.route.query.get("agent") ?? undefined, ...spot });
  }

  override async load(): Promise<void> {
    const { link } = this.context;
    if (!link.has("memory.notes.list")) return;
    try {
      this.agents = await link.request("agents.list", {});
      this.shownAgent = this.agentId;
      await this.readNotes();
      this.failure = undefined;
    } catch (error) {
      this.failure = failureText(error);
      return;
    }
    void this.ask();
    void this.readStatus();
    void this.readRecalls();
    const found = await link.request("sessions.list", { limit: TITLES, includeGlobal: true, includeDerivedTitles: true }).catch(() => undefined);
    if (found) this.titles = new Map(found.sessions.map((row) => [row.key, titleOf(row)]));
  }

  private async readNotes(): Promise<void> {
    const { agentId } = this;
    const { notes, truncated } = await this.context.link.request("memory.notes.list", { agentId });
    if (agentId !== this.agentId) return;
    this.notes = notes;
    this.truncated = truncated;
  }

  private async readStatus(): Promise<void> {
    const { agentId } = this;
    const found = await this.context.link.request("memory.status", { agentId }).catch(() => undefined);
    if (agentId !== this.agentId) return;
    this.status = found?.agents[0] ?? this.status;
    this.timeZone = found?.timeZone ?? this.timeZone;
  }

  private async readRecalls(): Promise<void> {
    const { link } = this.context;
    if (this.spot.view !== "recalled" || !link.has("memory.recalls")) return;
    const { agentId } = this;
    const found = await this.attempt(() => link.request("memory.recalls", { agentId, limit: RECALLS }));
    if (found && agentId === this.agentId) this.recalls = found.recalls;
  }

  private async freshen(): Promise<void> {
    if (!this.agents) return;
    await this.readNotes().catch(() => undefined);
    await this.readStatus();
    await this.readRecalls();
  }

  protected override routeChanged(): void {
    if (this.agents === undefined || this.shownAgent !== this.agentId) {
      this.status = undefined;
      this.notes = undefined;
      this.recalls = undefined;
      this.asked = "";
      void this.load();
      return;
    }
    void this.ask();
    void this.readRecalls();
  }

  /** Asks what the address says, if that is another question. */
  private async ask(again = false): Promise<void> {
    const question = this.spot.q ?? "";
    const asked = `${this.agentId} ${question}`;
    if (asked === this.asked && !again) return;
    this.asked = asked;
    this.kind = "";
    await this.search.ask(this.agentId, question);
  }

  private typed(event: Event): void {
    const q = (event.target as HTMLInputElement).value.trim() || undefined;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.context.router.go(this.at({ q }), { replace: this.spot.q !== undefined && this.spot.note === undefined }), REST_MS);
  }

  /** From the box into the results: down to the first, Enter opens it. */
  private boxKey(event: KeyboardEvent): void {
    if (event.isComposing || !this.results) return;
    if (event.key === "ArrowDown") {
      event.preventDefault();
      this.results.focusFirst();
    } else if (event.key === "Enter" && !this.search.state.busy && this.box?.value.trim() === this.search.state.query) this.results.openFirst();
  }

  /** Where a passage is: a note at its line, or a message in its conversation. */
  private hrefOf = (hit: Pick<Hit, "path" | "startLine"> & Partial<Hit>): string | undefined => {
    if (hit.sessionKey !== undefined) return place("chat", [hit.sessionKey], { entry: hit.entryId });
    return isNote(hit.path) ? this.at({ q: this.spot.q, note: hit.path, line: String(hit.startLine) }) : undefined;
  };

  private onRemoved(removed: Removed): void {
    this.removed = removed;
    this.context.toasts.say(t`${removed.path} was deleted`, { label: t("Undo"), run: () => void this.restore(removed) });
    this.context.router.go(this.at({ note: removed.path }), { replace: true });
    void this.freshen();
  }

  private async restore({ path, undo }: Removed): Promise<void> {
    const back = await this.attempt(() => this.context.link.request("memory.notes.restore", { undo, idempotencyKey: randomId() }), t`${path} was restored`);
    if (!back) return;
    this.removed = undefined;
    this.context.router.go(this.at({ note: path }));
    await this.freshen();
  }

  private add(event: SubmitEvent): void {
    event.preventDefault();
    const written = new FormData(event.target as HTMLFormElement).get("path");
    const name = typeof written === "string" ? written.trim() : "";
    if (name === "") return;
    const path = isNote(name) ? name : `memory/${name.replace(/^memory\//, "").replace(/\.md$/i, "")}.md`;
    this.adding = false;
    this.context.router.go(this.at({ note: path, edit: "1" }));
  }

  private head(): TemplateResult {
    const { agents } = this.agents ?? { agents: [] };
    const picker =
      agents.length < 2
        ? nothing
        : html`<oc-select
            label=${t("Agent")}
            .value=${this.agentId ?? ""}
            .options=${agents.map(({ id, name, identity }) => ({ value: id, label: identity?.name ?? name ?? id }))}
            @choose=${(event: CustomEvent<string>) => this.context.router.go(place("memory", [], { agent: event.detail }))}
          ></oc-select>`;
    const add = this.context.link.may("operator.admin")
      ? html`<button aria-expanded=${this.adding} @click=${() => (this.adding = !this.adding)}>${icon("plus", 16)}${t("Add note")}</button>`
      : nothing;
    return pageHead({ title: t("Memory"), actions: html`${picker}${add}` });
  }

  private form(): TemplateResult | typeof nothing {
    if (!this.adding) return nothing;
    return html`<form class="card row wrap" @submit=${(event: SubmitEvent) => this.add(event)}>
      <label class="grow"
        >${t("Name")} <input name="path" autocomplete="off" spellcheck="false" maxlength="200" .value=${notePathOf(new Date(), this.timeZone)}
      /></label>
      <button class="primary">${t("Create")}</button>
      <button type="button" @click=${() => (this.adding = false)}>${t("Cancel")}</button>
    </form>`;
  }

  private searchBox(): TemplateResult {
    return html`<div class="search" role="search">
      ${icon("search", 18)}<input
        type="search"
        aria-label=${t("Search memory")}
        aria-keyshortcuts="/"
        placeholder=${t("Search notes and chats")}
        autocomplete="off"
        spellcheck="false"
        maxlength="4000"
        .value=${this.spot.q ?? ""}
        @input=${(event: Event) => this.typed(event)}
        @keydown=${(event: KeyboardEvent) => this.boxKey(event)}
      /><kbd aria-hidden="true">/</kbd>
    </div>`;
  }

  private list(notes: readonly Note[], shown: string | undefined): TemplateResult {
    return html`<nav class="groups" aria-label=${t("Notes")}>
      ${groupsOf(notes).map(
        ({ title, notes: members }) =>
          html`<h2>
              ${title}<span>${members.length}<span class="visually-hidden"> ${members.length === 1 ? t("note") : t("notes")}</span></span>
            </h2>
            <ul>
              ${members.map(
                (note) =>
                  html`<li>
                    <a href=${this.at({ note: note.path })} title=${note.path} aria-current=${note.path === shown ? "true" : "false"}>
                      <span class="cut">${noteName(note)}</span><span class="faint">${bytes(note.bytes)}</span>
                    </a>
                  </li>`,
              )}
            </ul>`,
      )}
      ${this.truncated ? html`<p class="faint">${t("Not all notes are listed. Search covers all of them.")}</p>` : nothing}
    </nav>`;
  }

  private gone(removed: Removed): TemplateResult {
    return html`<div class="empty">
      <p>${t`${removed.path} was deleted. You can restore it for 24 hours.`}</p>
      <br /><button @click=${() => void this.restore(removed)}>${t("Undo")}</button>
    </div>`;
  }

  private shownNote(notes: readonly Note[]): string | undefined {
    const { agentId } = this;
    const before = this.shown.agentId === agentId ? this.shown.path : undefined;
    const path = this.spot.note ?? noteToShow(notes, before, this.noteView?.isEdited === true);
    this.shown = { agentId, path };
    return path;
  }

  private browse(notes: readonly Note[]): TemplateResult {
    const { note, line, edit, q } = this.spot;
    const shown = this.shownNote(notes);
    if (shown === undefined) {
      return emptyState({
        icon: "memory",
        title: t("No notes yet"),
        text: t("Ask the agent to remember something, or add a note. Chats can be searched without notes, too."),
        action: html`<a class="button" href="chat">${t("Open chat")}</a>`,
      });
    }
    const info = notes.find(({ path }) => path === shown);
    const back =
      q === undefined
        ? html`<a class="back only-phone" href=${this.at()}>${t("All notes")}</a>`
        : html`<a class="back" href=${this.at({ q })}>${t("Back to results")}</a>`;
    return html`<div class="two ${note === undefined ? "no-note" : "has-note"}">
      ${this.list(notes, shown)}
      <div>
        ${note === undefined ? nothing : back}
        ${
          this.removed && this.removed.path === note && !info
            ? this.gone(this.removed)
            : html`<oc-note-view
                .context=${this.context}
                .agentId=${this.agentId}
                .path=${shown}
                .line=${line === undefined ? undefined : Number(line)}
                .updatedAt=${info?.updatedAtMs}
                .timeZone=${this.timeZone}
                ?editing=${edit !== undefined}
                @changed=${() => void this.freshen()}
                @stopped=${() => edit !== undefined && this.context.router.go(this.at({ q, note }), { replace: true })}
                @removed=${(event: CustomEvent<Removed>) => this.onRemoved(event.detail)}
              ></oc-note-view>`
        }
      </div>
    </div>`;
  }

  private found(question: string): TemplateResult {
    const { answer, busy, failure } = this.search.state;
    if (failure !== undefined) return failedNote(failure, () => void this.ask(true));
    if (!answer) return loadingLine();
    const shown = this.kind === "" ? answer.results : answer.results.filter((hit) => kindOf(hit) === this.kind);
    const count = (kind: HitKind | ""): number => (kind === "" ? answer.results.length : answer.results.filter((hit) => kindOf(hit) === kind).length);
    const counted = busy
      ? t("Searching…")
      : `${plural(shown.length, t("result"), t("results"))}, ${duration(answer.ms)}${answer.indexing ? t(". Indexing…") : ""}`;
    return html`<div class="filters">
        <div class="segments" role="group" aria-label=${t("Source")}>
          ${KINDS.map(([kind, text]) => html`<button aria-pressed=${this.kind === kind} @click=${() => (this.kind = kind)}>${text} <span class="faint">${count(kind)}</span></button>`)}
        </div>
        <span class="faint count" role="status">${counted}</span>
      </div>
      ${shown.length === 0 && !busy ? noResults(question, answer.indexing) : nothing}
      <oc-memory-results
        .hits=${shown}
        .timeZone=${answer.timeZone}
        .titles=${this.titles}
        .hrefOf=${this.hrefOf}
        @leave=${() => this.box?.focus()}
      ></oc-memory-results>
      ${answer.understood ? html`<p class="faint understood">${t`Interpreted as: ${answer.understood.text}.`}</p>` : nothing}`;
  }

  private recalled(): TemplateResult {
    if (!this.context.link.has("memory.recalls")) return missingNote(t("Viewing recalled passages"));
    if (!this.recalls) return loadingLine();
    return html`<oc-memory-recalls .recalls=${this.recalls} .timeZone=${this.timeZone} .titles=${this.titles} .hrefOf=${this.hrefOf}></oc-memory-recalls>`;
  }

  private body(notes: readonly Note[]): TemplateResult {
    const { q, note, view } = this.spot;
    if (q !== undefined && note === undefined) return this.found(q);
    const tab = (href: string, text: string, isOn: boolean): TemplateResult => html`<a href=${href} aria-current=${isOn ? "page" : "false"}>${text}</a>`;
    const isRecalled = view === "recalled";
    return html`<nav class="tabs" aria-label=${t("Memory views")}>
        ${tab(this.at(), t("Notes"), !isRecalled)}${tab(this.at({ view: "recalled" }), t("Recalled"), isRecalled)}
      </nav>
      ${isRecalled ? this.recalled() : this.browse(notes)}`;
  }

  protected override render(): TemplateResult {
    const failed = this.failure === undefined ? nothing : failedNote(this.failure, () => void this.load());
    if (!this.context.link.has("memory.notes.list")) {
      return html`${pageHead({ title: t("Memory") })}
        <div class="page">${missingNote(t("Viewing memory"))}</div>`;
    }
    return html`${this.head()}
      <div class="page">
        ${this.searchBox()}
        <oc-memory-status .context=${this.context} .status=${this.status} .timeZone=${this.timeZone} @changed=${() => void this.freshen()}></oc-memory-status>
        ${this.form()}${failed}${this.notes ? this.body(this.notes) : this.failure === undefined ? loadingLine() : nothing}
      </div>`;
  }
}
customElements.define("oc-memory-page", MemoryPage);
