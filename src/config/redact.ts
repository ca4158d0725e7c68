import { AppError } from "../base/errors.ts";
import type { ConfigDocument, ValuePath } from "./document/document.ts";
import { commentEnd, scanString } from "./document/scan.ts";
import type { SyntaxNode } from "./document/syntax.ts";
import { isReference } from "./environment.ts";
import { formatPath } from "./path.ts";
import { isSensitivePath, type ConfigSections } from "./validate/index.ts";
import { isObject, valueAt } from "./value.ts";

/** Stands for a secret wherever a configuration is shown; sent back, it means "as it was". */
export const REDACTED = "__OPENCLAW_REDACTED__";

/** `{ source: "env" | "file" | "exec", … }`: says where a secret is and holds none. */
export function isSecretReference(value: unknown): boolean {
  return isObject(value) && (value["source"] === "env" || value["source"] === "file" || value["source"] === "exec");
}

type Visit = (text: string) => string;

/** Applies `visit` to every secret text. One that is a lone `${VAR}` holds no secret and is passed over. */
function mapSecrets(value: unknown, visit: Visit, sections: ConfigSections | undefined, path: ValuePath = [], inherited = false): unknown {
  const secret = inherited || (path.length > 0 && isSensitivePath(path, sections));
  if (typeof value === "string" || typeof value === "number") return secret && value !== "" && !isReference(String(value)) ? visit(String(value)) : value;
  if (Array.isArray(value)) return value.map((item, index) => mapSecrets(item, visit, sections, [...path, index], secret));
  if (!isObject(value) || (secret && isSecretReference(value))) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, mapSecrets(child, visit, sections, [...path, key], secret)]));
}

/** A configuration that may be shown. */
export function redactConfig<T>(value: T, sections?: ConfigSections): T {
  return mapSecrets(value, () => REDACTED, sections) as T;
}

/** A value that stands at `path` of a configuration, as it may be shown. */
export function redactAt(value: unknown, path: ValuePath, sections?: ConfigSections): unknown {
  const inherited = path.some((_, index) => isSensitivePath(path.slice(0, index + 1), sections));
  return mapSecrets(value, () => REDACTED, sections, path, inherited);
}

/** Shorter secrets are not searched for in other text: they would match by chance. */
const MIN_SEARCHED = 6;

/** Tells every secret of a configuration, so that a log can leave them out. */
export function tellSecrets(value: unknown, tell: (secret: string) => void, sections?: ConfigSections): void {
  mapSecrets(value, (text) => (text.length >= MIN_SEARCHED && tell(text), text), sections);
}

/** The text of a file that may be shown: secrets are replaced where they stand as values, and where remarks repeat them. */
export function redactText(document: ConfigDocument, sections?: ConfigSections): string {
  const { text, root } = document;
  if (!root) return text === "" ? "" : REDACTED;
  const ranges: { readonly start: number; readonly end: number; readonly shown: string }[] = [];
  const secrets = new Set<string>();
  collect(root, document.value, [], false);
  for (const { start, end } of commentsIn(text)) {
    const remark = text.slice(start, end);
    const shown = [...secrets].reduce((rest, secret) => rest.replaceAll(secret, REDACTED), remark);
    if (shown !== remark) ranges.push({ start, end, shown });
  }
  let shownText = "";
  let at = 0;
  for (const { start, end, shown } of ranges.sort((a, b) => a.start - b.start)) {
    shownText += text.slice(at, start) + shown;
    at = end;
  }
  return shownText + text.slice(at);

  function collect(node: SyntaxNode, value: unknown, path: ValuePath, inherited: boolean): void {
    const secret = inherited || (path.length > 0 && isSensitivePath(path, sections));
    if (node.kind !== "scalar") {
      if (secret && isSecretReference(value)) return;
      node.elements.forEach((element, index) => {
        const segment = element.key ?? index;
        collect(element.node, valueAt(value, [segment]), [...path, segment], secret);
      });
      return;
    }
    const { value: held } = node;
    if (!secret || (typeof held !== "string" && typeof held !== "number") || held === "" || isReference(String(held))) return;
    ranges.push({ start: node.start, end: node.end, shown: JSON.stringify(REDACTED) });
    if (String(held).length >= MIN_SEARCHED) secrets.add(String(held));
  }
}

/** Where the comments of a text that parses are. */
function commentsIn(text: string): { readonly start: number; readonly end: number }[] {
  const found: { readonly start: number; readonly end: number }[] = [];
  for (let at = 0; at < text.length;) {
    const char = text[at];
    const end = char === "/" ? commentEnd(text, at) : undefined;
    if (end !== undefined) found.push({ start: at, end });
    at = end ?? (char === '"' || char === "'" ? scanString(text, at).end : at + 1);
  }
  return found;
}

export interface RestoreOptions {
  /** Where `next` stands, for messages. */
  readonly path?: ValuePath;
  /** Called for a sentinel without a stored secret, with the reason, instead of throwing; the sentinel stays. */
  readonly onLost?: ((path: ValuePath, message: string) => void) | undefined;
}

/**
 * `next` with every sentinel replaced by what stands in its place in `previous`: in lists, that is the item with the same `id`, or the one at the same
 * index while none went. Throws where nothing stands, or nobody can tell what.
 */
export function restoreRedacted(next: unknown, previous: unknown, options: RestoreOptions = {}): unknown {
  const { path = [], onLost } = options;
  if (typeof next === "string") {
    if (!next.includes(REDACTED)) return next;
    if (next === REDACTED && previous !== undefined && previous !== REDACTED) return previous;
    const message = `Sentinel value "${REDACTED}" in key ${formatPath(path)} is not valid as real data`;
    if (!onLost) throw new AppError("INVALID_INPUT", message);
    onLost(path, message);
    return next;
  }
  const inner = (segment: string | number): RestoreOptions => ({ onLost, path: [...path, segment] });
  if (Array.isArray(next)) {
    const before = itemsBefore(next, Array.isArray(previous) ? previous : []);
    return next.map((item, index) => restoreRedacted(item, before(item, index), inner(index)));
  }
  if (!isObject(next)) return next;
  return Object.fromEntries(Object.entries(next).map(([key, child]) => [key, restoreRedacted(child, valueAt(previous, [key]), inner(key))]));
}

/** Finds what an item of a list was before; one without an id by what is not hidden in it. */
function itemsBefore(next: readonly unknown[], previous: readonly unknown[]): (item: unknown, index: number) => unknown {
  const byId = new Map(
    previous
      .filter((item) => idOf(item) !== undefined)
      .map((item) => [idOf(item), item] as const)
      .reverse(), // Of two with the same id the first.
  );
  const named = new Set(next.map(idOf));
  return (item, index) => {
    const id = idOf(item);
    if (id !== undefined && byId.has(id)) return byId.get(id);
    const there = previous[index];
    const thereId = idOf(there);
    if (thereId !== undefined) return named.has(thereId) ? undefined : there;
    const fitting = hides(item) ? previous.filter((one) => fits(item, one)) : [];
    if (fitting.length === 1) return fitting[0];
    return next.length >= previous.length ? there : undefined;
  };
}

function hides(value: unknown): boolean {
  if (typeof value === "string") return value === REDACTED;
  return typeof value === "object" && value !== null && Object.values(value).some(hides);
}

/** Whether `shown` is `whole` with secrets hidden. */
function fits(shown: unknown, whole: unknown): boolean {
  if (shown === REDACTED) return whole !== undefined;
  if (Array.isArray(shown)) return Array.isArray(whole) && shown.length === whole.length && shown.every((item, index) => fits(item, whole[index]));
  if (!isObject(shown) || !isObject(whole)) return shown === whole;
  const keys = Object.keys(shown);
  return keys.length === Object.keys(whole).length && keys.every((key) => Object.hasOwn(whole, key) && fits(shown[key], whole[key]));
}

function idOf(item: unknown): string | undefined {
  const id = isObject(item) ? item["id"] : undefined;
  return typeof id === "string" ? id : undefined;
}
