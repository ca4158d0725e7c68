import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { acquireStateLock } from "./gateway-start.ts";

test("a gateway on the same configuration with another state folder is named as that, and both may run when asked for", async () => {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-state-lock-"));
  const configPath = join(folder, "openclaw.json");
  const infoOf = (name: string) => ({ configPath, stateDir: join(folder, name), runSecret: "x" });
  const other = spawn("sleep", ["60"]);
  await once(other, "spawn");
  onTestFinished(() => void other.kill("SIGKILL"));
  using _first = acquireStateLock(infoOf("a"), {}, { clock: systemClock, pid: other.pid! });
  const second = (env: Record<string, string>) => acquireStateLock(infoOf("b"), env, { clock: systemClock, pid: process.pid });
  expect(() => second({})).toThrow(new RegExp(`another gateway uses this configuration file: process ${other.pid}.*state ${folder}/a.*OPENCLAW_CONFIG_PATH`));
  using both = second({ OPENCLAW_ALLOW_MULTI_GATEWAY: "1" });
  expect(both).toBeDefined();
});
