import { afterEach, expect, test, vi } from "vitest";
import { duration } from "./figures.ts";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

test("a length of time has two units at most, and never sixty of one", () => {
  const lengths = [0.25, 7.25, 340.4, 2400, 59_960, 200_000, 3_599_700, 5 * 3_600_000 + 240_000, 86_399_000, 3 * 86_400_000];
  expect(lengths.map(duration)).toEqual(["0.25 ms", "7.3 ms", "340 ms", "2.4 s", "1 min", "3 min 20 s", "1 h", "5 h 4 min", "1 d", "3 d"]);
});

test("a length of time is written as the reader's language writes numbers and units", async () => {
  vi.stubGlobal("navigator", { languages: ["de-AT"] });
  vi.resetModules();
  const german = await import("./figures.ts");
  expect([german.duration(2400), german.duration(200_000), german.duration(3 * 86_400_000)]).toEqual(["2,4 s", "3 min 20 s", "3 Tg."]);
});
