import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { silentLogger } from "../../base/log/logger.ts";
import { systemRandom } from "../../base/random.ts";
import { openConfig } from "../../config/index.ts";
import type { Gateway } from "../../gateway/index.ts";
import type { Store } from "../../store/index.ts";
import { createPlugins } from "./create-plugins.ts";

/** Plugins of a gateway in an empty folder. `failures` is how many looks at what is installed fail. */
async function plugins(failures: number) {
  const home = mkdtempSync(join(tmpdir(), "open-again-"));
  const env = { HOME: home, OPENCLAW_STATE_DIR: home };
  const [clock, ids] = [manualClock(), createIds(systemRandom)];
  const config = await openConfig({ env, cwd: home, osHome: home, version: "1.0.0", clock, ids, purpose: "start" });
  const store = { read: async () => [], write: async () => ({ id: "1", duplicate: false }) } as unknown as Pick<Store, "read" | "write">;
  const gateway = { port: 1, registerRoute: () => ({ [Symbol.dispose]() {} }), hub: { broadcast: () => {} } } as unknown as Gateway;
  let looks = 0;
  async function inventory() {
    looks += 1;
    if (looks <= failures) throw new Error("EMFILE: too many open files");
    return { entries: [], diagnostics: [] };
  }
  const opened = createPlugins({ config, store, clock, ids, log: silentLogger, env, version: "1.0.0", inventory });
  onTestFinished(async () => {
    await opened.end();
    config[Symbol.dispose]();
    rmSync(home, { recursive: true });
  });
  return { plugins: opened, gateway, looks: () => looks };
}

test("plugins that are asked for before the gateway listens are there when it does", async () => {
  const { plugins: early, gateway } = await plugins(0);
  await expect(early.port.list()).rejects.toThrow("try again in a moment");
  await early.open(gateway);
  expect(await early.port.list()).toMatchObject({ plugins: [] });
});

test("a load of the plugins that failed once works the next time, and happens once from then on", async () => {
  const { plugins: unlucky, gateway, looks } = await plugins(1);
  await unlucky.open(gateway);
  await expect(unlucky.port.list()).rejects.toThrow("too many open files");
  expect(await unlucky.port.list()).toMatchObject({ plugins: [] });
  expect(await unlucky.port.list()).toMatchObject({ plugins: [] });
  expect(looks()).toBe(2);
});
