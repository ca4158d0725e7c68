import { expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { silentLogger } from "../../base/log/logger.ts";
import { seededRandom } from "../../base/random.ts";
import { createCanvas, type CanvasDeps } from "./create-canvas.ts";

const MINUTE_MS = 60_000;

function open() {
  const clock = manualClock();
  const deps = { config: { current: {}, paths: { state: "/nowhere" } }, clock, ids: createIds(seededRandom(5)), log: silentLogger };
  const canvas = createCanvas({ ...deps, codeFolder: "/nowhere", skipped: false } as unknown as CanvasDeps);
  const isOpen = (address: string): boolean => canvas.isAllowed(`${address}/__openclaw__/canvas/`, new URLSearchParams());
  return { clock, canvas, isOpen };
}

test("an address with a secret opens the canvas for ten minutes after its last use, and a new one follows", () => {
  const { clock, canvas, isOpen } = open();
  const first = canvas.address("one", true);
  clock.advance(9 * MINUTE_MS);
  expect(isOpen(first)).toBe(true);
  clock.advance(9 * MINUTE_MS);
  expect([isOpen(first), canvas.address("one", true)]).toEqual([true, first]);
  clock.advance(11 * MINUTE_MS);
  expect(isOpen(first)).toBe(false);
  const second = canvas.address("one", true);
  expect([second === first, isOpen(second), isOpen(first)]).toEqual([false, true, false]);
});

test("it belongs to one connection and ends with it; no other text opens anything", () => {
  const { canvas, isOpen } = open();
  const [one, other] = [canvas.address("one", true), canvas.address("other", true)];
  expect(one).not.toBe(other);
  canvas.disconnected("one");
  expect([isOpen(one), isOpen(other)]).toEqual([false, true]);
  for (const guess of ["", `/__openclaw__/cap/${"0".repeat(48)}`, other.slice(0, -1), `${other}0`, other.toUpperCase()])
    expect([guess, isOpen(guess)]).toEqual([guess, false]);
  expect(canvas.isAllowed("/__openclaw__/canvas/", new URLSearchParams({ oc_cap: other.split("/").at(-1)! }))).toBe(true);
  expect(canvas.isAllowed("/__openclaw__/canvas/", new URLSearchParams({ oc_cap: one.split("/").at(-1)! }))).toBe(false);
});
