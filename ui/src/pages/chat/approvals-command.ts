import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, query, state } from "lit/decorators.js";
import { plural } from "../../base/figures.ts";
import { sheet } from "../../look/sheet.ts";
import { commandPieces } from "./approval-risk.ts";
import { t } from "../../words/words.ts";

/** Pixels that may be missing at the end: browsers round. */
const NEAR = 4;

/** What will run, whole. A long text scrolls, says so, and can be unfolded. Says `read` once its end was on the screen. */
export class ApprovalCommand extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: block;
        min-width: 0;
      }
      pre {
        margin: 0;
        padding: 6px 0;
        max-height: 30vh;
        overflow: auto;
        font-size: var(--type-ui);
        line-height: 20px;
        border: 1px solid transparent;
        border-radius: var(--radius-small);
        white-space: pre-wrap;
        overflow-wrap: anywhere;
        scrollbar-gutter: stable;
      }
      code {
        font-size: inherit;
      }
      b {
        font-weight: 600;
      }
      mark {
        margin: 0 -3px;
        padding: 1px 3px;
        color: var(--bad);
        background: var(--bad-soft);
        border-radius: 3px;
      }
      pre.long {
        overflow-y: scroll;
        border-color: var(--line);
        border-block-end: 2px dashed var(--warn);
        border-end-start-radius: 0;
        border-end-end-radius: 0;
      }
      pre.all {
        max-height: none;
      }
      .rest {
        margin-top: 6px;
        font-size: var(--type-ui);
      }
    `,
  ];
  @property() text = "";
  @state() private unfolded = false;
  @state() private long = false;
  @state() private below = 0;
  @query("pre") private block!: HTMLElement;
  private watch: ResizeObserver | undefined;
  private announced = false;

  protected override firstUpdated(): void {
    this.watch = new ResizeObserver(() => this.measure());
    this.watch.observe(this.block);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.watch?.disconnect();
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has("text")) this.announced = false;
    this.measure();
  }

  /** How much of it is out of sight. */
  private measure(): void {
    const { scrollHeight, clientHeight, scrollTop } = this.block;
    // Not laid out: nothing of it can be seen.
    if (clientHeight === 0) return;
    const hidden = scrollHeight - clientHeight - scrollTop;
    this.long = this.unfolded || scrollHeight - clientHeight > NEAR;
    const lines = this.text.split("\n").length;
    this.below = hidden <= NEAR ? 0 : Math.max(1, Math.round((hidden / scrollHeight) * Math.max(lines, scrollHeight / 20)));
    if (this.below > 0 || this.announced) return;
    this.announced = true;
    this.dispatchEvent(new CustomEvent("read"));
  }

  protected override render(): TemplateResult {
    const { long, unfolded, below, text } = this;
    const rest = below > 0 ? t`about ${plural(below, t("line"), t("lines"))} below` : t("shown in full");
    return html`<pre
        class="${long && !unfolded ? "long" : ""} ${unfolded ? "all" : ""}"
        tabindex="0"
        role="group"
        aria-label=${t("What will run")}
        @scroll=${() => this.measure()}
      ><code>${commandPieces(text).map(({ kind, text: piece }) => (kind === "plain" ? piece : kind === "danger" ? html`<mark>${piece}</mark>` : html`<b>${piece}</b>`))}</code></pre>
      ${
        long
          ? html`<div class="rest row wrap">
              <span class="grow"
                >${plural(text.split("\n").length, t("line"), t("lines"))}, ${plural(text.length, t("character"), t("characters"))}: ${rest}</span
              >
              <button class="small" aria-expanded=${unfolded} @click=${() => (this.unfolded = !unfolded)}>
                ${unfolded ? t("Show less") : t("Show in full")}
              </button>
            </div>`
          : nothing
      }`;
  }
}
customElements.define("oc-approval-command", ApprovalCommand);
