import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { threadMs } from "../../src/base/thread-time.fixture.ts";
import { openMethods, type MethodFixture } from "../harness/methods.ts";

const SECRET = "a-very-secret-token";
const HIDDEN = "__OPENCLAW_REDACTED__";
let fixture: MethodFixture;
beforeEach(async () => {
  fixture = await openMethods({ config: { gateway: { mode: "local", auth: { token: SECRET } }, agents: { list: [{ id: "main" }, { id: "ops" }] } } });
});
afterEach(() => fixture[Symbol.asyncDispose]());

const file = () => join(fixture.folder, "openclaw.json");
const onDisk = () => JSON.parse(readFileSync(file(), "utf8"));
const hash = async () => (await fixture.call("config.get", {})).hash!;
const patch = async (value: unknown, caller = {}) => fixture.call("config.patch", { raw: JSON.stringify(value), baseHash: await hash() }, caller);

test("config.get shows the file, what it means and its hash, and no secret", async () => {
  const shown = await fixture.call("config.get", {});
  expect(shown).toMatchObject({ path: file(), exists: true, valid: true, issues: [], config: { gateway: { mode: "local", auth: { token: HIDDEN } } } });
  expect(shown.hash).toMatch(/^[0-9a-f]{64}$/);
  expect(JSON.stringify(shown)).not.toContain(SECRET);
});

test("config.get sees a file that changed a moment ago; of a broken one only the issues are shown", async () => {
  writeFileSync(file(), `{ gateway: { mode: "local", port: "x", auth: { token: "${SECRET}" } } }`);
  const broken = await fixture.call("config.get", {});
  expect(broken).toMatchObject({ valid: false, raw: null, parsed: null, resolved: {}, config: {} });
  expect(broken.issues).toMatchObject([{ path: "gateway.port", message: expect.any(String) }]);
  expect(JSON.stringify(broken)).not.toContain(SECRET);
  await expect(patch({ ui: {} })).rejects.toThrow("invalid config; fix before patching");
});

test("config.schema gives a schema and hints for forms", async () => {
  const { schema, uiHints, version } = await fixture.call("config.schema", {});
  expect(schema["$schema"]).toContain("draft-07");
  expect(uiHints["gateway.auth.token"]).toMatchObject({ sensitive: true });
  expect(version).toBe("1.2.3");
});

test("config.set replaces the file; a hidden secret that comes back stays what it was", async () => {
  const raw = `{ gateway: { mode: "local", auth: { token: "${HIDDEN}" } } }`;
  const { config } = await fixture.call("config.set", { raw, baseHash: await hash() });
  expect(config).toMatchObject({ gateway: { auth: { token: HIDDEN } } });
  expect(fixture.config.current.gateway?.auth?.token).toBe(SECRET);
  expect(fixture.config.current.agents?.list ?? []).toEqual([]);
  expect(readFileSync(file(), "utf8")).toContain(SECRET);
});

test("a change is made for the file as it is: without its hash, or with an old one, nothing is written", async () => {
  const before = readFileSync(file(), "utf8");
  await expect(fixture.call("config.set", { raw: "{}" })).rejects.toThrow("config base hash required; re-run config.get and retry");
  await expect(fixture.call("config.set", { raw: "{}", baseHash: "0".repeat(64) })).rejects.toThrow(
    "config changed since last load; re-run config.get and retry",
  );
  expect(readFileSync(file(), "utf8")).toBe(before);
});

test("what is not JSON5, not an object or not valid is refused with the reason", async () => {
  const baseHash = await hash();
  const before = readFileSync(file(), "utf8");
  await expect(fixture.call("config.set", { raw: "{ a: ", baseHash })).rejects.toThrow(/^JSON5 parse failed/);
  await expect(fixture.call("config.patch", { raw: "[]", baseHash })).rejects.toThrow("config.patch raw must be an object");
  await expect(fixture.call("config.set", { raw: '{ gateway: { port: "x" } }', baseHash })).rejects.toMatchObject({
    code: "INVALID_INPUT",
    message: "invalid config",
    details: { issues: [{ path: "gateway.port", message: expect.any(String) }] },
  });
  await expect(fixture.call("config.set", { raw: `{ ui: { seamColor: "${HIDDEN}" } }`, baseHash })).rejects.toThrow(`Sentinel value "${HIDDEN}"`);
  expect(readFileSync(file(), "utf8")).toBe(before);
});

test("config.patch merges: null deletes, lists of things with an id merge by id", async () => {
  const { config, restart, sentinel } = await patch({ gateway: { port: 4711 }, agents: { list: [{ id: "ops", name: "Operations" }, { id: "new" }] } });
  expect(onDisk()).toMatchObject({
    gateway: { mode: "local", port: 4711, auth: { token: SECRET } },
    agents: { list: [{ id: "main" }, { id: "ops", name: "Operations" }, { id: "new" }] },
  });
  expect(config).toMatchObject({ gateway: { port: 4711, auth: { token: HIDDEN } } });
  expect(restart).toMatchObject({ ok: false, delayMs: 2000 });
  expect(sentinel).toMatchObject({ path: null, payload: { kind: "config-patch", status: "ok" } });
  await patch({ gateway: { port: null } });
  expect(onDisk().gateway).not.toHaveProperty("port");
});

test("config.apply replaces the file and says whether there will be a restart", async () => {
  const { restart } = await fixture.call("config.apply", { raw: '{ "gateway": { "mode": "local" } }', baseHash: await hash(), restartDelayMs: 5000 });
  expect(restart).toMatchObject({ ok: false, delayMs: 5000, reason: expect.any(String) });
  expect(onDisk().gateway).toEqual({ mode: "local" });
});

test("three changes a minute for each caller, failed ones counted; config.set is not limited", async () => {
  const caller = { deviceId: "d1", remoteIp: "10.0.0.1" };
  for (let n = 0; n < 3; n += 1) await expect(fixture.call("config.patch", { raw: "[]" }, caller)).rejects.toThrow("must be an object");
  fixture.clock.advance(20_500);
  await expect(fixture.call("config.apply", { raw: "{}" }, caller)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: "rate limit exceeded for config.apply; retry after 40s",
    details: { method: "config.apply", limit: "3 per 60s", retryable: true, retryAfterMs: 39_500 },
  });
  await expect(fixture.call("config.patch", { raw: "[]" }, { deviceId: "d2" })).rejects.toThrow("must be an object");
  await fixture.call("config.set", { raw: '{ gateway: { mode: "local" } }', baseHash: await hash() }, caller);
  fixture.clock.advance(39_500);
  await expect(fixture.call("config.patch", { raw: "[]" }, caller)).rejects.toThrow("must be an object");
});

test.each(["config.set", "config.apply", "config.patch"] as const)("%s answers soon, however many keys it brings", async (method) => {
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`unknown${n}`, `value-${n}`]));
  const baseHash = await hash();
  for (const raw of [JSON.stringify(many), JSON.stringify(many, null, 2)]) {
    expect(await threadMs(() => expect(fixture.call(method, { raw, baseHash })).rejects.toThrow("invalid config"))).toBeLessThan(2000);
  }
});

test("thousands of variables and of entries in a list are written and shown soon", async () => {
  const vars = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`NAME_${n}`, `value-${n}`]));
  const list = Array.from({ length: 5000 }, (_, n) => ({ id: `a${n}` }));
  for (const value of [{ env: { vars } }, { agents: { list } }, { agents: { list } }]) {
    expect(await threadMs(() => patch(value))).toBeLessThan(4000);
  }
});
