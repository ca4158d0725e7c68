import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { seededRandom } from "../../base/random.ts";
import { openConfig, type Config, type ConfigOptions } from "../config.ts";
import { keepVersion, keptVersions, readVersion } from "./versions.ts";

const HIDDEN = "__OPENCLAW_REDACTED__";
const TEXT = `{
  // where it listens
  gateway: { mode: "local", port: 4000, auth: { token: "first-secret" } },
  models: { providers: { acme: { baseUrl: "https://acme.example", apiKey: "acme-secret", models: [] } } },
  logging: { level: "info" },
}
`;

let folder: string;
let config: Config;
const clock = manualClock();
const file = (): string => join(folder, "openclaw.json");
const kept = (): string => join(folder, "config-versions");

async function open(text: string | undefined, more: Partial<ConfigOptions> = {}): Promise<Config> {
  if (text !== undefined) writeFileSync(file(), text);
  const env = { HOME: folder, OPENCLAW_STATE_DIR: folder, OPENCLAW_CONFIG_PATH: file() };
  config = await openConfig({ env, cwd: folder, osHome: folder, version: "1.0.0", clock, ids: createIds(seededRandom(1)), purpose: "start", ...more });
  return config;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "review-"));
});
afterEach(() => {
  config?.[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

test("a text is checked with the places of what was typed, whatever is hidden in it", async () => {
  const review = await (await open(TEXT)).review();
  const raw = `{ gateway: { auth: { token: "${HIDDEN}" }, port: "x" },\n  logging: { levle: "info" } }`;
  const { issues } = review.check(raw);
  expect(issues).toMatchObject([
    { path: "gateway.port", line: 1, column: raw.indexOf("port") + 1 },
    { path: "logging.levle", line: 2, column: 14, suggestion: "level" },
  ]);
});

test("a syntax error is reported with its position, and changes nothing", async () => {
  const review = await (await open(TEXT)).review();
  expect(review.check("{\n  gateway: {\n")).toMatchObject({ issues: [{ code: "syntax", line: 3 }], changes: [], reload: { kind: "none", paths: [] } });
});

test("a hidden secret is unchanged; one that stands where the file has none is an issue", async () => {
  const review = await (await open(TEXT)).review();
  expect(review.check(review.edit({}))).toMatchObject({ issues: [], changes: [], reload: { kind: "none", paths: [] } });
  const { issues } = review.check(review.edit({ set: [{ path: "talk.apiKey", value: HIDDEN }] }));
  expect(issues).toMatchObject([{ path: "talk.apiKey", code: "hidden_secret", line: 7 }]);
});

test("changes are listed by path; a changed secret is shown as changed, without either value", async () => {
  const review = await (await open(TEXT)).review();
  const raw = review.edit({ set: [{ path: "gateway.auth.token", value: "second-secret" }, { path: "ui.seamColor", value: "#112233" }], unset: ["logging.level"] }); // prettier-ignore
  const { changes } = review.check(raw);
  expect(changes).toEqual([
    { path: "gateway.auth.token", kind: "changed", before: HIDDEN, after: HIDDEN },
    { path: "logging.level", kind: "removed", before: "info" },
    { path: "ui", kind: "added", after: { seamColor: "#112233" } },
  ]);
});

test("the effect of a change is described for each path", async () => {
  const review = await (await open(TEXT)).review();
  const does = (path: string, value: unknown) => review.check(review.edit({ set: [{ path, value }] })).reload;
  expect(does("logging.level", "debug")).toEqual({ kind: "none", paths: [{ path: "logging.level", does: "Applies at the next use; nothing restarts." }] });
  expect(does("gateway.auth.token", "another-secret")).toMatchObject({ kind: "hot", paths: [{ does: expect.stringContaining("old secret are closed") }] });
  expect(does("gateway.port", 4001)).toMatchObject({ kind: "restart", paths: [{ path: "gateway.port", does: expect.stringContaining("restarts") }] });
  expect(does("plugins.entries.voice.config", { a: 1 })).toMatchObject({ kind: "restart" });
  expect(does("gateway.reload.mode", "off").kind).toBe("none");
  const off = review.check(review.edit({ set: [{ path: "gateway.reload.mode", value: "off" }, { path: "gateway.port", value: 1 }] })); // prettier-ignore
  expect(off.reload).toMatchObject({ kind: "none", paths: expect.arrayContaining([{ path: "gateway.port", does: expect.stringContaining("next restart") }]) });
});

test("an edit keeps comments and order, hides the file's secrets and shows what was just typed", async () => {
  const review = await (await open(TEXT)).review();
  const raw = review.edit({ set: [{ path: "gateway.port", value: 5000 }, { path: "gateway.auth.password", value: "typed" }] }); // prettier-ignore
  expect(raw).toBe(TEXT.replace("4000", "5000").replace('"first-secret"', `"${HIDDEN}", password: "typed"`).replace('"acme-secret"', `"${HIDDEN}"`));
  expect(review.edit({ raw, unset: ["gateway.auth.password", "not.there"] })).toBe(raw.replace(', password: "typed"', ""));
  expect(() => review.edit({ raw: "{" })).toThrow("JSON5 parse failed");
  expect(() => review.edit({ set: [{ path: "agents.list[3]", value: 1 }] })).not.toThrow();
  expect(() => review.edit({ raw: "{ a: [] }", set: [{ path: "a[3]", value: 1 }] })).toThrow("a[3] cannot be set");
});

test("an edit of a file that is not there begins one; one of a file that is no JSON5 says what to do", async () => {
  const review = await (await open(undefined)).review();
  expect(review.edit({ set: [{ path: "gateway.port", value: 1 }] })).toContain(`"port": 1`);
  writeFileSync(file(), "{ broken");
  expect(() => review.edit({})).toThrow("fix it first");
});

test("every text of the file is kept once the gateway is ready: what it starts with, writes, and finds written by hand", async () => {
  await open(TEXT);
  await config.edit({ kind: "set", path: "gateway.port", value: 1 }, { by: "start" });
  expect(() => readdirSync(kept())).toThrow("ENOENT");
  await config.keepAsGood();
  await config.watch({ watchFolder: () => ({ [Symbol.dispose]: () => {} }) });
  await vi.waitFor(() => expect(readdirSync(kept())).toHaveLength(2), { timeout: 20_000 });
  writeFileSync(file(), TEXT.replace("4000", "4002"));
  config.reload();
  writeFileSync(file(), "{ broken");
  config.reload();
  await vi.waitFor(() => expect(readdirSync(kept())).toHaveLength(4), { timeout: 20_000 });
  const review = await config.review();
  expect(review.versions().map(({ current, valid }) => ({ current, valid }))).toEqual([
    { current: true, valid: false },
    { current: false, valid: true },
    { current: false, valid: true },
    { current: false, valid: true },
  ]);
  const oldest = review.versions().at(-1)!;
  expect(oldest.bytes).toBe(Buffer.byteLength(TEXT));
  expect(statSync(join(kept(), `${oldest.id}.json5`)).mode & 0o777).toBe(0o600);
  expect(review.restoring(oldest.id).text).toBe(TEXT);
});

test("a version is shown without secrets, with what going back would change", async () => {
  await open(TEXT, { purpose: "inspect" });
  await config.edit({ kind: "patch", value: { gateway: { port: 4001, auth: { token: "second-secret" } } } }, { by: "test" });
  const review = await config.review();
  await vi.waitFor(() => expect(review.versions()).toHaveLength(2), { timeout: 20_000 });
  const { id } = review.versions()[1]!;
  const { raw, changes } = review.version(id);
  expect(raw).not.toMatch(/secret"/);
  expect(raw).toContain("// where it listens");
  expect(changes).toEqual([
    { path: "gateway.port", kind: "changed", before: 4001, after: 4000 },
    { path: "gateway.auth.token", kind: "changed", before: HIDDEN, after: HIDDEN },
  ]);
  expect(review.restoring(id)).toMatchObject({ text: TEXT, reload: { kind: "restart" } });
  for (const wrong of ["../openclaw", "", `${id}x`, `1${id}`]) expect(() => review.version(wrong)).toThrow("there is no version");
});

const deps = { now: 1_700_000_000_000, ids: createIds(seededRandom(2)) };

test("twenty versions of a file are kept, the same text once and then as the newest", () => {
  const place = { state: folder, path: "/a.json" };
  for (let index = 0; index < 25; index += 1) keepVersion(place, `{ n: ${index} }`, { ...deps, now: deps.now + index });
  expect(keptVersions(place)).toHaveLength(20);
  expect(readVersion(place, keptVersions(place).at(-1)!.id)).toBe("{ n: 5 }");
  keepVersion(place, "{ n: 7 }", deps);
  keepVersion(place, "{ n: 7 }", deps);
  expect(keptVersions(place)).toHaveLength(20);
  expect(readVersion(place, keptVersions(place)[0]!.id)).toBe("{ n: 7 }");
  expect(keptVersions({ ...place, path: "/b.json" })).toEqual([]);
  expect(() => readVersion({ ...place, path: "/b.json" }, keptVersions(place)[0]!.id)).toThrow("there is no version");
});

test("what a process that died left half written is no version, and goes", () => {
  const place = { state: folder, path: "/a.json" };
  mkdirSync(kept());
  const left = join(kept(), `${deps.now}-${"0".repeat(64)}-00000000.json5.1.abc.tmp`);
  writeFileSync(left, "{ hal");
  utimesSync(left, 1, 1);
  expect(keptVersions(place)).toEqual([]);
  keepVersion(place, "{}", deps);
  expect(readdirSync(kept())).toHaveLength(1);
});

test("a version that cannot be stored is reported, and the change is made", async () => {
  const warned: string[] = [];
  await open(TEXT, { purpose: "inspect", warn: (message) => warned.push(message) });
  writeFileSync(kept(), "a file where the folder should be");
  await config.edit({ kind: "set", path: "gateway.port", value: 9 }, { by: "test" });
  expect(readFileSync(file(), "utf8")).toContain("port: 9");
  expect(warned[0]).toContain("could not be saved");
});
