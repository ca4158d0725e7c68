/** Which items of a long list are on the page. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** Items on the page at most, and by how many it moves. */
export const MOST_SHOWN = 200;
const STEP = 60;

/** The newest. */
export const lastWindow = (length: number): Window => ({ from: Math.max(0, length - MOST_SHOWN), to: length });

/** With older ones at the top; what is far below leaves the page. */
export function moveUp({ from, to }: Window): Window {
  const next = Math.max(0, from - STEP);
  return { from: next, to: Math.min(to, next + MOST_SHOWN) };
}

/** With newer ones at the bottom; what is far above leaves the page. */
export function moveDown({ from, to }: Window, length: number): Window {
  const next = Math.min(length, to + STEP);
  return { from: Math.max(from, next - MOST_SHOWN), to: next };
}

/** The window over a list that changed: it stays with the items that it showed. `atEnd`: it showed the last one and goes on to. */
export function follow(window: Window, before: readonly string[], now: readonly string[], atEnd: boolean): Window {
  if (atEnd) return lastWindow(now.length);
  const places = new Map(now.map((key, at) => [key, at]));
  const shown = before.slice(window.from, window.to).flatMap((key) => places.get(key) ?? []);
  const [first] = shown;
  if (first === undefined) return lastWindow(now.length);
  const last = shown.at(-1)!;
  // What comes at the end does not push out what is looked at.
  return { from: first, to: window.to === before.length ? Math.max(last + 1, Math.min(now.length, first + MOST_SHOWN)) : last + 1 };
}
