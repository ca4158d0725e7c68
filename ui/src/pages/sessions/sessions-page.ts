import { css, html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { ago, exactly, money, plural, tokens } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/filter-box.ts";
import { emptyLook, emptyState } from "../../parts/empty.ts";
import { pageHead } from "../../parts/page-head.ts";
import { failedNote, pageLook } from "../../parts/page-look.ts";
import { leafOf } from "../../parts/pager-leaf.ts";
import "../../parts/pager.ts";
import "../../parts/select.ts";
import { skeleton, skeletonLook } from "../../parts/skeleton.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import "./session-detail.ts";
import {
  arrange,
  CHATS,
  costsOf,
  hiddenCount,
  lineOf,
  merged,
  type Costs,
  type SessionFilter,
  type SessionLine,
  type SessionRow,
  type SortColumn,
  type Sorting,
} from "./session-table.ts";
import { locale, t } from "../../words/words.ts";

const LEAF = 50;
/** So many come first: the rest of a long list comes behind what is seen. */
const FIRST = 300;
/** Of the rest, so many come at a time, and no more than this in all: older ones are found by the search of the chat page. */
const NEXT = 500;
const MOST = 5000;
const COST_DAYS = 3650;
/** Rows with all that is seen of them. */
const SEEN = { includeGlobal: true, includeDerivedTitles: true, includeLastMessage: true } as const;
/** What tells that a row is another one now. */
const CHANGING = ["updatedAt", "name", "lastMessagePreview"] as const;
const COLUMNS: readonly (readonly [SortColumn, string, boolean])[] = [
  ["title", t("Session"), false],
  ["agentId", t("Agent"), false],
  ["where", t("Where"), false],
  ["tokens", t("Tokens"), true],
  ["cost", t("Cost"), true],
  ["updatedAt", t("Last activity"), true],
];
const TIMES = [
  [t("Any time"), 0],
  [t("Active in the last hour"), 60],
  [t("Active today"), 1440],
  [t("Active this week"), 10_080],
] as const;

/** Every conversation that is kept. */
export class SessionsPage extends Page {
  static override styles = [
    sheet,
    pageLook,
    emptyLook,
    skeletonLook,
    css`
      th button {
        min-height: 0 !important;
        padding: 0;
        font: inherit;
        color: inherit;
        background: none;
        border: 0;
      }
      td.title {
        max-width: 380px;
      }
      @media (max-width: 720px) {
        td.title {
          max-width: 190px;
        }
      }
      .filters {
        gap: 8px;
        margin-bottom: 12px;
      }
      .filters oc-select {
        width: auto;
        max-width: 200px;
      }
      td.num {
        color: var(--ink-soft);
      }
      @media (max-width: 760px) {
        .filters oc-filter-box {
          flex: 1 1 100%;
        }
        .filters oc-select {
          flex: 1 1 40%;
          max-width: none;
        }
      }
      tbody td {
        white-space: nowrap;
      }
    `,
  ];
  @state() private rows: readonly SessionRow[] | undefined;
  @state() private total = 0;
  @state() private costs: Costs = new Map();
  @state() private models: MethodResult<"models.list">["models"] = [];
  @state() private filter: SessionFilter = CHATS;
  @state() private sorting: Sorting = { by: "updatedAt", down: true };
  @state() private leaf = 0;
  @state() private failure: string | undefined;
  /** What was made of `rows` and `costs` last. */
  private made: { readonly rows: readonly SessionRow[]; readonly costs: Costs; readonly lines: readonly SessionLine[] } | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.every(5000, () => void this.freshen());
  }

  override async load(): Promise<void> {
    const { link } = this.context;
    try {
      const first = await link.request("sessions.list", { ...SEEN, limit: FIRST });
      this.rows = first.nextOffset === undefined ? first.sessions : await this.rest(first);
      this.total = first.total ?? this.rows.length;
      this.failure = undefined;
    } catch (error) {
      this.failure = failureText(error);
      return;
    }
    const startDate = new Date(Date.now() - COST_DAYS * 86_400_000).toISOString().slice(0, 10);
    const usage = await link.request("sessions.usage", { limit: Math.max(1, this.rows.length), startDate }).catch(() => undefined);
    if (usage) this.costs = costsOf(usage);
    if (this.models.length === 0) this.models = (await link.request("models.list", {}).catch(() => ({ models: [] }))).models;
  }

  private async rest(first: MethodResult<"sessions.list">): Promise<readonly SessionRow[]> {
    this.rows ??= first.sessions;
    const rows = new Map(first.sessions.map((row) => [row.key, row]));
    let offset = first.nextOffset;
    while (offset !== undefined && rows.size < MOST) {
      const page: MethodResult<"sessions.list"> = await this.context.link.request("sessions.list", { ...SEEN, limit: NEXT, offset }, { timeoutMs: 60_000 });
      for (const row of page.sessions) rows.set(row.key, row);
      offset = page.nextOffset;
    }
    return [...rows.values()];
  }

  /** What changed in the last minutes. */
  private async freshen(): Promise<void> {
    const found = await this.context.link.request("sessions.list", { ...SEEN, activeMinutes: 2 }).catch(() => undefined);
    if (!found || !this.rows || found.sessions.length === 0) return;
    const known = new Map(this.rows.map((row) => [row.key, row]));
    const isNew = (row: SessionRow): boolean => CHANGING.some((field) => known.get(row.key)?.[field] !== row[field]);
    this.rows = merged(this.rows, found.sessions.filter(isNew));
  }

  private lines(rows: readonly SessionRow[]): readonly SessionLine[] {
    if (this.made?.rows !== rows || this.made.costs !== this.costs) {
      const agent = this.context.link.hello?.snapshot.sessionDefaults?.defaultAgentId ?? "main";
      this.made = { rows, costs: this.costs, lines: rows.map((row) => lineOf(row, agent, this.costs)) };
    }
    return this.made.lines;
  }

  private narrow(change: Partial<SessionFilter>): void {
    this.filter = { ...this.filter, ...change };
    this.leaf = 0;
  }

  private head([by, words, isNumber]: (typeof COLUMNS)[number]): TemplateResult {
    const { sorting } = this;
    const isOn = sorting.by === by;
    const turn = (): void => {
      this.sorting = { by, down: isOn ? !sorting.down : isNumber };
      this.leaf = 0;
    };
    return html`<th
      class="${isNumber ? "num" : ""} ${by === "title" || by === "updatedAt" ? "" : "less"}"
      aria-sort=${isOn ? (sorting.down ? "descending" : "ascending") : "none"}
    >
      <button @click=${turn}>${words}${isOn ? (sorting.down ? " ↓" : " ↑") : ""}</button>
    </th>`;
  }

  private row(line: SessionLine): TemplateResult {
    return html`<tr>
      <td class="title">
        <div class="cut"><a href=${place("sessions", [line.key])}>${line.title}</a></div>
        <div class="faint cut">${line.preview || line.key}</div>
      </td>
      <td class="less">${line.agentId}</td>
      <td class="less">${line.where}</td>
      <td class="num less">${line.tokens === 0 ? "–" : tokens(line.tokens)}</td>
      <td class="num less">${line.cost === 0 ? "–" : money(line.cost)}</td>
      <td class="num" title=${line.updatedAt === 0 ? "" : exactly(line.updatedAt)}>${line.updatedAt === 0 ? t("never") : ago(line.updatedAt)}</td>
    </tr>`;
  }

  private choice(label: string, all: string, words: readonly string[], now: string, choose: (word: string) => void): TemplateResult {
    return html`<oc-select
      label=${label}
      .value=${now}
      .options=${[{ value: "", label: all }, ...words.map((word) => ({ value: word, label: word }))]}
      @choose=${(event: CustomEvent<string>) => choose(event.detail)}
    ></oc-select>`;
  }

  private table(lines: readonly SessionLine[]): TemplateResult {
    const shown = arrange(lines, this.filter, this.sorting, Date.now());
    const leaf = leafOf(shown.length, this.leaf, LEAF);
    const seen = shown.slice(leaf.from, leaf.to);
    if (shown.length === 0) {
      if (lines.length === 0) {
        const action = html`<a class="button" href="chat">${t("Start a chat")}</a>`;
        return emptyState({
          icon: "chat",
          title: t("No sessions yet"),
          text: t("Conversations from the chat, channels and scheduled jobs appear here."),
          action,
        });
      }
      const all = html`<button @click=${() => this.narrow(CHATS)}>${t("Clear filters")}</button>`;
      return emptyState({ icon: "search", title: t("No matching sessions"), action: all });
    }
    return html`<div class="scroll">
        <table>
          <thead>
            <tr>
              ${COLUMNS.map((column) => this.head(column))}
            </tr>
          </thead>
          <tbody>
            ${seen.map((line) => this.row(line))}
          </tbody>
        </table>
      </div>
      <oc-pager of="sessions" .leaf=${leaf} @turn=${(event: CustomEvent<number>) => (this.leaf = event.detail)}></oc-pager>`;
  }

  private all(lines: readonly SessionLine[]): TemplateResult {
    const { filter } = this;
    const hidden = hiddenCount(lines, filter);
    const words = (of: (line: SessionLine) => string): readonly string[] => [...new Set(lines.map(of))].toSorted();
    const count =
      this.total > MOST
        ? t`Showing the newest ${lines.length.toLocaleString(locale)} of ${this.total.toLocaleString(locale)} sessions`
        : plural(lines.length, t("session"), t("sessions"));
    return html`${pageHead({ title: t("Sessions"), fact: lines.length === 0 ? nothing : html`<span role="status">${count}</span>` })}
      <div class="page">
        ${this.failed()}
        <div class="row wrap filters">
          <oc-filter-box
            label=${t("Search sessions")}
            .value=${filter.text}
            @filter=${(event: CustomEvent<string>) => this.narrow({ text: event.detail })}
          ></oc-filter-box>
          ${this.choice(
            t("Agent"),
            t("All agents"),
            words(({ agentId }) => agentId),
            filter.agent,
            (agent) => this.narrow({ agent }),
          )}
          ${this.choice(
            t("Channel"),
            t("All channels"),
            words(({ where }) => where),
            filter.where,
            (where) => this.narrow({ where }),
          )}
          <oc-select
            label=${t("Activity")}
            .value=${String(filter.minutes)}
            .options=${TIMES.map(([label, minutes]) => ({ value: String(minutes), label }))}
            @choose=${(event: CustomEvent<string>) => this.narrow({ minutes: Number(event.detail) })}
          ></oc-select>
        </div>
        <p class="faint" ?hidden=${lines.length === 0}>
          ${
            hidden === 0
              ? nothing
              : html`${t`${plural(hidden, t("session"), t("sessions"))} from jobs, webhooks and sub-agents hidden`}
                  <button class="small plain" @click=${() => this.narrow({ automation: true })}>${t("Show all")}</button>`
          }
          ${filter.automation ? html`<button class="small plain" @click=${() => this.narrow({ automation: false })}>${t("Show chats only")}</button>` : nothing}
        </p>
        ${this.table(lines)}
      </div>`;
  }

  private one(key: string, lines: readonly SessionLine[]): TemplateResult {
    const line = lines.find((each) => each.key === key);
    const gone = (event: CustomEvent<string>): void => {
      this.rows = this.rows?.filter((row) => row.key !== event.detail);
      this.context.router.go("sessions");
    };
    return html`${pageHead({ title: line?.title ?? key, parent: { title: t("Sessions"), href: "sessions" } })}
      <div class="page">
        ${this.failed()}${
          line
            ? html`<oc-session-detail
                .context=${this.context}
                .line=${line}
                .models=${this.models}
                .preview=${line.preview}
                @changed=${() => void this.load()}
                @gone=${gone}
              ></oc-session-detail>`
            : html`<div class="empty">${t("There is no session with the key")} <code>${key}</code>.</div>`
        }
      </div>`;
  }

  protected override routeChanged(): void {
    if (this.rows === undefined) void this.load();
  }

  private failed(): TemplateResult | typeof nothing {
    return this.failure === undefined ? nothing : failedNote(this.failure, () => void this.load());
  }

  protected override render(): TemplateResult {
    const [key] = this.route.rest;
    if (!this.rows)
      return html`${pageHead({ title: t("Sessions") })}
        <div class="page">${this.failure === undefined ? skeleton(8) : this.failed()}</div>`;
    const lines = this.lines(this.rows);
    return key === undefined ? this.all(lines) : this.one(key, lines);
  }
}
customElements.define("oc-sessions-page", SessionsPage);
