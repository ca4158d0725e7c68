import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, query, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { keep } from "../../base/keep.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { styleMap } from "../../look/style-map.ts";
import "../../parts/select.ts";
import { skeleton, skeletonLook } from "../../parts/skeleton.ts";
import type { Deletion } from "./deletions.ts";
import type { ActDetail, ListAction } from "./sidebar-actions.ts";
import type { Search } from "./sidebar-finder.ts";
// With the first load: without a connection it could not be loaded any more.
import "./sidebar-folders.ts";
import type { FolderDialog, FolderQuestion } from "./sidebar-folders.ts";
import { createListing, grouped, groupedByKind, isAutomation, matches, type Grouping, type ListedSession } from "./sidebar-groups.ts";
import { messageHits } from "./sidebar-hits.ts";
import { drawnLines, HEIGHTS, linesOf, type DrawnLines, type ListItem, type ListLines, type ListSection } from "./sidebar-items.ts";
import { sidebarLook } from "./sidebar-look.ts";
import { folderHead, listFoot, sessionRow, type RowWishes } from "./sidebar-rows.ts";
import type { ListView, SessionsState } from "./sidebar-sessions.ts";
import { locale, t } from "../../words/words.ts";

/** More is read before the end of what is listed comes into view. */
const MARGIN = 600;

/**
 * The conversations that there are; only those in view are drawn. Dispatches `new-chat`, `search` {words}, `more` (a list), `more-found`, `view` (a
 * `ListView`), `folder` {name, isOpen}, `act` (an `ActDetail`), `restore` (a `Deletion`), `more-hits`, `retry` and `left` (one was chosen, or the drawer
 * closed).
 */
export class Sidebar extends LitElement {
  static override styles = [sheet, skeletonLook, sidebarLook];
  @property({ attribute: false }) sessions!: SessionsState;
  @property() current = "";
  @property() defaultAgentId = "main";
  /** It lies over the page: it can be closed. */
  @property({ type: Boolean }) drawer = false;
  /** Sessions in which something waits for a decision. */
  @property({ attribute: false }) asking: ReadonlySet<string> = new Set();
  /** Whether this browser may pin, archive and delete. */
  @property({ type: Boolean }) may = false;
  /** What this browser deleted and can bring back. */
  @property({ attribute: false }) deleted: readonly Deletion[] = [];
  @state() private isDeletedOpen = false;
  @state() private words = "";
  /** Keys of what is selected; undefined while nothing can be. */
  @state() private selected: ReadonlySet<string> | undefined;
  @state() private by: Grouping = keep.text("sessions.by") === "agent" ? "agent" : "day";
  @state() private drawn: DrawnLines = { from: 0, to: 0 };
  @query(".scroller") private scroller!: HTMLElement | null;
  private readonly listing = createListing();
  private lines: ListLines = linesOf([]);
  private made: readonly unknown[] = [];
  private readonly sized = new ResizeObserver(() => this.look());

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.sized.disconnect();
  }

  private tell(name: string, detail?: unknown): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  private get isSearching(): boolean {
    return this.words.trim() !== "";
  }

  /** The search for the words that are typed, once it is over. */
  private get ended(): Search | undefined {
    const { search } = this.sessions;
    return search?.words === this.words.trim() ? search : undefined;
  }

  private listed(rows: SessionsState["rows"]): readonly ListedSession[] {
    return rows.map((row) => this.listing(row, this.defaultAgentId));
  }

  /** What fits the words that are typed: of what is at hand at once, and of all that there are as soon as the gateway has answered. */
  private fitting(): readonly ListedSession[] {
    const { found = [], rows, archive, automation } = this.sessions;
    const words = this.words.trim();
    const all = new Map(this.listed([...found, ...rows, ...archive.rows, ...automation.rows]).map((session) => [session.key, session]));
    const sure = new Set(this.ended ? found.map(({ key }) => key) : []);
    return [...all.values()].filter((session) => sure.has(session.key) || matches(session, words));
  }

  private sections(): readonly ListSection[] {
    const { rows, folders, archive, automation, view, more } = this.sessions;
    if (this.isSearching) {
      const fitting = this.fitting();
      return [
        ...grouped(
          fitting.filter((one) => !isAutomation(one)),
          this.by,
          Date.now(),
        ),
        ...groupedByKind(fitting.filter(isAutomation)),
      ];
    }
    if (view === "archive") return [{ name: t("Archived"), sessions: this.listed(archive.rows), more: archive.more ? "archive" : undefined }];
    if (view === "automation") return withMore(groupedByKind(this.listed(automation.rows)), automation.more ? "automation" : undefined);
    const filed = folders.map(({ name, total, isOpen, rows: inside, more: goesOn }): ListSection => {
      const sessions = this.listed(inside);
      return { name, sessions, folder: { name, total, isOpen }, more: goesOn ? `folder:${name}` : undefined };
    });
    const groups = grouped(
      this.listed(rows).filter(({ folder, pinned }) => folder === undefined || pinned),
      this.by,
      Date.now(),
    );
    const [first, ...others] = groups;
    const pinned = first?.sessions[0]?.pinned === true ? [first] : [];
    return [...pinned, ...filed, ...withMore(pinned.length > 0 ? others : groups, more ? "chats" : undefined)];
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const { sessions, words, by, defaultAgentId } = this;
    const { rows, folders, archive, automation, view, found, search } = sessions;
    const of = [rows, folders, archive.rows, automation.rows, view, found, search, words, by, defaultAgentId];
    if (of.some((part, at) => part !== this.made[at])) {
      this.made = of;
      this.lines = linesOf(this.sections());
      this.drawn = this.drawnNow();
    }
    if (changed.has("sessions") && changed.get("sessions")?.view !== view) this.scroller?.scrollTo({ top: 0 });
  }

  protected override updated(): void {
    if (this.scroller) this.sized.observe(this.scroller);
    this.readOn();
  }

  private drawnNow(): DrawnLines {
    const { scrollTop = 0, clientHeight = 800 } = this.scroller ?? {};
    return drawnLines(this.lines, scrollTop, clientHeight);
  }

  /** Draws what came into view. */
  private readonly look = (): void => {
    const now = this.drawnNow();
    if (now.from !== this.drawn.from || now.to !== this.drawn.to) this.drawn = now;
    else this.readOn();
  };

  /** Asks for the next page of a list whose end is near. */
  private readOn(): void {
    const { items, tops } = this.lines;
    const { scrollTop = 0, clientHeight = 0 } = this.scroller ?? {};
    for (let at = this.drawn.from; at < items.length && tops[at]! < scrollTop + clientHeight + MARGIN; at += 1) {
      const item = items[at];
      if (item?.kind === "more") this.tell("more", item.list);
    }
  }

  private select(key: string, on: boolean): void {
    const next = new Set(this.selected);
    if (on) next.add(key);
    else next.delete(key);
    this.selected = next;
  }

  private act(action: ListAction): void {
    this.selected = undefined;
    this.tell("act", { action });
  }

  /** Does what a dialog asked for. Resolves with why it was refused. */
  private actFromDialog(action: ListAction): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.tell("act", { action, done: resolve } satisfies ActDetail);
    return promise.then((refused) => {
      if (refused === undefined) this.selected = undefined;
      return refused;
    });
  }

  private ask(question: FolderQuestion): void {
    this.renderRoot.querySelector<FolderDialog>("oc-folder-dialog")?.ask(question);
  }

  private move(keys: readonly string[]): void {
    const known = new Map(this.lines.items.flatMap((item) => (item.kind === "session" ? [[item.session.key, item.session.folder] as const] : [])));
    const from = new Map(keys.map((key) => [key, known.get(key)]));
    const here = keys.length === 1 ? from.get(keys[0]!) : undefined;
    const choose: FolderQuestion["choose"] = (folder) => this.actFromDialog({ do: "move", keys, folder, from });
    const folders = this.sessions.folders.flatMap(({ name }) => (name === here ? [] : [name]));
    this.ask({ title: t("Move to folder"), folders, name: "", yes: t("Create and move"), choose });
  }

  private renameFolder(folder: string): void {
    const choose: FolderQuestion["choose"] = async (name) => (name === folder ? undefined : this.actFromDialog({ do: "folder", folder, name }));
    this.ask({ title: t`Rename folder “${folder}”`, folders: [], name: folder, yes: t("Rename"), choose });
  }

  private readonly wishes: RowWishes = {
    act: (action) => this.act(action),
    select: (key, on) => this.select(key, on),
    move: (key) => this.move([key]),
    left: () => this.tell("left"),
    openFolder: (name, isOpen) => this.tell("folder", { name, isOpen }),
    renameFolder: (name) => this.renameFolder(name),
  };

  /** What can be done to all that is selected. */
  private bulk(selected: ReadonlySet<string>): TemplateResult {
    const keys = [...selected];
    const button = (label: string, work: () => void): TemplateResult =>
      html`<button class="small" ?disabled=${keys.length === 0} @click=${work}>${label}</button>`;
    return html`<div class="bulk" role="toolbar" aria-label=${t("Selected conversations")}>
      <span role="status">${t`${keys.length} selected`}</span>
      ${button(t("Pin"), () => this.act({ do: "pin", keys }))} ${button(t("Move"), () => this.move(keys))}
      ${button(t("Archive"), () => this.act({ do: "archive", keys }))} ${button(t("Delete"), () => this.act({ do: "delete", keys }))}
      <button class="plain small" @click=${() => (this.selected = undefined)}>${t("Cancel")}</button>
    </div>`;
  }

  private item(item: ListItem): TemplateResult | typeof nothing {
    if (item.kind === "more") return html`<li class="goes-on faint" role="status">${t("Loading…")}</li>`;
    if (item.kind === "head") return nothing;
    const { sessions, current, defaultAgentId, selected, may, asking } = this;
    return sessionRow(item, { sessions, current, defaultAgentId, selected, may, asking }, this.wishes);
  }

  /** The lines around the view, under their headings. */
  private drawnSections(): TemplateResult {
    const { items, tops } = this.lines;
    const { from } = this.drawn;
    const to = Math.min(this.drawn.to, items.length);
    const sections = [...Map.groupBy(items.slice(from, to), ({ section }) => section)];
    return html`<div style=${styleMap({ height: `${tops[from] ?? 0}px` })}></div>
      ${repeat(
        sections,
        ([section]) => section,
        ([section, inside]) => this.section(section, inside),
      )}
      <div style=${styleMap({ height: `${tops.at(-1)! - tops[to]!}px` })}></div>`;
  }

  private section(section: string, inside: readonly ListItem[]): TemplateResult {
    const [first] = inside;
    const name = section.replace(/^folder:/, "");
    const head = first?.kind === "head" ? (first.folder ? folderHead(first.folder, this.may, this.wishes) : html`<h2 class="cut">${name}</h2>`) : nothing;
    const rows = inside.filter(({ kind }) => kind !== "head");
    return html`<section aria-label=${name}>
      ${head}
      ${
        rows.length === 0
          ? nothing
          : html`<ul>
              ${repeat(
                rows,
                ({ id }) => id,
                (item) => this.item(item),
              )}
            </ul>`
      }
    </section>`;
  }

  private list(): TemplateResult {
    const { error, loaded, folders, search, found = [] } = this.sessions;
    const { isSearching, ended } = this;
    const isEmpty = this.lines.items.length === 0;
    if (error !== undefined && isEmpty) {
      return html`<p class="note bad">
        ${t`Could not load conversations: ${error}`} <button class="small" @click=${() => this.tell("retry")}>${t("Try again")}</button>
      </p>`;
    }
    if (!loaded) return html`<div class="waiting">${skeleton(6, "text")}</div>`;
    if (ended?.error !== undefined) return html`<p class="note bad" role="status">${t`Search failed: ${ended.error}`}</p>`;
    if (!isSearching) {
      return isEmpty && folders.length === 0
        ? html`<p class="empty soft" role="status">${t("Conversations appear here after the first message.")}</p>`
        : this.drawnSections();
    }
    if (isEmpty && !ended && this.hits() === nothing) return html`<p class="empty soft" role="status">${t("Searching…")}</p>`;
    const more = ended ? Math.max(0, (search?.total ?? 0) - found.length) : 0;
    return html`${this.drawnSections()}
    ${ended && !isEmpty ? html`<p class="count faint" role="status">${t`${(this.sessionCount + more).toLocaleString(locale)} found`}</p>` : nothing}
    ${more > 0 ? html`<button class="plain small more" @click=${() => this.tell("more-found")}>${t`Show more (${more.toLocaleString(locale)} more)`}</button>` : nothing}
    ${this.hits()} ${ended && isEmpty ? html`<p class="empty soft" role="status">${t("No conversation matches by name or last message.")}</p>` : nothing}`;
  }

  private get sessionCount(): number {
    return this.lines.items.filter(({ kind }) => kind === "session").length;
  }

  /** Messages with the words, below the conversations that are called so. */
  private hits(): TemplateResult | typeof nothing {
    const { hits } = this.sessions;
    return hits && hits.words === this.words.trim() ? messageHits(hits, { more: () => this.tell("more-hits"), left: () => this.tell("left") }) : nothing;
  }

  private regroup({ detail }: CustomEvent<string>): void {
    this.by = detail as Grouping;
    keep.setText("sessions.by", this.by);
  }

  private typed(event: InputEvent): void {
    this.words = (event.target as HTMLInputElement).value;
    this.scroller?.scrollTo({ top: 0 });
    this.tell("search", { words: this.words });
  }

  protected override render(): TemplateResult {
    const agents = new Set(this.sessions.rows.map((row) => this.listing(row, this.defaultAgentId).agentId));
    return html`<div class="top">
        <button class="new" title=${t("New chat (Ctrl+Shift+O)")} @click=${() => this.tell("new-chat")}>${icon("plus")} ${t("New chat")}</button>
        <button
          class="icon plain"
          aria-label=${this.drawer ? t("Close list") : t("Hide list")}
          title=${this.drawer ? t("Close") : t("Hide list")}
          @click=${() => this.tell("fold")}
        >
          ${icon(this.drawer ? "close" : "left")}
        </button>
      </div>
      <div class="find">
        <input type="search" aria-label=${t("Search conversations")} placeholder=${t("Search")} .value=${this.words} @input=${this.typed} />
        ${
          agents.size > 1
            ? html`<oc-select
                label=${t("Group by")}
                .value=${this.by}
                .options=${[
                  { value: "day", label: t("by day") },
                  { value: "agent", label: t("by agent") },
                ]}
                @choose=${this.regroup}
              ></oc-select>`
            : nothing
        }
      </div>
      ${this.selected ? this.bulk(this.selected) : nothing}
      <nav
        aria-label=${t("Conversations")}
        style=${styleMap({ "--head": `${HEIGHTS.head}px`, "--row": `${HEIGHTS.session}px`, "--goes-on": `${HEIGHTS.more}px` })}
      >
        <div class="scroller" @scroll=${this.look}>${this.list()}</div>
        ${
          this.isSearching
            ? nothing
            : listFoot(
                { sessions: this.sessions, deleted: this.may ? this.deleted : [], isDeletedOpen: this.isDeletedOpen },
                {
                  view: (view: ListView) => this.tell("view", view),
                  openDeleted: (isOpen) => (this.isDeletedOpen = isOpen),
                  restore: (one) => this.tell("restore", one),
                },
              )
        }
      </nav>
      <oc-folder-dialog></oc-folder-dialog>`;
  }
}

/** The last section goes on with more of a list. */
function withMore(sections: readonly ListSection[], more: string | undefined): readonly ListSection[] {
  return sections.map((section, at) => (at === sections.length - 1 && more !== undefined ? { ...section, more } : section));
}
customElements.define("oc-chat-sidebar", Sidebar);
