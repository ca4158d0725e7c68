import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, query, state } from "lit/decorators.js";
import { live } from "lit/directives/live.js";
import { styleMap } from "../look/style-map.ts";
import { icon } from "../look/icons.ts";
import { sheet } from "../look/sheet.ts";
import { findAll, lineAt, lineEnd, offsetAt, type Span } from "./json-editor-text.ts";

/** Something to say about a line. */
export interface LineMark {
  readonly line: number;
  readonly message: string;
  readonly bad: boolean;
}

const LINE_PX = 20;

/** A text with line numbers, marks at lines and a search. Says `write` {text}. */
export class JsonEditor extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: flex;
        flex-direction: column;
        min-height: 240px;
        border: 1px solid var(--line-strong);
        border-radius: var(--radius-small);
        background: var(--code);
        overflow: hidden;
      }
      .find {
        display: flex;
        gap: 8px;
        align-items: center;
        padding: 6px 8px;
        border-bottom: 1px solid var(--line);
        background: var(--raised);
      }
      .find input:not([type="checkbox"]) {
        max-width: 280px;
        min-height: 30px;
      }
      .text {
        position: relative;
        display: grid;
        grid-template-columns: auto 1fr;
        flex: 1;
        min-height: 0;
      }
      .numbers {
        overflow: hidden;
        padding: 8px 0;
        min-width: 5ch;
        color: var(--ink-soft);
        background: var(--sunken);
        border-inline-end: 1px solid var(--line);
        font: 12.5px/20px var(--mono);
        text-align: end;
        user-select: none;
      }
      .numbers div {
        height: 20px;
        padding: 0 8px;
      }
      .numbers .bad,
      .numbers .doubtful {
        font-weight: 700;
        cursor: help;
      }
      .numbers .bad {
        color: var(--accent-ink);
        background: var(--bad);
      }
      .numbers .doubtful {
        color: var(--warn);
        background: var(--warn-soft);
      }
      .behind {
        position: absolute;
        inset: 0;
        overflow: hidden;
        pointer-events: none;
      }
      .bar {
        position: absolute;
        inset-inline: 0;
        height: 20px;
        background: var(--bad-soft);
      }
      .bar.doubtful {
        background: var(--warn-soft);
      }
      .area {
        position: relative;
        min-width: 0;
        display: flex;
      }
      textarea,
      textarea:focus-visible {
        position: relative;
        flex: 1;
        height: 100%;
        min-height: 0;
        padding: 8px 10px;
        border: 0;
        border-radius: 0;
        outline: none;
        resize: none;
        background: none;
        color: var(--ink);
        font: 12.5px/20px var(--mono);
        tab-size: 2;
        white-space: pre;
        overflow: auto;
      }
      :host(:focus-within) {
        outline: 2px solid var(--accent);
        outline-offset: 1px;
      }
    `,
  ];
  @property() value = "";
  @property() label = "Text";
  @property({ attribute: false }) marks: readonly LineMark[] = [];
  @property({ type: Boolean }) readonly = false;
  @state() private finding = false;
  @state() private words = "";
  @state() private at = 0;
  @state() private scrolled = 0;
  @query("textarea") private area!: HTMLTextAreaElement;

  /** Puts the cursor there and shows the place. */
  goTo(line: number, column = 1): void {
    const start = offsetAt(this.value, line, column);
    this.reveal({ start, end: start });
    this.area.focus();
  }

  private reveal({ start, end }: Span): void {
    const { area } = this;
    area.setSelectionRange(start, end);
    area.scrollTop = Math.max(0, (lineAt(this.value, start) - 1) * LINE_PX - area.clientHeight / 3);
    this.follow();
  }

  private follow(): void {
    this.scrolled = this.area.scrollTop;
    const numbers = this.renderRoot.querySelector(".numbers");
    if (numbers) numbers.scrollTop = this.area.scrollTop;
  }

  private say(text: string): void {
    this.value = text;
    this.dispatchEvent(new CustomEvent("write", { detail: { text } }));
  }

  private key(event: KeyboardEvent): void {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "f") {
      event.preventDefault();
      void this.openFind();
    } else if (event.key === "Enter" && !event.shiftKey && !event.ctrlKey && !event.isComposing && !this.readonly) {
      const { selectionStart, selectionEnd } = this.area;
      const put = lineEnd(this.value, selectionStart);
      if (put === "\n") return;
      event.preventDefault();
      this.area.setRangeText(put, selectionStart, selectionEnd, "end");
      this.say(this.area.value);
    }
  }

  private async openFind(): Promise<void> {
    this.finding = true;
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLInputElement>(".find input")?.select();
  }

  private closeFind(): void {
    this.finding = false;
    this.area.focus();
  }

  private step(by: number): void {
    const found = findAll(this.value, this.words);
    if (found.length === 0) return;
    this.at = (this.at + by + found.length) % found.length;
    this.reveal(found[this.at]!);
  }

  private findKey(event: KeyboardEvent): void {
    if (event.key === "Escape") this.closeFind();
    else if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private find(): TemplateResult | typeof nothing {
    if (!this.finding) return nothing;
    const { length } = findAll(this.value, this.words);
    const type = (event: InputEvent): void => {
      this.words = (event.target as HTMLInputElement).value;
      this.at = 0;
      this.step(0);
    };
    return html`<div class="find" role="search">
      <input type="text" aria-label="Find in the text" placeholder="Find" .value=${this.words} @input=${type} @keydown=${this.findKey} />
      <span class="faint grow" aria-live="polite"
        >${this.words === "" ? "" : length === 0 ? "Nothing found" : `${Math.min(this.at + 1, length)} of ${length}`}</span
      >
      <button class="plain small" aria-label="Previous" @click=${() => this.step(-1)}>${icon("up", 15)}</button>
      <button class="plain small" aria-label="Next" @click=${() => this.step(1)}>${icon("down", 15)}</button>
      <button class="plain small" aria-label="Close the search" @click=${this.closeFind}>${icon("close", 15)}</button>
    </div>`;
  }

  protected override render(): TemplateResult {
    const count = this.value.split("\n").length;
    const marks = new Map(this.marks.toSorted((a, b) => Number(a.bad) - Number(b.bad)).map((mark) => [mark.line, mark]));
    const worst = this.marks.filter(({ line }) => line <= count);
    return html`${this.find()}
      <div class="text">
        <div class="numbers" aria-hidden="true">
          ${Array.from({ length: count }, (_, at) => {
            const mark = marks.get(at + 1);
            return html`<div class=${mark ? (mark.bad ? "bad" : "doubtful") : ""} title=${mark?.message ?? nothing}>${at + 1}</div>`;
          })}
        </div>
        <div class="area">
          <div class="behind">
            ${worst.map(
              ({ line, bad }) =>
                html`<div class="bar ${bad ? "" : "doubtful"}" style=${styleMap({ top: `${8 + (line - 1) * LINE_PX - this.scrolled}px` })}></div>`,
            )}
          </div>
          <textarea
            aria-label=${this.label}
            spellcheck="false"
            autocapitalize="off"
            autocomplete="off"
            wrap="off"
            ?readonly=${this.readonly}
            .value=${live(this.value)}
            @input=${() => this.say(this.area.value)}
            @scroll=${this.follow}
            @keydown=${this.key}
          ></textarea>
        </div>
      </div>`;
  }
}
customElements.define("oc-json-editor", JsonEditor);
