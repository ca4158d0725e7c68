import { expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createLiveness, type Watched } from "./liveness.ts";

function node(): Watched & { pings: number; isCutOff: boolean } {
  const made = { pings: 0, isCutOff: false, ping: () => void (made.pings += 1), cutOff: () => void (made.isCutOff = true) };
  return made;
}

test("a node that does not answer is cut off within 30 seconds, and one that does is not", () => {
  const clock = manualClock();
  using liveness = createLiveness({ clock });
  const [quiet, dead] = [node(), node()];
  liveness.watch(quiet);
  liveness.watch(dead);
  for (let second = 0; second < 30; second += 1) {
    clock.advance(1000);
    if (second % 10 === 0) liveness.heard(quiet);
  }
  expect([dead.isCutOff, quiet.isCutOff]).toEqual([true, false]);
  expect(quiet.pings).toBe(3);
});

test("nothing is asked of nodes that left", () => {
  const clock = manualClock();
  using liveness = createLiveness({ clock });
  const gone = node();
  liveness.watch(gone);
  clock.advance(10_000);
  liveness.forget(gone);
  liveness.heard(gone);
  clock.advance(100_000);
  expect([gone.pings, gone.isCutOff]).toEqual([1, false]);
});
