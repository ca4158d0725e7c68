import { readFileSync, statSync } from "node:fs";
import { fileError } from "../../base/errors.ts";
import { formatBytes } from "../../base/text.ts";
import { diskFiles, isTooDeep, parseDocument, type ConfigDocument, type ValuePath } from "../../config/index.ts";

/** A JSON or JSON5 file that was read. Lines are looked for only when one is asked for. */
export interface JsonFile {
  readonly path: string;
  readonly value: unknown;
  /** The line of the key at `path`, or of its nearest ancestor that is there; from 1. */
  lineOf(path: ValuePath): number;
}

/** Why a file cannot be used. */
export interface JsonProblem {
  readonly path: string;
  readonly missing: boolean;
  readonly message: string;
  readonly line?: number;
}

export type JsonRead = { readonly file: JsonFile } | { readonly problem: JsonProblem };

/** Manifests are a few KB; what is larger is no manifest. */
const MAX_BYTES = 1024 * 1024;

/** Levels of nesting below which a value is surely not too deep. */
const SURELY_FLAT = 100;

/** Reads a manifest. Never throws: a file that is not there, not readable or not JSON5 is the answer. */
export function readJsonFile(path: string): JsonRead {
  const refuse = (message: string, line?: number): JsonRead => ({ problem: { path, missing: false, message, ...(line === undefined ? {} : { line }) } });
  let text: string;
  try {
    // Looked at first: a pipe in the file's place would stop the process.
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat) return { problem: { path, missing: true, message: `${path} does not exist` } };
    if (!stat.isFile()) return refuse("expected a regular file");
    if (stat.size > MAX_BYTES) return refuse(`expected at most ${formatBytes(MAX_BYTES)}, found ${formatBytes(stat.size)}`);
    text = readFileSync(path, "utf8");
  } catch (error) {
    return refuse(fileError(path, "could not read", error).message);
  }
  let document: ConfigDocument | undefined;
  const parsed = (): ConfigDocument => (document ??= parseDocument(diskFiles.read(path), path));
  let value: unknown;
  try {
    // Nearly all of them are plain JSON, and this is many times faster.
    value = JSON.parse(text);
  } catch {
    const issue = parsed().issues.find(({ severity }) => severity === "error");
    if (issue) return refuse(issue.message, issue.line);
    ({ value } = parsed());
  }
  const brackets = text.split("{").length + text.split("[").length;
  if (brackets > SURELY_FLAT && isTooDeep(value)) return refuse(`is nested more than ${SURELY_FLAT} levels deep`, 1);
  return { file: { path, value, lineOf: (at) => lineIn(parsed(), at) } };
}

function lineIn(document: ConfigDocument, path: ValuePath): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const position = document.locate(path.slice(0, length));
    if (position) return position.line;
  }
  return 1;
}
