import { expect, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import { createGrowth } from "./growth.ts";

test("sessions that grew by messages or by bytes are indexed once things are quiet", () => {
  const clock = manualClock();
  const due: string[] = [];
  using growth = createGrowth({ clock, limits: () => ({ deltaBytes: 1000, deltaMessages: 3 }), due: (agentId) => due.push(agentId) });
  growth.grew("main", 2, 10);
  clock.advance(60_000);
  expect(due).toEqual([]);
  growth.grew("main", 1, 10);
  growth.grew("other", 1, 2000);
  clock.advance(4000);
  growth.grew("main", 9, 10);
  expect(due).toEqual([]);
  clock.advance(1000);
  expect(due).toEqual(["main", "other"]);
  clock.advance(60_000);
  expect(due).toHaveLength(2);
});
