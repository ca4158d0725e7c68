import { AppError, messageOf } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import { CATALOG, currentProperty, IGNORED, OLD_TYPES } from "./catalog.ts";
import { bad, propertyAt, textAt } from "./values.ts";

/** A component as the model holds it, with the names of 0.9. */
export interface Component {
  readonly id: string;
  readonly type: string;
  readonly weight?: number;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** A message of any version, checked. */
export type A2uiMessage =
  | { readonly kind: "create"; readonly surfaceId: string; readonly root: string; readonly color?: string }
  /** `isKnown`: the surface has to be there already. */
  | { readonly kind: "components"; readonly surfaceId: string; readonly components: readonly Component[]; readonly isKnown?: boolean }
  /** Without a value the data at the path is removed; `merge` leaves the other keys of an object alone. */
  | { readonly kind: "data"; readonly surfaceId: string; readonly path: string; readonly value?: unknown; readonly merge?: boolean; readonly isKnown?: boolean }
  | { readonly kind: "delete"; readonly surfaceId: string };

type Fields = Readonly<Record<string, unknown>>;

export const MOST_TEXT = 1_000_000;
const MOST_LINES = 5000;
const MOST_COMPONENTS = 2000;
const MOST_DEPTH = 32;
const COLOR = /^#[0-9a-f]{6}$/i;
const VERSION = /^v?(?:0\.(?:8|9|1\d)|1\.\d+)(?:\.\d+)?$/;

function componentAt(fields: unknown, at: string): Component {
  if (!isRecord(fields)) throw bad(at, "a component", fields);
  const id = textAt(fields["id"], `${at}.id`, 200);
  const written = fields["component"];
  const old = isRecord(written) ? Object.entries(written) : undefined;
  if (old && old.length !== 1) throw bad(`${at}.component`, "an object with one component", written);
  const [name, given] = old ? old[0]! : [written, fields];
  const type = typeof name === "string" ? (OLD_TYPES.get(name) ?? name) : "";
  const known = Object.hasOwn(CATALOG, type) ? CATALOG[type] : undefined;
  if (!known) throw bad(`${at}.component`, `one of ${Object.keys(CATALOG).join(", ")}`, name);
  if (!isRecord(given)) throw bad(`${at}.component.${type}`, "an object", given);
  const properties: Record<string, unknown> = {};
  for (const [property, value] of Object.entries(given)) {
    if (!old && (property === "id" || property === "component")) continue;
    const current = old ? currentProperty(type, property) : property;
    const kind = known.properties[current];
    if (type === "Button" && property === "primary" && value === true) properties["variant"] = "primary";
    if (kind !== undefined) properties[current] = propertyAt(value, kind, `${at}.${property}`);
    else if (!IGNORED.has(property)) throw bad(`${at}.${property}`, `a property of ${type} (${Object.keys(known.properties).join(", ")})`, value);
  }
  const missing = known.required.find((property) => properties[property] === undefined);
  if (missing !== undefined) throw bad(`${at}.${missing}`, `what ${type} needs`, undefined);
  const { weight } = fields;
  return { id, type, ...(typeof weight === "number" ? { weight } : {}), properties };
}

function componentsAt(value: unknown, at: string): readonly Component[] {
  if (!Array.isArray(value) || value.length === 0) throw bad(at, "a list of components", value);
  if (value.length > MOST_COMPONENTS) throw bad(at, `at most ${MOST_COMPONENTS} components`, value.length);
  return value.map((item, index) => componentAt(item, `${at}[${index}]`));
}

/** Typed values of 0.8 as plain data. */
function contentsAt(value: unknown, at: string, depth = 0): Fields {
  if (!Array.isArray(value)) throw bad(at, 'a list of {"key", "value…"}', value);
  if (depth > MOST_DEPTH) throw bad(at, `at most ${MOST_DEPTH} levels`, undefined);
  const pairs = value.map((item, index): [string, unknown] => {
    const where = `${at}[${index}]`;
    if (!isRecord(item)) throw bad(where, 'an object {"key", "value…"}', item);
    const key = textAt(item["key"], `${where}.key`);
    if (key === "__proto__") throw bad(`${where}.key`, "another name", key);
    if (Object.hasOwn(item, "valueMap")) return [key, contentsAt(item["valueMap"], `${where}.valueMap`, depth + 1)];
    const name = ["valueString", "valueNumber", "valueBoolean", "valueBool"].find((known) => Object.hasOwn(item, known));
    if (name === undefined) throw bad(where, "valueString, valueNumber, valueBoolean or valueMap", item);
    return [key, item[name]];
  });
  return Object.fromEntries(pairs);
}

const surfaceIdOf = (fields: Fields, at: string): string => textAt(fields["surfaceId"], `${at}.surfaceId`, 200);

function createOf(fields: Fields, root: unknown, look: unknown, at: string): A2uiMessage {
  const color = isRecord(look) ? look["primaryColor"] : undefined;
  if (color !== undefined && (typeof color !== "string" || !COLOR.test(color))) throw bad(`${at}.primaryColor`, "a colour such as #1a73e8", color);
  return { kind: "create", surfaceId: surfaceIdOf(fields, at), root: textAt(root, `${at}.root`, 200), ...(typeof color === "string" ? { color } : {}) };
}

const READERS: Readonly<Record<string, (fields: Fields) => readonly A2uiMessage[]>> = {
  beginRendering: (fields) => [createOf(fields, fields["root"], fields["styles"], "beginRendering")],
  surfaceUpdate: (fields) => [
    { kind: "components", surfaceId: surfaceIdOf(fields, "surfaceUpdate"), components: componentsAt(fields["components"], "surfaceUpdate.components") },
  ],
  dataModelUpdate(fields) {
    const path = fields["path"] === undefined || fields["path"] === "" ? "/" : textAt(fields["path"], "dataModelUpdate.path");
    const value = contentsAt(fields["contents"], "dataModelUpdate.contents");
    return [{ kind: "data", surfaceId: surfaceIdOf(fields, "dataModelUpdate"), path: path.startsWith("/") ? path : `/${path}`, value, merge: true }];
  },
  createSurface(fields) {
    const created = createOf(fields, "root", fields["theme"], "createSurface");
    const { surfaceId } = created;
    return [
      created,
      ...(fields["components"] === undefined
        ? []
        : [{ kind: "components" as const, surfaceId, components: componentsAt(fields["components"], "createSurface.components") }]),
      ...(fields["dataModel"] === undefined ? [] : [{ kind: "data" as const, surfaceId, path: "/", value: fields["dataModel"] }]),
    ];
  },
  updateComponents: (fields) => [
    {
      kind: "components",
      surfaceId: surfaceIdOf(fields, "updateComponents"),
      components: componentsAt(fields["components"], "updateComponents.components"),
      isKnown: true,
    },
  ],
  updateDataModel(fields) {
    const path = fields["path"] === undefined ? "/" : textAt(fields["path"], "updateDataModel.path");
    if (!path.startsWith("/")) throw bad("updateDataModel.path", "a path that begins with /", path);
    const value = Object.hasOwn(fields, "value") ? { value: fields["value"] } : {};
    return [{ kind: "data", surfaceId: surfaceIdOf(fields, "updateDataModel"), path, ...value, isKnown: true }];
  },
  deleteSurface: (fields) => [{ kind: "delete", surfaceId: surfaceIdOf(fields, "deleteSurface") }],
};

/** One message of version 0.8, 0.9 or 1.0. Throws `INVALID_INPUT` with the place of what is wrong and what was expected there. */
export function parseMessage(value: unknown): readonly A2uiMessage[] {
  if (!isRecord(value)) throw bad("message", "an object", value);
  const { version } = value;
  if (version !== undefined && (typeof version !== "string" || !VERSION.test(version))) throw bad("version", 'a version such as "v0.9"', version);
  const names = Object.keys(value).filter((name) => name !== "version");
  const [name] = names;
  const read = name !== undefined && names.length === 1 && Object.hasOwn(READERS, name) ? READERS[name] : undefined;
  if (!read) throw bad("message", `exactly one of ${Object.keys(READERS).join(", ")}`, names.join(", ") || undefined);
  const fields = value[name!];
  if (!isRecord(fields)) throw bad(name!, "an object", fields);
  return read(fields);
}

/** Messages, one JSON object to a line. Throws with the number of the line. */
export function parseJsonl(text: string): readonly A2uiMessage[] {
  if (text.length > MOST_TEXT) throw new AppError("INVALID_INPUT", `expected at most ${MOST_TEXT} characters of A2UI messages, got ${text.length}`);
  const lines = text.split(/\r?\n/);
  if (lines.length > MOST_LINES) throw new AppError("INVALID_INPUT", `expected at most ${MOST_LINES} lines of A2UI messages, got ${lines.length}`);
  const found = lines.flatMap((line, index) => {
    if (line.trim() === "") return [];
    try {
      return parseMessage(JSON.parse(line));
    } catch (error) {
      const why = error instanceof SyntaxError ? `expected one JSON object, got ${JSON.stringify(line.slice(0, 60))} (${error.message})` : messageOf(error);
      throw new AppError("INVALID_INPUT", `line ${index + 1}: ${why}`, { details: { line: index + 1 } });
    }
  });
  if (found.length === 0) throw new AppError("INVALID_INPUT", "expected at least one A2UI message, one JSON object to a line; got none");
  return found;
}
