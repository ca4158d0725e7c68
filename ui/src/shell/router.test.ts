import * as fc from "fast-check";
import { expect, test } from "vitest";
import { decoded, place } from "./router.ts";

test("whatever a session is called, its address leads back to it and has nothing in it that a server could misread", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: "grapheme" }), (key) => {
      const [page, part, ...more] = place("chat", [key]).split("/");
      expect([page, decoded(part!), more]).toEqual(["chat", key, []]);
      expect(part).not.toMatch(/%2f|%5c|%3f|%23|%25/i);
    }),
  );
});

test("a usual session key is readable in its address", () => {
  expect(place("chat", ["agent:main:main"], { entry: "12", other: undefined })).toBe("chat/agent%3Amain%3Amain?entry=12");
});

test("an address typed by hand is taken as it is", () => {
  expect(decoded("%zz")).toBe("%zz");
  expect(decoded("~!")).toBe("~!");
});
