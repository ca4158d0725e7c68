import { html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { guard } from "lit/directives/guard.js";
import { icon } from "../../../look/icons.ts";
import type { Carry, coloured, Piece } from "./colours.ts";
import { t } from "../../../words/words.ts";

/** Code with more lines is folded, unless it is being written. */
const MOST_LINES = 40;
/** Lines that are laid out together when they come into view. */
const TOGETHER = 100;

/** A line as it was coloured, with what it began in. */
interface Coloured {
  readonly line: string;
  readonly from: Carry;
  readonly pieces: readonly Piece[];
  readonly carry: Carry;
}

const sameCarry = (a: Carry, b: Carry): boolean => a === b || (a !== "" && b !== "" && a.kind === b.kind && a.close === b.close);

/**
 * A block of code with its language and a button that copies it. Colours are loaded with the first one. Folded, only the lines in view are drawn. It is drawn
 * in the tree around it, which has its style.
 */
export class CodeBlock extends LitElement {
  @property() text = "";
  @property() language = "";
  @property({ attribute: false }) copy: (text: string) => void = () => undefined;
  /** More may be written to it. */
  @property({ type: Boolean }) open = false;
  @state() private colour: typeof coloured | undefined;
  @state() private unfolded = false;
  private known: readonly Coloured[] = [];

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    // Without colours it is read as well.
    if (this.language !== "") void import("./colours.ts").then(({ coloured: colour }) => (this.colour = colour)).catch(() => undefined);
  }

  protected override willUpdate(): void {
    // What was read while it was written is not folded away.
    this.unfolded ||= this.open;
  }

  /** Only lines that changed, or begin in something else, are coloured again. */
  private coloured(lines: readonly string[], colour: typeof coloured): readonly Coloured[] {
    let carry: Carry = "";
    this.known = lines.map((line, at) => {
      const before = this.known[at];
      const from = carry;
      const now = before?.line === line && sameCarry(before.from, from) ? before : { line, from, ...colour(line, this.language, from) };
      carry = now.carry;
      return now;
    });
    return this.known;
  }

  private lines(lines: readonly string[], last: number): readonly unknown[] {
    const shown = this.colour && this.coloured(lines, this.colour);
    return lines.map((line, at) => {
      const end = at < last ? "\n" : "";
      const known = shown?.[at];
      return guard([known ?? line, end], () =>
        known ? html`${known.pieces.map(({ kind, text }) => (kind === "plain" ? text : html`<span class=${kind}>${text}</span>`))}${end}` : html`${line}${end}`,
      );
    });
  }

  /** Long code in parts: those that are out of view are not laid out. */
  private parts(lines: readonly string[]): unknown {
    const drawn = this.lines(lines, lines.length - 1);
    if (lines.length <= TOGETHER) return drawn;
    const count = Math.ceil(drawn.length / TOGETHER);
    return Array.from({ length: count }, (_, at) => html`<span class="code-part">${drawn.slice(at * TOGETHER, (at + 1) * TOGETHER)}</span>`);
  }

  protected override render(): TemplateResult {
    const { text, language, unfolded } = this;
    const lines = text.split("\n");
    const isLong = lines.length > MOST_LINES;
    return html`<div class="code-block ${isLong ? "long" : ""} ${unfolded ? "unfolded" : ""}">
      <div class="code-head">
        <span class="cut">${language === "" ? t("text") : language}</span>
        <button class="plain small" aria-label=${t("Copy code")} title=${t("Copy code")} @click=${() => this.copy(text)}>${icon("copy", 14)}</button>
      </div>
      <pre
        dir="ltr"
        tabindex="0"
        role="group"
        aria-label=${t("Code")}
      ><code>${this.parts(isLong && !unfolded ? lines.slice(0, MOST_LINES) : lines)}</code></pre>
      ${
        isLong && !this.open
          ? html`<button class="plain small fold" aria-expanded=${unfolded ? "true" : "false"} @click=${() => (this.unfolded = !unfolded)}>
              ${unfolded ? t("Show less") : t`Show all ${lines.length} lines`}
            </button>`
          : nothing
      }
    </div>`;
  }
}
customElements.define("oc-code-block", CodeBlock);
