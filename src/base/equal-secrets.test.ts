import * as fc from "fast-check";
import { expect, test } from "vitest";
import { equalSecrets } from "./equal-secrets.ts";

test("a secret equals itself and nothing else, whatever its length", () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1 }),
      fc.string(),
      (secret, other) => equalSecrets(secret, secret) && equalSecrets(other, secret) === (other === secret),
    ),
  );
  expect(equalSecrets("ab", "abc")).toBe(false);
  expect(equalSecrets("abc", "ab")).toBe(false);
});

test("an empty secret equals nothing, not even an empty guess", () => {
  expect(equalSecrets("", "")).toBe(false);
});
