import { expect, test } from "vitest";
import { SHELF_BYTES, toDrop, type Held } from "./shelf.ts";

const held = (key: string, at: number, bytes: number): Held => ({ key, at, bytes });

test("what fits drops nothing", () => {
  expect(toDrop([held("a", 1, 40), held("b", 2, 40)], { key: "c", bytes: 20 }, 100)).toEqual([]);
});

test("the oldest goes first, and no more than is needed", () => {
  const all = [held("newest", 3, 30), held("oldest", 1, 30), held("middle", 2, 30)];
  expect(toDrop(all, { key: "c", bytes: 40 }, 100)).toEqual(["oldest"]);
  expect(toDrop(all, { key: "c", bytes: 41 }, 100)).toEqual(["oldest", "middle"]);
  expect(toDrop(all, { key: "c", bytes: 100 }, 100)).toEqual(["oldest", "middle", "newest"]);
});

test("what is replaced does not count, and does not make others go", () => {
  expect(toDrop([held("a", 1, 10), held("c", 2, 90)], { key: "c", bytes: 90 }, 100)).toEqual([]);
});

test("what can never fit is not kept, and nothing goes for it", () => {
  expect(toDrop([held("a", 1, 10)], { key: "c", bytes: 101 }, 100)).toBeUndefined();
  expect(toDrop([], { key: "c", bytes: SHELF_BYTES + 1 })).toBeUndefined();
  expect(toDrop([], { key: "c", bytes: SHELF_BYTES })).toEqual([]);
});

test("firm values are never evicted: others go for them, and what does not fit beside them is not stored", () => {
  const all = [{ ...held("message", 1, 60), firm: true }, held("draft", 2, 30)];
  expect(toDrop(all, { key: "c", bytes: 40 }, 100)).toEqual(["draft"]);
  expect(toDrop(all, { key: "c", bytes: 41 }, 100)).toBeUndefined();
  expect(toDrop(all, { key: "message", bytes: 100 }, 100)).toEqual(["draft"]);
});
