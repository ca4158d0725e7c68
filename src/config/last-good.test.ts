import { mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createIds } from "../base/ids.ts";
import { seededRandom } from "../base/random.ts";
import { fallBack, keepLastGood } from "./last-good.ts";
import { loadConfig, type Loaded, type LoadOptions } from "./load.ts";

function loadForStart(options: LoadOptions): Loaded {
  const loaded = loadConfig(options);
  return loaded.snapshot.valid ? loaded : fallBack(loaded, options);
}

const deps = { now: Date.UTC(2026, 0, 2), ids: createIds(seededRandom(1)) };

function setup(files: Record<string, string>): { cwd: string; options: LoadOptions; put: (name: string, text: string) => void } {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "config-good-")));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const put = (name: string, text: string) => writeFileSync(join(cwd, name), text);
  for (const [name, text] of Object.entries(files)) put(name, text);
  return { cwd, put, options: { env: { HOME: cwd, OPENCLAW_STATE_DIR: cwd, TOKEN: "s3cret-value" }, osHome: cwd, cwd } };
}

test("a broken file gives way to the last one that worked, includes and all, and the reason is reported", () => {
  const { options, put } = setup({ "openclaw.json": '{ $include: "gw.json", logging: { level: "debug" } }', "gw.json": "{ gateway: { port: 19001 } }" });
  keepLastGood(loadConfig(options), deps);
  put("openclaw.json", "{ logging: {");
  put("gw.json", "{ gateway: { port: 1 } }");
  const { snapshot } = loadForStart(options);
  expect(snapshot).toMatchObject({ valid: true, source: "last-good", config: { gateway: { port: 19001 }, logging: { level: "debug" } } });
  expect(snapshot.reason).toContain("2026-01-02T00:00:00.000Z");
  expect(snapshot.reason).toMatch(/openclaw\.json:1:13: <root>: JSON5 parse failed/);
  expect(snapshot.warnings[0]).toMatchObject({ severity: "warning", code: "syntax" });
});

test("a good file is used as it is, whatever was kept", () => {
  const { options, put } = setup({ "openclaw.json": "{ gateway: { port: 1 } }" });
  keepLastGood(loadConfig(options), deps);
  put("openclaw.json", "{ gateway: { port: 2 } }");
  expect(loadForStart(options).snapshot).toMatchObject({ source: "file", config: { gateway: { port: 2 } } });
});

test("without a last good one, all issues are listed in CONFIG_INVALID", () => {
  const { options, cwd } = setup({ "openclaw.json": '{\n  gateway: { port: "x" },\n  nonsense: 1,\n}' });
  expect(() => loadForStart(options)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  expect(() => loadForStart(options)).toThrow(/gateway\.port[^]*nonsense/);
  writeFileSync(join(cwd, "config.last-good.json"), "garbage");
  expect(() => loadForStart(options)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
});

test("what is kept is the text: no value of a variable is in it, and only the owner reads it", () => {
  const { options, cwd } = setup({ "openclaw.json": '{ gateway: { auth: { token: "${TOKEN}" } } }' });
  keepLastGood(loadConfig(options), deps);
  const file = join(cwd, "config.last-good.json");
  expect(readFileSync(file, "utf8")).toContain("${TOKEN}");
  expect(readFileSync(file, "utf8")).not.toContain("s3cret-value");
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("an invalid or missing configuration is never kept, an unchanged one is not written again", () => {
  const { options, cwd, put } = setup({});
  const file = join(cwd, "config.last-good.json");
  keepLastGood(loadConfig(options), deps);
  expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined();
  put("openclaw.json", "{}");
  keepLastGood(loadConfig(options), deps);
  const { ino } = statSync(file);
  keepLastGood(loadConfig(options), { ...deps, now: 0 });
  expect(statSync(file).ino).toBe(ino);
  put("openclaw.json", "{ nonsense: 1 }");
  keepLastGood(loadConfig(options), deps);
  expect(statSync(file).ino).toBe(ino);
});
