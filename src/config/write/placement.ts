import { changesBetween, type ValueChange } from "../diff.ts";
import { parseDocument, type ConfigDocument, type ValuePath } from "../document/document.ts";
import { rewriteDocument } from "../document/edit.ts";
import { resolveIncludes } from "../include.ts";
import { createOrigins, type Origins, type Source } from "../origin.ts";
import { overlayFiles, type ConfigFiles } from "../source-files.ts";
import { sameValue, withoutPath, withValue } from "../value.ts";

/** A hidden value may appear when the one above it goes; so many layers are looked through. */
const MAX_PASSES = 6;

/**
 * New texts of the files that must change for the configuration to become `next` (before variables). Each change goes into the file that holds
 * the key, a new key into the file that holds its object, what several files hold into the main one. Where that cannot give `next` (a list put
 * together from several files) the main file gets all of it, and stops including.
 */
export function placeChanges(main: ConfigDocument, next: unknown, files: ConfigFiles): Map<string, string> {
  const texts = new Map<string, string>();
  let top = main;
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const included = resolveIncludes(top, overlayFiles(files, texts));
    if (included.issues.length === 0 && sameValue(included.value, next)) return texts;
    if (included.documents.size === 1) break;
    const values = new Map([...included.documents].map(([file, document]) => [file, document.value]));
    for (const change of changesBetween(included.value, next)) applyChange(change, values, { main: top, origins: createOrigins(top, included.documents) });
    for (const [file, document] of included.documents) {
      if (!sameValue(document.value, values.get(file))) texts.set(file, rewriteDocument(document, values.get(file)));
    }
    top = parseDocument(texts.get(main.file) ?? main.text, main.file);
  }
  return new Map([[main.file, rewriteDocument(main, next)]]);
}

interface Holders {
  readonly main: ConfigDocument;
  readonly origins: Origins;
}

function applyChange(change: ValueChange, values: Map<string, unknown>, holders: Holders): void {
  const source = sourceFileOf(change.path, holders);
  const { file } = source.document;
  const before = values.get(file);
  const after = change.after === undefined ? { value: withoutPath(before, source.path) } : withValue(before, source.path, change.after);
  if (after) values.set(file, after.value);
}

function sourceFileOf(path: ValuePath, { main, origins }: Holders): Source {
  const own = origins.sources(path);
  if (own.length === 1) return own[0]!;
  if (own.length > 1) return { document: main, path };
  for (let length = path.length - 1; length >= 0; length -= 1) {
    const holders = origins.sources(path.slice(0, length));
    if (holders.length === 0) continue;
    const holder = holders.length === 1 ? holders[0]! : holders.find((source) => source.document === main);
    return holder ? { document: holder.document, path: [...holder.path, ...path.slice(length)] } : { document: main, path };
  }
  return { document: main, path };
}
