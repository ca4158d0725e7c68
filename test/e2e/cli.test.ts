import { appendFileSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makePlace } from "../harness/gateway-process.ts";

test("config set keeps the user's comments and order, and keeps the version before", () => {
  const place = makePlace();
  place.configure(`{\n  // my port\n  gateway: { mode: "local", port: 1234 }, // here\n  logging: { level: "info" },\n}\n`);
  expect(place.cli("config", "set", "gateway.port", "4321").code).toBe(0);
  const text = readFileSync(place.configPath, "utf8");
  expect(text).toMatch(/\/\/ my port\n {2}gateway: \{ mode: "local", port: 4321 \}, \/\/ here\n {2}logging: \{ level: "info" \},/);
  expect(readFileSync(`${place.configPath}.bak`, "utf8")).toContain("1234");
  expect(place.cli("config", "get", "gateway.port").stdout).toBe("4321\n");
});

test("config set refuses what is not valid and leaves the file alone", () => {
  const place = makePlace();
  const text = `{ gateway: { mode: "local" } }`;
  place.configure(text);
  const { code, stderr } = place.cli("config", "set", "gateway.port", "many");
  expect(code).toBe(1);
  expect(stderr).toMatch(/gateway\.port.*number/s);
  expect(readFileSync(place.configPath, "utf8")).toBe(text);
});

test("config unset removes a key and says so when it is not there", () => {
  const place = makePlace();
  place.configure(`{ gateway: { mode: "local", port: 1234 } }`);
  expect(place.cli("config", "unset", "gateway.port").code).toBe(0);
  expect(place.cli("config", "get", "gateway", "--json").stdout).not.toContain("1234");
  const again = place.cli("config", "unset", "gateway.port");
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("Config path not found: gateway.port")]);
});

test("config get masks secrets unless asked to reveal them", () => {
  const place = makePlace();
  place.configure(`{ gateway: { mode: "local", auth: { token: "very-secret-token" } } }`);
  expect(place.cli("config", "get", "gateway.auth.token").stdout).not.toContain("very-secret-token");
  expect(place.cli("config", "get", "--json").stdout).not.toContain("very-secret-token");
  expect(place.cli("config", "get", "gateway.auth.token", "--reveal").stdout).toBe("very-secret-token\n");
});

test("config validate reports every error with its line, and the exit code says so", () => {
  const place = makePlace();
  place.configure(`{\n  gateway: { prot: 1 },\n  logging: { level: 3 },\n}`);
  const { code, stdout } = place.cli("config", "validate", "--json");
  expect(code).toBe(1);
  expect(JSON.parse(stdout).issues).toMatchObject([
    { path: "gateway.prot", line: 2, suggestion: "port" },
    { path: "logging.level", line: 3 },
  ]);
});

test("config schema is JSON Schema, and hints have a label and a help text for every key", () => {
  const place = makePlace();
  expect(JSON.parse(place.cli("config", "schema").stdout)).toMatchObject({ type: "object", properties: { gateway: { type: "object" } } });
  const hints = JSON.parse(place.cli("config", "schema", "--hints").stdout) as Record<string, { label: string; help?: string; sensitive?: boolean }>;
  expect(hints["gateway.auth.token"]).toMatchObject({ label: "Token", sensitive: true });
  // Items of lists and maps, and the inner fields of a secret reference, are explained by what holds them.
  const named = Object.entries(hints).filter(([path]) => !/(?:\[\]|\.\*|\.source)$/.test(path));
  expect(named.filter(([, hint]) => !hint.help).map(([path]) => path)).toEqual([]);
});

test("config diff shows what changed since the gateway took the file and what follows", async () => {
  const place = makePlace();
  place.configure(`{ gateway: { mode: "local", auth: { token: "a-token-of-the-test" } }, logging: { level: "info" } }`);
  const gateway = await place.gateway();
  await expect.poll(() => existsSync(join(place.stateDir, "config.last-good.json"))).toBe(true);
  gateway.child.kill("SIGTERM");
  await gateway.exited;
  place.configure(`{ gateway: { mode: "local", port: 5000, auth: { token: "a-token-of-the-test" } }, logging: { level: "warn" } }`);
  expect(JSON.parse(place.cli("config", "diff", "--json").stdout).changes).toMatchObject([
    { path: "gateway.port", after: 5000, actions: [{ kind: "process" }] },
    { path: "logging.level", before: "info", after: "warn", actions: [] },
  ]);
});

test("an unknown command or flag is answered with the one that was meant, on the error output", () => {
  const place = makePlace();
  expect(place.cli("statsu")).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining('did you mean "status"') });
  expect(place.cli("status", "--jsno")).toMatchObject({ code: 1, stderr: expect.stringContaining("did you mean --json") });
});

test("with --json an error is an object on the standard output", () => {
  const { code, stdout, stderr } = makePlace().cli("logs", "--json");
  expect([code, stderr]).toEqual([1, ""]);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
});

test("a bad profile name ends with exit code 2", () => {
  expect(makePlace().cli("--profile", "../x", "status")).toMatchObject({ code: 2, stdout: "" });
});

test("status works without a gateway, without a state folder and with a broken configuration", () => {
  const place = makePlace();
  place.configure("{ broken");
  const { code, stdout } = place.cli("status", "--json");
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ gateway: { reachable: false }, config: { valid: false }, sessions: { count: 0 } });
});

test("a backup made while the gateway runs is whole, and restoring it asks, has the gateway restart on it and keeps what was there", async () => {
  const place = makePlace();
  place.configure(`{ gateway: { mode: "local" } }`);
  await using gateway = await place.gateway();
  const made = JSON.parse(place.cli("backup", "create", "--output", place.home, "--json").stdout);
  expect(JSON.parse(place.cli("backup", "verify", made.path, "--json").stdout)).toMatchObject({ ok: true, problems: [] });
  expect(place.cli("backup", "restore", made.path)).toMatchObject({ code: 1, stderr: expect.stringContaining("--yes") });
  const restored = place.cli("backup", "restore", made.path, "--yes", "--json");
  expect(restored.code).toBe(0);
  const { kept } = JSON.parse(restored.stdout);
  expect(readdirSync(kept)).toContain("openclaw.db");
  expect(gateway.child.exitCode).toBeNull();
  expect(place.cli("health").code).toBe(0);
});

test("a damaged backup is found out and not restored", async () => {
  const place = makePlace();
  place.configure(`{ gateway: { mode: "local" } }`);
  const gateway = await place.gateway();
  gateway.child.kill("SIGTERM");
  await gateway.exited;
  const made = JSON.parse(place.cli("backup", "create", "--output", place.home, "--json").stdout);
  const bytes = readFileSync(made.path);
  bytes[Math.floor(bytes.length / 2)]! ^= 0xff;
  writeFileSync(made.path, bytes);
  expect(place.cli("backup", "verify", made.path).code).toBe(1);
  expect(place.cli("backup", "restore", made.path, "--yes").code).toBe(1);
});

test("logs shows the last lines, filters by level and subsystem, and survives foreign lines", async () => {
  const place = makePlace();
  place.configure(`{ gateway: { mode: "local" } }`);
  const gateway = await place.gateway();
  gateway.child.kill("SIGTERM");
  await gateway.exited;
  const { file } = JSON.parse(place.cli("logs", "--json").stdout.split("\n")[0]!);
  appendFileSync(file, `not json\n${JSON.stringify({ time: new Date().toISOString(), level: "error", subsystem: "store", message: "boom" })}\n`);
  expect(place.cli("logs").stdout).toMatch(/ready on[\s\S]*not json[\s\S]*\[store\] boom/);
  expect(place.cli("logs", "--level", "error", "--subsystem", "store").stdout.trimEnd().split("\n")).toHaveLength(1);
  expect(place.cli("logs", "--level", "error", "--room", "store").stdout.trimEnd().split("\n")).toHaveLength(1);
  expect(place.cli("logs", "--level", "loud")).toMatchObject({ code: 1, stderr: expect.stringContaining("--level takes one of") });
  rmSync(file);
});
