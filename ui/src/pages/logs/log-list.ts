import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, query, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { styleMap } from "../../look/style-map.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/copy-button.ts";
import { unfolded, type LogLine } from "./log-lines.ts";
import { rowWindow } from "./log-window.ts";
import { t } from "../../words/words.ts";

const ROW = 24;
const OPEN = 240;
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });

/** Narrow screens leave the milliseconds out. */
const shownTime = (at: number): TemplateResult => {
  const [seconds, ms] = clock.format(at).split(".");
  return html`${seconds}<span class="ms">.${ms}</span>`;
};

/** Lines of the log, of which only those that are seen are in the page. Dispatches `reading` when the user scrolls away from the newest, or back to it. */
export class LogList extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: block;
        position: relative;
        min-height: 0;
      }
      .view {
        position: absolute;
        inset: 0;
        overflow: auto;
        overflow-anchor: none;
        background: var(--raised);
        font-family: var(--mono);
        font-size: var(--type-small);
      }
      .all {
        position: relative;
        min-width: 100%;
      }
      ol {
        position: absolute;
        inset-inline: 0;
        margin: 0;
        padding: 0;
        list-style: none;
      }
      button.line {
        display: grid;
        grid-template-columns: 96px 52px 150px minmax(0, 1fr);
        gap: 10px;
        align-items: center;
        justify-content: start;
        width: 100%;
        height: 24px;
        min-height: 24px;
        padding: 0 14px;
        font: inherit;
        text-align: start;
        background: none;
        border: 0;
        border-radius: 0;
      }
      button.line:focus-visible {
        outline-offset: -2px;
      }
      button.line[aria-expanded="true"] {
        background: var(--sunken);
      }
      .time,
      .where {
        color: var(--ink-faint);
      }
      .level {
        color: var(--ink-soft);
      }
      .fatal .level,
      .error .level,
      .error .said,
      .fatal .said {
        color: var(--bad);
      }
      .warn .level {
        color: var(--warn);
      }
      .debug .said,
      .trace .said {
        color: var(--ink-soft);
      }
      .open {
        height: 240px;
        padding: 8px 14px;
        overflow: auto;
        background: var(--sunken);
        border-bottom: 1px solid var(--line);
      }
      pre {
        margin: 0;
        white-space: pre-wrap;
        overflow-wrap: anywhere;
        font-size: inherit;
      }
      oc-copy-button {
        float: inline-end;
      }
      @media (max-width: 760px) {
        button.line {
          grid-template-columns: 64px 44px minmax(0, 1fr);
        }
        .where,
        .ms {
          display: none;
        }
      }
    `,
  ];
  @property({ attribute: false }) lines: readonly LogLine[] = [];
  /** Changes whenever `lines` does: the list itself may be the same. */
  @property({ attribute: false }) version = 0;
  /** Stays with the newest line. */
  @property({ type: Boolean }) follow = true;
  @state() private top = 0;
  @state() private viewHeight = 600;
  @state() private opened: number | undefined;
  @query(".view") private view!: HTMLElement;
  private readonly sizes = new ResizeObserver(([entry]) => (this.viewHeight = entry?.contentRect.height ?? this.viewHeight));

  protected override firstUpdated(): void {
    this.sizes.observe(this.view);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.sizes.disconnect();
  }

  protected override updated(changed: PropertyValues): void {
    if (this.follow && (changed.has("version") || changed.has("follow") || changed.has("viewHeight"))) this.view.scrollTop = this.view.scrollHeight;
  }

  private scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.view;
    const up = scrollTop < this.top - 1;
    this.top = scrollTop;
    const atEnd = scrollHeight - scrollTop - clientHeight < ROW * 1.5;
    const follows = atEnd || (this.follow && !up);
    if (follows !== this.follow) this.dispatchEvent(new CustomEvent<boolean>("reading", { detail: follows }));
  }

  private row(line: LogLine): TemplateResult {
    const isOpen = line.id === this.opened;
    return html`<li class=${line.level}>
      <button class="line" aria-expanded=${isOpen} @click=${() => (this.opened = isOpen ? undefined : line.id)}>
        <span class="time cut">${line.time === undefined ? nothing : shownTime(line.time)}</span>
        <span class="level cut">${line.level}</span>
        <span class="where cut">${line.subsystem}</span>
        <span class="said cut">${line.message}</span>
      </button>
      ${
        isOpen
          ? html`<div class="open">
              <oc-copy-button what="the line" .text=${line.raw}></oc-copy-button>
              <pre>${unfolded(line.raw)}</pre>
            </div>`
          : nothing
      }
    </li>`;
  }

  protected override render(): TemplateResult {
    const { lines, top, viewHeight, opened } = this;
    const index = opened === undefined ? -1 : lines.findIndex(({ id }) => id === opened);
    const { from, to, above, height } = rowWindow({
      count: lines.length,
      rowHeight: ROW,
      top,
      viewHeight,
      spare: 12,
      open: index < 0 ? undefined : { index, height: OPEN },
    });
    return html`<div class="view" role="log" aria-label=${t("Log lines")} aria-live="off" tabindex="0" @scroll=${this.scrolled}>
      <div class="all" style=${styleMap({ height: `${height}px` })}>
        <ol style=${styleMap({ top: `${above}px` })}>
          ${repeat(
            lines.slice(from, to),
            ({ id }) => id,
            (line) => this.row(line),
          )}
        </ol>
      </div>
    </div>`;
  }
}
customElements.define("oc-log-list", LogList);
