import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { runCommand } from "../harness/program.ts";
import { openMethods, type MethodFixture } from "../harness/methods.ts";

const SECRET = "a-very-secret-token";
const HIDDEN = "__OPENCLAW_REDACTED__";
let fixture: MethodFixture;
beforeEach(async () => {
  fixture = await openMethods({ config: { gateway: { mode: "local", auth: { token: SECRET } }, agents: { list: [{ id: "main" }, { id: "ops" }] } } });
});
afterEach(() => fixture[Symbol.asyncDispose]());

const file = () => join(fixture.folder, "openclaw.json");
const hash = async () => (await fixture.call("config.get", {})).hash!;
const edited = async (path: string, value: unknown) => (await fixture.call("config.edit", { set: [{ path, value }] })).raw;

test("config.check says what is wrong with a text and where, and writes nothing", async () => {
  const before = readFileSync(file(), "utf8");
  const answer = await fixture.call("config.check", { raw: `{\n  gateway: { prot: 5 },\n  agents: { list: 7 },\n}` });
  expect(answer).toMatchObject({
    valid: false,
    issues: [
      { path: "gateway.prot", line: 2, column: 14, fix: "Write port." },
      { path: "agents.list", line: 3, fix: expect.stringContaining("Expected:") },
    ],
  });
  expect(readFileSync(file(), "utf8")).toBe(before);
});

test("config.check has the messages of openclaw config validate", async () => {
  const raw = `{ gateway: { port: "x" }, logging: { levle: 1 }, agents: { defaults: { maxConcurrent: -1 } } }`;
  const { issues } = await fixture.call("config.check", { raw });
  writeFileSync(join(fixture.folder, "other.json"), raw);
  const place = { home: fixture.folder, env: { PATH: process.env["PATH"], HOME: fixture.folder, OPENCLAW_STATE_DIR: fixture.folder } } as never;
  const { stdout } = runCommand(place, ["config", "validate", "--file", join(fixture.folder, "other.json"), "--json"]);
  const printed = (JSON.parse(stdout) as { issues: { path: string; message: string; line: number; column: number }[] }).issues;
  expect(issues.map(({ path, message, line, column }) => ({ path, message, line, column }))).toEqual(
    printed.map(({ path, message, line, column }) => ({ path, message, line, column })),
  );
  expect(issues).toHaveLength(3);
});

test("config.check tells changes and what they make happen, without a secret", async () => {
  const raw = await edited("gateway.auth.token", "another-secret-token");
  const answer = await fixture.call("config.check", { raw });
  expect(answer).toMatchObject({
    valid: true,
    changes: [{ path: "gateway.auth.token", kind: "changed", before: HIDDEN, after: HIDDEN }],
    reload: { kind: "hot", paths: [{ path: "gateway.auth.token" }] },
  });
  expect(JSON.stringify(answer)).not.toContain("secret-token");
});

test("config.edit hides the file's secrets; its text can be applied as it is", async () => {
  const raw = await edited("gateway.port", 4711);
  expect(raw).not.toContain(SECRET);
  await fixture.call("config.set", { raw, baseHash: await hash() });
  expect(fixture.config.current.gateway).toMatchObject({ port: 4711, auth: { token: SECRET } });
  expect((await fixture.call("config.edit", { raw: "{ a: 1, /* b */ }", unset: ["a"] })).raw).toContain("/* b */");
});

test("a version is listed, shown without secrets, and put back with them", async () => {
  const first = readFileSync(file(), "utf8");
  await fixture.config.keepAsGood();
  await fixture.call("config.set", { raw: await edited("gateway.auth.token", "another-secret-token"), baseHash: await hash() });
  await vi.waitFor(async () => expect((await fixture.call("config.versions", {})).versions).toHaveLength(2), { timeout: 20_000 });
  const { versions } = await fixture.call("config.versions", {});
  expect(versions).toMatchObject([
    { current: true, valid: true, hash: await hash() },
    { current: false, valid: true, bytes: Buffer.byteLength(first) },
  ]);
  const { id } = versions[1]!;
  const shown = await fixture.call("config.version", { id });
  expect(shown.changes).toMatchObject([{ path: "gateway.auth.token", kind: "changed", before: HIDDEN, after: HIDDEN }]);
  expect(JSON.stringify(shown)).not.toContain("secret-token");

  await expect(fixture.call("config.restore", { id, baseHash: "0".repeat(64) })).rejects.toThrow("config changed since last load");
  const answer = await fixture.call("config.restore", { id, baseHash: await hash() });
  expect(answer).toMatchObject({ ok: true, path: file(), hash: await hash(), reload: { kind: "hot", paths: [{ path: "gateway.auth.token" }] } });
  expect(fixture.config.current.gateway?.auth?.token).toBe(SECRET);
  // What was in force before stays among the versions.
  await vi.waitFor(async () => expect((await fixture.call("config.versions", {})).versions).toHaveLength(3), { timeout: 20_000 });
});

test("what is written by hand and not noticed yet is kept before a version takes its place", async () => {
  await fixture.config.keepAsGood();
  await vi.waitFor(async () => expect((await fixture.call("config.versions", {})).versions).toHaveLength(1), { timeout: 20_000 });
  const [{ id } = { id: "" }] = (await fixture.call("config.versions", {})).versions;
  writeFileSync(file(), `{ gateway: { mode: "local", port: 4999 } }`);
  await fixture.call("config.restore", { id, baseHash: await hash() });
  const { versions } = await fixture.call("config.versions", {});
  const raws = await Promise.all(versions.map(async (version) => (await fixture.call("config.version", { id: version.id })).raw));
  expect(raws.some((raw) => raw.includes("4999"))).toBe(true);
});

test("a version that is not there, or that is not valid any more, changes nothing", async () => {
  await fixture.config.keepAsGood();
  await expect(fixture.call("config.version", { id: "../../openclaw" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(fixture.call("config.restore", { id: "1", baseHash: await hash() })).rejects.toMatchObject({ code: "NOT_FOUND" });
  await vi.waitFor(async () => expect((await fixture.call("config.versions", {})).versions).toHaveLength(1), { timeout: 20_000 });
  const { id } = (await fixture.call("config.versions", {})).versions[0]!;
  const kept = join(fixture.folder, "config-versions", `${id}.json5`);
  chmodSync(kept, 0o600);
  writeFileSync(kept, `{ gateway: { port: "x" } }`);
  const before = readFileSync(file(), "utf8");
  await expect(fixture.call("config.restore", { id, baseHash: await hash() })).rejects.toMatchObject({ message: "invalid config" });
  expect(readFileSync(file(), "utf8")).toBe(before);
});
