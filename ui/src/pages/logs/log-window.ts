/** Which rows of a list with rows of one height are drawn. One row may have something of its own height below it. */
export interface RowWindow {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** Pixels above `from`. */
  readonly above: number;
  /** Pixels of the whole list. */
  readonly height: number;
}

export interface RowLayout {
  readonly count: number;
  readonly rowHeight: number;
  readonly top: number;
  readonly viewHeight: number;
  /** Rows drawn beyond what is seen. */
  readonly spare: number;
  /** The unfolded row, and how much taller it makes the list. */
  readonly open?: { readonly index: number; readonly height: number } | undefined;
}

/** The rows around what is seen. */
export function rowWindow({ count, rowHeight, top, viewHeight, spare, open }: RowLayout): RowWindow {
  const extra = (row: number): number => (open && row > open.index ? open.height : 0);
  const rowAt = (y: number): number => {
    if (!open || y < (open.index + 1) * rowHeight) return Math.floor(y / rowHeight);
    return Math.max(open.index, Math.floor((y - open.height) / rowHeight));
  };
  const from = Math.min(Math.max(0, rowAt(top) - spare), Math.max(0, count - 1));
  const to = Math.min(count, rowAt(top + viewHeight) + 1 + spare);
  return { from, to: Math.max(from, to), above: from * rowHeight + extra(from), height: count * rowHeight + extra(count) };
}
