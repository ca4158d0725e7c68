import { isUtf8 } from "node:buffer";
import { textEncoding } from "../../../base/binary.ts";
import { AppError, messageOf } from "../../../base/errors.ts";
import { clip } from "../../../base/text.ts";
import { defineTool } from "../../declaration.ts";
import { failedOutcome, textOutcome } from "../../tool.ts";
import { EDIT_PROPERTIES, filesFor, missingParams, namedPath, resolvePath, textParam, type FileToolsDeps } from "./paths.ts";

const CONTEXT_LINES = 4;

/** What changed between two texts that differ in one place, with line numbers and a few lines around it. */
function numberedDiff(before: string, after: string): { readonly diff: string; readonly firstChangedLine: number } {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const width = String(Math.max(old.length, now.length)).length;
  const line = (mark: string, at: number, text: string): string => `${mark}${String(at + 1).padStart(width)} ${text}`;
  const from = Math.max(0, start - CONTEXT_LINES);
  const lines = [
    ...now.slice(from, start).map((text, at) => line(" ", from + at, text)),
    ...old.slice(start, old.length - end).map((text, at) => line("-", start + at, text)),
    ...now.slice(start, now.length - end).map((text, at) => line("+", start + at, text)),
    ...now.slice(now.length - end, now.length - end + CONTEXT_LINES).map((text, at) => line(" ", now.length - end + at, text)),
  ];
  return { diff: lines.join("\n"), firstChangedLine: start + 1 };
}

const MAX_FILE_BYTES = 20 * 1024 * 1024;
const BOM = "\uFEFF";

/** Most replacements in one call. */
const MAX_EDITS = 200;

/** Replaces texts of a file by others, all of them or none. Line ends and a mark at the beginning stay as they were. */
export const editTool = defineTool<FileToolsDeps>({
  name: "edit",
  groups: ["fs"],
  reach: {},
  promptLine: "change exact passages of a file",
  icon: "📝",
  writesFiles: true,
  inSandbox: "allowed",
  overHttp: "never",
  label: "edit",
  description:
    "Replace exact texts of a file. oldText must match including its whitespace, and occur once unless replaceAll is set. Use edits for several replacements in the same file: each is made in the result of those before it, and when one does not fit nothing is changed.",
  parameters: { type: "object", properties: EDIT_PROPERTIES, required: [] },
  paths: namedPath,
  run: (deps) => async (call) => {
    const { params, context } = call;
    const written = textParam(params, "path") ?? "";
    const asked = editsOf(params);
    const missing = [...(written.trim() ? [] : ["path"]), ...(asked.ok ? [] : asked.missing)];
    if (!asked.ok || missing.length > 0) return failedOutcome(missingParams(missing));
    if (asked.edits.length > MAX_EDITS)
      return failedOutcome(`At most ${MAX_EDITS} replacements per call, got ${asked.edits.length}. Split them into several calls.`);
    const files = filesFor("edit", call, deps);
    const path = resolvePath(written, context, deps.home);
    let before: string;
    try {
      await using file = await files.open(path);
      if ((await file.stat()).size > MAX_FILE_BYTES) return failedOutcome(`${written} is larger than ${MAX_FILE_BYTES / 1024 / 1024} MB: edit it with exec`);
      const content = await file.readFile();
      const encoding = textEncoding(content);
      if (encoding === undefined) return failedOutcome(`${written} is a binary file: edit it with exec and a program for such files`);
      if (encoding !== "utf-8" || !isUtf8(content))
        return failedOutcome(`${written} is not UTF-8 text, and editing it here would damage it: convert it with exec and iconv first`);
      before = String(content);
    } catch (error) {
      return failedOutcome(error instanceof AppError && error.code === "NOT_FOUND" ? `File not found: ${written}` : messageOf(error));
    }
    const replaced = replaceAllOf(before, asked.edits, written);
    if (!replaced.ok) return failedOutcome(replaced.text);
    await files.write(path, replaced.content);
    const what = replaced.count === 1 ? "text" : `${replaced.count} texts`;
    return textOutcome(`Successfully replaced ${what} in ${written}.`, joinedDiff(replaced.steps));
  },
});

interface Edit {
  readonly oldText: string;
  readonly newText: string;
  readonly all: boolean;
}

type Asked = { readonly ok: true; readonly edits: readonly Edit[] } | { readonly ok: false; readonly missing: readonly string[] };
type Params = Readonly<Record<string, unknown>>;

/** One replacement, or those of the list; a single one beside a list comes first. `replaceAll` beside a list is for all of it. */
function editsOf(params: Params): Asked {
  const list: readonly Params[] = Array.isArray(params["edits"]) ? params["edits"] : [];
  const listed = list.map((edit, at) => ({ edit, prefix: `edits[${at}].` }));
  const alone = listed.length === 0 || textParam(params, "oldText") !== undefined ? [{ edit: params, prefix: "" }] : [];
  const allOf = (edit: Params): unknown => edit["replaceAll"] ?? edit["replace_all"];
  const missing: string[] = [];
  const edits = [...alone, ...listed].map(({ edit, prefix }): Edit => {
    const [oldText, newText] = [textParam(edit, "oldText"), textParam(edit, "newText")];
    if (!oldText) missing.push(`${prefix}oldText`);
    if (newText === undefined) missing.push(`${prefix}newText`);
    return { oldText: oldText ?? "", newText: newText ?? "", all: (allOf(edit) ?? allOf(params)) === true };
  });
  return missing.length === 0 ? { ok: true, edits } : { ok: false, missing };
}

interface Step {
  readonly before: string;
  readonly after: string;
}

type Replaced =
  | { readonly ok: true; readonly content: string; readonly steps: readonly Step[]; readonly count: number }
  | { readonly ok: false; readonly text: string };

function replaceAllOf(original: string, edits: readonly Edit[], path: string): Replaced {
  const mark = original.startsWith(BOM) ? BOM : "";
  const crlf = /\r\n|\n/.exec(original)?.[0] === "\r\n";
  const steps: Step[] = [];
  let count = 0;
  let now = toLf(original.slice(mark.length));
  for (const [at, edit] of edits.entries()) {
    const found = replaceIn(now, edit, path);
    if (!found.ok) return edits.length === 1 ? found : { ok: false, text: `Nothing was changed. edits[${at}]: ${found.text}` };
    steps.push({ before: now, after: found.after });
    now = found.after;
    count += found.count;
  }
  return { ok: true, content: mark + (crlf ? now.replaceAll("\n", "\r\n") : now), steps, count };
}

type OneReplaced = { readonly ok: true; readonly after: string; readonly count: number } | { readonly ok: false; readonly text: string };

function replaceIn(before: string, { oldText, newText, all }: Edit, path: string): OneReplaced {
  const [wanted, wanting] = [toLf(oldText), toLf(newText)];
  const found = occurrences(before, wanted);
  if (found.length > 1 && !all)
    return no(`Found ${found.length} occurrences of the text in ${path}. Include more of the surrounding text so that it occurs once, or set replaceAll.`);
  const loose = found.length === 0 ? looseMatch(before, wanted) : undefined;
  if (loose === "several") return no(`Found several occurrences of the text in ${path}. Include more of the surrounding text so that it occurs once.`);
  const places = loose === undefined ? found : [loose];
  if (places.length === 0) return no(`Could not find the exact text in ${path}. It must match exactly, including whitespace and line ends.`);
  let after = "";
  let from = 0;
  for (const { start, end } of places) {
    after += before.slice(from, start) + wanting;
    from = end;
  }
  after += before.slice(from);
  if (after === before) return no(`No changes made to ${path}. The new text is the same as the old one.`);
  return { ok: true, after, count: places.length };
}

/** Longest description of what changed, in characters. */
const MAX_DIFF_CHARS = 40_000;

function joinedDiff(steps: readonly Step[]): { readonly diff: string; readonly firstChangedLine: number } {
  const diffs = steps.map(({ before, after }) => numberedDiff(before, after));
  return {
    diff: clip(diffs.map(({ diff }) => diff).join("\n\n"), MAX_DIFF_CHARS),
    firstChangedLine: Math.min(...diffs.map(({ firstChangedLine }) => firstChangedLine)),
  };
}

const no = (text: string): { readonly ok: false; readonly text: string } => ({ ok: false, text });
const toLf = (text: string): string => text.replaceAll(/\r\n?/g, "\n");

interface Place {
  readonly start: number;
  readonly end: number;
}

function occurrences(text: string, wanted: string): readonly Place[] {
  const found: Place[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) found.push({ start: at, end: at + wanted.length });
  return found;
}

/** Quotes, dashes and spaces that look alike, and spaces at line ends, are taken as the same; only the place that matches is replaced. */
function looseMatch(text: string, wanted: string): Place | "several" | undefined {
  const lines = text.split("\n");
  const wantedLines = wanted.replace(/\n$/, "").split("\n").map(fold);
  const isLike = (line: string | undefined, folded: string): boolean => line !== undefined && fold(line) === folded;
  const [first, ...others] = lines.flatMap((_, at) => (wantedLines.every((line, offset) => isLike(lines[at + offset], line)) ? [at] : []));
  if (first === undefined || others.length > 0) return first === undefined ? undefined : "several";
  const start = lines.slice(0, first).reduce((sum, line) => sum + line.length + 1, 0);
  const length = lines.slice(first, first + wantedLines.length).join("\n").length;
  return { start, end: Math.min(text.length, start + length + (wanted.endsWith("\n") ? 1 : 0)) };
}

function fold(line: string): string {
  return line
    .replaceAll(/[\u2018\u2019\u201A\u201B]/g, "'")
    .replaceAll(/[\u201C\u201D\u201E\u201F]/g, '"')
    .replaceAll(/[\u2010-\u2015\u2212]/g, "-")
    .replaceAll(/[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g, " ")
    .trimEnd();
}
