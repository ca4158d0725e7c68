import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, query, state } from "lit/decorators.js";
import { guard } from "lit/directives/guard.js";
import { live } from "lit/directives/live.js";
import { styleMap } from "../look/style-map.ts";
import { icon } from "../look/icons.ts";
import { sheet } from "../look/sheet.ts";
import { findAll, lineAt, lineEnd, offsetAt, type Span } from "./json-editor-text.ts";
import { t } from "../words/words.ts";

/** Something to say about a line. */
export interface LineMark {
  readonly line: number;
  readonly message: string;
  readonly bad: boolean;
}

/** What helps with writing sees and may do this much. */
export interface AssistHost {
  readonly area: HTMLTextAreaElement;
  /** Where it draws: what the text area refers to has to be in the same root. */
  readonly root: ShadowRoot;
  /** Puts a text in place of a stretch, in one step that can be undone, with the cursor behind it. */
  replace(from: number, to: number, text: string): void;
  /** Scrolls to the cursor when it is out of sight. */
  showCursor(): void;
}

/** Completion and descriptions for what is written. */
export interface EditorAssist extends Disposable {
  /** True when the key was meant for it. */
  key(event: KeyboardEvent): boolean;
  typed(event: InputEvent): void;
}

const LINE_PX = 20;
const TOP_PX = 8;

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
        font: var(--type-ui)/20px var(--mono);
        text-align: end;
        user-select: none;
      }
      .numbers {
        position: relative;
      }
      .digits {
        padding: 0 8px;
        white-space: pre;
      }
      .numbers .mark {
        position: absolute;
        inset-inline: 0;
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
        font: var(--type-ui)/20px var(--mono);
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
  @property() label = t("Text");
  @property({ attribute: false }) marks: readonly LineMark[] = [];
  @property({ type: Boolean }) readonly = false;
  /** Loads what helps with writing; without it the text is a plain one. */
  @property({ attribute: false }) assist: ((host: AssistHost) => Promise<EditorAssist>) | undefined;
  private helper: EditorAssist | undefined;
  private isReplacing = false;
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

  protected override firstUpdated(): void {
    void this.loadAssist();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.hasUpdated) void this.loadAssist();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.helper?.[Symbol.dispose]();
    this.helper = undefined;
  }

  private async loadAssist(): Promise<void> {
    const { renderRoot, area } = this;
    if (!this.assist || !(renderRoot instanceof ShadowRoot)) return;
    // The text can be written without it: a file that cannot be loaded takes nothing else away.
    const helper = await this.assist({
      area,
      root: renderRoot,
      replace: (from, to, text) => this.replace(from, to, text),
      showCursor: () => this.showCursor(),
    }).catch(() => undefined);
    if (!this.isConnected || this.helper) helper?.[Symbol.dispose]();
    else this.helper = helper;
  }

  /** As if it was typed: it can be undone. */
  private replace(from: number, to: number, text: string): void {
    const { area } = this;
    area.focus();
    area.setSelectionRange(from, to);
    this.isReplacing = true;
    // The only way into the browser's list of what can be undone.
    if (!document.execCommand("insertText", false, text)) area.setRangeText(text, from, to, "end");
    this.isReplacing = false;
    this.say(area.value);
  }

  private input(event: Event): void {
    this.say(this.area.value);
    // Programs that fill in forms send plain events.
    if (!this.isReplacing && event instanceof InputEvent) this.helper?.typed(event);
  }

  private showCursor(): void {
    const { area } = this;
    const top = (lineAt(this.value, area.selectionStart) - 1) * LINE_PX;
    if (top < area.scrollTop || top + 2 * LINE_PX > area.scrollTop + area.clientHeight) this.reveal({ start: area.selectionStart, end: area.selectionEnd });
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
    if (this.helper?.key(event)) {
      event.preventDefault();
      event.stopPropagation();
    } else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "f") {
      event.preventDefault();
      void this.openFind();
    } else if (event.key === "Enter" && !event.shiftKey && !event.ctrlKey && !event.isComposing && !this.readonly) {
      const { selectionStart, selectionEnd } = this.area;
      const put = lineEnd(this.value, selectionStart);
      if (put === "\n") return;
      event.preventDefault();
      this.replace(selectionStart, selectionEnd, put);
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
      <input type="text" aria-label=${t("Find in text")} placeholder=${t("Find")} .value=${this.words} @input=${type} @keydown=${this.findKey} />
      <span class="faint grow" aria-live="polite"
        >${this.words === "" ? "" : length === 0 ? t("Nothing found") : t`${Math.min(this.at + 1, length)} of ${length}`}</span
      >
      <button class="plain small" aria-label=${t("Previous")} @click=${() => this.step(-1)}>${icon("up", 15)}</button>
      <button class="plain small" aria-label=${t("Next")} @click=${() => this.step(1)}>${icon("down", 15)}</button>
      <button class="plain small" aria-label=${t("Close search")} @click=${this.closeFind}>${icon("close", 15)}</button>
    </div>`;
  }

  protected override render(): TemplateResult {
    const count = lineAt(this.value, this.value.length);
    const marks = new Map(this.marks.toSorted((a, b) => Number(a.bad) - Number(b.bad)).map((mark) => [mark.line, mark]));
    const worst = this.marks.filter(({ line }) => line >= 1 && line <= count);
    return html`${this.find()}
      <div class="text">
        <div class="numbers" aria-hidden="true">
          <div class="digits">${guard([count], () => Array.from({ length: count }, (_, at) => at + 1).join("\n"))}</div>
          ${worst.map(({ line }) => {
            const mark = marks.get(line)!;
            const top = styleMap({ top: `${TOP_PX + (line - 1) * LINE_PX}px` });
            return html`<div class="mark ${mark.bad ? "bad" : "doubtful"}" style=${top} title=${mark.message}>${line}</div>`;
          })}
        </div>
        <div class="area">
          <div class="behind">
            ${worst.map(
              ({ line, bad }) =>
                html`<div class="bar ${bad ? "" : "doubtful"}" style=${styleMap({ top: `${TOP_PX + (line - 1) * LINE_PX - this.scrolled}px` })}></div>`,
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
            @input=${this.input}
            @scroll=${this.follow}
            @keydown=${this.key}
          ></textarea>
        </div>
      </div>`;
  }
}
customElements.define("oc-json-editor", JsonEditor);
