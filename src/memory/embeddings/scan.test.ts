import { expect, test } from "vitest";
import { seededRandom } from "../../base/random.ts";
import { cutToTokens, groupByTokens } from "./estimate.ts";
import { best, createMatrix, type Matrix } from "./scan.ts";

const DIMS = 37;
const random = seededRandom(7);

function unit(): Float32Array {
  const vector = Float32Array.from({ length: DIMS }, () => random.float() - 0.5);
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);

for (const kind of ["exact", "int8"] as const) {
  test(`${kind}: finds the same rows as a comparison with every row`, () => {
    const rows = new Map<number, Float32Array>();
    const matrix: Matrix = createMatrix(DIMS, kind, 16);
    for (let id = 0; id < 500; id += 1) {
      const vector = unit();
      rows.set(id, vector);
      matrix.set(id, vector);
    }
    for (let id = 0; id < 500; id += 3) {
      rows.delete(id);
      matrix.remove(id);
    }
    for (let id = 1; id < 500; id += 30) {
      const vector = unit();
      rows.set(id, vector);
      matrix.set(id, vector);
    }
    expect(matrix.size).toBe(rows.size);
    const query = unit();
    const isAllowed = (id: number): boolean => id % 5 !== 0;
    const wanted = [...rows]
      .filter(([id]) => isAllowed(id))
      .map(([id, vector]) => ({ id, value: dot(vector, query) }))
      .toSorted((a, b) => b.value - a.value);
    const cosines = matrix.cosines(query);
    for (const [id, vector] of rows) expect(Math.abs((cosines.of(id) ?? 9) - dot(vector, query))).toBeLessThan(kind === "exact" ? 1e-5 : 0.02);
    const found = best(cosines, 10, isAllowed);
    const near = new Set(wanted.slice(0, kind === "exact" ? 10 : 14).map(({ id }) => id));
    expect(found).toHaveLength(10);
    expect(found.every(({ id }) => near.has(id))).toBe(true);
    expect(cosines.of(0)).toBeUndefined();
  });
}

test("groups texts up to 8000 estimated tokens, and cuts them to a size that a provider accepts", () => {
  const items = Array.from({ length: 10 }, () => ({ text: "x".repeat(12_000) }));
  expect(groupByTokens(items, 100).map((group) => group.length)).toEqual([2, 2, 2, 2, 2]);
  expect(groupByTokens([{ text: "x".repeat(100_000) }, { text: "a" }, { text: "b" }], 1)).toHaveLength(3);
  expect(Buffer.byteLength(cutToTokens("é".repeat(5000), 2048))).toBeLessThanOrEqual(2048);
  expect(cutToTokens("short", 2048)).toBe("short");
});
