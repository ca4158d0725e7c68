import { closeSync, openSync } from "node:fs";
import { AppError } from "../../base/errors.ts";
import { isObject, loadLooseJson } from "../import/index.ts";
import { readLines } from "../projection/lines.ts";

/** The file is not laid out as gateways write it; it has to be read as a whole. */
class OtherLayout extends Error {}

/** An entry is at most some 100 KB: a report of its prompt and a list of skills. */
const MAX_ENTRY = 64 * 1024 * 1024;

/** Entries of an index that is indented by two, one after the other: a large index is never held as a whole. */
function* streamed(fd: number): Generator<readonly [key: string, value: unknown]> {
  let [state, text]: ["before" | "inside" | "after", string] = ["before", ""];
  for (const { bytes, tooLong } of readLines(fd)) {
    const line = bytes.toString();
    if (tooLong || text.length > MAX_ENTRY || (state === "after" && line.trim() !== "")) throw new OtherLayout();
    if (state === "before") {
      if (line !== "{") throw new OtherLayout();
      state = "inside";
    } else if (line === "}") {
      if (text !== "") throw new OtherLayout();
      state = "after";
    } else if (state === "inside") {
      text += line;
      if (!/^ {2}\},?$/.test(line) && !/^ {2}".*[^{[],?$/.test(line)) continue;
      for (const entry of Object.entries(JSON.parse(`{${text.replace(/,$/, "")}}`) as object)) yield entry;
      text = "";
    }
  }
  if (state !== "after") throw new OtherLayout();
}

function* whole(path: string): Generator<readonly [key: string, value: unknown]> {
  const read = loadLooseJson(path);
  if (!isObject(read)) throw new AppError("INVALID_INPUT", "expected an object of session keys");
  yield* Object.entries(read);
}

/** Runs `work` with the entries of an index. It is run a second time, from the start, when the file turns out to be laid out otherwise. */
export function withEntries<T>(path: string, work: (entries: Iterable<readonly [key: string, value: unknown]>) => T): T {
  const fd = openSync(path, "r");
  try {
    return work(streamed(fd));
  } catch (error) {
    if (!(error instanceof OtherLayout) && !(error instanceof SyntaxError)) throw error;
  } finally {
    closeSync(fd);
  }
  return work(whole(path));
}
