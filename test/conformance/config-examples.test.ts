import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadConfig, type Snapshot } from "../../src/config/index.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures/config");
const home = mkdtempSync(join(tmpdir(), "config-examples-"));
afterAll(() => rmSync(home, { recursive: true }));

const env = { HOME: home, OPENCLAW_STATE_DIR: home, MOONSHOT_API_KEY: "m", SYNTHETIC_API_KEY: "s" };
const load = (folder: string, file: string): Snapshot => loadConfig({ path: join(FIXTURES, folder, file), env, osHome: home, cwd: home }).snapshot;
const filesIn = (folder: string): string[] => readdirSync(join(FIXTURES, folder)).filter((name) => name.endsWith(".json5"));
const expectedOf = <T>(folder: string): Record<string, T> => JSON.parse(readFileSync(join(FIXTURES, folder, "expected.json"), "utf8")) as Record<string, T>;

test.each(filesIn("examples"))("the documented example %s is valid", (file) => {
  const snapshot = load("examples", file);
  expect(snapshot.issues).toEqual([]);
  expect(snapshot.valid).toBe(true);
  expect(snapshot.legacy).toEqual([]);
  expect(Object.keys(snapshot.config).length).toBeGreaterThan(0);
});

interface Move {
  readonly from: string;
  readonly to: string;
}
const moves = expectedOf<Move[]>("examples-legacy");

test.each(filesIn("examples-legacy"))("the documented example %s has old keys: it is valid, and a warning names each new place", (file) => {
  const snapshot = load("examples-legacy", file);
  expect(snapshot.issues).toEqual([]);
  expect(snapshot.legacy.map(({ from, to }) => ({ from, to }))).toEqual(moves[file]);
  for (const { from, to } of moves[file]!)
    expect(snapshot.warnings).toContainEqual(expect.objectContaining({ path: from, suggestion: to, code: "legacy_key" }));
});

interface Broken {
  readonly path: string;
  readonly line: number;
  readonly messageIncludes: string;
}
const broken = expectedOf<Broken[]>("broken");

test.each(filesIn("broken"))("the broken file %s is reported by path and line, nothing more and nothing less", (file) => {
  const snapshot = load("broken", file);
  const found = [...snapshot.issues, ...snapshot.warnings];
  expect(found.map(({ path, line }) => `${path}:${line}`).sort()).toEqual(broken[file]!.map(({ path, line }) => `${path}:${line}`).sort());
  for (const { path, line, messageIncludes } of broken[file]!) {
    const messages = found.filter((issue) => issue.path === path && issue.line === line).map(({ message }) => message);
    expect(messages.join("\n")).toContain(messageIncludes);
  }
});

test("there are enough of each to mean something", () => {
  expect(filesIn("examples").length + filesIn("examples-legacy").length).toBeGreaterThanOrEqual(40);
  expect(filesIn("broken").length).toBeGreaterThanOrEqual(40);
  expect(Object.keys(broken).sort()).toEqual(filesIn("broken").sort());
});
