import { AppError } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import type { PropertyKind } from "./catalog.ts";

/** A value that is written down, or one that is read from the data model. `initial` is put there when there is nothing yet. */
export type Dynamic<T = unknown> = T | { readonly path: string; readonly initial?: unknown };

/** Components by id, or one component for each item of the list at a path. */
export type Children = readonly string[] | { readonly componentId: string; readonly path: string };

export interface Action {
  readonly name: string;
  readonly context: Readonly<Record<string, unknown>>;
}

type Fields = Readonly<Record<string, unknown>>;

export const bad = (at: string, expected: string, came: unknown): AppError => {
  const shown = came === undefined ? "nothing" : (JSON.stringify(came) ?? typeof came);
  return new AppError("INVALID_INPUT", `${at}: expected ${expected}, got ${shown.length > 80 ? `${shown.slice(0, 80)}…` : shown}`);
};

export function textAt(value: unknown, at: string, most = 1000): string {
  if (typeof value !== "string" || value === "") throw bad(at, "a text", value);
  if (value.length > most) throw bad(at, `at most ${most} characters`, `${value.length} characters`);
  return value;
}

const LITERALS = ["literalString", "literalNumber", "literalBoolean", "literalArray", "literal"] as const;
const KINDS = {
  text: ["a text", (value: unknown) => typeof value === "string" || typeof value === "number"],
  number: ["a number", (value: unknown) => typeof value === "number"],
  flag: ["true or false", (value: unknown) => typeof value === "boolean"],
  texts: ["a list of strings", (value: unknown) => typeof value === "string" || (Array.isArray(value) && value.every((item) => typeof item === "string"))],
  any: ["a value", () => true],
} as const;

function literalOf(fields: Fields): unknown {
  const name = LITERALS.find((known) => Object.hasOwn(fields, known));
  return name === undefined ? undefined : fields[name];
}

/** A value of either version: `{literalString}` and `{path}` of 0.8, a plain value and `{path}` of 0.9. */
export function dynamicAt(value: unknown, kind: keyof typeof KINDS, at: string): Dynamic {
  const [expected, fits] = KINDS[kind];
  if (!isRecord(value)) {
    if (value === undefined || value === null || !fits(value)) throw bad(at, `${expected} or {"path": …}`, value);
    return value;
  }
  if (Object.hasOwn(value, "call")) throw bad(at, `${expected} or {"path": …}; functions are not available here`, value);
  const literal = literalOf(value);
  if (literal !== undefined && !fits(literal)) throw bad(at, expected, literal);
  if (Object.hasOwn(value, "path")) {
    const path = textAt(value["path"], `${at}.path`);
    return literal === undefined ? { path } : { path, initial: literal };
  }
  if (literal === undefined) throw bad(at, `${expected} or {"path": …}`, value);
  return literal;
}

function childrenAt(value: unknown, at: string): Children {
  const list = isRecord(value) ? value["explicitList"] : value;
  if (Array.isArray(list)) return list.map((id, index) => textAt(id, `${at}[${index}]`, 200));
  const template = isRecord(value) && isRecord(value["template"]) ? value["template"] : value;
  if (!isRecord(template)) throw bad(at, "a list of component ids, or a template", value);
  const path = template["path"] ?? template["dataBinding"];
  return { componentId: textAt(template["componentId"], `${at}.componentId`, 200), path: textAt(path, `${at}.path`) };
}

function contextAt(value: unknown, at: string): Fields {
  if (value === undefined) return {};
  const pairs = Array.isArray(value)
    ? value.map((item, index): [string, unknown] => {
        if (!isRecord(item)) throw bad(`${at}[${index}]`, 'an object {"key", "value"}', item);
        return [textAt(item["key"], `${at}[${index}].key`), item["value"]];
      })
    : isRecord(value)
      ? Object.entries(value)
      : undefined;
  if (!pairs) throw bad(at, "an object", value);
  return Object.fromEntries(pairs.map(([key, given]) => [key, dynamicAt(given, "any", `${at}.${key}`)]));
}

function actionAt(value: unknown, at: string): Action {
  if (isRecord(value) && Object.hasOwn(value, "functionCall")) throw bad(at, "an event; functions are not available here", value);
  const event = isRecord(value) && isRecord(value["event"]) ? value["event"] : value;
  if (!isRecord(event)) throw bad(at, 'an action {"name", "context"}', value);
  return { name: textAt(event["name"], `${at}.name`, 200), context: contextAt(event["context"], `${at}.context`) };
}

function listAt<T>(value: unknown, at: string, item: (fields: Fields, at: string) => T): readonly T[] {
  if (!Array.isArray(value)) throw bad(at, "a list", value);
  return value.map((one, index) => {
    if (!isRecord(one)) throw bad(`${at}[${index}]`, "an object", one);
    return item(one, `${at}[${index}]`);
  });
}

/** A property as the model holds it; throws with its place and what was expected there. */
export function propertyAt(value: unknown, kind: PropertyKind, at: string): unknown {
  if (typeof kind !== "string") {
    if (typeof value !== "string" || !kind.includes(value)) throw bad(at, `one of ${kind.join(", ")}`, value);
    return value;
  }
  switch (kind) {
    case "id":
      return textAt(value, at, 200);
    case "children":
      return childrenAt(value, at);
    case "action":
      return actionAt(value, at);
    case "tabs":
      return listAt(value, at, ({ title, child }, where) => ({
        title: dynamicAt(title, "text", `${where}.title`),
        child: textAt(child, `${where}.child`, 200),
      }));
    case "options":
      return listAt(value, at, ({ label, value: own }, where) => ({
        label: dynamicAt(label, "text", `${where}.label`),
        value: textAt(own, `${where}.value`),
      }));
    default:
      return dynamicAt(value, kind, at);
  }
}
