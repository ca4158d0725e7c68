import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { plural } from "../base/figures.ts";
import { sheet } from "../look/sheet.ts";
import { diffLines, hunksOf, type DiffLine } from "./diff.ts";
import { t } from "../words/words.ts";

const SIGNS = { same: " ", added: "+", removed: "−" } as const;
const SAID = { same: "", added: "added: ", removed: "removed: " } as const;

/** Two texts compared, as one column of lines. */
export class DiffView extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: block;
      }
      .lines {
        overflow-x: auto;
        max-height: var(--diff-height, 46vh);
        overflow-y: auto;
        border: 1px solid var(--line);
        border-radius: var(--radius-small);
        background: var(--code);
        font: var(--type-ui)/1.6 var(--mono);
      }
      .line {
        display: grid;
        grid-template-columns: 4ch 4ch 2ch 1fr;
        min-width: max-content;
        white-space: pre;
      }
      .line > span {
        padding: 0 4px;
      }
      .number {
        color: var(--ink-soft);
        text-align: end;
        user-select: none;
      }
      .added {
        background: var(--good-soft);
      }
      .removed {
        background: var(--bad-soft);
      }
      .gap {
        padding: 2px 10px;
        color: var(--ink-soft);
        background: var(--sunken);
      }
    `,
  ];
  @property() old = "";
  @property() now = "";

  private line({ kind, text, before, after }: DiffLine): TemplateResult {
    return html`<div class="line ${kind}">
      <span class="number" aria-hidden="true">${before ?? ""}</span><span class="number" aria-hidden="true">${after ?? ""}</span
      ><span aria-hidden="true">${SIGNS[kind]}</span><span>${kind === "same" ? nothing : html`<span class="visually-hidden">${SAID[kind]}</span>`}${text}</span>
    </div>`;
  }

  protected override render(): TemplateResult {
    const lines = diffLines(this.old, this.now);
    const hunks = hunksOf(lines);
    if (hunks.length === 0) return html`<p class="soft">${t("No differences")}</p>`;
    return html`<div class="lines" tabindex="0" role="region" aria-label=${t("Changed lines")}>
      ${hunks.map(
        ({ lines: shown, skipped }) =>
          html`${skipped > 0 ? html`<div class="gap">${t`${plural(skipped, t("line"), t("lines"))} hidden`}</div>` : nothing}${shown.map((line) => this.line(line))}`,
      )}
    </div>`;
  }
}
customElements.define("oc-diff", DiffView);
