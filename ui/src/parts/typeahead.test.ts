import { expect, test } from "vitest";
import { createTypeahead } from "./typeahead.ts";

const LABELS = ["Every day", "Every week", "Once", "Every month"];

function typeahead(): { type: (letters: string, from?: number) => (number | undefined)[]; pause: () => void } {
  let now = 0;
  const ahead = createTypeahead(() => now);
  return {
    type(letters, from = 0) {
      let at = from;
      return letters.split("").map((letter) => {
        now += 10;
        const found = ahead.find(letter, LABELS, at);
        at = found ?? at;
        return found;
      });
    },
    pause: () => (now += 1000),
  };
}

test("the same letter steps through the entries that begin with it, and around", () => {
  expect(typeahead().type("eeee")).toEqual([1, 3, 0, 1]);
});

test("letters one after the other narrow the entries", () => {
  expect(typeahead().type("every w").at(-1)).toBe(1);
});

test("a pause begins again", () => {
  const { type, pause } = typeahead();
  expect(type("ev")).toEqual([1, 1]);
  pause();
  expect(type("o")).toEqual([2]);
});

test("letters that nothing begins with find nothing", () => {
  expect(typeahead().type("x")).toEqual([undefined]);
});
