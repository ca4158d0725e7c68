import { configSchema } from "../schema/index.ts";
import type { Issue, Path } from "./issue.ts";
import { isObject } from "../value.ts";
import type { ConfigSections } from "../json-schema.ts";
import { rules } from "./rules/list.ts";
import { objectAt, valueAt } from "./rules/rule.ts";
import { validate } from "./walk.ts";

export interface ValidateConfigOptions {
  /** What plugins bring. Without it, `channels.<id>` and `plugins.entries.<id>.config` are taken as they are. */
  readonly sections?: ConfigSections;
}

/** What the schemas of plugins say about their sections. */
export function validateSections(value: unknown, sections: ConfigSections): Issue[] {
  const issues: Issue[] = [];
  for (const [id, schema] of Object.entries(sections.channels ?? {})) {
    const section = objectAt(value, "channels", id);
    if (section) issues.push(...validate(schema, section, { at: ["channels", id] }));
  }
  for (const [id, schema] of Object.entries(sections.plugins ?? {})) {
    const entry = objectAt(value, "plugins", "entries", id);
    const config = entry?.["config"];
    if (isObject(config) && entry?.["enabled"] !== false) issues.push(...validate(schema, config, { at: ["plugins", "entries", id, "config"] }));
  }
  return issues;
}

/** Where a path stands among its siblings, level by level. What is not in the document comes before what is. */
function positions(value: unknown): (path: Path) => number[] {
  const orders = new Map<object, Map<string, number>>();
  const orderOf = (parent: object): Map<string, number> => {
    let order = orders.get(parent);
    if (!order) orders.set(parent, (order = new Map(Object.keys(parent).map((key, index) => [key, index]))));
    return order;
  };
  return (path) =>
    path.map((key, depth) => {
      if (typeof key === "number") return key;
      const parent = valueAt(value, ...path.slice(0, depth));
      return isObject(parent) ? (orderOf(parent).get(key) ?? -1) : -1;
    });
}

function comparePositions(a: readonly number[], b: readonly number[]): number {
  for (const [at, position] of a.entries()) {
    const other = b[at];
    if (other !== undefined && position !== other) return position - other;
  }
  return a.length - b.length;
}

function inDocumentOrder(value: unknown, issues: readonly Issue[]): Issue[] {
  if (issues.length < 2) return [...issues];
  const positionOf = positions(value);
  const placed = issues.map((issue) => ({ issue, position: positionOf(issue.path) }));
  return placed.sort((a, b) => comparePositions(a.position, b.position)).map(({ issue }) => issue);
}

/** Everything wrong or doubtful in a configuration, in document order. Without an issue of severity `error` it can be used. */
export function validateConfig(value: unknown, options: ValidateConfigOptions = {}): Issue[] {
  const sections = options.sections ?? {};
  const issues = validate(configSchema, value, { isKnownGood: true });
  if (!isObject(value) || issues[0]?.code === "depth") return issues;
  issues.push(...validateSections(value, sections));
  // A value that has the wrong form is reported once; what rules would add about the same place is noise.
  const faulty = new Set(issues.map((issue) => JSON.stringify(issue.path)));
  for (const rule of rules) {
    for (const issue of rule(value, sections)) if (!faulty.has(JSON.stringify(issue.path))) issues.push(issue);
  }
  return inDocumentOrder(value, issues);
}
