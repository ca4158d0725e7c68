import { mkdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makePlace } from "../harness/gateway-process.ts";

test("a fresh gateway becomes ready, and status --json finds it well", async () => {
  const place = makePlace();
  await using gateway = await place.gateway();
  expect(gateway.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const { code, stdout } = place.cli("status", "--json");
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    gateway: { reachable: true, url: gateway.url, pid: gateway.child.pid },
    health: { ok: true, status: "ok", store: { state: "open" } },
    sessions: { count: 0 },
  });
});

test("what it makes is readable by its owner only", async () => {
  const place = makePlace();
  await using gateway = await place.gateway();
  expect(gateway.url).toBeDefined();
  expect(statSync(place.stateDir).mode & 0o777).toBe(0o700);
  for (const name of ["openclaw.db", "gateway.lock"]) expect(statSync(join(place.stateDir, name)).mode & 0o777).toBe(0o600);
});

test.each(["SIGINT", "SIGTERM"] as const)("%s ends it with exit code 0, and the lock is gone", async (signal) => {
  const place = makePlace();
  await using gateway = await place.gateway();
  gateway.child.kill(signal);
  expect(await gateway.exited).toEqual({ code: 0, signal: null });
  expect(JSON.parse(place.cli("status", "--json").stdout)).toMatchObject({ gateway: { reachable: false } });
});

test("a second gateway on the same state folder is refused and names the first", async () => {
  const place = makePlace();
  await using first = await place.gateway();
  await using second = await place.gateway();
  expect((await second.exited).code).toBe(1);
  expect(second.output()).toContain(`process ${first.child.pid}`);
});

test("a killed gateway starts again without anybody cleaning up", async () => {
  const place = makePlace();
  const first = await place.gateway();
  first.child.kill("SIGKILL");
  await first.exited;
  await using second = await place.gateway();
  expect(second.url).toBeDefined();
});

test("a taken port is said in one line", async () => {
  const place = makePlace();
  await using first = await place.gateway();
  const other = makePlace();
  await using second = await other.gateway({ args: ["--port", new URL(first.url!).port] });
  expect((await second.exited).code).toBe(1);
  expect(second.output()).toMatch(/another gateway instance is already listening on ws:\/\/127\.0\.0\.1:\d+/);
});

test("without a configuration and without --allow-unconfigured it refuses and says what to do", () => {
  const { code, stderr } = makePlace().cli("gateway");
  expect(code).toBe(1);
  expect(stderr).toMatch(/Missing config\..*gateway\.mode.*--allow-unconfigured/s);
});

test("a configuration for a remote gateway does not start a local one", () => {
  const place = makePlace();
  place.configure(`{ gateway: { mode: "remote" } }`);
  const { code, stderr } = place.cli("gateway");
  expect(code).toBe(1);
  expect(stderr).toContain("Gateway start blocked: set gateway.mode=local (current: remote)");
});

test("a broken configuration at the first start is refused with every error, each with its line", () => {
  const place = makePlace();
  place.configure(`{\n  gateway: { mode: "local", port: "many" },\n  agnets: {},\n}`);
  const { code, stderr } = place.cli("gateway");
  expect(code).toBe(1);
  expect(stderr).toMatch(/openclaw\.json:2:\d+: gateway\.port/);
  expect(stderr).toMatch(/openclaw\.json:3:\d+: agnets.*did you mean "agents"/);
});

test("a configuration that broke after a good start is replaced by the last good one, loudly and in health", async () => {
  const place = makePlace();
  place.configure(`{ gateway: { mode: "local" }, logging: { level: "debug" } }`);
  const first = await place.gateway();
  first.child.kill("SIGTERM");
  await first.exited;
  place.configure(`{ gateway: { mode: "local" `);
  await using second = await place.gateway();
  expect(second.url).toBeDefined();
  expect(second.output()).toContain("last good configuration");
  const { health } = JSON.parse(place.cli("status", "--json").stdout);
  expect(health).toMatchObject({ status: "degraded", config: { source: "last-good" } });
  expect(health.problems.join()).toContain("openclaw.json:1:");
});

test("a change of the file is noticed and reported, and an invalid one is kept out", async () => {
  const place = makePlace();
  place.configure(`{ gateway: { mode: "local", reload: { debounceMs: 10 } }, logging: { level: "info" } }`);
  await using gateway = await place.gateway();
  place.configure(`{ gateway: { mode: "local", reload: { debounceMs: 10 } }, logging: { level: "debug" } }`);
  await gateway.waitFor(/configuration changed.*logging\.level/);
  place.configure(`{ gateway: { mode: "local", reload: { debounceMs: 10 } }, logging: { level: "loudest" } }`);
  await gateway.waitFor("config reload skipped (invalid config)");
  expect(JSON.parse(place.cli("status", "--json").stdout).health).toMatchObject({ status: "degraded" });
});

test("a configuration file that is away for a moment ends nothing: what was in use stays, health says so, and it goes on when it is back", async () => {
  const place = makePlace();
  place.configure(`{ gateway: { mode: "local", reload: { debounceMs: 10 } }, logging: { level: "debug" } }`);
  await using gateway = await place.gateway();
  renameSync(place.configPath, `${place.configPath}.away`);
  await gateway.waitFor("is missing, and the gateway ran with it");
  expect(JSON.parse(place.cli("status", "--json").stdout).health).toMatchObject({ status: "degraded", problems: [expect.stringContaining("is missing")] });
  renameSync(`${place.configPath}.away`, place.configPath);
  await gateway.waitFor("is valid again");
  expect(gateway.child.exitCode).toBeNull();
  expect(JSON.parse(place.cli("status", "--json").stdout).health).toMatchObject({ status: "ok" });
});

test("a configuration that is valid and that no gateway would start with is kept out: it goes on with the one before", async () => {
  const place = makePlace();
  const text = `{ gateway: { mode: "local", auth: { token: "a-token-of-this-test-0123456789" }, reload: { debounceMs: 10 } } }`;
  place.configure(text);
  await using gateway = await place.gateway({ strict: true });
  place.configure("{}");
  await gateway.waitFor("Gateway start blocked: set gateway.mode=local");
  expect(JSON.parse(place.cli("status", "--json").stdout).health).toMatchObject({ status: "degraded" });
  place.configure(text);
  await gateway.waitFor("is valid again");
  expect(gateway.child.exitCode).toBeNull();
});

test("six changes of the configuration at once are all in the file", async () => {
  const place = makePlace();
  place.configure(`{ gateway: { mode: "local" } }`);
  const names = ["a", "b", "c", "d", "e", "f"];
  const ended = names.map((name) => place.start("config", "set", `env.vars.KEY_${name}`, name));
  expect((await Promise.all(ended)).map(({ code }) => code)).toEqual(names.map(() => 0));
  const text = readFileSync(place.configPath, "utf8");
  expect(names.filter((name) => !text.includes(`KEY_${name}`))).toEqual([]);
});

test("SIGHUP without a terminal reads the configuration again", async () => {
  const place = makePlace();
  place.configure(`{ gateway: { mode: "local", reload: { mode: "off" } }, logging: { level: "info" } }`);
  await using gateway = await place.gateway();
  place.configure(`{ gateway: { mode: "local", reload: { mode: "hybrid" } }, logging: { level: "debug" } }`);
  gateway.child.kill("SIGHUP");
  await gateway.waitFor(/configuration changed.*logging\.level/);
});

test("the log file has what the screen had, and no secret", async () => {
  const place = makePlace();
  place.configure(`{ gateway: { mode: "local", auth: { token: "canary-token-0123456789" } } }`);
  {
    await using gateway = await place.gateway({ args: ["--verbose"] });
    gateway.child.kill("SIGTERM");
    await gateway.exited;
    expect(gateway.output()).not.toContain("canary-token");
  }
  const { code, stdout } = place.cli("logs", "--json");
  expect(code).toBe(0);
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines[0]).toMatchObject({ type: "meta" });
  expect(lines.some((line) => line.type === "log" && line.message.includes("ready on"))).toBe(true);
  expect(readFileSync(lines[0].file, "utf8")).not.toContain("canary-token");
});

test("a state folder that is really a file is named", async () => {
  const place = makePlace();
  mkdirSync(place.stateDir, { recursive: true });
  await using gateway = await place.gateway({ env: { OPENCLAW_STATE_DIR: "/dev/null/state" } });
  expect((await gateway.exited).code).toBe(1);
  expect(gateway.output()).toContain("/dev/null/state");
});
