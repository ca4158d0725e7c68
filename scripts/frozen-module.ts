/** A schema without the texts that only forms and editors show. */
export function withoutDescriptions(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutDescriptions);
  if (typeof node !== "object" || node === null) return node;
  // A property that is called "description" is an object; the keyword is a text.
  const kept = Object.entries(node).filter(([key, value]) => !(key === "description" && typeof value === "string"));
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutDescriptions(value)]));
}

/** A module that exports one value that JSON can hold. */
export const asModule = (name: string, value: unknown): string => `export const ${name} = JSON.parse(${JSON.stringify(JSON.stringify(value))});`;
