import { expect, test } from "vitest";
import { createLoopMonitor, CURRENT, RUNNING, viewLoop } from "./loop-monitor.ts";
import { createBlockCounter, suspectOf } from "./watch-main-thread.ts";

const LIMITS = { warnSeconds: 2, limitSeconds: 5, graceSeconds: 3 };

/** Ticks of a thread whose clock the test owns: each gap in milliseconds, and whether the main thread ran in it. */
function run(ticks: readonly (readonly [gap: number, ran: boolean])[], counter = createBlockCounter(LIMITS)): string {
  let now = 0;
  let beat = 1;
  counter.tick(now, beat);
  return ticks
    .map(([gap, ran]) => {
      now += gap;
      if (ran) beat += 1;
      return counter.tick(now, beat).kind;
    })
    .join(" ");
}
const blocked = (count: number): (readonly [number, boolean])[] => Array.from({ length: count }, () => [1000, false] as const);

test("a main thread that stands still is warned about, then ended; one that runs again is not", () => {
  expect(run(blocked(5))).toBe("fine warn fine fine end");
  expect(run([...blocked(4), [1000, true], ...blocked(4)])).toBe("fine warn fine fine fine fine warn fine fine");
  expect(run(blocked(9), createBlockCounter({ ...LIMITS, limitSeconds: 0 }))).not.toContain("end");
});

test("time in which the watching thread stood still, too, does not count: the machine slept, or the process was stopped", () => {
  expect(run([[3_600_000, false], [1000, true], ...blocked(1), [60_000, false], ...blocked(1)])).toBe("fine fine fine fine warn");
});

test("once the process was asked to stop the grace counts, from then on", () => {
  const counter = createBlockCounter({ ...LIMITS, limitSeconds: 60 });
  expect(run(blocked(2), counter)).toBe("fine warn");
  counter.stopAsked("SIGTERM");
  const kinds = [3, 4, 5].map((second) => counter.tick(second * 1000, 1));
  expect(kinds).toEqual([{ kind: "fine" }, { kind: "fine" }, { kind: "end", seconds: 5, signal: "SIGTERM" }]);
});

test("who blocks: by the stack, else by what was called and has not returned, else by what is on its way", () => {
  using monitor = createLoopMonitor();
  const view = viewLoop(monitor.buffer);
  const hook = monitor.label({ pluginId: "one", what: "hook before_tool_call", rootDir: "/plugins/one" });
  const tool = monitor.label({ pluginId: "two", what: "tool work", rootDir: "/plugins/two" });
  expect(monitor.label({ pluginId: "two", what: "tool work", rootDir: "/plugins/two" })).toBe(tool);
  expect(suspectOf(view, undefined)).toEqual({ at: undefined });
  monitor.cells[RUNNING + tool] = 1;
  expect(suspectOf(view, undefined)).toEqual({ pluginId: "two", what: "tool work", at: undefined });
  const stack = [
    { functionName: "readSync", file: "node:fs", line: 1 },
    { functionName: "f", file: "/plugins/two/index.ts", line: 7 },
  ];
  expect(suspectOf(view, stack)).toEqual({ pluginId: "two", what: "tool work", at: "/plugins/two/index.ts:7" });
  monitor.cells[CURRENT] = hook;
  expect(suspectOf(view, undefined)).toEqual({ pluginId: "one", what: "hook before_tool_call", at: undefined });
  monitor.cells[CURRENT] = 0;
  monitor.cells[RUNNING + tool] = 0;
  expect(suspectOf(view, [{ functionName: "own", file: "/app/dist/cli.js", line: 3 }])).toEqual({ at: "/app/dist/cli.js:3" });
});
