import { chmodSync, closeSync, ftruncateSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { loadConfig, type LoadOptions } from "./load.ts";
import { diskFiles, type ConfigFiles } from "./source-files.ts";
import { AppError } from "../base/errors.ts";

function folder(files: Record<string, string | Uint8Array> = {}): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "config-load-")));
  onTestFinished(() => rmSync(path, { recursive: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content);
  return path;
}

const load = (cwd: string, over: Partial<LoadOptions> = {}) => loadConfig({ env: { HOME: cwd, OPENCLAW_STATE_DIR: cwd }, osHome: cwd, cwd, ...over }).snapshot;

test("a file that is not there counts as empty", () => {
  expect(load(folder())).toMatchObject({ exists: false, valid: true, hash: "", raw: null, parsed: {}, resolved: {}, issues: [], source: "file" });
});

test("the stages: parsed as written, resolved with includes and variables, config with defaults and ~", () => {
  const cwd = folder({
    "openclaw.json": '{ env: { NAME: "claw" }, $include: "more.json", logging: { file: "~/${NAME}.log" } }',
    "more.json": "{ gateway: { port: 19000 } }",
  });
  const snapshot = load(cwd);
  expect(snapshot.issues).toEqual([]);
  expect(snapshot.parsed).toMatchObject({ $include: "more.json", logging: { file: "~/${NAME}.log" } });
  expect(snapshot.resolved).toMatchObject({ gateway: { port: 19000 }, logging: { file: "~/claw.log" } });
  expect(snapshot.config).toMatchObject({ gateway: { port: 19000 }, logging: { file: join(cwd, "claw.log") } });
  expect(snapshot.hash).toMatch(/^[0-9a-f]{64}$/);
  expect(snapshot.files).toEqual([join(cwd, "openclaw.json"), join(cwd, "more.json")]);
});

test("~ is expanded where the key names a path, in lists only under paths and pathPrepend", () => {
  const cwd = folder({
    "openclaw.json":
      '{ agents: { defaults: { workspace: "~/w" } }, tools: { exec: { pathPrepend: ["~/bin"] } }, plugins: { load: { paths: ["~/p"] } }, skills: { load: { extraDirs: ["~/s"] } } }',
  });
  expect(load(cwd).config).toMatchObject({
    agents: { defaults: { workspace: join(cwd, "w") } },
    tools: { exec: { pathPrepend: [join(cwd, "bin")] } },
    plugins: { load: { paths: [join(cwd, "p")] } },
    skills: { load: { extraDirs: ["~/s"] } },
  });
});

test("a missing variable makes the file invalid and is named with path, line and column; the rest is checked all the same", () => {
  const cwd = folder({ "openclaw.json": '{\n  gateway: {\n    auth: { token: "${NOT_SET}" },\n    port: "x",\n  },\n}' });
  const snapshot = load(cwd);
  expect(snapshot).toMatchObject({ valid: false, config: {} });
  expect(snapshot.issues).toMatchObject([
    { path: "gateway.auth.token", line: 3, column: 13, message: 'Missing env var "NOT_SET" referenced at config path: gateway.auth.token' },
    { path: "gateway.port", line: 4, column: 5 },
  ]);
});

test("an issue in an included file points into that file", () => {
  const cwd = folder({ "openclaw.json": '{ gateway: { $include: "gw.json" } }', "gw.json": '{\n  // the port\n  port: "many",\n}' });
  expect(load(cwd).issues).toMatchObject([{ path: "gateway.port", file: join(cwd, "gw.json"), line: 3, column: 3 }]);
});

test("an old key is valid with a warning that names the new place; issues below it point at the old line", () => {
  const cwd = folder({ "openclaw.json": '{\n  agent: {\n    workspace: "~/w",\n    timeoutSeconds: "long",\n  },\n}' });
  const snapshot = load(cwd);
  expect(snapshot.warnings).toMatchObject([
    {
      path: "agent.workspace",
      line: 3,
      code: "legacy_key",
      suggestion: "agents.defaults.workspace",
      message: expect.stringContaining("it moved to agents.defaults.workspace"),
    },
    { path: "agent.timeoutSeconds", line: 4 },
  ]);
  expect(snapshot.issues).toMatchObject([{ path: "agents.defaults.timeoutSeconds", line: 4, column: 5 }]);
  const fine = load(folder({ "openclaw.json": '{ telegram: { botToken: "1:a" } }' }));
  expect(fine).toMatchObject({ valid: true, config: { channels: { telegram: { botToken: "1:a" } } } });
});

test("under OPENCLAW_NIX_MODE an old key is an error", () => {
  const cwd = folder({ "openclaw.json": '{ gateway: { token: "t" } }' });
  expect(load(cwd, { env: { HOME: cwd, OPENCLAW_STATE_DIR: cwd, OPENCLAW_NIX_MODE: "1" } })).toMatchObject({
    valid: false,
    issues: [{ path: "gateway.token" }],
  });
});

test("a key given twice and a file of a newer version are warnings", () => {
  const cwd = folder({ "openclaw.json": '{ logging: { level: "info" }, logging: { level: "warn" }, meta: { lastTouchedVersion: "2027.1.1" } }' });
  const snapshot = load(cwd, { version: "2026.2.19" });
  expect(snapshot.valid).toBe(true);
  expect(snapshot.warnings.map(({ code }) => code)).toEqual(["duplicate_key", "newer_version"]);
});

test.each([
  ["empty", "", /the text is empty/],
  ["cut off", '{ "gateway": { "port": 18', /invalid end of input|end of input/],
  ["binary", Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 0, 0xff, 0xfe]), /not UTF-8/],
  ["NUL bytes", "\0".repeat(100), /U\+0000/],
  ["a list", "[]", /./],
  ["a circle", '{ $include: "openclaw.json" }', /Circular include/],
  ["deep", "[".repeat(10_000), /nested deeper/],
])("a file that is %s gives an invalid snapshot with a line", (_, content, message) => {
  const snapshot = load(folder({ "openclaw.json": content }));
  expect(snapshot).toMatchObject({ exists: true, valid: false, config: {} });
  expect(snapshot.issues[0]?.message).toMatch(message);
  expect(snapshot.issues[0]?.line).toBe(1);
});

test("a folder in the file's place is named as one", () => {
  const cwd = folder();
  mkdirSync(join(cwd, "openclaw.json"));
  expect(load(cwd)).toMatchObject({ exists: true, valid: false, issues: [{ message: expect.stringContaining("is a folder") }] });
});

test("a file that may not be read is named with what to do", () => {
  const refusing: ConfigFiles = {
    ...diskFiles,
    read: (path) => {
      throw new AppError("PERMISSION_DENIED", `could not read: ${path} may not be accessed by this user; check its owner and mode`);
    },
  };
  expect(load(folder(), { files: refusing })).toMatchObject({ exists: true, valid: false, issues: [{ message: expect.stringContaining("check its owner") }] });
  const cwd = folder({ "openclaw.json": "{}" });
  chmodSync(join(cwd, "openclaw.json"), 0);
  expect(load(cwd).valid).toBe(process.getuid?.() === 0);
});

test("a hundred megabytes are refused without being read", () => {
  const cwd = folder();
  const fd = openSync(join(cwd, "openclaw.json"), "w");
  ftruncateSync(fd, 100 * 1024 * 1024);
  closeSync(fd);
  const before = process.memoryUsage().rss;
  expect(load(cwd)).toMatchObject({ valid: false, raw: null, issues: [{ message: expect.stringContaining("is 100 MB; a configuration has at most 10 MB") }] });
  expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1024 * 1024);
});

test("whatever the bytes, there is a snapshot", () => {
  const cwd = folder();
  const piece = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"$include"',
    '"openclaw.json"',
    '"env"',
    '"agents"',
    '"list"',
    '"${X}"',
    '"routing"',
    '"agent"',
    "1",
    "null",
    " ",
  );
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.array(piece, { maxLength: 40 }).map((pieces) => Buffer.from(pieces.join(""))),
    fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value))),
  );
  fc.assert(
    fc.property(content, (bytes) => {
      const files: ConfigFiles = {
        ...diskFiles,
        read: (path) => (path.endsWith("openclaw.json") ? bytes : diskFiles.read(path)),
        exists: () => true,
        realPath: (path) => path,
      };
      const snapshot = load(cwd, { files });
      expect(snapshot.valid).toBe(snapshot.issues.length === 0);
      for (const issue of snapshot.issues) expect(issue.line).toBeGreaterThan(0);
    }),
    { numRuns: 1000 },
  );
});

test("whatever stands under known keys, there is a snapshot", () => {
  const cwd = folder();
  const key = fc.constantFrom(
    "routing",
    "agent",
    "agents",
    "list",
    "defaults",
    "channels",
    "telegram",
    "groups",
    "bindings",
    "match",
    "provider",
    "tools",
    "bash",
    "audio",
    "transcription",
    "command",
    "identity",
    "messages",
    "queue",
    "tts",
    "enabled",
    "gateway",
    "token",
    "plugins",
    "disabled",
    "session",
    "sendPolicy",
    "rules",
    "$include",
    "env",
    "vars",
    "model",
    "allowedModels",
    "modelAliases",
    "agents",
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom(null, 1, true, "x", "${X}", "~"),
      fc.array(tie("tree"), { maxLength: 3 }),
      fc.dictionary(key, tie("tree"), { maxKeys: 5 }),
    ),
  }));
  fc.assert(
    fc.property(tree, (value) => {
      const files: ConfigFiles = { ...diskFiles, read: (path) => (path.endsWith("openclaw.json") ? Buffer.from(JSON.stringify(value)) : diskFiles.read(path)) };
      const snapshot = load(cwd, { files });
      expect(snapshot.valid).toBe(snapshot.issues.length === 0);
    }),
    { numRuns: 1500 },
  );
});
