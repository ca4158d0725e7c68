import { AppError, messageOf } from "../../../base/errors.ts";
import { failedOutcome, textOutcome, type Tool } from "../../tool.ts";
import { numberedDiff } from "./diff.ts";
import { EDIT_PROPERTIES, filesFor, missingParams, resolvePath, textParam, type FileToolsDeps } from "./paths.ts";

const MAX_FILE_BYTES = 20 * 1024 * 1024;
const BOM = "\uFEFF";

/** Replaces one text of a file by another. The text must be found once; line ends and a mark at the beginning stay as they were. */
export function editTool(deps: FileToolsDeps): Tool {
  return {
    name: "edit",
    label: "edit",
    description: "Replace one exact text of a file. oldText must match including its whitespace, and occur once.",
    parameters: { type: "object", properties: EDIT_PROPERTIES, required: [] },
    source: { kind: "core" },
    async run(call) {
      const { params, context } = call;
      const [written, oldText, newText] = [textParam(params, "path"), textParam(params, "oldText"), textParam(params, "newText")];
      const missing = [...(written?.trim() ? [] : ["path"]), ...(oldText ? [] : ["oldText"]), ...(newText === undefined ? ["newText"] : [])];
      if (missing.length > 0) return failedOutcome(missingParams(missing));
      const files = filesFor("edit", call, deps);
      const path = resolvePath(written!, context, deps.home);
      let before: string;
      try {
        await using file = await files.open(path);
        if ((await file.stat()).size > MAX_FILE_BYTES) return failedOutcome(`${written} is larger than ${MAX_FILE_BYTES / 1024 / 1024} MB: edit it with exec`);
        before = String(await file.readFile());
      } catch (error) {
        return failedOutcome(error instanceof AppError && error.code === "NOT_FOUND" ? `File not found: ${written}` : messageOf(error));
      }
      const replaced = replaceOnce(before, oldText!, newText!, written!);
      if (!replaced.ok) return failedOutcome(replaced.text);
      await files.write(path, replaced.content);
      return textOutcome(`Successfully replaced text in ${written}.`, numberedDiff(replaced.before, replaced.after));
    },
  };
}

type Replaced =
  | { readonly ok: true; readonly content: string; readonly before: string; readonly after: string }
  | { readonly ok: false; readonly text: string };

function replaceOnce(original: string, oldText: string, newText: string, path: string): Replaced {
  const mark = original.startsWith(BOM) ? BOM : "";
  const crlf = /\r\n|\n/.exec(original)?.[0] === "\r\n";
  const before = toLf(original.slice(mark.length));
  const [wanted, wanting] = [toLf(oldText), toLf(newText)];
  const found = occurrences(before, wanted);
  if (found.length > 1) return no(`Found ${found.length} occurrences of the text in ${path}. Add more of its surroundings so that it occurs once.`);
  const place = found[0] ?? looseMatch(before, wanted);
  if (place === undefined) return no(`Could not find the exact text in ${path}. It must match exactly, including whitespace and line ends.`);
  if (place === "several") return no(`Found several occurrences of the text in ${path}. Add more of its surroundings so that it occurs once.`);
  const after = before.slice(0, place.start) + wanting + before.slice(place.end);
  if (after === before) return no(`No changes made to ${path}. The new text is the same as the old one.`);
  return { ok: true, content: mark + (crlf ? after.replaceAll("\n", "\r\n") : after), before, after };
}

const no = (text: string): Replaced => ({ ok: false, text });
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
  const starts = lines.flatMap((_, at) =>
    wantedLines.every((line, offset) => lines[at + offset] !== undefined && fold(lines[at + offset]!) === line) ? [at] : [],
  );
  if (starts.length !== 1) return starts.length === 0 ? undefined : "several";
  const first = starts[0]!;
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
