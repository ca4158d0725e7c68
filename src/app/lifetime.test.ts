import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import { createIds } from "../base/ids.ts";
import { seededRandom } from "../base/random.ts";
import { createLifetime } from "./lifetime.ts";
import { stateLockPath } from "../config/index.ts";

test("the locks are taken once and kept over restarts; the port and the time of the opening are written into them", () => {
  const stateDir = mkdtempSync(join(tmpdir(), "openclaw-lifetime-"));
  const place = { configPath: join(stateDir, "openclaw.json"), stateDir };
  const clock = manualClock();
  const lock = stateLockPath(stateDir);
  const held = (): Record<string, unknown> => JSON.parse(readFileSync(lock, "utf8")) as Record<string, unknown>;
  {
    using lifetime = createLifetime({ env: {}, clock, ids: createIds(seededRandom(1)), pid: process.pid });
    lifetime.lock(place);
    expect(held()).toMatchObject({ pid: process.pid, runSecret: lifetime.runSecret });
    lifetime.announce(4711);
    const first = held();
    expect([first["port"], lifetime.port, lifetime.restartedAt]).toEqual([4711, 4711, undefined]);
    clock.advance(1000);
    lifetime.restarting();
    lifetime.lock(place);
    expect(held()).toEqual(first);
    lifetime.announce(4711);
    expect(held()).toMatchObject({ pid: process.pid, port: 4711, runSecret: lifetime.runSecret });
    expect(held()["createdAt"]).not.toBe(first["createdAt"]);
    expect(lifetime.restartedAt).toBe(1000);
  }
  expect(existsSync(lock)).toBe(false);
});

test("a lock that cannot be rewritten after a restart is no reason to exit; one that never named the port is", () => {
  const stateDir = mkdtempSync(join(tmpdir(), "openclaw-lifetime-"));
  using lifetime = createLifetime({ env: {}, clock: manualClock(), ids: createIds(seededRandom(1)), pid: process.pid });
  lifetime.lock({ configPath: join(stateDir, "openclaw.json"), stateDir });
  lifetime.announce(4711);
  // The name of the file that would be written is taken.
  mkdirSync(`${stateLockPath(stateDir)}.${process.pid}`);
  lifetime.announce(4711);
  expect(() => lifetime.announce(4712)).toThrow(stateLockPath(stateDir));
  rmdirSync(`${stateLockPath(stateDir)}.${process.pid}`);
});
