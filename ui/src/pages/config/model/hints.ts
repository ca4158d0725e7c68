import type { MethodResult } from "openclaw/client";
import type { ValuePath } from "./path.ts";
import type { SchemaNode } from "./shape.ts";

export type Hints = MethodResult<"config.schema">["uiHints"];
export type Hint = Hints[string];

/** The hint for a path: `*` stands for any key of a map and `[]` for any entry of a list; a key that is named comes first. */
export function hintFor(hints: Hints, path: ValuePath): Hint | undefined {
  let candidates = [""];
  for (const part of path) {
    candidates = candidates.flatMap((above) => {
      if (typeof part === "number") return [`${above}[]`];
      const below = above === "" ? "" : `${above}.`;
      return [`${below}${part}`, `${below}*`];
    });
    candidates = candidates.filter((pattern) => Object.hasOwn(hints, pattern));
  }
  return candidates[0] === undefined || candidates[0] === "" ? undefined : hints[candidates[0]];
}

/** Those with a place first, in its order; the others as they come. */
export function inOrder<T>(items: readonly T[], orderOf: (item: T) => number | undefined): T[] {
  const rank = (item: T): number => orderOf(item) ?? Number.MAX_SAFE_INTEGER;
  return items.toSorted((a, b) => rank(a) - rank(b));
}

/** What a form says about one key. */
export interface KeyDescription {
  readonly label: string;
  readonly help?: string;
  readonly advanced: boolean;
  readonly secret: boolean;
  readonly placeholder?: string;
}

const SECRET_KEY = /(?:token|secret|password|passphrase|apikey|api_key|privatekey)$/i;

/** `botToken` → `Bot token`. */
const worded = (key: string): string => {
  const words = key
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/[_-]+/g, " ")
    .trim()
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** Whether a key is a secret, or stands in one. What nobody describes is one when it sounds like one. */
function isSecret(hints: Hints, path: ValuePath, schema: SchemaNode): boolean {
  if (schema["x-sensitive"] === true || path.some((_, at) => hintFor(hints, path.slice(0, at + 1))?.sensitive === true)) return true;
  const key = path.at(-1);
  const ofPlugin = (path[0] === "channels" && path.length > 2) || (path[0] === "plugins" && path.length > 4);
  return ofPlugin && typeof key === "string" && hintFor(hints, path) === undefined && SECRET_KEY.test(key);
}

/** Hints first, then what the schema says, then the key itself. */
export function describeKey(hints: Hints, path: ValuePath, schema: SchemaNode): KeyDescription {
  const hint = hintFor(hints, path);
  const key = path.at(-1);
  const named = typeof key === "string" && !hintIsNamed(hints, path);
  const help = hint?.help ?? (typeof schema["description"] === "string" ? schema["description"] : undefined);
  return {
    label: typeof key === "number" ? `${key + 1}` : named ? key : (hint?.label ?? worded(String(key))),
    ...(help === undefined ? {} : { help }),
    advanced: hint?.advanced ?? schema["x-advanced"] === true,
    secret: isSecret(hints, path, schema),
    ...(hint?.placeholder === undefined ? {} : { placeholder: hint.placeholder }),
  };
}

/** A key of a map has no label of its own: its name is what tells it apart. */
function hintIsNamed(hints: Hints, path: ValuePath): boolean {
  const parent = path.slice(0, -1);
  const map = hintFor(hints, [...parent, "\u0000"]);
  return map === undefined || hintFor(hints, path) !== map;
}
