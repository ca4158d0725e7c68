import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { runCommand } from "../harness/program.ts";
import { openMethodRoom, type MethodRoom } from "../harness/methods.ts";

const SECRET = "a-very-secret-token";
const HIDDEN = "__OPENCLAW_REDACTED__";
let room: MethodRoom;
beforeEach(async () => {
  room = await openMethodRoom({ config: { gateway: { mode: "local", auth: { token: SECRET } }, agents: { list: [{ id: "main" }, { id: "ops" }] } } });
});
afterEach(() => room[Symbol.asyncDispose]());

const file = () => join(room.folder, "openclaw.json");
const hash = async () => (await room.call("config.get", {})).hash!;
const edited = async (path: string, value: unknown) => (await room.call("config.edit", { set: [{ path, value }] })).raw;

test("config.check says what is wrong with a text and where, and writes nothing", async () => {
  const before = readFileSync(file(), "utf8");
  const answer = await room.call("config.check", { raw: `{\n  gateway: { prot: 5 },\n  agents: { list: 7 },\n}` });
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
  const { issues } = await room.call("config.check", { raw });
  writeFileSync(join(room.folder, "other.json"), raw);
  const place = { home: room.folder, env: { PATH: process.env["PATH"], HOME: room.folder, OPENCLAW_STATE_DIR: room.folder } } as never;
  const { stdout } = runCommand(place, ["config", "validate", "--file", join(room.folder, "other.json"), "--json"]);
  const told = (JSON.parse(stdout) as { issues: { path: string; message: string; line: number; column: number }[] }).issues;
  expect(issues.map(({ path, message, line, column }) => ({ path, message, line, column }))).toEqual(
    told.map(({ path, message, line, column }) => ({ path, message, line, column })),
  );
  expect(issues).toHaveLength(3);
});

test("config.check tells changes and what they make happen, without a secret", async () => {
  const raw = await edited("gateway.auth.token", "another-secret-token");
  const answer = await room.call("config.check", { raw });
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
  await room.call("config.set", { raw, baseHash: await hash() });
  expect(room.config.current.gateway).toMatchObject({ port: 4711, auth: { token: SECRET } });
  expect((await room.call("config.edit", { raw: "{ a: 1, /* b */ }", unset: ["a"] })).raw).toContain("/* b */");
});

test("a version is listed, shown without secrets, and put back with them", async () => {
  const first = readFileSync(file(), "utf8");
  await room.config.keepAsGood();
  await room.call("config.set", { raw: await edited("gateway.auth.token", "another-secret-token"), baseHash: await hash() });
  await vi.waitFor(async () => expect((await room.call("config.versions", {})).versions).toHaveLength(2), { timeout: 20_000 });
  const { versions } = await room.call("config.versions", {});
  expect(versions).toMatchObject([
    { current: true, valid: true, hash: await hash() },
    { current: false, valid: true, bytes: Buffer.byteLength(first) },
  ]);
  const { id } = versions[1]!;
  const shown = await room.call("config.version", { id });
  expect(shown.changes).toMatchObject([{ path: "gateway.auth.token", kind: "changed", before: HIDDEN, after: HIDDEN }]);
  expect(JSON.stringify(shown)).not.toContain("secret-token");

  await expect(room.call("config.restore", { id, baseHash: "0".repeat(64) })).rejects.toThrow("config changed since last load");
  const answer = await room.call("config.restore", { id, baseHash: await hash() });
  expect(answer).toMatchObject({ ok: true, path: file(), hash: await hash(), reload: { kind: "hot", paths: [{ path: "gateway.auth.token" }] } });
  expect(room.config.current.gateway?.auth?.token).toBe(SECRET);
  // What was in force before stays among the versions.
  await vi.waitFor(async () => expect((await room.call("config.versions", {})).versions).toHaveLength(3), { timeout: 20_000 });
});

test("what is written by hand and not noticed yet is kept before a version takes its place", async () => {
  await room.config.keepAsGood();
  await vi.waitFor(async () => expect((await room.call("config.versions", {})).versions).toHaveLength(1), { timeout: 20_000 });
  const [{ id } = { id: "" }] = (await room.call("config.versions", {})).versions;
  writeFileSync(file(), `{ gateway: { mode: "local", port: 4999 } }`);
  await room.call("config.restore", { id, baseHash: await hash() });
  const { versions } = await room.call("config.versions", {});
  const raws = await Promise.all(versions.map(async (version) => (await room.call("config.version", { id: version.id })).raw));
  expect(raws.some((raw) => raw.includes("4999"))).toBe(true);
});

test("a version that is not there, or that is not valid any more, changes nothing", async () => {
  await room.config.keepAsGood();
  await expect(room.call("config.version", { id: "../../openclaw" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(room.call("config.restore", { id: "1", baseHash: await hash() })).rejects.toMatchObject({ code: "NOT_FOUND" });
  await vi.waitFor(async () => expect((await room.call("config.versions", {})).versions).toHaveLength(1), { timeout: 20_000 });
  const { id } = (await room.call("config.versions", {})).versions[0]!;
  const kept = join(room.folder, "config-versions", `${id}.json5`);
  chmodSync(kept, 0o600);
  writeFileSync(kept, `{ gateway: { port: "x" } }`);
  const before = readFileSync(file(), "utf8");
  await expect(room.call("config.restore", { id, baseHash: await hash() })).rejects.toMatchObject({ message: "invalid config" });
  expect(readFileSync(file(), "utf8")).toBe(before);
});
