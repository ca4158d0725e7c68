import { css, html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/filter-box.ts";
import { pageLook } from "../../parts/page-look.ts";
import { Page } from "../../shell/page.ts";
import { createLogBook, LEVELS, matcher, NO_FILTER, type LogFilter } from "./log-lines.ts";
import "./log-list.ts";

const TIMES = [
  ["All times", 0],
  ["Last 5 minutes", 5],
  ["Last hour", 60],
  ["Last day", 1440],
] as const;

/** The log of the gateway as it grows. */
export class LogsPage extends Page {
  static override styles = [
    sheet,
    pageLook,
    css`
      :host {
        display: flex !important;
        flex-direction: column;
      }
      .tools {
        padding: 14px 16px 10px;
        border-bottom: 1px solid var(--line);
      }
      .tools select {
        width: auto;
        max-width: 180px;
      }
      h1 {
        font-size: 18px;
      }
      oc-log-list {
        flex: 1;
      }
      .foot {
        padding: 6px 16px;
        border-top: 1px solid var(--line);
        font-size: 13px;
        color: var(--ink-soft);
        justify-content: space-between;
      }
      .foot button {
        white-space: nowrap;
      }
      .check {
        gap: 5px;
      }
      .note {
        margin: 8px 16px;
      }
      @media (max-width: 720px) {
        .tools {
          gap: 6px;
          padding: 10px;
        }
        .tools h1,
        .foot .cut {
          display: none;
        }
      }
    `,
  ];
  private readonly book = createLogBook();
  private cursor: number | undefined;
  private asking = false;
  @state() private version = 0;
  @state() private follow = true;
  @state() private paused = false;
  @state() private file = "";
  @state() private leftOut = false;
  @state() private failure: string | undefined;
  @state() private filter: LogFilter = NO_FILTER;
  @state() private minutes = 0;
  @state() private fault: string | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.every(1000, () => {
      if (!this.paused) void this.load();
    });
  }

  override async load(): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    const { cursor } = this;
    try {
      const found = await this.context.link.request("logs.tail", { limit: 5000, maxBytes: 1_000_000, ...(cursor === undefined ? {} : { cursor }) });
      if (this.file !== "" && found.file !== this.file) this.book.add([`— the log goes on in ${found.file}`]);
      else if (found.reset) this.book.add(["— a new log file was started"]);
      else if (found.truncated && cursor !== undefined) this.book.add(["— lines were left out: more came than is fetched at once"]);
      this.leftOut ||= cursor === undefined && found.truncated === true;
      this.file = found.file;
      this.cursor = found.cursor;
      this.failure = undefined;
      if (found.lines.length > 0) {
        this.book.add(found.lines);
        this.version += 1;
      }
    } catch (error) {
      this.failure = failureText(error);
    } finally {
      this.asking = false;
    }
  }

  private narrow(change: Partial<LogFilter>, minutes = this.minutes): void {
    this.minutes = minutes;
    this.filter = { ...this.filter, ...change, since: minutes === 0 ? 0 : Date.now() - minutes * 60_000 };
    const test = matcher(this.filter);
    this.fault = typeof test === "string" ? test : undefined;
    if (typeof test !== "string") this.book.filter(test);
    this.version += 1;
  }

  private save(): void {
    const url = URL.createObjectURL(new Blob([this.book.shown.map(({ raw }) => `${raw}\n`).join("")], { type: "application/jsonl" }));
    Object.assign(document.createElement("a"), { href: url, download: `openclaw-${new Date().toISOString().slice(0, 19).replaceAll(":", "")}.log` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  }

  private tools(): TemplateResult {
    const value = (event: Event): string => (event.target as HTMLSelectElement).value;
    return html`<div class="row wrap tools">
      <h1>Logs</h1>
      <oc-filter-box
        label="Search the log"
        .value=${this.filter.text}
        @filter=${(event: CustomEvent<string>) => this.narrow({ text: event.detail })}
      ></oc-filter-box>
      <label class="row check"
        ><input
          type="checkbox"
          .checked=${this.filter.regex}
          @change=${(event: Event) => this.narrow({ regex: (event.target as HTMLInputElement).checked })}
        />Pattern</label
      >
      <select aria-label="Level" @change=${(event: Event) => this.narrow({ level: value(event) })}>
        <option value="">All levels</option>
        ${LEVELS.map((level) => html`<option value=${level}>${level === "fatal" ? "fatal only" : `${level} and graver`}</option>`)}
      </select>
      <select aria-label="Subsystem" @change=${(event: Event) => this.narrow({ subsystem: value(event) })}>
        <option value="">All subsystems</option>
        ${[...this.book.subsystems].toSorted().map((name) => html`<option value=${name} ?selected=${name === this.filter.subsystem}>${name}</option>`)}
      </select>
      <select aria-label="Time" @change=${(event: Event) => this.narrow({}, Number(value(event)))}>
        ${TIMES.map(([words, minutes]) => html`<option value=${minutes}>${words}</option>`)}
      </select>
      <button aria-pressed=${this.paused} @click=${() => (this.paused = !this.paused)}>${this.paused ? "Go on" : "Pause"}</button>
      <button class="icon" aria-label="Download what is shown" title="Download what is shown" @click=${() => this.save()}>${icon("download")}</button>
    </div>`;
  }

  private empty(): TemplateResult | typeof nothing {
    if (this.book.shown.length > 0) return nothing;
    if (this.file === "") return html`<div class="note">Loading…</div>`;
    return html`<div class="note">${this.book.lines.length === 0 ? `No log lines yet. Lines of ${this.file} appear here.` : "No matching lines"}</div>`;
  }

  protected override render(): TemplateResult {
    const { shown, lines } = this.book;
    return html`${this.tools()}
      ${this.failure === undefined ? nothing : html`<div class="note bad" role="alert">The log could not be read: ${this.failure}</div>`}
      ${this.fault === undefined ? nothing : html`<div class="note warn" role="alert">The pattern cannot be read: ${this.fault}</div>`} ${this.empty()}
      <oc-log-list
        .lines=${shown}
        .version=${this.version}
        .follow=${this.follow}
        @reading=${(event: CustomEvent<boolean>) => (this.follow = event.detail)}
      ></oc-log-list>
      <div class="row foot">
        <span
          >${shown.length === lines.length ? "" : `${shown.length.toLocaleString()} of `}${lines.length.toLocaleString()}
          lines${this.leftOut ? ", older ones are in the file" : ""}</span
        >
        <span class="mono cut">${this.file}</span>
        ${
          this.follow
            ? html`<span>${this.paused ? "Paused" : "Following"}</span>`
            : html`<button class="small" @click=${() => (this.follow = true)}>${icon("down", 15)}Jump to the newest</button>`
        }
      </div>`;
  }
}
customElements.define("oc-logs-page", LogsPage);
