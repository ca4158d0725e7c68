import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { config as command } from "../../src/cli/commands/config/index.ts";
import { models } from "../../src/cli/commands/groups.ts";
import { openCommandLine } from "../harness/command-line.ts";

const place = (config: string) => openCommandLine("config", command, { config });

test.each<[mode: string, path: string, value: string, says: string]>([
  ["hybrid", "agents.defaults.model", "a/b", "a running gateway applies it without a restart"],
  ["hybrid", "gateway.port", "19000", "a running gateway restarts to apply it"],
  ["hot", "ui.seamColor", "'#000001'", "a running gateway applies it without a restart"],
  ["hot", "gateway.port", "19000", "gateway.reload.mode is hot and this needs a restart; to apply it: openclaw gateway restart"],
  ["restart", "ui.seamColor", "'#000001'", "a running gateway restarts to apply it"],
  ["off", "agents.defaults.model", "a/b", "gateway.reload.mode is off, so the running gateway does not apply it; to apply it: openclaw gateway restart"],
])("in mode %s, config set %s says what the gateway will do", async (mode, path, value, says) => {
  const { run, lock } = place(`{ gateway: { reload: { mode: "${mode}" } } }`);
  lock("ws://127.0.0.1:1");
  const { code, out } = await run("set", path, value);
  expect(code).toBe(0);
  expect(out).toContain(`; ${says}`);
});

test("other commands that change the file say the same", async () => {
  const { run, lock } = openCommandLine("models", models, { config: `{ gateway: { reload: { mode: "off" } } }` });
  lock("ws://127.0.0.1:1");
  expect((await run("set", "anthropic/claude-sonnet-4-5")).out).toContain("gateway.reload.mode is off");
});

test.runIf(process.platform === "linux")("a gateway whose process is stopped is not said to apply anything", async () => {
  const { run, lock, stateDir } = place("{}");
  const child = spawn("sleep", ["600"], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  lock("ws://127.0.0.1:1");
  const file = `${stateDir}/gateway.lock`;
  writeFileSync(file, readFileSync(file, "utf8").replace(`"pid":${process.pid}`, `"pid":${child.pid}`));
  child.kill("SIGSTOP");
  await expect.poll(async () => (await run("set", "ui.seamColor", `'#${String(Date.now()).slice(-6)}'`)).out).toContain("the gateway process is stopped");
});

test.each<[path: string, value: unknown, config?: string]>([
  ["gateway.port", 18789],
  ["gateway.bind", "loopback"],
  ["gateway.watchdog", { warnSeconds: 5, limitSeconds: 30 }],
  ["gateway.watchdog", { warnSeconds: 7, limitSeconds: 30 }, "{ gateway: { watchdog: { warnSeconds: 7 } } }"],
  ["session.dmScope", "main"],
  ["session.reset", { mode: "daily", atHour: 4 }],
  ["agents.defaults.imageMaxDimensionPx", 1200],
])("config get %s gives the value in effect, %j", async (path, value, config = "{}") => {
  const { code, json } = await place(config).run("get", path, "--json");
  expect([code, json()]).toEqual([0, value]);
});

test("config get names the workspace in effect, and the port that a variable sets", async () => {
  const { run, stateDir } = openCommandLine("config", command, { env: { OPENCLAW_GATEWAY_PORT: "19123" } });
  expect((await run("get", "agents.defaults.workspace")).out).toBe(`${stateDir}/workspace\n`);
  expect((await run("get", "gateway.port")).out).toBe("19123\n");
});

test("config get without a path gives what is set, and a key without value and default is not found", async () => {
  const { run } = place("{ ui: { seamColor: '#000001' } }");
  expect((await run("get", "--json")).out).not.toContain("watchdog");
  expect(await run("get", "ui.assistant.name")).toMatchObject({ code: 1, err: expect.stringContaining("Config path not found") });
});

test("config validate warns about settings of a feature that is not there, and about none in a file without them", async () => {
  const { code, out } = await place("{ discovery: { mdns: { mode: 'full' } }, canvasHost: { port: 18793 } }").run("validate");
  expect(code).toBe(0);
  expect(out).toMatch(/discovery\.mdns\.mode: discovery on the network is not available in this version: this setting has no effect/);
  expect(out).toContain("a separate port for the canvas is not available in this version");
  expect((await place("{ gateway: { mode: 'local' } }").run("validate")).out).not.toContain("not available");
});
