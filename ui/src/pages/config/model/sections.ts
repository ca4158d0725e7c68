import type { Hints } from "./hints.ts";
import { dottedPath, isFields, valueAt, type ValuePath } from "./path.ts";
import { resolved, shapeOf, type SchemaNode } from "./shape.ts";
import { t } from "../../../words/words.ts";

/** A part of the configuration that is shown by itself: a key at its top, a channel, or a plugin that has settings. */
export interface Section {
  /** Its path, dotted: how addresses name it. */
  readonly key: string;
  readonly path: ValuePath;
  readonly label: string;
  readonly help?: string;
  readonly advanced: boolean;
  readonly schema: SchemaNode;
}

export interface SectionGroup {
  readonly title: string;
  readonly sections: readonly Section[];
}

const REST = t("Other");
const LAST = Number.MAX_SAFE_INTEGER;

/** The places below which sections stand, besides the top. */
const BELOW: readonly ValuePath[] = [["channels"], ["plugins", "entries"]];

/** The keys that a schema lists below a path, with their schemas. */
function listedAt(root: SchemaNode, path: ValuePath): readonly (readonly [ValuePath, SchemaNode])[] {
  let node = root;
  for (const key of path) node = resolved(isFields(node["properties"]) ? node["properties"][key] : undefined, root);
  const members = isFields(node["properties"]) ? Object.entries(node["properties"]) : [];
  return members.map(([key, schema]) => [[...path, key], resolved(schema, root)] as const);
}

/** Whether there is anything to set in a plugin's own settings. */
function hasSettings(entry: SchemaNode, root: SchemaNode): boolean {
  const shape = shapeOf(isFields(entry["properties"]) ? entry["properties"]["config"] : undefined, root);
  return shape.kind !== "object" || shape.members.length > 0 || shape.others !== undefined;
}

/** The sections in groups, in the order that the hints give them. What plugins bring is one when its hint says where it stands. */
export function groupsOf(root: SchemaNode, hints: Hints): SectionGroup[] {
  const hintOf = (path: ValuePath) => hints[dottedPath(path)];
  const brought = BELOW.flatMap((above) => listedAt(root, above)).filter(
    ([path, schema]) => hintOf(path)?.group !== undefined && (path[0] !== "plugins" || hasSettings(schema, root)),
  );
  const own = listedAt(root, []).filter(([path]) => path[0] !== "$schema");
  const orderOf = (path: ValuePath): number => hintOf(path)?.order ?? LAST;
  const groups = new Map<string, Section[]>();
  for (const [path, schema] of [...own, ...brought].sort(([a], [b]) => orderOf(a) - orderOf(b))) {
    const hint = hintOf(path);
    const title = hint?.group ?? REST;
    const help = hint?.help ?? (typeof schema["description"] === "string" ? schema["description"] : undefined);
    const label = hint?.label ?? String(path.at(-1));
    const section = { key: dottedPath(path), path, label, advanced: hint?.advanced ?? false, schema, ...(help === undefined ? {} : { help }) };
    groups.set(title, [...(groups.get(title) ?? []), section]);
  }
  return [...groups].map(([title, sections]) => ({ title, sections }));
}

/** The section that a path is shown in: the one that stands closest above it. */
export function sectionOf(groups: readonly SectionGroup[], path: ValuePath): Section | undefined {
  const above = groups.flatMap(({ sections }) => sections).filter((section) => section.path.every((key, at) => path[at] === key));
  return above.sort((a, b) => b.path.length - a.path.length)[0];
}

/** A key that a search found. */
export interface Match {
  /** A pattern: `*` for any key, `[]` for any entry. */
  readonly pattern: string;
  readonly label: string;
  readonly help?: string;
  readonly section: string;
}

/** Keys whose path, label or help has every word. Best first: those that have them in key or label. */
export function search(hints: Hints, words: string, most = 60): Match[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return [];
  const found: (Match & { readonly rank: number })[] = [];
  for (const [pattern, { label = "", help }] of Object.entries(hints)) {
    const name = `${pattern} ${label}`.toLowerCase();
    const last = `${pattern.slice(pattern.lastIndexOf(".") + 1)} ${label}`.toLowerCase();
    const all = `${name} ${help ?? ""}`.toLowerCase();
    if (!wanted.every((word) => all.includes(word))) continue;
    const rank = wanted.every((word) => last.includes(word)) ? 0 : wanted.every((word) => name.includes(word)) ? 1 : 2;
    found.push({ pattern, label, section: /^[^.[]+/.exec(pattern)?.[0] ?? pattern, rank, ...(help === undefined ? {} : { help }) });
  }
  return found.sort((a, b) => a.rank - b.rank || a.pattern.length - b.pattern.length).slice(0, most);
}

/** The part of a found pattern that can be opened: up to the first key or entry that is not there. */
export function reachablePath(pattern: string, value: unknown): ValuePath {
  const path: (string | number)[] = [];
  for (const part of pattern.replaceAll("[]", ".[]").split(".")) {
    if (part !== "*" && part !== "[]") {
      path.push(part);
      continue;
    }
    const held = valueAt(value, path);
    const first = Array.isArray(held) ? (held.length > 0 ? 0 : undefined) : isFields(held) ? Object.keys(held)[0] : undefined;
    if (first === undefined) break;
    path.push(first);
  }
  return path;
}
