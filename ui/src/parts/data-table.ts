import { css, html, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";

/** A column: its head and what stands in its cells. */
export interface Column<T> {
  readonly head: string;
  readonly cell: (row: T) => unknown;
  /** Numbers stand at the right. */
  readonly isNumber?: boolean;
  /** Left out on a phone, where two or three columns fit. */
  readonly isWide?: boolean;
}

interface TableOptions<T> {
  readonly label: string;
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string;
  /** The row whose inspector is open. */
  readonly chosen?: string | undefined;
  /** A press anywhere in a row. Its first cell has a button or link that does the same by keyboard. */
  readonly open?: ((row: T) => void) | undefined;
  /** Buttons at the end of a row, seen on hover and focus. On a phone what opens has them instead, where rows open. */
  readonly actions?: ((row: T) => TemplateResult | typeof nothing) | undefined;
}

/** For `static styles` of elements that use `dataTable`. */
export const tableLook = css`
  table.data th {
    height: 34px;
    padding: 0 12px;
    font-size: var(--type-small);
    line-height: 16px;
    white-space: nowrap;
  }
  table.data td {
    height: 44px;
    min-width: 12ch;
    padding: 4px 12px;
    overflow-wrap: anywhere;
  }
  table.data :is(th, td):first-child {
    padding-inline-start: 16px;
  }
  table.data :is(th, td):last-child {
    padding-inline-end: 12px;
  }
  table.data td.num {
    white-space: nowrap;
  }
  table.data tr.opens {
    cursor: pointer;
  }
  table.data tr[aria-current="true"] {
    background: var(--fill-strong);
  }
  table.data tr[aria-current="true"] .faint {
    color: var(--ink-soft);
  }
  table.data td.acts {
    width: 1%;
    text-align: end;
    white-space: nowrap;
  }
  table.data .acts > div {
    display: inline-flex;
    gap: 4px;
    align-items: center;
    justify-content: flex-end;
  }
  @media (hover: hover) {
    /* Always there, so that nobody thinks that nothing can be done; quiet until the row is pointed at. */
    table.data tr:not(:hover, :focus-within, [aria-current="true"]) .acts button {
      color: var(--ink-soft);
      background: none;
      border-color: transparent;
      box-shadow: none;
    }
  }
  /* What opens a row: the row's name. */
  table.data :is(a, button).name {
    display: inline-flex;
    align-items: center;
    gap: 10px;
    min-height: 32px;
    padding: 0;
    font-size: var(--type-row);
    line-height: 20px;
    font-weight: 500;
    color: var(--ink);
    text-align: start;
    text-decoration: none;
    background: none;
    border: 0;
    box-shadow: none;
    justify-content: flex-start;
    overflow-wrap: anywhere;
  }
  .data-card {
    border: 1px solid var(--line);
    border-radius: var(--radius);
    overflow: hidden;
  }
  @media (max-width: 760px) {
    table.data .wide,
    table.data .inspected,
    table.data thead td {
      display: none;
    }
    table.data .acts:not(.inspected) > div {
      flex-wrap: wrap;
    }
    table.data td {
      height: 52px;
    }
  }
`;

/** Up and down go from row to row. */
function step(event: KeyboardEvent): void {
  const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  const row = (event.target as HTMLElement).closest("tr");
  if (by === 0 || !row || !(event.target as HTMLElement).matches(".name")) return;
  const next = by === 1 ? row.nextElementSibling : row.previousElementSibling;
  const name = next?.querySelector<HTMLElement>(".name");
  if (!name) return;
  event.preventDefault();
  name.focus();
}

/** A press on the row opens it, unless it was meant for a control in it. */
const isForRow = (event: Event): boolean =>
  !event.composedPath().some((node) => node instanceof HTMLElement && node.matches("a, button, input, oc-switch, oc-select, oc-menu-button"));

/** Rows of 44 px with the same columns. */
export function dataTable<T>({ label, rows, columns, keyOf, chosen, open, actions }: TableOptions<T>): TemplateResult {
  const kind = ({ isNumber, isWide }: Column<T>): string => `${isNumber ? "num" : ""} ${isWide ? "wide" : ""}`;
  return html`<table class="data" aria-label=${label}>
    <thead>
      <tr>
        ${columns.map((column) => html`<th scope="col" class=${kind(column)}>${column.head}</th>`)} ${actions ? html`<td></td>` : nothing}
      </tr>
    </thead>
    <tbody @keydown=${step}>
      ${repeat(
        rows,
        keyOf,
        (row) =>
          html`<tr
            class=${open ? "opens" : ""}
            aria-current=${chosen === keyOf(row) ? "true" : nothing}
            @click=${open ? (event: Event) => isForRow(event) && open(row) : nothing}
          >
            ${columns.map((column) => html`<td class=${kind(column)}>${column.cell(row)}</td>`)}
            ${actions ? html`<td class="acts ${open ? "inspected" : ""}"><div>${actions(row)}</div></td>` : nothing}
          </tr>`,
      )}
    </tbody>
  </table>`;
}
