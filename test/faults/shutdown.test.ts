import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findBroken } from "../chaos/kills.ts";
import { makePlace, type GatewayProcess, type Place } from "../harness/gateway-process.ts";
import { disturb, needStrace } from "../harness/privileges.ts";
import { isImported, manyTranscripts, transcriptCount } from "./seed.ts";
import { startWriting } from "./writing.ts";

test("SIGTERM while 64 writers write: what was acknowledged is there, later writes are refused, and it ends within 2 s", async () => {
  const stateDir = mkdtempSync(join(tmpdir(), "openclaw-shutdown-"));
  const writing = startWriting(stateDir, { writers: 64 });
  await writing.begun;
  const asked = performance.now();
  writing.child.kill("SIGTERM");
  const { code, end, acknowledged, total, errors } = await writing.ended;
  expect(performance.now() - asked).toBeLessThan(2000);
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
  expect(performance.now() - asked).toBeLessThan(2000);
  await using second = await place.gateway();
  await expect.poll(() => isImported(place.stateDir), { timeout: 15_000 }).toBe(true);
  expect(second.url).toBeDefined();
  expect(transcriptCount(place.stateDir)).toBe(400);
});

/** A gateway whose writing thread hangs in a sync for a minute. */
async function hanging(): Promise<{ readonly place: Place; readonly gateway: GatewayProcess }> {
  const place = makePlace();
  manyTranscripts(place.stateDir, 60);
  const fault = disturb("fsync,fdatasync:delay_enter=60000000:when=12+", [join(place.stateDir, "openclaw.db-wal")]);
  return { place, gateway: await place.gateway({ wrap: fault.wrap }) };
}

test("a second Ctrl-C ends a gateway at once, even when its disk hangs, and the next start goes on", async (context) => {
  needStrace(context);
  const { place, gateway } = await hanging();
  await using first = gateway;
  first.child.kill("SIGINT");
  // It has taken the first one when it no longer listens.
  const asks = (): Promise<string> =>
    fetch(first.url!).then(
      () => "answers",
      () => "gone",
    );
  await expect.poll(asks, { timeout: 5000 }).toBe("gone");
  const asked = performance.now();
  first.child.kill("SIGINT");
  expect((await first.exited).signal).toBe("SIGINT");
  expect(performance.now() - asked).toBeLessThan(2000);
  await using second = await place.gateway();
  await expect.poll(() => isImported(place.stateDir), { timeout: 15_000 }).toBe(true);
  expect(transcriptCount(place.stateDir)).toBe(60);
  expect(second.url).toBeDefined();
});

test("a gateway whose disk hangs is given 10 s to stop and then ends, saying so", async (context) => {
  needStrace(context);
  const { gateway } = await hanging();
  await using first = gateway;
  const asked = performance.now();
  first.child.kill("SIGTERM");
  expect(await first.exited).not.toMatchObject({ code: 0 });
  expect(performance.now() - asked).toBeLessThan(15_000);
  expect(first.output()).toContain("the gateway did not end in time; what was accepted goes on after the next start");
});
