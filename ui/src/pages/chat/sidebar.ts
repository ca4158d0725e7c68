import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { ago, exactly } from "../../base/figures.ts";
import { keep } from "../../base/keep.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { place } from "../../shell/router.ts";
import {
  grouped,
  groupedByKind,
  isAutomation,
  isMain,
  isUnread,
  listed,
  matches,
  type Grouping,
  type ListedSession,
  type SessionGroup,
} from "./sidebar-groups.ts";
import type { Search, SessionsState } from "./sidebar-sessions.ts";

/** The conversations that there are. Says `new-chat`, `search` {words}, `more`, `automation` (whether its sessions are shown), `retry` and `left` (one was chosen, or the drawer closed). */
export class Sidebar extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: flex;
        flex-direction: column;
        min-height: 0;
        height: 100%;
        background: none;
      }
      .top {
        display: flex;
        gap: 8px;
        padding: 12px 12px 8px;
      }
      .top .new {
        flex: 1;
        justify-content: flex-start;
      }
      .find {
        padding: 0 12px 8px;
        display: flex;
        gap: 8px;
      }
      .find select {
        width: auto;
      }
      nav {
        flex: 1;
        overflow-y: auto;
        padding: 0 8px 16px;
      }
      h2 {
        padding: 12px 8px 4px;
        font-size: 12px;
        font-weight: 500;
        color: var(--ink-faint);
      }
      ul {
        list-style: none;
        margin: 0;
        padding: 0;
      }
      a {
        display: block;
        padding: 7px 8px;
        border-radius: var(--radius-small);
        color: var(--ink);
        text-decoration: none;
        font-size: 13px;
        font-weight: 500;
        line-height: 18px;
      }
      a:hover {
        background: var(--hover);
      }
      a[aria-current="page"] {
        background: var(--selected);
      }
      .line {
        display: flex;
        align-items: baseline;
        gap: 8px;
      }
      .unread .title {
        font-weight: 650;
      }
      .preview {
        color: var(--ink-soft);
        font-size: 12px;
        font-weight: 400;
      }
      .time {
        font-size: 12px;
        color: var(--ink-soft);
        white-space: nowrap;
      }
      .dot {
        flex: none;
        align-self: center;
        width: 8px;
        height: 8px;
        border-radius: 50%;
        background: var(--accent);
      }
      .dot.running {
        background: none;
        border: 2px solid var(--accent);
        border-top-color: transparent;
        animation: turn 1s linear infinite;
        width: 10px;
        height: 10px;
      }
      @keyframes turn {
        to {
          rotate: 1turn;
        }
      }
      .note,
      .empty {
        margin: 8px;
        font-size: 13.5px;
      }
      .count {
        margin: 8px;
        font-size: 12.5px;
      }
      .more {
        width: 100%;
        margin-top: 8px;
      }
    `,
  ];
  @property({ attribute: false }) sessions!: SessionsState;
  @property() current = "";
  @property() defaultAgentId = "main";
  /** It lies over the page: it can be closed. */
  @property({ type: Boolean }) drawer = false;
  @state() private words = "";
  @state() private by: Grouping = keep.text("sessions.by") === "agent" ? "agent" : "day";

  private tell(name: string, detail?: unknown): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  private get shown(): readonly ListedSession[] {
    const { found, automation } = this.sessions;
    const rows = [...this.sessions.rows, ...automation.rows];
    const known = rows.map((row) => listed(row, this.defaultAgentId));
    if (this.words.trim() === "") return known;
    // Until the gateway has looked through all of them, those at hand.
    const others = (this.ended ? (found ?? []) : []).filter((row) => !rows.some(({ key }) => key === row.key)).map((row) => listed(row, this.defaultAgentId));
    const server = new Set(this.ended ? found?.map(({ key }) => key) : []);
    return [...known.filter((session) => server.has(session.key) || matches(session, this.words.trim())), ...others];
  }

  /** The search for the words that are typed, once it is over. */
  private get ended(): Search | undefined {
    const { search } = this.sessions;
    return search?.words === this.words.trim() ? search : undefined;
  }

  /** How much more there is than is shown. */
  private rest(shown: number): TemplateResult {
    const searching = this.words.trim() !== "";
    const more = searching ? (this.ended?.more ?? 0) : this.sessions.more;
    return html`${searching && this.ended ? html`<p class="count faint" role="status">${(shown + more).toLocaleString()} found${more > 0 ? `, ${shown} shown` : ""}</p>` : nothing}
    ${more > 0 ? html`<button class="plain small more" @click=${() => this.tell("more")}>Show more (${more.toLocaleString()} more)</button>` : nothing}`;
  }

  private session(session: ListedSession): TemplateResult {
    const here = session.key === this.current;
    const running = [...this.sessions.running.values()].includes(session.key);
    const unread = !here && !running && isUnread(session, this.sessions.seen);
    return html`<li>
      <a
        href=${place("chat", isMain(session.key) && session.agentId === this.defaultAgentId ? [] : [session.key])}
        class=${unread ? "unread" : ""}
        aria-current=${here ? "page" : "false"}
        title=${session.key}
        @click=${() => this.tell("left")}
      >
        <span class="line">
          ${running ? html`<span class="dot running" role="img" aria-label="answering"></span>` : unread ? html`<span class="dot" role="img" aria-label="unread"></span>` : nothing}
          <span class="title grow cut" dir="auto">${session.title}</span>
          ${session.where === undefined ? nothing : html`<span class="badge">${session.where}</span>`}
        </span>
        <span class="line">
          <span class="preview grow cut" dir="auto">${session.preview ?? ""}</span>
          ${session.updatedAt === 0 ? nothing : html`<time class="time" title=${exactly(session.updatedAt)}>${ago(session.updatedAt)}</time>`}
        </span>
      </a>
    </li>`;
  }

  private list(): TemplateResult {
    const { error, loaded } = this.sessions;
    const { shown } = this;
    if (error !== undefined && shown.length === 0) {
      return html`<p class="note bad">The list did not come: ${error} <button class="small" @click=${() => this.tell("retry")}>Try again</button></p>`;
    }
    if (!loaded) return html`<p class="empty soft" role="status">Loading …</p>`;
    if (this.ended?.error !== undefined) return html`<p class="note bad" role="status">The search failed: ${this.ended.error}</p>`;
    if (shown.length === 0 && (this.words.trim() !== "" || this.sessions.automation.total === 0)) {
      if (this.words.trim() !== "" && !this.ended) return html`<p class="empty soft" role="status">Searching …</p>`;
      return html`<p class="empty soft" role="status">
        ${this.words.trim() === "" ? "Conversations appear here once something was said." : "Nothing has these words in its name or last message."}
      </p>`;
    }
    const chats = shown.filter((session) => !isAutomation(session));
    return html`${grouped(chats, this.by, Date.now()).map((group) => this.group(group))}
    ${this.rest(this.words.trim() === "" ? chats.length : shown.length)}${this.automation(shown.filter(isAutomation))}`;
  }

  private group({ name, sessions }: SessionGroup): TemplateResult {
    return html`<section aria-label=${name}>
      <h2>${name}</h2>
      <ul>
        ${sessions.map((session) => this.session(session))}
      </ul>
    </section>`;
  }

  /** Sessions that nobody writes in: folded, unless they were searched for. */
  private automation(shown: readonly ListedSession[]): TemplateResult | typeof nothing {
    const { total, isOpen } = this.sessions.automation;
    if (this.words.trim() !== "") return html`${groupedByKind(shown).map((group) => this.group(group))}`;
    if (total === 0) return nothing;
    return html`<button
        class="plain small more"
        aria-expanded=${isOpen ? "true" : "false"}
        title="Sessions of jobs, webhooks, sub-agents and heartbeats"
        @click=${() => this.tell("automation", !isOpen)}
      >
        ${isOpen ? "Hide" : "Show"} automation (${total.toLocaleString()})
      </button>
      ${isOpen ? groupedByKind(shown).map((group) => this.group(group)) : nothing}
      ${isOpen && total > shown.length ? html`<p class="count faint">The newest ${shown.length}. <a href="sessions">All sessions</a></p>` : nothing}`;
  }

  private regroup(event: Event): void {
    this.by = (event.target as HTMLSelectElement).value as Grouping;
    keep.setText("sessions.by", this.by);
  }

  private typed(event: InputEvent): void {
    this.words = (event.target as HTMLInputElement).value;
    this.tell("search", { words: this.words });
  }

  protected override render(): TemplateResult {
    const agents = new Set(this.sessions.rows.map((row) => listed(row, this.defaultAgentId).agentId));
    return html`<div class="top">
        <button class="new" title="New chat (Ctrl+Shift+O)" @click=${() => this.tell("new-chat")}>${icon("plus")} New chat</button>
        <button
          class="icon plain"
          aria-label=${this.drawer ? "Close the list" : "Hide the list"}
          title=${this.drawer ? "Close" : "Hide the list"}
          @click=${() => this.tell("fold")}
        >
          ${icon(this.drawer ? "close" : "left")}
        </button>
      </div>
      <div class="find">
        <input type="search" aria-label="Search conversations" placeholder="Search" .value=${this.words} @input=${this.typed} />
        ${
          agents.size > 1
            ? html`<select aria-label="Group by" @change=${this.regroup}>
                <option value="day" ?selected=${this.by === "day"}>by day</option>
                <option value="agent" ?selected=${this.by === "agent"}>by agent</option>
              </select>`
            : nothing
        }
      </div>
      <nav aria-label="Conversations">${this.list()}</nav>`;
  }
}
customElements.define("oc-chat-sidebar", Sidebar);
