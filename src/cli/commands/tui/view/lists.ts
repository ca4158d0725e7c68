import { cleanLine, revealLine } from "../text/clean.ts";
import { DIM, span, wrap, type Line } from "../text/line.ts";
import { completions } from "../state/completion.ts";
import { shownItems, type Picker } from "../state/picker.ts";
import type { State } from "../state/state.ts";
import { pairLine } from "./input.ts";

/** Which of many are shown: a window that holds the selected one. */
function windowOf<T>(items: readonly T[], selected: number, height: number): { readonly from: number; readonly shown: readonly T[] } {
  const from = Math.max(0, Math.min(selected - Math.floor(height / 2), items.length - height));
  return { from, shown: items.slice(from, from + height) };
}

/** A list to choose from, in the place of the end of the log. */
export function pickerLines(picker: Picker, columns: number, height: number): Line[] {
  const items = shownItems(picker);
  const visible = Math.max(1, height - 3);
  const { from, shown } = windowOf(items, picker.selected, visible);
  const all = picker.found === undefined ? picker.items?.length : picker.found === picker.filter.trim() ? picker.total : undefined;
  const count = picker.items === undefined ? "loading …" : all === undefined ? "looking …" : `${items.length} of ${all}`;
  const title: Line = [span(`── ${picker.title} `, { bold: true }), span(`${count} · type to filter, Enter chooses, Esc closes`, DIM)];
  const what = picker.command === undefined ? [] : wrap([span("  "), span(revealLine(picker.command), { bold: true })], columns, { exact: true });
  const filter: Line[] = picker.filtering ? [[span("  filter: ", DIM), span(cleanLine(picker.filter)), span("▏", DIM)]] : [];
  const rows = shown.map(({ label, detail, value }, index) => {
    const mark = value === picker.current ? "● " : "";
    return pairLine(`${mark}${cleanLine(label)}`, cleanLine(detail), columns, from + index === picker.selected);
  });
  const nothing: Line[] = all !== undefined && items.length === 0 ? [[span("  nothing fits", DIM)]] : [];
  return [title, ...what, ...filter, ...rows, ...nothing];
}

const MOST_OFFERED = 8;

/** What the input may become. */
export function completionLines(state: State, columns: number): Line[] {
  if (!state.completion) return [];
  const offered = completions(state);
  const { from, shown } = windowOf(offered, state.completion.selected, MOST_OFFERED);
  return shown.map(({ label, detail }, index) => pairLine(cleanLine(label), cleanLine(detail), columns, from + index === state.completion!.selected));
}
