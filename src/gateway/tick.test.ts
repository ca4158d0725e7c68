import { expect, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import type { Fanout } from "./fanout.ts";
import { startTicking } from "./health-feed.ts";

/** What was done at which second. */
function ticking(size: number) {
  const clock = manualClock(0);
  const done: string[] = [];
  const note = (what: string): void => void done.push(`${what} ${clock.now() / 1000}`);
  const fanout: Pick<Fanout, "broadcast" | "size"> = { size, broadcast: (event) => note(event) };
  return { clock, done, timer: startTicking({ clock, fanout, onMinute: () => note("minute") }) };
}

test("what is done every minute never falls together with a tick", () => {
  const { clock, done } = ticking(1);
  clock.advance(150_000);
  expect(done).toEqual(["tick 30", "minute 45", "tick 60", "tick 90", "minute 105", "tick 120", "tick 150"]);
});

test("nothing is sent while nobody is connected; the minute still counts", () => {
  const { clock, done } = ticking(0);
  clock.advance(80_000);
  expect(done).toEqual(["minute 45"]);
});

test("after the end nothing is done, also not what was already due", () => {
  const { clock, done, timer } = ticking(1);
  clock.advance(30_000);
  timer[Symbol.dispose]();
  clock.advance(120_000);
  expect(done).toEqual(["tick 30"]);
});
