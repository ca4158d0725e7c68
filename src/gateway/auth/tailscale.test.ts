import { expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createWhois } from "./tailscale.ts";

test("one question per address at a time, and its answer holds for a minute", async () => {
  const clock = manualClock();
  const asked: string[] = [];
  const whois = createWhois({}, clock, async (ip) => (asked.push(ip), "ada@example.com"));
  expect(await Promise.all([whois("100.64.0.9"), whois("100.64.0.9")])).toEqual(["ada@example.com", "ada@example.com"]);
  clock.advance(59_999);
  await whois("100.64.0.9");
  expect(asked).toEqual(["100.64.0.9"]);
  clock.advance(2);
  await whois("100.64.0.9");
  expect(asked).toHaveLength(2);
});

test("who is unknown is asked again after five seconds", async () => {
  const clock = manualClock();
  let asked = 0;
  const whois = createWhois({}, clock, async () => ((asked += 1), undefined));
  expect(await whois("100.64.0.9")).toBeUndefined();
  await whois("100.64.0.9");
  clock.advance(5001);
  await whois("100.64.0.9");
  expect(asked).toBe(2);
});

test("a question that failed is asked again after five seconds", async () => {
  const clock = manualClock();
  let asked = 0;
  const whois = createWhois({}, clock, async () => {
    asked += 1;
    if (asked === 1) throw new Error("EMFILE: too many open files");
    return "ada@example.com";
  });
  expect(await whois("100.64.0.9")).toBeUndefined();
  clock.advance(5001);
  expect(await whois("100.64.0.9")).toBe("ada@example.com");
});

test("without the program nobody is known", async () => {
  expect(await createWhois({ PATH: "/nonexistent" }, manualClock())("100.64.0.9")).toBeUndefined();
});
