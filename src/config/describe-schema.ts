import type { ConfigSections, JsonSchema } from "./validate/index.ts";
import type { UiHint } from "./validate/hints.ts";

export interface SchemaDescription {
  /** Draft-07, with what plugins bring put in its place. */
  readonly schema: JsonSchema;
  /** Label, help and marks of every key, for forms. */
  readonly hints: Readonly<Record<string, UiHint>>;
}

/** The whole schema with its texts. Loaded when asked for: validation needs none of them. */
export async function describeSchema(sections?: ConfigSections): Promise<SchemaDescription> {
  const [{ exportSchema }, { uiHints }] = await Promise.all([import("./validate/schema-export.ts"), import("./validate/hints.ts")]);
  const schema = exportSchema(sections);
  return { schema, hints: uiHints(schema) };
}
