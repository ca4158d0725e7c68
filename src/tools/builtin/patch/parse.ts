import { AppError } from "../../../base/errors.ts";

/** One line of a chunk: kept, taken away or put in. */
export interface ChunkLine {
  readonly kind: "keep" | "drop" | "add";
  readonly text: string;
}

/** A place in a file and what changes there. */
export interface Chunk {
  /** A line that stands somewhere before it. */
  readonly context?: string;
  readonly lines: readonly ChunkLine[];
  /** It is the end of the file. */
  readonly atEnd: boolean;
}

export type Hunk =
  | { readonly kind: "add"; readonly path: string; readonly content: string }
  | { readonly kind: "delete"; readonly path: string }
  | { readonly kind: "update"; readonly path: string; readonly moveTo?: string; readonly chunks: readonly Chunk[] };

const BEGIN = "*** Begin Patch";
const END = "*** End Patch";
const ADD = "*** Add File: ";
const DELETE = "*** Delete File: ";
const UPDATE = "*** Update File: ";
const MOVE = "*** Move to: ";
const END_OF_FILE = "*** End of File";

/** Reads a patch. `INVALID_INPUT` names the line that does not fit. */
export function parsePatch(input: string): readonly Hunk[] {
  const { lines, first } = withoutEnvelope(input.replaceAll("\r\n", "\n").trim().split("\n"));
  const reader = createReader(lines, first);
  const hunks: Hunk[] = [];
  for (let line = reader.peek(); line !== undefined; line = reader.peek()) {
    if (line.trim() === "") reader.take();
    else hunks.push(readHunk(reader, line.trim()));
  }
  return hunks;
}

/** The files that a patch names, also one that cannot be read as a whole. */
export function namedInPatch(input: string): readonly string[] {
  const named = input.split(/\r?\n/).flatMap((line) => {
    const mark = [ADD, DELETE, UPDATE, MOVE].find((head) => line.trimStart().startsWith(head));
    return mark === undefined ? [] : [line.trimStart().slice(mark.length).trim()];
  });
  return [...new Set(named)];
}

interface Reader {
  peek(): string | undefined;
  /** The next line; empty after the last. */
  take(): string;
  /** A failure at the line that comes next. */
  wrong(what: string): AppError;
}

function createReader(lines: readonly string[], first: number): Reader {
  let at = 0;
  return {
    peek: () => lines[at],
    take: () => lines[at++] ?? "",
    wrong: (what) => new AppError("INVALID_INPUT", `Invalid patch hunk on line ${first + at}: ${what}`),
  };
}

/** The lines between the first and the last; a shell's here-document around it is taken off. */
function withoutEnvelope(lines: readonly string[], offset = 0): { readonly lines: readonly string[]; readonly first: number } {
  const [first, last] = [lines[0]?.trim() ?? "", lines.at(-1)?.trim()];
  const word = /^<<-?\s*(['"]?)(\w+)\1$/.exec(first)?.[2];
  if (offset === 0 && word !== undefined && lines.length > 3 && last === word) return withoutEnvelope(lines.slice(1, -1), 1);
  if (first !== BEGIN) throw new AppError("INVALID_INPUT", `Invalid patch: The first line of the patch must be '${BEGIN}'`);
  if (lines.length < 2 || last !== END) throw new AppError("INVALID_INPUT", `Invalid patch: The last line of the patch must be '${END}'`);
  return { lines: lines.slice(1, -1), first: offset + 2 };
}

function readHunk(reader: Reader, line: string): Hunk {
  if (line.startsWith(ADD)) return readAdd(reader);
  if (line.startsWith(DELETE)) return { kind: "delete", path: pathAfter(reader, DELETE) };
  if (line.startsWith(UPDATE)) return readUpdate(reader);
  throw reader.wrong(`'${line}' is not a valid hunk header. Valid headers: '${ADD}{path}', '${DELETE}{path}', '${UPDATE}{path}'`);
}

function pathAfter(reader: Reader, marker: string): string {
  const path = (reader.peek() ?? "").trim().slice(marker.length).trim();
  if (path === "") throw reader.wrong(`a path is expected after '${marker.trim()}'`);
  reader.take();
  return path;
}

function readAdd(reader: Reader): Hunk {
  const path = pathAfter(reader, ADD);
  let content = "";
  while (reader.peek()?.startsWith("+")) content += `${reader.take().slice(1)}\n`;
  return { kind: "add", path, content };
}

function readUpdate(reader: Reader): Hunk {
  const path = pathAfter(reader, UPDATE);
  const moveTo = reader.peek()?.startsWith(MOVE) ? pathAfter(reader, MOVE) : undefined;
  const chunks: Chunk[] = [];
  for (let line = reader.peek(); line !== undefined && !isHeader(line); line = reader.peek()) {
    // A blank line before a chunk separates; in it, it is an empty line that stays.
    if (line === "" || (chunks.length > 0 && line.trim() === "")) reader.take();
    else chunks.push(readChunk(reader, chunks.length === 0));
  }
  if (chunks.length === 0 && moveTo === undefined) throw reader.wrong(`Update file hunk for path '${path}' is empty`);
  return { kind: "update", path, ...(moveTo === undefined ? {} : { moveTo }), chunks };
}

/** A marker stands at the very beginning of its line; in a file's text it has a sign before it. */
const isHeader = (line: string): boolean => line.startsWith("***");

function readChunk(reader: Reader, isFirst: boolean): Chunk {
  const context = readContext(reader, isFirst);
  const lines: ChunkLine[] = [];
  let atEnd = false;
  for (let line = reader.peek(); line !== undefined && !line.startsWith("@@"); line = reader.peek()) {
    if (line.trimEnd() === END_OF_FILE) {
      if (lines.length === 0) throw reader.wrong("a chunk has no lines");
      reader.take();
      atEnd = true;
      break;
    }
    if (isHeader(line)) break;
    const read = chunkLine(line);
    if (!read) throw reader.wrong(`Unexpected line found in update hunk: '${line}'. Every line must begin with ' ', '+' or '-'`);
    lines.push(read);
    reader.take();
  }
  if (lines.length === 0) throw reader.wrong("a chunk has no lines");
  return { ...(context === undefined ? {} : { context }), lines, atEnd };
}

/** The first chunk of a file needs no `@@`. */
function readContext(reader: Reader, isFirst: boolean): string | undefined {
  const line = reader.peek() ?? "";
  if (line.trimEnd() === "@@") reader.take();
  else if (line.startsWith("@@ ")) return reader.take().slice("@@ ".length);
  else if (!isFirst) throw reader.wrong(`Expected a chunk to start with an @@ context marker, got: '${line}'`);
  return undefined;
}

function chunkLine(line: string): ChunkLine | undefined {
  const text = line.slice(1);
  if (line === "" || line.startsWith(" ")) return { kind: "keep", text };
  if (line.startsWith("-")) return { kind: "drop", text };
  return line.startsWith("+") ? { kind: "add", text } : undefined;
}
