import { basename } from "node:path";
import { AppError, messageOf } from "../../../base/errors.ts";
import type { RootedFiles } from "../../../base/rooted-files.ts";
import { defineTool } from "../../declaration.ts";
import { failedOutcome, type ToolOutcome } from "../../tool.ts";
import { filesFor, missingParams, resolvePath, searchedPath, textParam } from "../files/paths.ts";
import { createEffort, patienceOf, type Effort, type SearchToolsDeps } from "./effort.ts";
import { MAX_GLOB_CHARS, parseGlob, type Glob } from "./glob.ts";
import { createMatcher, type Matcher } from "./matcher.ts";
import { createPage, limitOf, type Page } from "./page.ts";
import { walk } from "./walk.ts";
import type { FileHandle } from "node:fs/promises";

/** Of a longer line only the beginning is kept and searched. */
const MAX_LINE_CHARS = 64 * 1024;
const CHUNK_BYTES = 64 * 1024;

/** Whole lines that follow each other. */
interface Block {
  readonly lines: readonly string[];
  /** Number of the first, from 1. */
  readonly first: number;
  /** One of them was longer than what is kept. */
  readonly cut: boolean;
}

/** A file in blocks, of any size and with lines of any length. Ends where something begins that is no text. */
async function* blocksOf(file: FileHandle): AsyncGenerator<Block> {
  const decoder = new TextDecoder();
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let rest = "";
  let first = 1;
  for (let at = 0; ;) {
    // What the disk does not give ends it too.
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at).catch(() => ({ bytesRead: 0 }));
    const chunk = buffer.subarray(0, bytesRead);
    if (chunk.includes(0)) return;
    at += bytesRead;
    const lines = (rest + decoder.decode(chunk, { stream: bytesRead > 0 })).split("\n");
    // A text that ends with a line end has no line after it.
    if (bytesRead === 0 && lines.at(-1) === "") lines.pop();
    rest = bytesRead === 0 ? "" : (lines.pop() ?? "");
    // One char more than what is kept shows that there was more.
    if (rest.length > MAX_LINE_CHARS) rest = rest.slice(0, MAX_LINE_CHARS + 1);
    if (lines.length > 0) {
      yield { lines: lines.map(shortened), first, cut: lines.some((line) => line.length > MAX_LINE_CHARS) };
      first += lines.length;
    }
    if (bytesRead === 0) return;
  }
}

function shortened(line: string): string {
  if (line.length > MAX_LINE_CHARS) return line.slice(0, MAX_LINE_CHARS);
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

const LIMIT = 100;
const MAX_LIMIT = 10_000;
const MAX_CONTEXT = 50;
const SHOWN_CHARS = 500;

/** Finds lines in files. */
export const grepTool = defineTool<SearchToolsDeps>({
  name: "grep",
  groups: ["fs"],
  reach: { reads: "private" },
  promptLine: "find text in files",
  icon: "🔍",
  inSandbox: "allowed",
  overHttp: "never",
  label: "grep",
  description: `Search the lines of files for a pattern. Shows path, line number and line, at most ${LIMIT} matches; long lines are cut to ${SHOWN_CHARS} characters. Files in .gitignore and binary files are skipped.`,
  parameters: {
    type: "object",
    properties: {
      pattern: { type: "string", description: "Regular expression, or a text with literal" },
      path: { type: "string", description: "File or folder to search; the workspace by default" },
      glob: { type: "string", description: "Only files that match, such as *.ts or src/**/*.json" },
      ignoreCase: { type: "boolean", description: "Ignore case (false)" },
      literal: { type: "boolean", description: "Treat the pattern as plain text, not as a regular expression (false)" },
      context: { type: "number", description: "Lines to show before and after each match (0)" },
      limit: { type: "number", description: `Maximum number of matches (${LIMIT})` },
    },
    required: ["pattern"],
  },
  idempotent: true,
  executionMode: "parallel",
  paths: searchedPath,
  run: (deps) => async (call) => {
    const { params, context, signal } = call;
    const text = textParam(params, "pattern");
    if (!text) return failedOutcome(missingParams(["pattern"]));
    const glob = textParam(params, "glob")?.trim();
    const wanted = glob ? parseGlob(glob) : () => true;
    if (!wanted) return failedOutcome(`The glob is too long or has too many alternatives: use at most ${MAX_GLOB_CHARS} characters`);
    const { totalMs, blockMs } = patienceOf(deps);
    const effort = createEffort(deps.clock, signal, totalMs);
    const written = textParam(params, "path")?.trim() || ".";
    try {
      const pattern = { text, ignoreCase: params["ignoreCase"] === true, literal: params["literal"] === true };
      await using matcher = createMatcher(pattern, { clock: deps.clock, signal, blockMs });
      const search = createSearch({
        matcher,
        effort,
        limit: limitOf(params["limit"], LIMIT, MAX_LIMIT),
        context: limitOf(params["context"], 0, MAX_CONTEXT),
      });
      const places = {
        files: filesFor("grep", call, deps),
        start: resolvePath(written, context, deps.home),
        top: resolvePath(".", context, deps.home),
        effort,
      };
      const failure = await searchAll(search, places, wanted, written);
      return failure ?? search.outcome();
    } catch (error) {
      if (error instanceof AppError) return failedOutcome(messageOf(error));
      throw error;
    }
  },
});

interface Places {
  readonly files: RootedFiles;
  readonly start: string;
  readonly top: string;
  readonly effort: Effort;
}

async function searchAll(search: Search, places: Places, wanted: Glob, written: string): Promise<ToolOutcome | undefined> {
  const { files, start } = places;
  try {
    if (!(await isFolder(files, start))) {
      await using file = await files.open(start);
      await search.file(basename(start), blocksOf(file));
      return undefined;
    }
  } catch (error) {
    if (error instanceof AppError && error.code === "NOT_FOUND") return failedOutcome(`Path not found: ${written}`);
    throw error;
  }
  for await (const { path, absolute, kind } of walk(places)) {
    if (kind !== "file" || !wanted(path)) continue;
    // What cannot be opened below a folder is passed over, as it is on the way.
    const file = await files.open(absolute).catch(() => undefined);
    if (!file) continue;
    await using _ = file;
    if (!(await search.file(path, blocksOf(file)))) break;
  }
  return undefined;
}

async function isFolder(files: RootedFiles, path: string): Promise<boolean> {
  try {
    await using _ = await files.folder(path);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === "INVALID_INPUT") return false;
    throw error;
  }
}

interface SearchOptions {
  readonly matcher: Matcher;
  readonly effort: Effort;
  readonly limit: number;
  readonly context: number;
}

interface Search {
  /** False when there is no more to look for. */
  file(path: string, blocks: AsyncIterable<Block>): Promise<boolean>;
  outcome(): ToolOutcome;
}

function createSearch({ matcher, effort, limit, context }: SearchOptions): Search {
  const page = createPage();
  const seen = { matches: 0, more: false, cutShown: false, cutSearched: false };

  function show(path: string, mark: ":" | "-", number: number, line: string): boolean {
    const shown = line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS).toWellFormed()}... [truncated]` : line;
    seen.cutShown ||= shown !== line;
    return page.add(`${path}${mark}${number}${mark} ${shown}`);
  }

  return {
    async file(path, blocks) {
      const around = createSurroundings(context, page, (mark, number, line) => show(path, mark, number, line));
      for await (const { lines, first, cut } of blocks) {
        if (!(await effort.goOn())) return false;
        seen.cutSearched ||= cut;
        const found = new Set(await matches(matcher, lines, effort, path));
        if (effort.stopped !== undefined) return false;
        for (const [at, line] of lines.entries()) {
          const isMatch = found.has(at);
          seen.more ||= isMatch && seen.matches === limit;
          if (seen.more) return false;
          if (!around.line(isMatch, first + at, line)) return false;
          if (isMatch) seen.matches += 1;
        }
      }
      return true;
    },
    outcome() {
      const outcome = page.outcome(
        "No matches found",
        [
          seen.more ? `${limit} matches limit reached. Use limit=${limit * 2} for more, or refine pattern` : undefined,
          seen.cutShown ? `Some lines truncated to ${SHOWN_CHARS} chars. Use read tool to see full lines` : undefined,
          seen.cutSearched ? `Lines longer than ${MAX_LINE_CHARS} chars were searched up to there only` : undefined,
          effort.stopped,
        ],
        { ...(seen.more ? { matchLimitReached: limit } : {}), ...(seen.cutShown ? { linesTruncated: true } : {}) },
      );
      return effort.stopped !== undefined && page.lines.length === 0 ? { ...outcome, isError: true } : outcome;
    },
  };
}

/** A pattern that takes too long ends the search; what was found stays. */
async function matches(matcher: Matcher, lines: readonly string[], effort: Effort, path: string): Promise<readonly number[]> {
  try {
    return await matcher.match(lines);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "TIMEOUT") throw error;
    effort.stop(`Stopped at ${path}: ${messageOf(error)}`);
    return [];
  }
}

/** Shows each match with the lines around it, no line twice, and `--` where lines are left out. */
function createSurroundings(context: number, page: Page, show: (mark: ":" | "-", number: number, line: string) => boolean) {
  const before: { readonly number: number; readonly line: string }[] = [];
  let after = 0;
  let last = -1;
  return {
    /** False when the page is full. */
    line(isMatch: boolean, number: number, line: string): boolean {
      if (!isMatch && after === 0) {
        if (context > 0) before.push({ number, line });
        if (before.length > context) before.shift();
        return true;
      }
      const from = before[0]?.number ?? number;
      if (isMatch && context > 0 && page.lines.length > 0 && from !== last + 1 && !page.add("--")) return false;
      for (const earlier of before.splice(0)) if (!show("-", earlier.number, earlier.line)) return false;
      after = isMatch ? context : after - 1;
      last = number;
      return show(isMatch ? ":" : "-", number, line);
    },
  };
}
