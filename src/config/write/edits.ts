import { AppError } from "../../base/errors.ts";
import { changesBetween, type ValueChange } from "../diff.ts";
import { parseDocument, type ConfigDocument, type ValuePath } from "../document/document.ts";
import { rewriteDocument } from "../document/edit.ts";
import { hasReference, substituteText } from "../environment.ts";
import type { Env } from "../env.ts";
import type { Loaded } from "../load.ts";
import { migrate, pathBeforeMigration } from "../migrate/index.ts";
import { formatPath, parsePath } from "../path.ts";
import { restoreRedacted } from "../redact.ts";
import type { OpenClawConfig } from "../schema/index.ts";
import type { Snapshot } from "../snapshot.ts";
import { validateConfig } from "../validate/index.ts";
import { hasPath, isObject, mergePatch, sameValue, valueAt, withoutPath, withValue } from "../value.ts";
import { resolveIncludes } from "../include.ts";
import { createOrigins, type Origins, type Source } from "../origin.ts";
import { overlayFiles, type ConfigFiles } from "../source-files.ts";

/** An edit that is known before the file is read. */
export type SimpleEdit = Exclude<ConfigEdit, { kind: "from" }>;

/** A change to the configuration file. */
export type ConfigEdit =
  | { readonly kind: "set"; readonly path: string | ValuePath; readonly value: unknown }
  | { readonly kind: "unset"; readonly path: string | ValuePath }
  /** Objects recursively, `null` deletes, lists replace (lists of things with an `id` merge). */
  | { readonly kind: "patch"; readonly value: unknown }
  /** Everything becomes this value. */
  | { readonly kind: "replace"; readonly value: unknown }
  /** The main file becomes this text. */
  | { readonly kind: "text"; readonly text: string }
  /**
   * What differs between `base` and this configuration is written; defaults are not. `base` is the configuration that the caller changed; without
   * one it is what the file says now. A key that was changed in between is not overwritten: the edit is refused as stale.
   */
  | { readonly kind: "update"; readonly config: OpenClawConfig; readonly base?: OpenClawConfig | undefined }
  /** The edit depends on what the file says: it is made from the snapshot that it is then applied to. */
  | { readonly kind: "from"; readonly edit: (snapshot: Snapshot) => SimpleEdit }
  /** The value as it is written, old keys moved and variables not put in, becomes what this gives. Called when the file is read for the edit, so nothing comes between. */
  | { readonly kind: "change"; readonly change: (written: unknown) => unknown }
  /** Old keys move to their new places. */
  | { readonly kind: "migrate" }
  /** Keys that the schema does not know go. What is left, old keys moved, becomes what `change` gives. */
  | { readonly kind: "prune"; readonly change?: (written: unknown) => unknown };

/** The value that the configuration has after an edit, before variables are put in. `text` edits are handled apart. */
export function editedValue(loaded: Loaded, edit: Exclude<SimpleEdit, { kind: "text" }>): unknown {
  const base = loaded.unresolved;
  switch (edit.kind) {
    case "set":
      return withChange(base, segments(edit.path), edit.value, loaded.env);
    case "unset":
      if (!hasPath(base, segments(edit.path))) {
        throw new AppError("NOT_FOUND", `Config path not found: ${formatPath(segments(edit.path))}; "openclaw config get" shows what is set`);
      }
      return withoutPath(base, segments(edit.path));
    case "patch":
      if (!isObject(edit.value)) throw new AppError("INVALID_INPUT", "config.patch raw must be an object");
      return keepReferences(mergePatch(base, restoreRedacted(edit.value, base)), base, loaded.env);
    case "replace":
      return keepReferences(restoreRedacted(edit.value, base), base, loaded.env);
    case "update":
      return updated(loaded, edit);
    case "change":
      return edit.change(migrate(base).value);
    case "prune":
      return edit.change ? edit.change(migrate(pruned(loaded)).value) : pruned(loaded);
    default:
      return migrate(base).value;
  }
}

/** The file is no longer what an edit was made for. */
export function staleConfig(message: string, details: Record<string, unknown> = {}): AppError {
  return new AppError("CONFIG_STALE", message, { details });
}

function segments(path: string | ValuePath): ValuePath {
  return typeof path === "string" ? parsePath(path) : path;
}

function withChange(base: unknown, path: ValuePath, value: unknown, env: Env): unknown {
  const next = withValue(base, path, restoreRedacted(value, valueAt(base, path), { path }));
  if (!next) throw new AppError("INVALID_INPUT", `${formatPath(path)} cannot be set: a list takes an index up to its length`);
  return keepReferences(next.value, base, env);
}

/** `next` with `${VAR}` kept where the new text is what the old one resolves to. */
export function keepReferences(next: unknown, base: unknown, env: Env): unknown {
  if (typeof next === "string") {
    return typeof base === "string" && base !== next && hasReference(base) && substituteText(base, env, () => {}) === next ? base : next;
  }
  if (Array.isArray(next)) return Array.isArray(base) ? next.map((item, index) => keepReferences(item, base[index], env)) : next;
  if (!isObject(next) || !isObject(base)) return next;
  return Object.fromEntries(Object.entries(next).map(([key, child]) => [key, Object.hasOwn(base, key) ? keepReferences(child, base[key], env) : child]));
}

function updated(loaded: Loaded, { config, base }: Extract<ConfigEdit, { kind: "update" }>): unknown {
  let next = migrate(loaded.unresolved).value;
  for (const { path, before, after } of changesBetween(base ?? loaded.snapshot.config, config)) {
    const now = valueAt(loaded.snapshot.config, path);
    if (sameValue(now, after)) continue;
    // What is not there now may be a default that the caller's view had.
    if (now !== undefined && !sameValue(now, before)) throw staleConfig(`${formatPath(path)} changed since last load; read the configuration again and retry`);
    next = after === undefined ? withoutPath(next, path) : (withValue(next, path, after)?.value ?? next);
  }
  return keepReferences(restoreRedacted(next, loaded.unresolved), loaded.unresolved, loaded.env);
}

/** The check stops counting at some point: what it did not get to is found once the others are gone. */
const MOST_PASSES = 100;

/** What is written, without the keys that the schema or the schema of a plugin does not know; old keys stay where they are. */
function pruned({ unresolved, snapshot }: Loaded): unknown {
  let next = unresolved;
  // Only who loaded the file knows the schemas of plugins. Their settings stand where the issues say: no migration takes them from below another key.
  const ofPlugins = snapshot.issues
    .filter(({ code, path }) => code === "unknown-key" && /^(?:channels|plugins)\./.test(path))
    .map(({ path }) => parsePath(path));
  for (const path of ofPlugins) if (hasPath(next, path)) next = withoutPath(next, path);
  for (let pass = 0; pass < MOST_PASSES; pass += 1) {
    const { value, report } = migrate(next);
    const unknown = validateConfig(value).filter(({ code }) => code === "unknown-key");
    if (unknown.length === 0) break;
    const written = unknown.map(({ path }) => pathBeforeMigration(path, report));
    // What a migration put together stands nowhere in the file: then what it gives is pruned.
    const whole = written.every((path) => hasPath(next, path));
    next = (whole ? written : unknown.map(({ path }) => path)).reduce((rest, path) => withoutPath(rest, path), whole ? next : value);
  }
  return next;
}

/** A text to take the main file's place, with sentinels replaced by what the file has now. One that does not parse is left for the check. */
export function restoredText(text: string, loaded: Loaded): string {
  const document = parseDocument(text);
  if (!document.root) return text;
  return rewriteDocument(document, restoreRedacted(document.value, loaded.snapshot.parsed));
}

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
  const [own, ...others] = origins.sources(path);
  if (own) return others.length === 0 ? own : { document: main, path };
  for (let length = path.length - 1; length >= 0; length -= 1) {
    const holders = origins.sources(path.slice(0, length));
    if (holders.length === 0) continue;
    const holder = holders.length === 1 ? holders[0] : holders.find((source) => source.document === main);
    return holder ? { document: holder.document, path: [...holder.path, ...path.slice(length)] } : { document: main, path };
  }
  return { document: main, path };
}
