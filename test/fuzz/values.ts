import type { Random } from "../../src/base/random.ts";
import type { JsonSchema } from "../../src/protocol/check.ts";
import type { Known } from "./known.ts";

/** Choices from a seeded source. */
export interface Dice {
  /** A whole number in [0, below). */
  number(below: number): number;
  chance(share: number): boolean;
  pick<T>(list: readonly T[]): T;
}

export function createDice({ float }: Random): Dice {
  const number = (below: number): number => Math.floor(float() * below);
  return { number, chance: (share) => float() < share, pick: (list) => list[number(list.length)]! };
}

/** Names that mean something to an object that is used as a map. */
export const INHERITED = ["constructor", "prototype", "toString", "hasOwnProperty", "valueOf", "__defineGetter__", "toJSON", "then", "length", "isPrototypeOf"];

/** What tends to be in the way: limits, paths, markup, quotes, halves of characters. */
const TEXTS = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "main",
  "agent:main:main",
  "agent:main:",
  "agent::",
  "global",
  "unknown",
  "../../../etc/passwd",
  "/etc/passwd",
  "C:\\con\\nul",
  "%00%2e%2e%2f",
  "'; drop table sessions; --",
  "%s%n%d",
  "${jndi:ldap://x}",
  "<script>alert(1)</script>",
  "\ud800",
  "\udc00x",
  "\ufeff",
  "\u202e",
  "👩‍👩‍👧‍👦",
  "\u2028",
  "e\u0301".repeat(40),
  "NaN",
  "null",
  "-1",
  "1e999",
  "9007199254740993",
  "2026-02-30",
  "0000-00-00",
  "9999-99-99",
  "2026-01-01",
  "/stop",
  "/new",
  "/reset x",
  "stop",
  "{}",
  "[]",
  '{"gateway":{"port":"x"}}',
  "{a:1,}",
  "// comment only",
  "x".repeat(121),
  "y".repeat(5000),
  ...INHERITED,
];

const NUMBERS = [
  0,
  -0,
  1,
  -1,
  0.5,
  2,
  20,
  50,
  64,
  200,
  400,
  1000,
  5000,
  5001,
  1e6,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  -(2 ** 53),
  1e21,
  1e308,
  -1e308,
  5e-324,
];

export const anyText = (dice: Dice): string =>
  dice.chance(0.8) ? dice.pick(TEXTS) : String.fromCodePoint(...Array.from({ length: 1 + dice.number(12) }, () => 1 + dice.number(0x2fff)));
export const anyNumber = (dice: Dice): number => (dice.chance(0.8) ? dice.pick(NUMBERS) : dice.number(100_000) - 50_000);
const anyKey = (dice: Dice): string =>
  dice.chance(0.4) ? dice.pick(INHERITED) : dice.pick(["a", "id", "key", "limit", "sessionKey", "", "0", "idempotencyKey", "$ref", "a.b", "x\u0000"]);

/** Any JSON value, no deeper than `depth`. */
export function anyValue(dice: Dice, depth = 4): unknown {
  switch (dice.number(depth > 0 ? 8 : 6)) {
    case 0:
      return null;
    case 1:
      return dice.chance(0.5);
    case 2:
      return anyNumber(dice);
    case 6:
      return Array.from({ length: dice.number(5) }, () => anyValue(dice, depth - 1));
    case 7:
      return Object.fromEntries(Array.from({ length: dice.number(5) }, () => [anyKey(dice), anyValue(dice, depth - 1)]));
    default:
      return anyText(dice);
  }
}

function textFor({ minLength = 0, maxLength = Infinity, pattern }: JsonSchema, name: string, dice: Dice, known: Known): string {
  if (pattern !== undefined && dice.chance(0.7)) return dice.pick(["2026-01-01", "2026-11-15", "1970-01-01", "2026-02-31"]);
  if (name === "idempotencyKey" && dice.chance(0.6)) return `key-${dice.number(2 ** 31)}`;
  const seen = known.of(name);
  const text = seen.length > 0 && dice.chance(0.7) ? dice.pick(seen) : anyText(dice);
  if (text.length < minLength) return "x".repeat(minLength);
  return text.length > maxLength ? text.slice(0, maxLength) : text;
}

/** A value that fits the schema, or nearly so: optional properties come and go. */
export function valueFor(schema: JsonSchema, dice: Dice, known: Known, name = ""): unknown {
  if (schema.anyOf) return valueFor(dice.pick(schema.anyOf), dice, known, name);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return dice.pick(schema.enum);
  switch (schema.type) {
    case "string":
      return textFor(schema, name, dice, known);
    case "integer":
    case "number": {
      const { minimum = -1000, maximum = 100_000 } = schema;
      return Math.round(dice.chance(0.2) ? dice.pick([minimum, maximum]) : minimum + dice.number(Math.min(maximum - minimum, 2000) + 1));
    }
    case "boolean":
      return dice.chance(0.5);
    case "null":
      return null;
    case "array":
      return Array.from({ length: Math.max(schema.minItems ?? 0, Math.min(dice.number(4), schema.maxItems ?? 4)) }, () =>
        valueFor(schema.items ?? {}, dice, known, name),
      );
    case "object":
      return objectFor(schema, dice, known);
    default:
      return anyValue(dice, 2);
  }
}

function objectFor({ properties = {}, required = [], additionalProperties }: JsonSchema, dice: Dice, known: Known): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const [key, schema] of Object.entries(properties)) if (required.includes(key) || dice.chance(0.4)) made[key] = valueFor(schema, dice, known, key);
  if (typeof additionalProperties === "object")
    for (let left = dice.number(3); left > 0; left -= 1) made[anyKey(dice)] = valueFor(additionalProperties, dice, known);
  return made;
}

/** Changes one thing somewhere in the value: another type, a bound passed, a key too many, one too few. */
export function mutated(value: unknown, dice: Dice): unknown {
  if (Array.isArray(value) && value.length > 0 && dice.chance(0.7)) {
    const at = dice.number(value.length);
    return dice.chance(0.2)
      ? [...value, ...Array.from({ length: 200 }, () => value[at] as unknown)]
      : value.map((item, index) => (index === at ? mutated(item, dice) : (item as unknown)));
  }
  if (typeof value === "object" && value !== null && dice.chance(0.85)) {
    const entries = Object.entries(value);
    if (entries.length === 0 || dice.chance(0.2)) return Object.fromEntries([...entries, [anyKey(dice), anyValue(dice, 2)]]);
    const at = dice.number(entries.length);
    if (dice.chance(0.2)) return Object.fromEntries(entries.filter((_, index) => index !== at));
    return Object.fromEntries(entries.map(([key, item], index) => [key, index === at ? mutated(item, dice) : item]));
  }
  if (typeof value === "number" && dice.chance(0.6)) return dice.pick([value + 1, value - 1, -value, value * 1e9, value + 0.5, String(value)]);
  if (typeof value === "string" && dice.chance(0.4))
    return dice.pick([value + value, value.slice(1), value.toUpperCase(), `${value}\u0000`, [value], { value }]);
  return anyValue(dice, 3);
}
