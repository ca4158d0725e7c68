/** Keywords that the walker acts on. */
const CHECKED = [
  "$ref type enum const properties patternProperties additionalProperties propertyNames required minProperties maxProperties",
  "items prefixItems additionalItems minItems maxItems uniqueItems anyOf oneOf allOf not if then else",
  "pattern format minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
];

/** Keywords that only describe. `format` is one of them for formats that are not checked, as draft-07 has it. */
const DESCRIBING = ["$schema $id $comment $defs definitions title description default examples readOnly writeOnly deprecated contentEncoding contentMediaType"];

const KNOWN = new Set([...CHECKED, ...DESCRIBING].join(" ").split(" "));

/** The first keyword that would have to be checked but cannot be. */
export function unsupportedKeyword(schema: object): string | undefined {
  for (const keyword in schema) {
    if (!KNOWN.has(keyword) && !keyword.startsWith("x-")) return keyword;
  }
  return undefined;
}
