import { expect, test } from "vitest";
import { leafOf } from "./pager-leaf.ts";

test("a list is cut into leaves and the last one may be shorter", () => {
  expect(leafOf(120, 2, 50)).toEqual({ page: 2, pages: 3, from: 100, to: 120, total: 120 });
});

test("a list that became shorter shows its last leaf", () => {
  expect(leafOf(40, 9, 50)).toMatchObject({ page: 0, from: 0, to: 40 });
});

test("an empty list has one leaf with nothing on it", () => {
  expect(leafOf(0, 0, 50)).toEqual({ page: 0, pages: 1, from: 0, to: 0, total: 0 });
});
