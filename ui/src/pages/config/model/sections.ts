import type { Hints } from "./hints.ts";
import { isFields, valueAt, type ValuePath } from "./path.ts";
import { resolved, type SchemaNode } from "./shape.ts";

/** A top-level key of the configuration, as the list at the side shows it. */
export interface Section {
  readonly key: string;
  readonly label: string;
  readonly help?: string;
  readonly advanced: boolean;
  readonly schema: SchemaNode;
}

export interface SectionGroup {
  readonly title: string;
  readonly sections: readonly Section[];
}

/** Where sections stand for which no hint names a group. */
const GROUPS: readonly (readonly [title: string, keys: readonly string[]])[] = [
  ["Answering", ["agents", "models", "auth", "memory", "skills", "tools", "usage"]],
  ["Conversations", ["channels", "messages", "session", "commands", "bindings", "broadcast", "audio", "media", "talk", "approvals"]],
  ["Automation", ["cron", "hooks", "browser", "web", "nodeHost", "canvasHost", "plugins"]],
  ["Gateway", ["gateway", "security", "store", "env", "logging", "diagnostics", "update", "discovery", "ui"]],
];
const REST = "Other";

const groupOf = (key: string, hints: Hints): string => hints[key]?.group ?? GROUPS.find(([, keys]) => keys.includes(key))?.[0] ?? REST;
const rankOf = (key: string, hints: Hints): number => {
  const ours = GROUPS.flatMap(([, keys]) => keys).indexOf(key);
  return hints[key]?.order ?? (ours < 0 ? 1000 : ours);
};

/** The sections in groups, the usual ones first. */
export function groupsOf(schema: SchemaNode, hints: Hints): SectionGroup[] {
  const members = isFields(schema["properties"]) ? schema["properties"] : {};
  const groups = new Map<string, Section[]>(GROUPS.map(([title]) => [title, []]));
  const keys = Object.keys(members).filter((key) => key !== "$schema");
  for (const key of keys.sort((a, b) => rankOf(a, hints) - rankOf(b, hints))) {
    const node = resolved(members[key], schema);
    const hint = hints[key];
    const title = groupOf(key, hints);
    const help = hint?.help ?? (typeof node["description"] === "string" ? node["description"] : undefined);
    const section = { key, label: hint?.label ?? key, advanced: hint?.advanced ?? false, schema: node, ...(help === undefined ? {} : { help }) };
    groups.set(title, [...(groups.get(title) ?? []), section]);
  }
  return [...groups].filter(([, sections]) => sections.length > 0).map(([title, sections]) => ({ title, sections }));
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

/** The part of a found pattern that can be gone to: up to the first key or entry that is not named. */
export function placeOf(pattern: string, value: unknown): ValuePath {
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
