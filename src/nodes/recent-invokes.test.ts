import { expect, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import { createRecentInvokes } from "./recent-invokes.ts";

test("commands are listed newest first with how each ended, and one that runs is seen running", async () => {
  const clock = manualClock();
  const recent = createRecentInvokes({ clock });
  const ask = <T>(command: string, work: () => Promise<T>): Promise<T> => recent.follow({ nodeId: "n1", command }, work);
  await ask("system.which", async () => clock.advance(40));
  await expect(ask("camera.snap", () => Promise.reject(new Error("x".repeat(1000))))).rejects.toThrow("xxx");
  const { promise, resolve } = Promise.withResolvers<void>();
  const running = ask("system.run", () => promise);
  expect(recent.list("n1")).toMatchObject([
    { command: "system.run", outcome: "running" },
    { command: "camera.snap", outcome: "failed", durationMs: 0 },
    { command: "system.which", outcome: "done", durationMs: 40 },
  ]);
  expect(recent.list("n1")[1]!.message!.length).toBeLessThan(400);
  resolve();
  await running;
  expect(recent.list("n1")[0]).toMatchObject({ outcome: "done" });
  expect(recent.list("n2")).toEqual([]);
});

test("each node has its last 20 commands", async () => {
  const recent = createRecentInvokes({ clock: manualClock() });
  for (let at = 0; at < 30; at += 1) await recent.follow({ nodeId: "n1", command: `c${at}` }, () => Promise.resolve());
  expect(recent.list("n1").map(({ command }) => command)).toEqual(Array.from({ length: 20 }, (_, at) => `c${29 - at}`));
});
