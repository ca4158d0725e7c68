/** A stretch of a long list. `to` is exclusive. */
export interface Leaf {
  readonly page: number;
  readonly pages: number;
  readonly from: number;
  readonly to: number;
  readonly total: number;
}

/** The leaf with a number; the last one when the list has become shorter. */
export function leafOf(total: number, page: number, size: number): Leaf {
  const pages = Math.max(1, Math.ceil(total / size));
  const at = Math.min(Math.max(0, page), pages - 1);
  return { page: at, pages, from: at * size, to: Math.min(total, (at + 1) * size), total };
}
