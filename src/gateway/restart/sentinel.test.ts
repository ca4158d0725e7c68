import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { silentLogger, type Logger } from "../../base/log/logger.ts";
import { seededRandom } from "../../base/random.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { openStore, type Store } from "../../store/index.ts";
import { leaveSentinel, takeSentinel } from "./sentinel.ts";

const clock = manualClock();
const ids = createIds(seededRandom(1));
const PAYLOAD = {
  kind: "config-apply",
  status: "ok",
  ts: 1_700_000_000_000,
  sessionKey: "Agent:Main:Telegram:Group:7",
  message: "the port changed",
  doctorHint: null,
  stats: { mode: "config.apply", root: "/state" },
};

let folder: string;
let store: Store;
let path: string;
let warnings: string[];
let log: Logger;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "sentinel-"));
  path = join(folder, "restart-sentinel.json");
  store = await openStore({ stateDir: folder, clock });
  warnings = [];
  log = { ...silentLogger, warn: (message) => void warnings.push(message) };
});
afterEach(async () => {
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const take = (current: OpenClawConfig = {}): Promise<void> => takeSentinel(path, { config: { current }, store, ids, log });
const eventsFor = async (sessionKey: string): Promise<readonly string[]> =>
  (await store.read("injections.waiting", { sessionKey, now: clock.now() })).map(({ text }) => text);

test("a note is one documented JSON object that only its owner can read", () => {
  expect(leaveSentinel(path, PAYLOAD, { ids, log })).toBe(path);
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ version: 1, payload: PAYLOAD });
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a note that cannot be left is no reason to fail", () => {
  expect(leaveSentinel(join(folder, "missing", "restart-sentinel.json"), PAYLOAD, { ids, log })).toBeNull();
  expect(warnings).toHaveLength(1);
});

test("the session that a note names is notified once, and the note is gone", async () => {
  leaveSentinel(path, PAYLOAD, { ids, log });
  await take();
  expect(await eventsFor("agent:main:telegram:group:7")).toEqual(["Gateway restarted: config-apply ok (config.apply)\nthe port changed"]);
  expect(existsSync(path)).toBe(false);
  // As when the process died after the session was notified and before the note was gone.
  leaveSentinel(path, PAYLOAD, { ids, log });
  await take();
  expect(await eventsFor("agent:main:telegram:group:7")).toHaveLength(1);
});

test("without a session, or with one that cannot be, the main session is notified", async () => {
  const { sessionKey: _, message: _note, ...without } = PAYLOAD;
  leaveSentinel(path, without, { ids, log });
  await take({ agents: { list: [{ id: "ops", default: true }] } });
  expect(await eventsFor("agent:ops:main")).toEqual(["Gateway restarted: config-apply ok (config.apply)"]);
  leaveSentinel(path, { ...PAYLOAD, ts: 5, sessionKey: "agent:../x:main" }, { ids, log });
  await take();
  expect(await eventsFor("agent:main:main")).toHaveLength(1);
});

test.each(["{ not json", "null", '{ "version": 2, "payload": {} }', '{ "version": 1, "payload": { "kind": 1 } }'])(
  "a note that is none is thrown away with a warning: %s",
  async (text) => {
    writeFileSync(path, text);
    await take();
    expect([warnings.length, existsSync(path)]).toEqual([1, false]);
    await take();
    expect(warnings).toHaveLength(1);
  },
);

test("a note is kept when the store cannot take it", async () => {
  leaveSentinel(path, PAYLOAD, { ids, log });
  const closed = await openStore({ stateDir: mkdtempSync(join(tmpdir(), "sentinel-closed-")), clock });
  await closed[Symbol.asyncDispose]();
  await takeSentinel(path, { config: { current: {} }, store: closed, ids, log });
  expect(existsSync(path)).toBe(true);
  await take();
  expect(await eventsFor("agent:main:telegram:group:7")).toHaveLength(1);
});
