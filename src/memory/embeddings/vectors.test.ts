import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { seededRandom } from "../../base/random.ts";
import { createIndex, openIndex, type IndexDatabase } from "../storage/database.ts";
import { openVectors, type VectorsOptions } from "./vectors.ts";

const STAMP = { chunkTokens: 400, chunkOverlap: 80 };
const DIMS = 16;
const options: VectorsOptions = {
  key: { provider: "p", model: "m", providerKey: "k" },
  chunking: { tokens: 400, overlap: 80 },
  vector: { enabled: true },
  packagesFrom: [],
};

function setup(): { readonly index: IndexDatabase; readonly file: string } {
  const folder = mkdtempSync(join(tmpdir(), "vectors-"));
  const file = join(folder, "main.sqlite");
  const index = createIndex(file, STAMP);
  onTestFinished(() => {
    index[Symbol.dispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  return { index, file };
}

function rowsOf(count: number, first = 0): { readonly id: number; readonly vector: Float32Array }[] {
  const random = seededRandom(first + 1);
  return Array.from({ length: count }, (_, at) => {
    const vector = Float32Array.from({ length: DIMS }, () => random.float() - 0.5);
    const length = Math.hypot(...vector);
    return { id: first + at, vector: vector.map((value) => value / length) };
  });
}

const all = (): boolean => true;

test("an index that outgrows floats is read again as bytes, and finds the same", async () => {
  const { index } = setup();
  const rows = rowsOf(300);
  using exact = openVectors(index, options);
  index.transaction(() => exact.put(rows));
  using bytes = openVectors(index, { ...options, floatBytes: 150 * DIMS * 4 });
  await bytes.load();
  expect([exact.scan, bytes.scan, bytes.size]).toEqual(["exact", "int8", 300]);
  const query = rows[42]?.vector ?? new Float32Array(DIMS);
  const found = bytes.near(query).top(5, all);
  expect([...found.keys()]).toEqual([...exact.near(query).top(5, all).keys()]);
  for (const [id, cosine] of exact.near(query).top(5, all)) expect(found.get(id)).toBeCloseTo(cosine, 5);
});

test("rows that are added while the table is read are found", async () => {
  const { index } = setup();
  using first = openVectors(index, options);
  index.transaction(() => first.put(rowsOf(600, 1000)));
  using second = openVectors(index, options);
  const loading = second.load();
  const [added] = rowsOf(1);
  if (!added) throw new Error("a row was expected");
  index.transaction(() => second.put([added]));
  await loading;
  expect(second.size).toBe(601);
  expect(second.near(added.vector).top(1, all).has(added.id)).toBe(true);
});

test("vectors of another provider are removed, those of the same one stay", () => {
  const { index } = setup();
  using first = openVectors(index, options);
  index.transaction(() => first.put(rowsOf(3)));
  using same = openVectors(index, options);
  expect([same.size, same.dims]).toEqual([3, DIMS]);
  using other = openVectors(index, { ...options, key: { ...options.key, model: "n" } });
  expect([other.size, other.dims]).toEqual([0, undefined]);
});

test("what another process stores is seen at the next look", async () => {
  const { index, file } = setup();
  using mine = openVectors(index, options);
  index.transaction(() => mine.put(rowsOf(3)));
  await mine.load();
  const opened = openIndex(file, STAMP);
  if (opened.kind !== "current") throw new Error("the index should open");
  using theirIndex = opened.index;
  using theirs = openVectors(theirIndex, options);
  theirIndex.transaction(() => theirs.put(rowsOf(2, 100)));
  await mine.load();
  expect(mine.size).toBe(5);
});

test("a cosine is brought to one scale, whatever the usual distance of a model is", () => {
  const { index } = setup();
  using vectors = openVectors(index, options);
  const base = rowsOf(1)[0]?.vector ?? new Float32Array(DIMS);
  // Of a model whose vectors are all close to each other.
  const rows = rowsOf(200).map(({ id, vector }) => {
    const mixed = vector.map((value, at) => value * 0.3 + (base[at] ?? 0));
    const length = Math.hypot(...mixed);
    return { id, vector: mixed.map((value) => value / length) };
  });
  index.transaction(() => vectors.put(rows));
  const near = vectors.near(base);
  const cosines = rows.map(({ id }) => near.cosine(id) ?? 0);
  const mean = cosines.reduce((sum, value) => sum + value, 0) / cosines.length;
  expect(mean).toBeGreaterThan(0.9);
  expect(near.scale(mean)).toBeCloseTo(0.26, 2);
});
