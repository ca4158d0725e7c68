import type { Check, Finding, Outcome } from "../../../doctor/index.ts";
import { escapeJoined } from "../../../base/printable.ts";
import type { Io } from "../../io.ts";
import { createStyle, type Style } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";

type Level = Outcome["level"];

const painted = (level: Level, text: string, style: Style): string =>
  ({ ok: style.green, info: style.cyan, warn: style.yellow, error: style.red })[level](text);

const WIDEST_BOX = 100;

/** Lines of at most `width` characters, broken between words where that is possible. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ").flatMap((whole) => whole.match(new RegExp(`.{1,${width}}`, "gs")) ?? [])) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** What one check found, in a box of its own. */
export function box(topic: string, { title }: Check, findings: readonly Finding[], io: Pick<Io, "color" | "columns">): string {
  const style = createStyle(io.color);
  const inner = Math.max(20, Math.min(io.columns, WIDEST_BOX) - 4);
  const head = ` ${topic} · ${title} `;
  const row = (text: string, paint: (text: string) => string = (same) => same): string => `│ ${paint(text)}${" ".repeat(Math.max(0, inner - text.length))} │`;
  const body = findings.flatMap(({ level, text, todo }) => [
    ...wrapped(`${level}: ${escapeJoined(text)}`, inner).map((line, index) =>
      row(line, (shown) => (index === 0 ? shown.replace(level, (word) => painted(level, word, style)) : shown)),
    ),
    ...(todo === undefined ? [] : wrapped(`→ ${escapeJoined(todo)}`, inner).map((line) => row(line, style.dim))),
  ]);
  return [`╭${head}${"─".repeat(Math.max(0, inner + 2 - head.length))}╮`, ...body, `╰${"─".repeat(inner + 2)}╯`, ""].join("\n");
}

export interface Summary {
  readonly ok: number;
  readonly info: number;
  readonly warn: number;
  readonly error: number;
  readonly repaired: number;
  /** `--fix` would repair them. */
  readonly repairable: number;
}

export function summarise(outcomes: readonly Outcome[]): Summary {
  const count = (level: Level): number => outcomes.filter((outcome) => outcome.level === level).length;
  return {
    ok: count("ok"),
    info: count("info"),
    warn: count("warn"),
    error: count("error"),
    repaired: outcomes.filter(({ repaired }) => repaired !== undefined).length,
    repairable: outcomes.filter(({ repair }) => repair !== undefined && !repair.force).length,
  };
}

/** What a machine reads. */
export function reportJson(outcomes: readonly Outcome[]): unknown {
  const checks = outcomes.map(({ topic: _topic, title: _title, ...outcome }) => outcome);
  return { checks, summary: summarise(outcomes) };
}

const outcomeText = ({ text, repaired }: Outcome): string => escapeJoined(repaired ?? text);

/** One line for each finding, cut to the screen: the boxes above have the rest. */
export function findingsTable(outcomes: readonly Outcome[], io: Pick<Io, "color" | "columns">): string {
  const style = createStyle(io.color);
  const rows = shownOf(outcomes).map((outcome) => [painted(outcome.level, wordOf(outcome), style), escapeJoined(outcome.id), outcomeText(outcome)]);
  return rows.length === 0 ? "" : formatTable(["Level", "Check", "Finding"], rows, { style, columns: io.columns });
}

/** The same in full, with what to do: for files and pipes. */
export function findingsInFull(outcomes: readonly Outcome[], io: Pick<Io, "color">): string {
  const style = createStyle(io.color);
  return shownOf(outcomes)
    .map((outcome) => {
      const todo = outcome.todo === undefined ? "" : `         ${style.dim(`→ ${escapeJoined(outcome.todo)}`)}\n`;
      return `${painted(outcome.level, wordOf(outcome).padEnd(8), style)} ${escapeJoined(outcome.id)}: ${outcomeText(outcome)}\n${todo}`;
    })
    .join("");
}

const shownOf = (outcomes: readonly Outcome[]): readonly Outcome[] => outcomes.filter(({ level, repaired }) => level !== "ok" || repaired !== undefined);
const wordOf = ({ level, repaired }: Outcome): string => (repaired === undefined ? level : "repaired");
const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;

/** The last line. */
export function conclusion(outcomes: readonly Outcome[], checks: number, io: Pick<Io, "color">): string {
  const style = createStyle(io.color);
  const { warn, error, repaired, repairable } = summarise(outcomes);
  const done = repaired === 0 ? "" : `; ${counted(repaired, "repair")} made`;
  if (warn === 0 && error === 0) return `${style.green("No problems found")}: ${counted(checks, "check")}${done}\n`;
  const offer = repairable === 0 ? "" : `. Repair ${repairable} with: openclaw doctor --fix`;
  const parts = [...(error === 0 ? [] : [counted(error, "error")]), ...(warn === 0 ? [] : [counted(warn, "warning")])];
  return `${(error === 0 ? style.yellow : style.red)(parts.join(", "))} in ${counted(checks, "check")}${done}${offer}\n`;
}
