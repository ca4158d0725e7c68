import { shownAnswer } from "../../../../protocol/index.ts";
import { clean, cleanLine } from "../text/clean.ts";
import { DIM, span, wrapText, type Line, type Style } from "../text/line.ts";
import type { Entry } from "../state/entry.ts";
import type { Note, Run, Segment, Sent, State } from "../state/state.ts";
import { createMarkdown, type DrawMarkdown, type ReadMarkdown } from "./markdown.ts";
import { toolLines } from "./tool-card.ts";

/** Drawing options. A part's cached lines are reused while these stay the same. */
export interface LogStyle {
  readonly columns: number;
  readonly tools: boolean;
  readonly thinking: boolean;
  readonly read: ReadMarkdown;
  readonly markdown: DrawMarkdown;
}

const YOU: Style = { colour: "cyan", bold: true };
const REASONING: Style = { dim: true, italic: true };
const ERROR: Style = { colour: "red" };
const WARN: Style = { colour: "yellow" };

const indented = (lines: readonly Line[], first = "  ", style?: Style): Line[] =>
  lines.map((line, index) => (line.length === 0 ? [] : [span(index === 0 ? first : "  ", style), ...line]));

function userLines(text: string, columns: number, mark = ""): Line[] {
  const lines = indented(wrapText(clean(text), columns - 2), "› ", YOU);
  return mark === "" ? lines : [...lines, [span(`  ${mark}`, DIM)]];
}

function answerLines(text: string, style: LogStyle): Line[] {
  const { text: words, files } = shownAnswer(text);
  const lines = words === "" ? [] : indented(style.markdown(words, style.columns - 2, style.read));
  return [...lines, ...files.flatMap((file) => indented(wrapText(`File: ${cleanLine(file)}`, style.columns - 2, DIM)))];
}

function thinkingLines(text: string, { columns, thinking }: LogStyle): Line[] {
  return thinking && text.trim() !== "" ? indented(wrapText(clean(text.trim()), columns - 4, REASONING), "∴ ", DIM) : [];
}

function entryLines(entry: Entry, style: LogStyle): Line[] {
  if (entry.kind === "user") return userLines(entry.text, style.columns, entry.from === undefined ? "" : `from ${cleanLine(entry.from)}`);
  if (entry.kind === "mark") return [[span(`── ${cleanLine(entry.text)} ──`, DIM)]];
  if (entry.kind === "tool") {
    const status = entry.failed ? "failed" : entry.output === undefined ? "running" : "done";
    const tookMs = entry.endedAt === undefined ? undefined : entry.endedAt - entry.at;
    return toolLines({ name: entry.name, args: entry.args, output: entry.output ?? "", status, tookMs }, style.columns, style.tools);
  }
  const failed = entry.error === undefined ? [] : indented(wrapText(clean(entry.error), style.columns - 2, ERROR), "✗ ", ERROR);
  const stopped: Line[] = entry.aborted ? [[span("  (stopped)", WARN)]] : [];
  return [...thinkingLines(entry.thinking, style), ...answerLines(entry.text, style), ...failed, ...stopped];
}

function segmentLines(segment: Segment, style: LogStyle): Line[] {
  if (segment.kind === "text") return answerLines(segment.text, style);
  if (segment.kind === "thinking") return thinkingLines(segment.text, style);
  const tookMs = segment.endedAt === undefined ? undefined : segment.endedAt - segment.startedAt;
  return toolLines({ ...segment, tookMs }, style.columns, style.tools);
}

function noteLines({ text, tone, command }: Note, { columns }: LogStyle): Line[] {
  const tint = tone === "error" ? ERROR : tone === "warn" ? WARN : DIM;
  const head = command === undefined ? [] : wrapText(`! ${clean(command)}`, columns, { bold: true });
  const body = text === "" ? [] : wrapText(clean(text), columns - 2, command === undefined || tone === "error" ? tint : undefined);
  return [...head, ...indented(body)];
}

function sentLines({ text, state, error }: Sent, { columns }: LogStyle): Line[] {
  if (state !== "failed") return userLines(text, columns, state === "sending" ? "sending …" : "");
  return [...userLines(text, columns), ...indented(wrapText(`Not sent: ${clean(error ?? "")} (press Up to edit)`, columns - 2, ERROR))];
}

function outcomeLines({ outcome }: Run, { columns }: LogStyle): Line[] {
  if (outcome?.kind === "aborted") return [[span("  (stopped)", WARN)]];
  return outcome?.kind === "error" ? indented(wrapText(clean(outcome.text ?? "Run failed"), columns - 2, ERROR), "✗ ", ERROR) : [];
}

/** One part of the log. `of` is the cache key: the same object as long as the part looks the same. */
interface Part {
  readonly of: object;
  readonly tool: boolean;
  readonly lines: (style: LogStyle) => Line[];
}

const floating = (at: number, part: Part): { readonly at: number; readonly part: Part } => ({ at, part });

function runParts(run: Run): Part[] {
  const parts = run.segments.map((segment): Part => ({ of: segment, tool: segment.kind === "tool", lines: (style) => segmentLines(segment, style) }));
  return run.outcome && run.outcome.kind !== "final" ? [...parts, { of: run.outcome, tool: false, lines: (style) => outcomeLines(run, style) }] : parts;
}

/** All entries in order: stored, then pending; local ones where they occurred. */
function partsOf(state: State): Part[] {
  const { history, sent, runs, notes, sessionKey } = state;
  const live = new Set(runs.flatMap(({ segments }) => segments.flatMap((segment) => (segment.kind === "tool" ? [segment.id] : []))));
  const base = history
    .filter((entry) => entry.kind !== "tool" || !live.has(entry.id))
    .map((entry) => floating(entry.at, { of: entry, tool: entry.kind === "tool", lines: (style) => entryLines(entry, style) }));
  const own = sent.filter((one) => one.sessionKey === sessionKey);
  const sentPart = (one: Sent) => floating(one.at, { of: one, tool: false, lines: (style: LogStyle) => sentLines(one, style) });
  const waiting = own
    .filter(({ state: how }) => how !== "failed")
    .flatMap((one) => [
      sentPart(one),
      ...runs.filter(({ runId }) => runId === one.runId).flatMap((run) => runParts(run).map((part) => floating(one.at, part))),
    ]);
  const others = runs
    .filter(({ runId }) => !own.some((one) => one.runId === runId))
    .flatMap((run) => runParts(run).map((part) => floating(run.startedAt, part)));
  const loose = [
    ...notes.map((note) => floating(note.at, { of: note, tool: false, lines: (style) => noteLines(note, style) })),
    ...own.filter(({ state: how }) => how === "failed").map(sentPart),
  ].sort((a, b) => a.at - b.at);
  const ordered = [...base, ...others, ...waiting];
  for (const one of loose) {
    const before = ordered.findLastIndex(({ at }) => at <= one.at);
    ordered.splice(before + 1, 0, one);
  }
  return ordered.map(({ part }) => part);
}

/** Creates the function that draws the log. It caches the lines of each part. */
export function createLogView(): (state: State, look: Omit<LogStyle, "markdown">) => Line[] {
  const markdown = createMarkdown();
  const drawn = new WeakMap<object, { readonly style: LogStyle; readonly lines: Line[] }>();
  const same = (a: LogStyle, b: LogStyle): boolean => a.columns === b.columns && a.tools === b.tools && a.thinking === b.thinking && a.read === b.read;

  function linesOf(part: Part, style: LogStyle): Line[] {
    const known = drawn.get(part.of);
    if (known && same(known.style, style)) return known.lines;
    const lines = part.lines(style);
    drawn.set(part.of, { style, lines });
    return lines;
  }

  return (state, look) => {
    const style: LogStyle = { ...look, markdown };
    const lines: Line[] = [];
    let afterTool = false;
    for (const part of partsOf(state)) {
      const own = linesOf(part, style);
      if (own.length === 0) continue;
      if (lines.length > 0 && !(part.tool && afterTool)) lines.push([]);
      for (const line of own) lines.push(line);
      afterTool = part.tool;
    }
    return lines;
  };
}
