import * as fc from "fast-check";
import { expect, test } from "vitest";
import { AppError } from "../base/errors.ts";
import { dottedPath, formatPath, parsePath } from "./path.ts";

test("dots separate keys, brackets take an index, a backslash takes the next character literally", () => {
  expect(parsePath("agents.list[0].id")).toEqual(["agents", "list", 0, "id"]);
  expect(parsePath("channels.telegram.groups.*.requireMention")).toEqual(["channels", "telegram", "groups", "*", "requireMention"]);
  expect(parsePath("models.openai/gpt-5\\.2.alias")).toEqual(["models", "openai/gpt-5.2", "alias"]);
  expect(parsePath('a["b.c"][1]')).toEqual(["a", "b.c", 1]);
  expect(parsePath("list.0")).toEqual(["list", "0"]);
  expect(dottedPath(["a", 0, "b"])).toBe("a.0.b");
});

test.each(["", ".", "a..b", "a.", "a[", "a[]", "a[0]b", "__proto__.x", "a.constructor", "a.prototype[0]"])("%j is refused with advice", (text) => {
  expect(() => parsePath(text)).toThrow(AppError);
  expect(() => parsePath(text)).toThrow(/is not a config path/);
});

test("every path can be written and read back", () => {
  const key = fc.string({ maxLength: 6 }).filter((text) => !["__proto__", "constructor", "prototype"].includes(text));
  fc.assert(
    fc.property(fc.array(fc.oneof(key, fc.nat(9)), { minLength: 1 }), (path) => {
      expect(parsePath(formatPath(path))).toEqual(path);
    }),
  );
});
