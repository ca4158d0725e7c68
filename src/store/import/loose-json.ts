import { readFileSync, statSync } from "node:fs";
import { evaluate, parse } from "@humanwhocodes/momoa";
import { AppError, fileError, messageOf } from "../../base/errors.ts";
import { formatBytes } from "../../base/text.ts";

/** An index of ten thousand sessions is about 100 MB; a larger file was not written by a gateway. */
const MAX_BYTES = 512 * 1024 * 1024;

export type Json = Readonly<Record<string, unknown>>;

/** Reads a JSON file as the reference system does: JSON5 and a byte order mark are accepted. */
export function loadLooseJson(path: string): unknown {
  let text: string;
  try {
    const { size } = statSync(path);
    if (size > MAX_BYTES) throw new AppError("INVALID_INPUT", `expected at most ${formatBytes(MAX_BYTES)}, ${path} has ${formatBytes(size)}`);
    text = readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    throw fileError(path, "could not read", error);
  }
  try {
    return JSON.parse(text);
  } catch (strict) {
    try {
      return evaluate(parse(text, { mode: "json5" }));
    } catch {
      throw new AppError("INVALID_INPUT", `not JSON: ${messageOf(strict)}`, { cause: strict });
    }
  }
}
