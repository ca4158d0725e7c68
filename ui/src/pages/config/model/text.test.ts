import { expect, test } from "vitest";
import { readJson5 } from "./json5.ts";
import { clashes, operationsBetween } from "./operations.ts";
import { formatPath, isWithin, valueAt, withoutValue, withValue } from "./path.ts";
import { HIDDEN, secretState, withoutNewSecrets } from "./secrets.ts";

const TEXT = `// ours
{
  gateway: {
    port: 4000, // here
    auth: { token: "${HIDDEN}", password: 'typed' },
  },
  "agents": { list: [{ id: "a.b" }] },
}
`;

test("values of a JSON5 text are found with the lines they stand on", () => {
  const located = readJson5(TEXT)!;
  expect(located.value).toEqual({ gateway: { port: 4000, auth: { token: HIDDEN, password: "typed" } }, agents: { list: [{ id: "a.b" }] } });
  expect(located.places.get("gateway.port")).toMatchObject({ line: 4, column: 5 });
  expect(located.places.get("agents.list.0.id")).toMatchObject({ line: 7 });
  expect(readJson5("{ a: ")).toBeUndefined();
});

test("a path is written so that the gateway reads it back, dots in keys included", () => {
  expect(formatPath(["agents", "list", 0, "a.b", ""])).toBe('agents.list[0].a\\.b[""]');
  expect(isWithin("a.b.0", ["a", "b"])).toBe(true);
  expect(isWithin("a.bc", ["a", "b"])).toBe(false);
});

test("values are set and removed in copies; what is missing on the way is made", () => {
  const before = { a: { b: 1 }, list: ["x", "y"] };
  expect(withValue(before, ["a", "c", 0], 2)).toEqual({ a: { b: 1, c: [2] }, list: ["x", "y"] });
  expect(withoutValue(before, ["list", 0])).toEqual({ a: { b: 1 }, list: ["y"] });
  expect(withoutValue(before, ["a", "nothing"])).toEqual(before);
  expect(before).toEqual({ a: { b: 1 }, list: ["x", "y"] });
  expect(valueAt(before, ["a", "toString"])).toBeUndefined();
  expect(Object.getPrototypeOf(withValue({}, ["__proto__", "bad"], 1))).toBe(Object.prototype);
});

test("the steps between two configurations name what changed and nothing else", () => {
  expect(operationsBetween({ a: { b: 1, c: 2 }, list: [1] }, { a: { c: 3 }, list: [1, 2], d: {} })).toEqual([
    { do: "unset", path: ["a", "b"] },
    { do: "set", path: ["a", "c"], value: 3 },
    { do: "set", path: ["list"], value: [1, 2] },
    { do: "set", path: ["d"], value: {} },
  ]);
  expect(operationsBetween({ a: [{ x: 1, y: 2 }] }, { a: [{ y: 2, x: 1 }] })).toEqual([]);
});

test("what two people changed differently is a clash, what they changed alike is none", () => {
  const base = { a: 1, b: { c: 1 }, d: 1 };
  const mine = operationsBetween(base, { a: 2, b: { c: 2 }, d: 3 });
  const theirs = operationsBetween(base, { a: 2, d: 4 });
  expect(clashes(mine, theirs)).toEqual([["b", "c"], ["d"]]);
});

test("how it stands with a secret is said without the secret", () => {
  expect([undefined, "", HIDDEN, "${TOKEN}", "typed", { source: "env", id: "X" }, { source: "file", path: "x" }].map(secretState)).toEqual([
    "unset",
    "unset",
    "set",
    "env",
    "new",
    "env",
    "file",
  ]);
});

test("a text that the browser keeps holds no secret that was typed", () => {
  const secret = (path: readonly (string | number)[]): boolean => ["token", "password"].includes(String(path.at(-1)));
  const kept = withoutNewSecrets(TEXT, readJson5(TEXT)!, {}, secret);
  expect(kept).not.toContain("typed");
  expect(kept).toBe(TEXT.replace("'typed'", '""'));
  const typed = TEXT.replace(HIDDEN, "other");
  expect(withoutNewSecrets(typed, readJson5(typed)!, { gateway: { auth: { token: HIDDEN } } }, secret)).toContain(`token: "${HIDDEN}"`);
});
