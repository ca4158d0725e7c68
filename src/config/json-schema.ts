import { isObject } from "./value.ts";
import type { KnownNames } from "./validate/known-names.ts";

/**
 * The part of JSON Schema (draft-07, and the 2020-12 names that generators emit) that the walker understands. Plugins bring plain
 * JSON, so every field is optional and unknown ones may be there.
 */
export interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchemaNode>>;
  readonly definitions?: Readonly<Record<string, JsonSchemaNode>>;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly description?: string;
  readonly title?: string;
  readonly properties?: Readonly<Record<string, JsonSchemaNode>>;
  readonly patternProperties?: Readonly<Record<string, JsonSchemaNode>>;
  readonly additionalProperties?: JsonSchemaNode;
  readonly propertyNames?: JsonSchemaNode;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: JsonSchemaNode | readonly JsonSchemaNode[];
  readonly prefixItems?: readonly JsonSchemaNode[];
  readonly additionalItems?: JsonSchemaNode;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly anyOf?: readonly JsonSchemaNode[];
  readonly oneOf?: readonly JsonSchemaNode[];
  readonly allOf?: readonly JsonSchemaNode[];
  readonly not?: JsonSchemaNode;
  readonly if?: JsonSchemaNode;
  readonly then?: JsonSchemaNode;
  readonly else?: JsonSchemaNode;
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  /** The value is a secret: never shown, redacted in answers. */
  readonly "x-sensitive"?: boolean;
  /** Few people need it: hidden in forms until asked for. */
  readonly "x-advanced"?: boolean;
  readonly [keyword: string]: unknown;
}

/** A schema, or the short forms `true` (anything) and `false` (nothing). */
export type JsonSchemaNode = JsonSchema | boolean;

/** Schemas of the parts of the configuration that plugins bring. */
export interface ConfigSections {
  /** By channel id: the schema of `channels.<id>`. */
  readonly channels?: Readonly<Record<string, JsonSchema>>;
  /** By plugin id: the schema of `plugins.entries.<id>.config`. */
  readonly plugins?: Readonly<Record<string, JsonSchema>>;
  /** Schemas that nothing is checked against: of plugins that are off, and of channels that only their code describes. What they mark as secret is. */
  readonly unchecked?: Pick<ConfigSections, "channels" | "plugins">;
  /** What hints of plugins call secret: keys from the root, `*` for any key and `[]` for any entry. */
  readonly secrets?: readonly (readonly string[])[];
  /** All channel ids that exist. When given, any other id below `channels` is an error. */
  readonly knownChannels?: readonly string[];
  /** All plugin ids that were found. When given, a name that is not among them is a warning, and an error where it fills a role. */
  readonly knownPlugins?: readonly string[];
  /** Names that plugins bring. Without it only what needs no plugin to be judged is. */
  readonly names?: KnownNames | undefined;
}

/** Follows a local reference (`#/definitions/x`). Undefined when it leads nowhere or out of the document. */
export function followRef(root: JsonSchemaNode, ref: string): JsonSchemaNode | undefined {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let node: unknown = root;
  for (const part of ref.slice(2).split("/")) {
    const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) return undefined;
    node = Reflect.get(node, key);
  }
  return isObject(node) || typeof node === "boolean" ? node : undefined;
}
