import { isRecord } from "../../base/records.ts";
import type { ToolSchema } from "../../protocol/index.ts";
import type { Turn } from "./turn.ts";
import { say, type Reply } from "./reply.ts";

/** A value for a tool, under the first of these names that its schema has. */
export interface Argument {
  readonly names: readonly string[];
  readonly value: unknown;
  /** Omitted where the tool has no such parameter. */
  readonly optional?: boolean;
}

const ALIASES: Readonly<Record<string, readonly string[]>> = { exec: ["exec", "bash"] };

/** The tool of this name, or of an alias. */
export function offered({ tools }: Turn, name: string): ToolSchema | undefined {
  return (ALIASES[name] ?? [name]).map((known) => tools.get(known)).find((tool) => tool !== undefined);
}

/** Calls a tool according to its schema; says so when it is not available or a required value is unknown. `before` is sent first. */
export function call(turn: Turn, name: string, wanted: readonly Argument[], before?: string): Reply {
  const tool = offered(turn, name);
  if (!tool) return say(`That takes the tool \`${name}\`, which is not available in this conversation, so I cannot do it.`);
  const { args, missing } = fill(tool, wanted);
  if (missing.length > 0) {
    return say(`The tool \`${tool.name}\` asks for ${missing.map((key) => `\`${key}\``).join(", ")}, which I do not know how to give it, so I left it alone.`);
  }
  return { calls: [{ name: tool.name, arguments: args }], ...(before === undefined ? {} : { text: before }) };
}

type Property = Readonly<Record<string, unknown>>;

function fill(tool: ToolSchema, wanted: readonly Argument[]): { readonly args: Record<string, unknown>; readonly missing: readonly string[] } {
  const properties = recordOf(tool.parameters["properties"]);
  const args: Record<string, unknown> = {};
  const missing: string[] = [];
  for (const { names, value, optional } of wanted) {
    const name = properties ? names.find((known) => Object.hasOwn(properties, known)) : names[0];
    const fitted = name === undefined ? undefined : fit(value, recordOf(properties?.[name]) ?? {});
    if (name !== undefined && fitted !== undefined) args[name] = fitted;
    else if (!optional) missing.push(name ?? names[0] ?? "");
  }
  const required = tool.parameters["required"];
  for (const name of Array.isArray(required) ? required : []) {
    if (typeof name !== "string" || Object.hasOwn(args, name) || missing.includes(name)) continue;
    const value = onlyValue(recordOf(properties?.[name]) ?? {});
    if (value === undefined) missing.push(name);
    else args[name] = value;
  }
  return { args, missing };
}

/** The value converted to the schema's type; undefined when it does not fit. */
function fit(value: unknown, { type, enum: values }: Property): unknown {
  if (Array.isArray(values)) return values.includes(value) ? value : undefined;
  const types = Array.isArray(type) ? type : [type];
  const own = typeof value === "object" && value !== null ? "object" : typeof value;
  if (type === undefined || types.includes(own) || (own === "number" && types.includes("integer"))) return value;
  if (types.includes("array")) return [value];
  if (own === "object" && types.includes("string")) return JSON.stringify(value);
  return undefined;
}

/** The schema's default or only possible value. */
function onlyValue({ default: standard, const: fixed, enum: values }: Property): unknown {
  return standard ?? fixed ?? (Array.isArray(values) && values.length === 1 ? values[0] : undefined);
}

export function recordOf(value: unknown): Property | undefined {
  return isRecord(value) ? value : undefined;
}
