import { reveal, revealLine, cleanLine } from "../text/clean.ts";
import { DIM, span, wrap, type Line, type Style } from "../text/line.ts";
import { fit } from "../text/width.ts";
import { DECISIONS, type Approval, type State } from "../state/state.ts";
import { completions } from "../state/completion.ts";
import { shownItems, type Picker } from "../state/picker.ts";
import { pairLine } from "./input.ts";

const WORDS = { "allow-once": "[y] allow once", "allow-always": "[a] always allow", deny: "[n] deny" } as const;
const EDGE: Style = { colour: "yellow" };

function options(approval: Approval, focus: State["focus"]): Line {
  if (approval.deciding !== undefined) return [span(`${approval.deciding} …`, DIM)];
  if (focus?.id !== approval.id) return [span("Press Tab to decide: ", DIM), span(DECISIONS.map((decision) => WORDS[decision]).join("   "))];
  return DECISIONS.flatMap((decision, index) => [
    span(index === focus.choice ? `›${WORDS[decision]}‹` : ` ${WORDS[decision]} `, index === focus.choice ? { inverse: true, bold: true } : undefined),
    span("  "),
  ]);
}

/** A question about a command: exactly what will run and where, with nothing hidden and nothing left out. */
export function approvalLines(
  approval: Approval,
  columns: number,
  at: { readonly focus: State["focus"]; readonly sessionKey: string; readonly now: number },
): Line[] {
  const available = Math.max(8, columns - 2);
  const fact = (name: string, value: string | undefined): Line[] =>
    value === undefined || value === "" ? [] : wrap([span(`${name} `, DIM), span(revealLine(value))], available, { exact: true });
  const seconds = Math.max(0, Math.ceil((approval.expiresAt - at.now) / 1000));
  const rule = "─".repeat(Math.max(0, Math.min(columns, 60) - 2));
  const elsewhere = approval.sessionKey !== undefined && approval.sessionKey !== at.sessionKey;
  const body: Line[] = [
    ...wrap([span("Approve this command?", { bold: true }), span(`  ${seconds} s left`, DIM)], available),
    ...reveal(approval.command)
      .split("\n")
      .flatMap((row) => wrap([span(row, { bold: true })], available, { exact: true })),
    ...fact("program", approval.resolvedPath),
    ...fact("in", approval.cwd),
    ...fact("on", approval.host),
    ...(elsewhere ? fact("session", approval.sessionKey) : []),
    ...fact("env:", approval.environment ?? ""),
    ...(approval.always ?? "").split("\n").flatMap((line) => fact("always:", line)),
    ...wrap(options(approval, at.focus), available),
  ];
  return [[span(`╭─${fit(rule, columns)}`, EDGE)], ...body.map((line) => [span("│ ", EDGE), ...line]), [span(`╰─${fit(rule, columns)}`, EDGE)]];
}

/** Which of many are shown: a window that holds the selected one. */
function windowOf<T>(items: readonly T[], selected: number, height: number): { readonly from: number; readonly shown: readonly T[] } {
  const from = Math.max(0, Math.min(selected - Math.floor(height / 2), items.length - height));
  return { from, shown: items.slice(from, from + height) };
}

/** A list to choose from, shown instead of the end of the log. */
export function pickerLines(picker: Picker, columns: number, height: number): Line[] {
  const items = shownItems(picker);
  const visible = Math.max(1, height - 3);
  const { from, shown } = windowOf(items, picker.selected, visible);
  const all = picker.found === undefined ? picker.items?.length : picker.found === picker.filter.trim() ? picker.total : undefined;
  const count = picker.items === undefined ? "loading …" : all === undefined ? "looking …" : `${items.length} of ${all}`;
  const title: Line = [span(`── ${picker.title} `, { bold: true }), span(`${count} · type to filter, Enter selects, Esc closes`, DIM)];
  const what = picker.command === undefined ? [] : wrap([span("  "), span(revealLine(picker.command), { bold: true })], columns, { exact: true });
  const filter: Line[] = picker.filtering ? [[span("  filter: ", DIM), span(cleanLine(picker.filter)), span("▏", DIM)]] : [];
  const rows = shown.map(({ label, detail, value, level = 0 }, index) => {
    const mark = value === picker.current ? "● " : "";
    const branch = level === 0 ? "" : `${"  ".repeat(level - 1)}└ `;
    return pairLine(`${branch}${mark}${cleanLine(label)}`, cleanLine(detail), columns, from + index === picker.selected);
  });
  const nothing: Line[] = all !== undefined && items.length === 0 ? [[span("  No matches", DIM)]] : [];
  return [title, ...what, ...filter, ...rows, ...nothing];
}

const MOST_OFFERED = 8;

/** What the input may become. */
export function completionLines(state: State, columns: number): Line[] {
  const { completion } = state;
  if (!completion) return [];
  const offered = completions(state);
  const { from, shown } = windowOf(offered, completion.selected, MOST_OFFERED);
  return shown.map(({ label, detail }, index) => pairLine(cleanLine(label), cleanLine(detail), columns, from + index === completion.selected));
}
