import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { silentLogger } from "../../base/log/logger.ts";
import { systemRandom } from "../../base/random.ts";
import { createExecRules } from "../../tools/index.ts";
import type { Device } from "./devices/devices.ts";
import { createInvokes, type InvokeRequest } from "./invokes.ts";

function open(platform: NodeJS.Platform = "linux", devices: readonly Device[] = []) {
  const home = mkdtempSync(join(tmpdir(), "openclaw-host-"));
  const ids = createIds(systemRandom);
  const rulesPath = join(home, "exec-approvals.json");
  writeFileSync(rulesPath, JSON.stringify({ version: 1, defaults: { security: "full", ask: "off" } }));
  const invokes = createInvokes({
    folder: join(home, "node"),
    log: silentLogger,
    client: () => Promise.withResolvers<never>().promise,
    clock: systemClock,
    config: () => ({ tools: { exec: { security: "full", ask: "off" } } }),
    rules: createExecRules({ path: rulesPath, clock: systemClock, ids, random: systemRandom }),
    env: { PATH: process.env["PATH"] },
    home,
    platform,
    checkFile: () => {},
    unique: ids.uuid,
    devices,
  });
  const ask = (id: string, command: string, params: object = {}): InvokeRequest => ({ id, nodeId: "n", command, paramsJSON: JSON.stringify(params) });
  const sh = (id: string, script: string) => invokes.answer(ask(id, "system.run", { command: ["/bin/sh", "-lc", script] }));
  /** As many refused requests as push every stored answer out. */
  async function flood(): Promise<void> {
    for (let n = 0; n < 1100; n += 1) await invokes.answer(ask(`flood-${n}`, "no.such.command"));
  }
  return { home, invokes, ask, sh, flood };
}

test("a command whose answer is no longer stored is not run again in the same process", async () => {
  const { home, sh, flood } = open();
  const file = join(home, "ran");
  expect(await sh("once", `echo x >> ${file}`)).toMatchObject({ ok: true });
  await flood();
  expect(await sh("once", `echo x >> ${file}`)).toMatchObject({
    ok: false,
    error: { code: "OUTCOME_UNKNOWN", message: expect.stringContaining("will not be run again") },
  });
  expect(readFileSync(file, "utf8")).toBe("x\n");
});

test("a command that still runs gives its answer to a repeated request, whatever came in between", async () => {
  const { home, sh, flood } = open();
  const [began, go] = [join(home, "began"), join(home, "go")];
  const script = `echo x >> ${began}; until [ -e ${go} ]; do sleep 0.05; done; echo done`;
  const first = sh("long", script);
  await expect.poll(() => existsSync(began)).toBe(true);
  await flood();
  const again = sh("long", script);
  writeFileSync(go, "");
  expect(await again).toEqual(await first);
  expect(await again).toMatchObject({ ok: true, payloadJSON: expect.stringContaining("done") });
  expect(readFileSync(began, "utf8")).toBe("x\n");
});

/** Bytes that are still referenced. */
async function retained(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let round = 0; round < 3; round += 1) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

test("a flood of requests with large answers is stored within its bound", async () => {
  let made = 0;
  const large = async () => ({ text: `${(made += 1)}`.padEnd(400_000, "a") });
  const { invokes, ask } = open("linux", [{ name: "camera", text: "", commands: [["camera.list", large]] }]);
  const before = await retained();
  for (let n = 0; n < 400; n += 1) await invokes.answer(ask(`large-${n}`, "camera.list"));
  expect((await retained()) - before).toBeLessThan(30_000_000);
  expect(made).toBe(400);
});

test("more commands at a time than the node takes are refused, and it goes on when they have ended", async () => {
  const { home, sh } = open();
  const go = join(home, "go");
  const waiting = Array.from({ length: 64 }, (_, n) => sh(`wait-${n}`, `until [ -e ${go} ]; do sleep 0.2; done`));
  expect(await sh("one-more", "true")).toMatchObject({
    ok: false,
    error: { code: "UNAVAILABLE", message: expect.stringContaining("more than 64 commands run") },
  });
  writeFileSync(go, "");
  expect((await Promise.all(waiting)).every(({ ok }) => ok)).toBe(true);
  expect(await sh("afterwards", "true")).toMatchObject({ ok: true });
});

test("a machine without a POSIX shell does not declare commands", () => {
  expect(open("win32").invokes.declared).not.toContain("system.run");
  expect(open().invokes.declared).toContain("system.run");
});
