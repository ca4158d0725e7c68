import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { seededRandom } from "../../base/random.ts";
import { parseDocument } from "../document/document.ts";
import { REDACTED } from "../redact.ts";
import { writeConfig, writeReviewed, type ConfigEdit, type WriteDeps, type WriteRequest } from "./index.ts";

function setup(files: Record<string, string>) {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "config-write-")));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  const deps: WriteDeps = {
    load: { env: { HOME: cwd, OPENCLAW_STATE_DIR: cwd, TOKEN: "resolved-token" }, osHome: cwd, cwd },
    clock: manualClock(Date.UTC(2026, 1, 20)),
    ids: createIds(seededRandom(7)),
    version: "2026.2.19",
  };
  const read = (name = "openclaw.json") => readFileSync(join(cwd, name), "utf8");
  return {
    cwd,
    deps,
    read,
    value: (name?: string) => parseDocument(read(name)).value as Record<string, unknown>,
    write: (edit: ConfigEdit, over: Partial<WriteRequest> = {}) => writeConfig({ edit, by: "test", ...over }, deps),
    audit: () =>
      read("logs/config-audit.jsonl")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

const META = '  meta: {\n    lastTouchedVersion: "2026.2.19",\n    lastTouchedAt: "2026-02-20T00:00:00.000Z",\n  },\n';
const set = (path: string, value: unknown): ConfigEdit => ({ kind: "set", path, value });

test("an edit keeps remarks, order and style, and notes version and time", () => {
  const text = "// mine\n{\n  gateway: {\n    port: 18789, // usual\n  },\n}\n";
  const { write, read } = setup({ "openclaw.json": text });
  write(set("gateway.port", 19000));
  expect(read()).toBe(text.replace("18789", "19000").replace("  },\n}\n", `  },\n${META}}\n`));
});

test("a missing file is made, for its owner alone", () => {
  const { write, value, cwd } = setup({});
  write(set("gateway.mode", "local"));
  expect(value()).toMatchObject({ gateway: { mode: "local" }, meta: { lastTouchedVersion: "2026.2.19" } });
  expect(statSync(join(cwd, "openclaw.json")).mode & 0o777).toBe(0o600);
});

test("an edit that changes nothing writes nothing", () => {
  const { write, read, cwd } = setup({ "openclaw.json": "{ gateway: { port: 1 } }" });
  expect(write(set("gateway.port", 1)).files).toEqual([]);
  expect(read()).toBe("{ gateway: { port: 1 } }");
  expect(readdirSync(cwd)).toEqual(["openclaw.json"]);
});

test("what would be invalid is refused with every issue, and the file stays", () => {
  const { write, read } = setup({ "openclaw.json": "{ gateway: { port: 1 } }" });
  const bad = () => write({ kind: "patch", value: { gateway: { port: "x" }, nonsense: 1 } });
  expect(bad).toThrow(
    expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringMatching(/^Config validation failed: gateway\.port: [^]*nonsense/) }),
  );
  expect(read()).toBe("{ gateway: { port: 1 } }");
});

test("without a file each issue is reported once, and no line of it is named", () => {
  const { write, cwd } = setup({});
  const messageOf = (value: object): string => {
    try {
      write({ kind: "patch", value });
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error("the edit was not refused");
  };
  expect(messageOf({ nonsense: 1 })).toBe('Config validation failed: nonsense: unknown key "nonsense"');
  expect(messageOf({ nonsense: 1, rubbish: 2 }).split("\n")).toEqual([expect.stringContaining("nonsense"), '- rubbish: unknown key "rubbish"']);
  expect(readdirSync(cwd)).toEqual([]);
});

test("what has to come before a write is done for a valid edit only, and its failure refuses the edit", async () => {
  const { deps, read } = setup({ "openclaw.json": "{ gateway: { port: 1000 } }\n" });
  const before = read();
  const seen: string[] = [];
  const write = (edit: ConfigEdit, beforeWrite: () => Promise<void>) => writeReviewed({ edit, by: "test", beforeWrite }, deps);
  const note = async (): Promise<void> => void seen.push(read());
  await expect(write(set("gateway.port", "many"), note)).rejects.toThrow("Config validation failed");
  await write(set("gateway.port", 1000), note);
  expect(seen).toEqual([]);
  await expect(write(set("gateway.port", 2000), () => Promise.reject(new Error("no folder")))).rejects.toThrow("no folder");
  expect(read()).toBe(before);
  await write(set("gateway.port", 2000), note);
  expect([seen, read().includes("2000")]).toEqual([[before], true]);
});

test("an edit made for another version of the file is refused", () => {
  const { write, deps } = setup({ "openclaw.json": "{ gateway: { port: 1 } }" });
  const stale = (message: string) => expect.objectContaining({ code: "CONFIG_STALE", message });
  expect(() => write(set("gateway.port", 2), { baseHash: "0".repeat(64) })).toThrow(stale("config changed since last load; re-run config.get and retry"));
  expect(() => write(set("gateway.port", 2), { requireBaseHash: true })).toThrow(stale("config base hash required; re-run config.get and retry"));
  const { before, after } = write(set("gateway.port", 2));
  expect(() => write(set("gateway.port", 3), { baseHash: before.snapshot.hash })).toThrow(stale("config changed since last load; re-run config.get and retry"));
  expect(write(set("gateway.port", 3), { baseHash: after.snapshot.hash }).files).toHaveLength(1);
  expect(deps.version).toBe("2026.2.19");
});

test("the last five versions are kept, the newest as .bak", () => {
  const { write, value, cwd } = setup({ "openclaw.json": "{ gateway: { port: 1 } }" });
  for (let port = 2; port <= 8; port += 1) write(set("gateway.port", port));
  const kept = [".bak", ".bak.1", ".bak.2", ".bak.3", ".bak.4"].map((end) => (value(`openclaw.json${end}`)["gateway"] as { port: number }).port);
  expect(kept).toEqual([7, 6, 5, 4, 3]);
  expect(existsSync(join(cwd, "openclaw.json.bak.5"))).toBe(false);
  expect(readdirSync(cwd).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});

test("each write leaves a line in the audit, with what looks odd about it", () => {
  const { write, audit } = setup({ "openclaw.json": `{ gateway: { mode: "local" }, skills: { entries: { a: { env: { X: "${"x".repeat(600)}" } } } } }` });
  write({ kind: "replace", value: { logging: { level: "info" } } }, { by: "cli" });
  expect(audit()).toMatchObject([
    {
      event: "config.write",
      by: "cli",
      result: "rename",
      gatewayModeBefore: "local",
      gatewayModeAfter: null,
      hasMetaBefore: false,
      hasMetaAfter: true,
      suspicious: [expect.stringMatching(/^size-drop:\d+->\d+$/), "missing-meta-before-write", "gateway-mode-removed"],
    },
  ]);
  expect(audit()[0]?.["previousHash"]).toMatch(/^[0-9a-f]{64}$/);
});

test("${VAR} stays where the value is what it resolves to", () => {
  const { write, read } = setup({ "openclaw.json": '{ gateway: { auth: { token: "${TOKEN}" } } }' });
  write({ kind: "replace", value: { gateway: { port: 5, auth: { token: "resolved-token" } } } });
  expect(read()).toContain('token: "${TOKEN}"');
  write(set("gateway.auth.token", "another"));
  expect(read()).toContain('token: "another"');
});

test("updating from the configuration in use writes the difference, not the defaults", () => {
  const { write, value, deps } = setup({ "openclaw.json": '{ gateway: { auth: { token: "${TOKEN}" } } }' });
  const { after } = writeConfig({ edit: set("logging.level", "info"), by: "test" }, deps);
  const current = after.snapshot.config;
  write({ kind: "update", config: { ...current, gateway: { ...current.gateway, port: 7 } } });
  expect(value()).toMatchObject({ gateway: { auth: { token: "${TOKEN}" }, port: 7 } });
  expect(Object.keys(value()).sort()).toEqual(["gateway", "logging", "meta"]);
});

test("a patch merges: null deletes, lists replace, lists with ids merge by id", () => {
  const { write, value } = setup({
    "openclaw.json": '{ agents: { list: [{ id: "a", name: "A" }, { id: "b" }] }, tools: { allow: ["x", "y"] }, logging: { level: "info" } }',
  });
  write({ kind: "patch", value: { agents: { list: [{ id: "b", name: "B" }, { id: "c" }] }, tools: { allow: ["z"] }, logging: null } });
  expect(value()).toMatchObject({ agents: { list: [{ id: "a", name: "A" }, { id: "b", name: "B" }, { id: "c" }] }, tools: { allow: ["z"] } });
  expect(value()["logging"]).toBeUndefined();
  expect(() => write({ kind: "patch", value: [] })).toThrow("config.patch raw must be an object");
});

test("the sentinel restores the secret of its place, and is refused where there is none", () => {
  const { write, value } = setup({ "openclaw.json": '{ gateway: { auth: { token: "real" } }, agents: { list: [{ id: "a" }] } }' });
  write({ kind: "patch", value: { gateway: { port: 3, auth: { token: REDACTED } } } });
  write({ kind: "text", text: `{ // shown\n gateway: { port: 4, auth: { token: "${REDACTED}" } } }` });
  expect(value()).toMatchObject({ gateway: { port: 4, auth: { token: "real" } } });
  const misplaced = () => write(set("gateway.auth.password", REDACTED));
  expect(misplaced).toThrow(`Sentinel value "${REDACTED}" in key gateway.auth.password is not valid as real data`);
});

test("unset removes; a path that is not there is named", () => {
  const { write, value } = setup({ "openclaw.json": "{ gateway: { port: 1, mode: 'local' } }" });
  write({ kind: "unset", path: "gateway.port" });
  expect(value()["gateway"]).toEqual({ mode: "local" });
  expect(() => write({ kind: "unset", path: "gateway.port" })).toThrow(
    expect.objectContaining({ code: "NOT_FOUND", message: expect.stringContaining("Config path not found") }),
  );
  expect(() => write(set("agents.list[3].id", "x"))).toThrow(expect.objectContaining({ code: expect.stringMatching(/INVALID/) }));
  expect(() => write(set("__proto__.x", 1))).toThrow("is not a config path");
});

test("an edit goes into the file that holds the key; a new key into the file that holds its object", () => {
  const { write, read, value } = setup({
    "openclaw.json": '{\n  $include: "base.json",\n  // channels\n  gateway: { $include: "gw.json" },\n}\n',
    "base.json": '{\n  logging: { level: "info" }, // loud\n}\n',
    "gw.json": "{\n  // port\n  port: 1,\n}\n",
  });
  expect(write(set("gateway.port", 2)).files).toEqual([expect.stringContaining("gw.json"), expect.stringContaining("openclaw.json")]);
  expect(read("gw.json")).toBe("{\n  // port\n  port: 2,\n}\n");
  write(set("logging.level", "debug"));
  expect(read("base.json")).toBe('{\n  logging: { level: "debug" }, // loud\n}\n');
  write(set("gateway.bind", "lan"));
  expect(value("gw.json")).toEqual({ port: 2, bind: "lan" });
  write({ kind: "unset", path: "logging" });
  expect(value("base.json")).toEqual({});
  expect(read()).toContain('gateway: { $include: "gw.json" }');
  expect(read()).toContain("// channels");
});

test("what two files hold is overridden in the main one; a list from two files is put into the main one whole", () => {
  const { write, value } = setup({
    "openclaw.json": '{ $include: ["a.json", "b.json"] }',
    "a.json": '{ logging: { level: "info" }, tools: { allow: ["x"] } }',
    "b.json": '{ logging: { level: "warn" }, tools: { allow: ["y"] } }',
  });
  write(set("logging.level", "debug"));
  expect(value("b.json")).toMatchObject({ logging: { level: "debug" } });
  const { after } = write(set("tools.allow", ["z"]));
  expect(after.snapshot.config).toMatchObject({ tools: { allow: ["z"] }, logging: { level: "debug" } });
});

test("removing a key removes it from every file that has it", () => {
  const { write } = setup({ "openclaw.json": '{ $include: "a.json", logging: { level: "warn" } }', "a.json": '{ logging: { level: "info", file: "/x" } }' });
  const { after } = write({ kind: "unset", path: "logging.level" });
  expect(after.snapshot.resolved).toMatchObject({ logging: { file: "/x" } });
  expect((after.snapshot.resolved as { logging: object }).logging).not.toHaveProperty("level");
});

test("old keys are moved in the file, remarks elsewhere stay", () => {
  const { write, value, read } = setup({ "openclaw.json": '{\n  // keep me\n  logging: { level: "info" }, // and me\n  agent: { workspace: "~/w" },\n}\n' });
  write({ kind: "migrate" });
  expect(value()).toMatchObject({ agents: { defaults: { workspace: "~/w" } } });
  expect(value()).not.toHaveProperty("agent");
  expect(read()).toMatch(/\/\/ keep me\n {2}logging: \{ level: "info" \}, \/\/ and me/);
});

test("keys that nobody knows go, in included files too; old keys and remarks stay", () => {
  const { write, value, read } = setup({
    "openclaw.json": '{\n  // keep me\n  $include: "./more.json5",\n  agent: { workspace: "~/w", foo: 1 },\n  nonsense: { a: 1 },\n}\n',
    "more.json5": "{ gateway: { port: 1, prot: 2 } } // and me\n",
  });
  write({ kind: "prune" });
  expect(value()).toMatchObject({ $include: "./more.json5", agent: { workspace: "~/w" } });
  expect(read()).not.toMatch(/nonsense|foo/);
  expect([read().includes("// keep me"), read("more.json5")]).toEqual([true, "{ gateway: { port: 1 } } // and me\n"]);
});

test("keys that a channel's schema does not know go as well", () => {
  const { deps, value } = setup({ "openclaw.json": '{ channels: { telegram: { botToken: "1", network: { wide: true } } }, nonsense: 1 }' });
  const telegram = { type: "object", additionalProperties: false, properties: { botToken: { type: "string" } } };
  const sections = { channels: { telegram }, knownChannels: ["telegram"] };
  writeConfig({ edit: { kind: "prune" }, by: "test" }, { ...deps, load: { ...deps.load, sections } });
  expect(value()).toMatchObject({ channels: { telegram: { botToken: "1" } } });
  expect(JSON.stringify(value())).not.toMatch(/network|nonsense/);
});

test("a link stays a link, its target is written; a stricter mode stays", () => {
  const { write, cwd, value } = setup({ "real.json": "{ gateway: { port: 1 } }" });
  symlinkSync(join(cwd, "real.json"), join(cwd, "openclaw.json"));
  chmodSync(join(cwd, "real.json"), 0o644);
  write(set("gateway.port", 2));
  expect(lstatSync(join(cwd, "openclaw.json")).isSymbolicLink()).toBe(true);
  expect(value("real.json")).toMatchObject({ gateway: { port: 2 } });
  expect(statSync(join(cwd, "real.json")).mode & 0o777).toBe(0o600);
  chmodSync(join(cwd, "real.json"), 0o400);
  write(set("gateway.port", 3));
  expect(statSync(join(cwd, "real.json")).mode & 0o777).toBe(0o400);
});

test("a broken file can be replaced but not edited", () => {
  const { write, value } = setup({ "openclaw.json": "{ gateway: " });
  expect(() => write(set("gateway.port", 1))).toThrow(
    expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining("invalid config; fix before patching") }),
  );
  write({ kind: "replace", value: { gateway: { port: 1 } } });
  expect(value()).toMatchObject({ gateway: { port: 1 } });
});

test("killed right after the replacement, the new file is whole and the old one is the backup", () => {
  const { cwd, value } = setup({ "openclaw.json": "{ gateway: { port: 1 } }" });
  const script = `
    import { writeConfig } from ${JSON.stringify(new URL("./index.ts", import.meta.url).href)};
    import { createIds } from ${JSON.stringify(new URL("../../base/ids.ts", import.meta.url).href)};
    import { systemRandom } from ${JSON.stringify(new URL("../../base/random.ts", import.meta.url).href)};
    import { systemClock } from ${JSON.stringify(new URL("../../base/clock.ts", import.meta.url).href)};
    const load = { env: { HOME: ${JSON.stringify(cwd)}, OPENCLAW_STATE_DIR: ${JSON.stringify(cwd)} }, osHome: "/", cwd: ${JSON.stringify(cwd)} };
    writeConfig({ edit: { kind: "set", path: "gateway.port", value: 2 }, by: "test" }, { load, clock: systemClock, ids: createIds(systemRandom), version: "1.0.0" });
  `;
  const died = spawnSync(process.execPath, ["--input-type=module", "-e", script], { env: { ...process.env, OPENCLAW_FAILPOINT: "config.written" } });
  expect(died.signal).toBe("SIGKILL");
  expect(value()).toMatchObject({ gateway: { port: 2 } });
  expect(value("openclaw.json.bak")).toEqual({ gateway: { port: 1 } });
  expect(readdirSync(cwd).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});
