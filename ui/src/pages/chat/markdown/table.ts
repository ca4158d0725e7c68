import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { icon } from "../../../look/icons.ts";
import { sheet } from "../../../look/sheet.ts";
import { proseLook } from "./look.ts";
import type { Node } from "./parse.ts";
import { sortedRows, tableText, type Cell, type TableCells } from "./table-cells.ts";
import { t } from "../../../words/words.ts";

/** A table that can be sorted by its columns and copied. */
export class ProseTable extends LitElement {
  static override styles = [
    sheet,
    proseLook,
    css`
      :host {
        display: block;
        position: relative;
        margin: 0 0 12px;
      }
      .scroll {
        border: 1px solid var(--line);
        border-radius: var(--radius);
      }
      .scroll > table {
        width: 100%;
        min-width: max-content;
        font-size: var(--type-row);
        line-height: 20px;
        border-collapse: separate;
        border-spacing: 0;
      }
      th {
        padding: 2px 6px;
        background: var(--code);
      }
      td {
        padding: 8px 14px;
      }
      tbody tr:last-child > td {
        border-bottom: 0;
      }
      th button {
        min-height: 30px;
        padding: 2px 8px;
        color: var(--ink-faint);
        font-size: var(--type-small);
        text-align: start;
      }
      th svg {
        opacity: 0;
      }
      th button:hover svg,
      th button:focus-visible svg,
      th[aria-sort] svg {
        opacity: 1;
      }
      .copy {
        position: absolute;
        inset-block-end: 6px;
        inset-inline-end: 6px;
        min-height: 28px;
        padding: 0 6px;
        color: var(--ink-soft);
        background: var(--raised);
        opacity: 0;
      }
      :host(:hover) .copy,
      .copy:focus-visible {
        opacity: 1;
      }
    `,
  ];
  @property({ attribute: false }) cells: TableCells = { head: [], rows: [] };
  @property({ attribute: false }) draw: (nodes: readonly Node[]) => unknown = () => nothing;
  @property({ attribute: false }) copy: (text: string) => void = () => undefined;
  @state() private sort: { readonly column: number; readonly down: boolean } | undefined;

  private sortBy(column: number): void {
    const { sort } = this;
    if (sort?.column !== column) this.sort = { column, down: false };
    else this.sort = sort.down ? undefined : { column, down: true };
  }

  private heading(cell: Cell, column: number): TemplateResult {
    const sort = this.sort?.column === column ? this.sort : undefined;
    return html`<th class=${side(cell)} scope="col" aria-sort=${sort ? (sort.down ? "descending" : "ascending") : nothing}>
      <button class="plain" title=${t("Sort by this column")} @click=${() => this.sortBy(column)}>
        ${this.draw(cell.children)}${icon(sort?.down ? "down" : "up", 12)}
      </button>
    </th>`;
  }

  protected override render(): TemplateResult {
    const { head, rows } = this.cells;
    const shown = this.sort ? sortedRows(rows, this.sort.column, this.sort.down) : rows;
    return html`<div class="prose">
        <div class="scroll" dir="auto" tabindex="0" role="group" aria-label=${t("Table")}>
          <table>
            <thead>
              <tr>
                ${head.map((cell, at) => this.heading(cell, at))}
              </tr>
            </thead>
            <tbody>
              ${shown.map(
                (row) =>
                  html`<tr>
                    ${row.map((cell) => html`<td class=${side(cell)}>${this.draw(cell.children)}</td>`)}
                  </tr>`,
              )}
            </tbody>
          </table>
        </div>
      </div>
      ${
        rows.length === 0
          ? nothing
          : html`<button
              class="plain small copy"
              aria-label=${t("Copy table")}
              title=${t("Copy table for a spreadsheet")}
              @click=${() => this.copy(tableText(this.cells))}
            >
              ${icon("copy", 14)}
            </button>`
      }`;
  }
}
customElements.define("oc-prose-table", ProseTable);

function side({ align }: Cell): string {
  return align === "right" ? "right" : align === "center" ? "centre" : "";
}
