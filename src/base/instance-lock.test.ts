import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "./clock.ts";
import { startUnreaped } from "./zombie.fixture.ts";
import { acquireLock, lockHolder } from "./instance-lock.ts";

const info = { configPath: "/c/openclaw.json", stateDir: "/s", port: 18789 };
const lockPath = () => join(mkdtempSync(join(tmpdir(), "openclaw-lock-")), "gateway.lock");
const acquire = (path: string, pid = process.pid as number | undefined) => acquireLock(path, info, { clock: systemClock, pid: pid ?? 0 });

test("the lock names its holder and is readable by its owner only", () => {
  const path = lockPath();
  using lock = acquire(path);
  expect(lock).toBeDefined();
  expect(lockHolder(path)).toMatchObject({ pid: process.pid, port: 18789 });
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a second gateway is refused with the holder's process id, port and what to do", async () => {
  const path = lockPath();
  const other = spawn("sleep", ["60"]);
  await once(other, "spawn");
  using lock = acquire(path, other.pid);
  expect(lock).toBeDefined();
  expect(() => acquire(path)).toThrow(new RegExp(`process ${other.pid} on port 18789.*OPENCLAW_STATE_DIR`));
  other.kill("SIGKILL");
  await once(other, "exit");
});

test("a lock left by a killed process is taken over", async () => {
  const path = lockPath();
  const other = spawn("sleep", ["60"]);
  await once(other, "spawn");
  acquire(path, other.pid);
  other.kill("SIGKILL");
  await once(other, "exit");
  expect(lockHolder(path)).toBeUndefined();
  using lock = acquire(path);
  expect(lock).toBeDefined();
  expect(lockHolder(path)?.pid).toBe(process.pid);
});

test("a lock whose process id now belongs to another process is taken over", () => {
  const path = lockPath();
  writeFileSync(path, JSON.stringify({ pid: process.ppid, createdAt: new Date().toISOString(), ...info, startTime: 1 }));
  using lock = acquire(path);
  expect(lock).toBeDefined();
});

test.runIf(process.platform === "linux")("a lock left by a killed process that its parent has not reaped is taken over", async () => {
  const path = lockPath();
  await using orphan = await startUnreaped();
  acquire(path, orphan.pid);
  expect(lockHolder(path)?.pid).toBe(orphan.pid);
  await orphan.kill();
  expect(lockHolder(path)).toBeUndefined();
  using lock = acquire(path);
  expect(lock).toBeDefined();
});

test.runIf(process.platform === "linux")("a lock of another boot is taken over, although its process id and start are those of a running process", () => {
  const path = lockPath();
  acquire(path);
  const content = JSON.parse(readFileSync(path, "utf8")) as object;
  writeFileSync(path, JSON.stringify({ ...content, bootId: "00000000-0000-4000-8000-000000000000" }));
  expect(lockHolder(path)).toBeUndefined();
  using lock = acquire(path);
  expect(lock).toBeDefined();
});

test("a lock file that is not readable JSON does not block forever", () => {
  const path = lockPath();
  writeFileSync(path, "\0garbage");
  using lock = acquire(path);
  expect(lock).toBeDefined();
});

test("giving the lock back leaves nothing behind", () => {
  const path = lockPath();
  acquire(path)[Symbol.dispose]();
  expect(existsSync(path)).toBe(false);
  expect(readdirSync(join(path, ".."))).toEqual([]);
});
