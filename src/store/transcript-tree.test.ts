import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createTree, type Fork } from "./transcript-tree.ts";

/** A transcript in which line n has the parent at `parents[n - 1]`; 0 is none. */
function treeOf(parents: readonly number[]) {
  const forks = parents.flatMap((parent, at): Fork[] => (parent === at ? [] : [{ seq: at + 1, parent: parent === 0 ? null : parent }]));
  return createTree(forks, parents.length + 1);
}

test("a chain has one child each and ends with its last line", () => {
  const tree = treeOf([0, 1, 2]);
  expect([1, 2, 3].map(tree.childrenOf)).toEqual([[2], [3], []]);
  expect(tree.newestBelow(1)).toBe(3);
  expect(tree.roots).toEqual([1]);
});

test("a branch is another child, and the newest line below an entry is the one that was written last", () => {
  // 1 ─ 2 ─ 3 ─ 4 and 2 ─ 5 ─ 6, then 4 ─ 7.
  const tree = treeOf([0, 1, 2, 3, 2, 5, 4]);
  expect(tree.childrenOf(2)).toEqual([3, 5]);
  expect(tree.newestBelow(3)).toBe(7);
  expect(tree.newestBelow(5)).toBe(6);
  expect([1, 2, 3, 4, 5, 6, 7].filter((seq) => tree.isOnPath(seq, 7))).toEqual([1, 2, 3, 4, 7]);
});

test("whatever the branches are, the tree is the one that the parents describe", () => {
  const parents = fc
    .array(fc.nat(), { minLength: 1, maxLength: 40 })
    .map((numbers) => numbers.map((number, at) => (number % 3 === 0 ? at : number % (at + 1))));
  fc.assert(
    fc.property(parents, (all) => {
      const tree = treeOf(all);
      const above = (seq: number): number[] => (seq === 0 ? [] : [seq, ...above(all[seq - 1]!)]);
      for (let seq = 1; seq <= all.length; seq += 1) {
        expect(tree.parentOf(seq) ?? 0).toBe(all[seq - 1]);
        expect([...tree.childrenOf(seq)].sort((a, b) => a - b)).toEqual(all.flatMap((parent, at) => (parent === seq ? [at + 1] : [])));
        const below = all.flatMap((_parent, at) => (above(at + 1).includes(seq) ? [at + 1] : []));
        expect(tree.newestBelow(seq)).toBe(Math.max(...below));
        expect(all.map((_parent, at) => tree.isOnPath(at + 1, seq))).toEqual(all.map((_parent, at) => above(seq).includes(at + 1)));
      }
    }),
  );
});
