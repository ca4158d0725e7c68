import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findBroken } from "../chaos/kills.ts";
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
