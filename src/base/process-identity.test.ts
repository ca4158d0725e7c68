import { expect, test } from "vitest";
import { identify, isRunning } from "./process-identity.ts";
import { startUnreaped } from "./zombie.fixture.ts";

const linux = process.platform === "linux";

test("a running process is recognized", () => {
  expect(isRunning(identify(process.pid))).toBe(true);
  expect(isRunning({ pid: process.pid })).toBe(true);
});

test.runIf(linux)("a killed process that is not reaped yet does not count as running", async () => {
  await using orphan = await startUnreaped();
  const identity = identify(orphan.pid);
  expect(isRunning(identity)).toBe(true);
  await orphan.kill();
  // It still has its id: a check of the id alone takes it for alive.
  expect(process.kill(orphan.pid, 0)).toBe(true);
  expect(isRunning(identity)).toBe(false);
  expect(isRunning({ pid: orphan.pid })).toBe(false);
});

test.runIf(linux)("the same id and start in another boot is another process", () => {
  const identity = identify(process.pid);
  expect(identity.bootId).toMatch(/^[0-9a-f-]{36}$/);
  expect(isRunning({ ...identity, bootId: "00000000-0000-4000-8000-000000000000" })).toBe(false);
});

test.runIf(linux)("the same id with another start is another process", () => {
  expect(isRunning({ ...identify(process.pid), startTime: 1 })).toBe(false);
});

test("an unused id does not count as running", () => {
  expect(isRunning({ pid: 2 ** 30 })).toBe(false);
});
