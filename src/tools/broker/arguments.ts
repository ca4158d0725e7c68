import { clip } from "../../base/text.ts";
import { flatText, isWrappedText } from "../flat-text.ts";
import { validate, type JsonSchema } from "../../config/index.ts";
import { isRecord } from "../../base/records.ts";

type Params = Readonly<Record<string, unknown>>;

/** Arguments that fit, or the text for the model. */
export type CheckedArguments = { readonly ok: true; readonly params: Params } | { readonly ok: false; readonly text: string };

/** Longest part of arguments that a model is shown again, and most of what is wrong with them. */
const SHOWN_CHARS = 4000;
const SHOWN_ISSUES = 20;
const SHOWN_LINE_CHARS = 500;

/** Models write numbers and flags as texts, and one thing where several are wanted: what can be read without doubt is taken as meant. */
export function checkArguments(tool: string, schema: Params, given: Params): CheckedArguments {
  const coerced = coerce(schema, given);
  const params = isRecord(coerced) ? coerced : given;
  const issues = validate(schema, params).filter((issue) => issue.severity === "error");
  if (issues.length === 0) return { ok: true, params };
  const lines = issues
    .slice(0, SHOWN_ISSUES)
    .map(({ path, message }) => clip(`  - ${path.length === 0 ? "root" : path.join(".")}: ${message}`, SHOWN_LINE_CHARS));
  if (issues.length > SHOWN_ISSUES) lines.push(`  - and ${issues.length - SHOWN_ISSUES} more`);
  return {
    ok: false,
    text: `Validation failed for tool "${tool}":\n${lines.join("\n")}\n\nReceived arguments:\n${clip(JSON.stringify(given, null, 2) ?? "nothing", SHOWN_CHARS)}`,
  };
}

const MAX_DEPTH = 32;

function coerce(schema: JsonSchema | boolean | undefined, value: unknown, depth = 0): unknown {
  if (typeof schema !== "object" || depth > MAX_DEPTH) return value;
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  const only = types.length === 1 ? types[0] : undefined;
  const packed = only !== undefined && typeof value === "string" ? unpacked(only, value) : undefined;
  if (packed !== undefined) return coerce(schema, packed, depth + 1);
  if (isRecord(value) && schema.properties) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, coerce(own(schema.properties, key), inner, depth + 1)]));
  }
  if (only === "string" && isWrappedText(value)) return flatText(value);
  if (Array.isArray(value)) {
    const items = isRecord(schema.items) ? schema.items : undefined;
    return value.map((item) => coerce(items, item, depth + 1));
  }
  switch (only) {
    case "number":
    case "integer":
      return typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value)) ? Number(value) : value;
    case "boolean":
      return value === "true" ? true : value === "false" ? false : value;
    case "string":
      return typeof value === "number" || typeof value === "boolean" ? String(value) : value;
    case "array":
      return typeof value === "string" ? [value] : value;
    default:
      return value;
  }
}

/** An object or a list that came as its JSON; undefined when the text is none. */
function unpacked(type: string, text: string): unknown {
  const begins = type === "object" ? "{" : type === "array" ? "[" : undefined;
  if (begins === undefined || !text.trimStart().startsWith(begins)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return (type === "array" ? Array.isArray(value) : isRecord(value)) ? value : undefined;
  } catch {
    return undefined;
  }
}

function own<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record && Object.hasOwn(record, key) ? record[key] : undefined;
}
