import { css, html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { figure, plural } from "../../base/figures.ts";
import { saveFile } from "../../base/save-file.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/select.ts";
import "../../parts/filter-box.ts";
import { pageHead } from "../../parts/page-head.ts";
import { loadingLine, pageLook } from "../../parts/page-look.ts";
import "../../parts/tip.ts";
import { Page } from "../../shell/page.ts";
import { createLogBook, LEVELS, matcher, NO_FILTER, type LogFilter } from "./log-lines.ts";
import "./log-list.ts";
import { t } from "../../words/words.ts";

const TIMES = [
  [t("All time"), 0],
  [t("Last 5 minutes"), 5],
  [t("Last hour"), 60],
  [t("Last day"), 1440],
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
        gap: 8px;
        padding: 8px 16px 8px var(--gutter);
        border-bottom: 1px solid var(--line);
      }
      .tools oc-select {
        max-width: 200px;
      }
      oc-log-list {
        flex: 1;
      }
      .foot {
        padding: 6px 16px 6px var(--gutter);
        border-top: 1px solid var(--line);
        font-size: var(--type-small);
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
      @media (max-width: 760px) {
        .tools {
          gap: 6px;
          padding: 10px;
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
      if (this.file !== "" && found.file !== this.file) this.book.add([t`— log continues in ${found.file}`]);
      else if (found.reset) this.book.add([t("— a new log file was started")]);
      else if (found.truncated && cursor !== undefined) this.book.add([t("— some lines were skipped: too many arrived at once")]);
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
    const name = `openclaw-${new Date().toISOString().slice(0, 19).replaceAll(":", "")}.log`;
    saveFile(name, "application/jsonl", [this.book.shown.map(({ raw }) => `${raw}\n`).join("")]);
  }

  private head(): TemplateResult {
    return pageHead({
      title: t("Logs"),
      fact: this.file === "" ? nothing : html`<span class="mono">${this.file}</span>`,
      actions: html`<button aria-pressed=${this.paused} @click=${() => (this.paused = !this.paused)}>${this.paused ? t("Resume") : t("Pause")}</button>
        <oc-tip text=${t("Download shown lines")}
          ><button class="icon" aria-label=${t("Download shown lines")} @click=${() => this.save()}>${icon("download")}</button></oc-tip
        >`,
    });
  }

  private tools(): TemplateResult {
    return html`<div class="row wrap tools">
      <oc-filter-box
        label=${t("Search the log")}
        .value=${this.filter.text}
        @filter=${(event: CustomEvent<string>) => this.narrow({ text: event.detail })}
      ></oc-filter-box>
      <label class="row check"
        ><input
          type="checkbox"
          .checked=${this.filter.regex}
          @change=${(event: Event) => this.narrow({ regex: (event.target as HTMLInputElement).checked })}
        />${t("Regex")}</label
      >
      <oc-select
        label=${t("Level")}
        .value=${this.filter.level}
        .options=${[{ value: "", label: t("All levels") }, ...LEVELS.map((level) => ({ value: level, label: level === "fatal" ? t("fatal only") : t`${level} and above` }))]}
        @choose=${(event: CustomEvent<string>) => this.narrow({ level: event.detail })}
      ></oc-select>
      <oc-select
        label=${t("Subsystem")}
        .value=${this.filter.subsystem}
        .options=${[{ value: "", label: t("All subsystems") }, ...[...this.book.subsystems].toSorted().map((name) => ({ value: name, label: name }))]}
        @choose=${(event: CustomEvent<string>) => this.narrow({ subsystem: event.detail })}
      ></oc-select>
      <oc-select
        label=${t("Time")}
        .value=${String(this.minutes)}
        .options=${TIMES.map(([words, minutes]) => ({ value: String(minutes), label: words }))}
        @choose=${(event: CustomEvent<string>) => this.narrow({}, Number(event.detail))}
      ></oc-select>
    </div>`;
  }

  private empty(): TemplateResult | typeof nothing {
    if (this.book.shown.length > 0) return nothing;
    if (this.file === "") return this.failure === undefined ? loadingLine() : nothing;
    return html`<div class="note">${this.book.lines.length === 0 ? t`No log lines yet. Lines from ${this.file} appear here.` : t("No matching lines")}</div>`;
  }

  protected override render(): TemplateResult {
    const { shown, lines } = this.book;
    return html`${this.head()}${this.tools()}
      ${this.failure === undefined ? nothing : html`<div class="note bad" role="alert">${t`The log could not be read: ${this.failure}`}</div>`}
      ${this.fault === undefined ? nothing : html`<div class="note warn" role="alert">${t`Invalid regular expression: ${this.fault}`}</div>`} ${this.empty()}
      <oc-log-list
        .lines=${shown}
        .version=${this.version}
        .follow=${this.follow}
        @reading=${(event: CustomEvent<boolean>) => (this.follow = event.detail)}
      ></oc-log-list>
      <div class="row foot">
        <span
          >${shown.length === lines.length ? plural(lines.length, t("line"), t("lines")) : t`${figure(shown.length)} of ${figure(lines.length)} lines`}${this.leftOut ? t(", older ones are in the file") : ""}</span
        >
        ${
          this.follow
            ? html`<span>${this.paused ? t("Paused") : t("Following")}</span>`
            : html`<button class="small" @click=${() => (this.follow = true)}>${icon("down", 15)}${t("Jump to latest")}</button>`
        }
      </div>`;
  }
}
customElements.define("oc-logs-page", LogsPage);
