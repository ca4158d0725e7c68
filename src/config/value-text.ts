import { AppError } from "../base/errors.ts";
import { parseDocument } from "./document/document.ts";

/** A value as typed on a command line: JSON5, or the text itself. With `strict`, what is not JSON5 is an error. */
export function parseValueText(text: string, options: { readonly strict?: boolean } = {}): unknown {
  const document = parseDocument(text);
  if (document.root) return document.value;
  if (options.strict) throw new AppError("INVALID_INPUT", document.issues[0]?.message ?? "not JSON5");
  return text;
}
