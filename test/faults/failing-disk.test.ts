import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findBroken } from "../chaos/kills.ts";
import { fingerprint } from "../harness/fingerprint.ts";
import { fill } from "../harness/full-disk.ts";
import { makePlace } from "../harness/gateway-process.ts";
import { expectInTime } from "../harness/in-time.ts";
import { disturb, mountTmpfs, needMounts, needStrace } from "../harness/privileges.ts";
import { isImported, manyTranscripts, transcriptCount } from "./seed.ts";
import { startWriting } from "./writing.ts";

const POLL = { timeout: 10_000 };

function makeStateDir(): string {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-faults-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "state");
}

const databaseFiles = (stateDir: string): string[] => ["openclaw.db", "openclaw.db-wal"].map((name) => join(stateDir, name));

/** Calls that write or sync, after the first one that was made to fail. */
function afterFailure(calls: readonly string[]): readonly string[] {
  const first = calls.findIndex((line) => line.includes("(INJECTED)"));
  expect(first).toBeGreaterThanOrEqual(0);
  return calls.slice(first + 1);
}

test.for([5, 17, 60])(
  "when sync %i of the log fails, nothing acknowledged is lost, nothing more is acknowledged, and it is not synced again",
  async (nth, context) => {
    needStrace(context);
    const stateDir = makeStateDir();
    await startAndStop(stateDir);
    const fault = disturb(`fsync,fdatasync:error=EIO:when=${nth}+`, [join(stateDir, "openclaw.db-wal")]);
    const writing = startWriting(stateDir, { writers: 8, wrap: fault.wrap });
    const { code, end, acknowledged, errors } = await writing.ended;
    expect([code, errors]).toEqual([1, ""]);
    expect(end).toMatchObject({ refused: { STORE_FAILED: 8 }, late: "STORE_FAILED", state: "failed" });
    for (const message of [end!.failure!.message, ...end!.messages]) expect(message).toMatch(/the disk reports an error; check it before anything else/);
    expect(afterFailure(await fault.calls(writing.child.pid))).toEqual([]);
    expect(await findBroken(stateDir, acknowledged)).toEqual([]);
  },
);

/** A database that exists, so that what fails next is a commit and not its making. */
async function startAndStop(stateDir: string): Promise<void> {
  const first = startWriting(stateDir, { writers: 1 });
  await first.begun;
  first.child.kill("SIGTERM");
  expect((await first.ended).code).toBe(0);
}

test("when moving the log into the database fails, nothing acknowledged is lost and nothing is synced again", async (context) => {
  needStrace(context);
  const stateDir = makeStateDir();
  await startAndStop(stateDir);
  const fault = disturb("fsync,fdatasync:error=EIO", [join(stateDir, "openclaw.db")]);
  const writing = startWriting(stateDir, { writers: 8, bytes: 4000, wrap: fault.wrap });
  const { code, end, acknowledged, total } = await writing.ended;
  expect([code, end]).toEqual([1, expect.objectContaining({ refused: { STORE_FAILED: 8 }, late: "STORE_FAILED", state: "failed" })]);
  expect(end!.failure!.message).toMatch(/the write-ahead log could not be moved into the database.*the disk reports an error/);
  expect(total).toBeGreaterThan(8);
  expect(afterFailure(await fault.calls(writing.child.pid))).toEqual([]);
  expect(await findBroken(stateDir, acknowledged)).toEqual([]);
});

test.for(["error=ENOSPC:when=200+", "error=EIO:when=200+"])(
  "when writing the log fails (%s), nothing acknowledged is lost and nothing more is acknowledged",
  async (how, context) => {
    needStrace(context);
    const stateDir = makeStateDir();
    await startAndStop(stateDir);
    const fault = disturb(`pwrite64:${how}`, [join(stateDir, "openclaw.db-wal")]);
    const { code, end, acknowledged, total } = await startWriting(stateDir, { writers: 8, wrap: fault.wrap }).ended;
    const expected = how.includes("ENOSPC") ? "DISK_FULL" : "STORE_FAILED";
    expect(code).toBe(1);
    expect(end).toMatchObject({ refused: { [expected]: 8 } });
    expect(["STORE_FAILED", "DISK_FULL"]).toContain(end!.late);
    expect(total).toBeGreaterThan(0);
    expect(await findBroken(stateDir, acknowledged)).toEqual([]);
  },
);

test("a disk that is full refuses before it acknowledges, and nothing acknowledged is lost when space is back", async (context) => {
  needMounts(context);
  using disk = mountTmpfs("1m");
  const stateDir = join(disk.path, "state");
  const { code, end, acknowledged, total, errors } = await startWriting(stateDir, { writers: 4, bytes: 500 }).ended;
  expect([code, errors]).toEqual([1, ""]);
  expect(Object.keys(end!.refused).filter((refusal) => refusal !== "DISK_FULL" && refusal !== "STORE_FAILED")).toEqual([]);
  expect(end!.messages.join()).toMatch(/the disk is full; free some space/);
  expect(end!.late).not.toBe("acknowledged");
  expect(total).toBeGreaterThan(20);
  disk.resize("8m");
  expect(await findBroken(stateDir, acknowledged)).toEqual([]);
  const again = startWriting(stateDir, { writers: 4 });
  await again.begun;
  again.child.kill("SIGTERM");
  const after = await again.ended;
  expect(after.code).toBe(0);
  expect(await findBroken(stateDir, after.acknowledged)).toEqual([]);
});

test("a gateway whose disk fails says why on the screen and ends with exit code 1, and the next start goes on", async (context) => {
  needStrace(context);
  const place = makePlace();
  manyTranscripts(place.stateDir, 60);
  const fault = disturb("fsync,fdatasync:error=EIO:when=20+", [join(place.stateDir, "openclaw.db-wal")]);
  {
    await using gateway = await place.gateway({ wrap: fault.wrap });
    expect(await gateway.exited).toEqual({ code: 1, signal: null });
    expect(gateway.output()).toMatch(/ready on[\s\S]*stopping: .*the disk reports an error; check it before anything else/);
    expect(gateway.output()).not.toContain("defect");
    expect(afterFailure(await fault.calls(gateway.child.pid))).toEqual([]);
  }
  await using again = await place.gateway();
  expect(again.url, again.output()).toBeDefined();
  await expect.poll(() => isImported(place.stateDir), POLL).toBe(true);
  expect(JSON.parse(place.cli("status", "--json").stdout).health).toMatchObject({ status: "ok", store: { state: "open" } });
  expect(transcriptCount(place.stateDir)).toBe(60);
});

test("a gateway whose disk becomes full while it takes files over says so, keeps them, and goes on when there is space", async (context) => {
  needMounts(context);
  using disk = mountTmpfs("3m");
  const place = makePlace();
  const stateDir = join(disk.path, "state");
  manyTranscripts(stateDir, 60, 20_000);
  const before = fingerprint(join(stateDir, "agents"));
  {
    await using gateway = await place.gateway({ env: { OPENCLAW_STATE_DIR: stateDir } });
    expect(await gateway.exited).toEqual({ code: 1, signal: null });
    expect(gateway.output()).toMatch(/the disk is full; free some space/);
    expect(gateway.output()).not.toContain("defect");
    expect(fingerprint(join(stateDir, "agents"))).toEqual(before);
  }
  disk.resize("16m");
  await using again = await place.gateway({ env: { OPENCLAW_STATE_DIR: stateDir } });
  expect(again.url, again.output()).toBeDefined();
  await expect.poll(() => isImported(stateDir), POLL).toBe(true);
  expect(transcriptCount(stateDir)).toBe(60);
  expect(fingerprint(join(stateDir, "agents"))).toEqual(before);
});

test("a gateway that has nothing to write survives a disk that has become full, and stops in order", async (context) => {
  needMounts(context);
  using disk = mountTmpfs("2m");
  const place = makePlace();
  const env = { OPENCLAW_STATE_DIR: join(disk.path, "state") };
  const settings = `gateway: { mode: "local", auth: { token: "a-token-of-this-test" }, reload: { debounceMs: 10 } }`;
  place.configure(`{ ${settings} }`);
  await using gateway = await place.gateway({ env });
  expect(gateway.url, gateway.output()).toBeDefined();
  fill(disk.path);
  place.configure(`{ ${settings}, logging: { level: "debug" } }`);
  await gateway.waitFor("configuration changed");
  await gateway.waitFor(/could not be saved as the last known good one.*the disk is full; free some space/);
  expect(await (await fetch(`${gateway.url}/health`)).json()).toMatchObject({ ok: true });
  gateway.child.kill("SIGTERM");
  expect(await gateway.exited).toEqual({ code: 0, signal: null });
});

test("a gateway whose database cannot be made durable at the start does not start and says why", async (context) => {
  needStrace(context);
  const place = makePlace();
  const fault = disturb("fsync,fdatasync:error=EIO", databaseFiles(place.stateDir));
  await using gateway = await place.gateway({ wrap: fault.wrap });
  expect(await gateway.exited).toEqual({ code: 1, signal: null });
  expect(gateway.output()).toMatch(/openclaw\.db: the disk reports an error; check it before anything else/);
  expect(gateway.output()).not.toContain("ready on");
});

test("a slow disk slows what is written and nothing else: health is answered at once", async (context) => {
  needStrace(context);
  const place = makePlace();
  manyTranscripts(place.stateDir, 200);
  // Each sync takes half a second from about the moment the gateway is ready; the import goes on for the rest of the test.
  const fault = disturb("fsync,fdatasync:delay_enter=500000:when=8+", [join(place.stateDir, "openclaw.db-wal")]);
  await using gateway = await place.gateway({ wrap: fault.wrap });
  expect(gateway.url, gateway.output()).toBeDefined();
  expectInTime(await slowestAnswer(`${gateway.url}/health`, 1600), 400);
  gateway.child.kill("SIGTERM");
  expect((await gateway.exited).code).toBe(0);
  expect((await fault.calls(gateway.child.pid)).filter((line) => line.includes("(DELAYED)")).length).toBeGreaterThan(2);
});

async function slowestAnswer(url: string, forMs: number): Promise<number> {
  const end = performance.now() + forMs;
  let slowest = 0;
  // The first answer pays for the connection and for code that is not compiled yet.
  for (let first = true; performance.now() < end; first = false) {
    const started = performance.now();
    const response = await fetch(url);
    expect(await response.json()).toMatchObject({ ok: true });
    if (!first) slowest = Math.max(slowest, performance.now() - started);
  }
  return slowest;
}
