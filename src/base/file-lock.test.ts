import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { withFileLock } from "./file-lock.ts";
import { createIds } from "./ids.ts";
import { systemRandom } from "./random.ts";

const ids = createIds(systemRandom);
const options = { timeoutMs: 20_000, staleMs: 30_000, ids };

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-lock-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "file.lock");
}

const PRELUDE = `
  import { readFileSync, writeFileSync } from "node:fs";
  const { withFileLock } = await import(${JSON.stringify(new URL("./file-lock.ts", import.meta.url).href)});
  const { createIds } = await import(${JSON.stringify(new URL("./ids.ts", import.meta.url).href)});
  const { systemRandom } = await import(${JSON.stringify(new URL("./random.ts", import.meta.url).href)});
  const options = { timeoutMs: 20000, staleMs: 30000, ids: createIds(systemRandom) };
  const [lock, data] = process.argv.slice(1);
`;

/** Starts another process that runs these lines. */
const other = (lines: string, ...args: string[]) =>
  spawn(process.execPath, ["--input-type=module", "-e", PRELUDE + lines, "--", ...args], { stdio: ["ignore", "pipe", "inherit"] });

/** Reads, lets others run, then writes: loses counts as soon as two run at once. */
const COUNT = `
  for (let i = 0; i < 40; i += 1) {
    await withFileLock(lock, options, async () => {
      const count = Number(readFileSync(data, "utf8"));
      await new Promise((resolve) => setImmediate(resolve));
      writeFileSync(data, String(count + 1));
    });
  }
`;

test("three processes that change one file lose no update", async () => {
  const lock = place();
  const data = `${lock}.data`;
  writeFileSync(data, "0");
  const codes = await Promise.all([1, 2, 3].map(async () => (await once(other(COUNT, lock, data), "exit"))[0] as number));
  expect(codes).toEqual([0, 0, 0]);
  expect(readFileSync(data, "utf8")).toBe("120");
  expect(readdirSync(join(lock, ".."))).toEqual(["file.lock.data"]);
});

test("the lock of a killed process is taken over by exactly one waiter", async () => {
  const lock = place();
  const data = `${lock}.data`;
  writeFileSync(data, "0");
  const holder = other(`await withFileLock(lock, options, () => { console.log("held"); return new Promise(() => setInterval(() => {}, 1000)); });`, lock);
  await once(holder.stdout, "data");
  holder.kill("SIGKILL");
  await once(holder, "exit");
  expect(existsSync(lock)).toBe(true);
  const codes = await Promise.all([1, 2, 3].map(async () => (await once(other(COUNT, lock, data), "exit"))[0] as number));
  expect([codes, readFileSync(data, "utf8")]).toEqual([[0, 0, 0], "120"]);
});

test("callers within one process take turns, too", async () => {
  const lock = place();
  let inside = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 8 }, () =>
      withFileLock(lock, options, async () => {
        most = Math.max(most, (inside += 1));
        await new Promise((resolve) => void setImmediate(resolve));
        inside -= 1;
      }),
    ),
  );
  expect(most).toBe(1);
});

test("waiting for a lock that stays taken fails and names the holder", async () => {
  const lock = place();
  await withFileLock(lock, options, async () => {
    await expect(withFileLock(lock, { ...options, timeoutMs: 20 }, () => undefined)).rejects.toMatchObject({
      code: "LOCKED",
      message: expect.stringContaining(`process ${process.pid}`),
      details: { pid: process.pid },
    });
  });
});

test("a lock of another machine is respected while it is touched, and taken over once it is stale", async () => {
  const lock = place();
  writeFileSync(lock, JSON.stringify({ pid: 1, host: "another-machine.test" }));
  await expect(withFileLock(lock, { ...options, timeoutMs: 10 }, () => undefined)).rejects.toMatchObject({ code: "LOCKED" });
  const old = new Date(Date.now() - 60_000);
  utimesSync(lock, old, old);
  expect(await withFileLock(lock, options, () => "mine")).toBe("mine");
});

test("a process that died while taking over does not block the next one", async () => {
  const lock = place();
  const dead = other("", lock);
  await once(dead, "exit");
  const content = JSON.stringify({ pid: dead.pid });
  writeFileSync(lock, content);
  const name = (await import("node:crypto")).createHash("sha256").update(content).digest("hex").slice(0, 16);
  writeFileSync(`${lock}.${name}-0`, content);
  expect(await withFileLock(lock, options, () => "mine")).toBe("mine");
  expect(readdirSync(join(lock, ".."))).toEqual([]);
});

test("work that throws releases the lock", async () => {
  const lock = place();
  await expect(withFileLock(lock, options, () => Promise.reject(new Error("boom")))).rejects.toThrow("boom");
  expect(existsSync(lock)).toBe(false);
});
