import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { findBroken } from "../chaos/kills.ts";
import { makePlace } from "../harness/gateway-process.ts";
import { expectInTime } from "../harness/in-time.ts";
import { isImported, manyTranscripts, transcriptCount } from "./seed.ts";
import { startWriting } from "./writing.ts";

test("SIGTERM while 64 writers write: what was acknowledged is there, later writes are refused, and it ends within 2 s", async () => {
  const stateDir = mkdtempSync(join(tmpdir(), "openclaw-shutdown-"));
  const writing = startWriting(stateDir, { writers: 64 });
  await writing.begun;
  const asked = performance.now();
  writing.child.kill("SIGTERM");
  const { code, end, acknowledged, total, errors } = await writing.ended;
  expectInTime(performance.now() - asked, 2000);
  expect([code, errors]).toEqual([0, ""]);
  expect(end).toMatchObject({ refused: { UNAVAILABLE: 64 }, late: "UNAVAILABLE", state: "closed" });
  expect(total).toBeGreaterThan(0);
  expect(await findBroken(stateDir, acknowledged)).toEqual([]);
  rmSync(stateDir, { recursive: true, force: true });
});

test("a gateway stopped in the middle of its import ends with exit code 0, and the next one goes on where it stopped", async () => {
  const place = makePlace();
  manyTranscripts(place.stateDir, 400);
  const first = await place.gateway();
  const asked = performance.now();
  first.child.kill("SIGTERM");
  expect(await first.exited).toEqual({ code: 0, signal: null });
  expectInTime(performance.now() - asked, 2000);
  await using second = await place.gateway();
  await expect.poll(() => isImported(place.stateDir)).toBe(true);
  expect(second.url).toBeDefined();
  expect(transcriptCount(place.stateDir)).toBe(400);
});

test("a second Ctrl-C ends a gateway at once, even one that waits for its database, and the next start goes on", async () => {
  const place = makePlace();
  manyTranscripts(place.stateDir, 5);
  await using killed = await place.gateway({ build: "dist-test", env: { OPENCLAW_FAILPOINT: "import.file.committed:2" } });
  expect((await killed.exited).signal).toBe("SIGKILL");
  {
    // Another process writes: the gateway's thread waits for its turn, for seconds and inside of SQLite.
    using other = new DatabaseSync(join(place.stateDir, "openclaw.db"));
    other.exec("BEGIN IMMEDIATE");
    const starting = place.gateway();
    await expect.poll(() => lockPid(place.stateDir)).not.toBe(killed.child.pid);
    const pressCtrlC = createKeys(lockPid(place.stateDir), 2);
    await expect.poll(pressCtrlC, { timeout: 2500, interval: 250 }).toBe("gone");
    await using waiting = await starting;
    expect(await waiting.exited).toEqual({ code: null, signal: "SIGINT" });
  }
  await using second = await place.gateway();
  expect(second.url, second.output()).toBeDefined();
  await expect.poll(() => isImported(place.stateDir)).toBe(true);
  expect(transcriptCount(place.stateDir)).toBe(5);
});

/** The process that holds the state folder's lock. */
function lockPid(stateDir: string): number {
  return (JSON.parse(readFileSync(join(stateDir, "gateway.lock"), "utf8")) as { pid: number }).pid;
}

/** Presses Ctrl-C at each call, so many times, and then only looks. */
function createKeys(pid: number, times: number): () => "there" | "gone" {
  let pressed = 0;
  return () => {
    try {
      process.kill(pid, pressed < times ? "SIGINT" : 0);
      pressed += 1;
      return "there";
    } catch {
      return "gone";
    }
  };
}
