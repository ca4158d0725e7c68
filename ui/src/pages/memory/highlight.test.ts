import * as fc from "fast-check";
import { expect, test } from "vitest";
import { highlighted } from "./highlight.ts";

const shown = (text: string, words: readonly string[], related: readonly string[] = []): string =>
  highlighted(text, { words: [...words], related: [...related], effects: [], about: [], ranked: 0.5 })
    .map(({ text: piece, found }) => (found ? `[${piece}]` : piece))
    .join("");

test("words are marked with other endings, cases and accents, and not inside of other words", () => {
  expect(shown("Jonas has an Allergy to walnuts.", ["allergic", "walnut"])).toBe("Jonas has an [Allergy] to [walnuts].");
  expect(shown("The café in the car, not the carpet", ["cafe", "car"])).toBe("The [café] in the [car], not the carpet");
  expect(shown("cars", ["car"])).toBe("[cars]");
});

test("related words are marked by their stems", () => {
  expect(shown("Two dogs bark", ["pet"], ["pet → dog"])).toBe("Two [dogs] bark");
});

test("in scripts without spaces a word is marked where it stands", () => {
  expect(shown("我昨天去了医院看病", ["医院"])).toBe("我昨天去了[医院]看病");
});

test("without an explanation nothing is marked", () => {
  expect(highlighted("a b", undefined)).toEqual([{ text: "a b", found: false }]);
});

test("no character is lost, whatever text and words are", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.array(fc.string()), fc.array(fc.string()), (text, words, related) => {
      expect(
        highlighted(text, { words, related, effects: [], about: [], ranked: 0.5 })
          .map(({ text: piece }) => piece)
          .join(""),
      ).toBe(text);
    }),
  );
});
