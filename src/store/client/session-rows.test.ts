import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { seededRandom } from "../../base/random.ts";
import { inspectStore } from "../inspect.ts";
import type { Store } from "../store.ts";
import { openStore } from "./open-store.ts";
import { createSessionRows } from "./session-rows.ts";

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "session-rows-"));
  store = await openStore({ stateDir: folder, clock: systemClock });
});
afterEach(async () => {
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const entry = (sessionId: string, more: object = {}): { sessionId: string; updatedAt: number } => ({ sessionId, updatedAt: 1, ...more });
const get = (key: string): ReturnType<typeof store.read<"sessions.get">> => store.read("sessions.get", { key });

/** The session as the database has it. */
function stored(key: string): unknown {
  using inspection = inspectStore(folder)!;
  return inspection.read("sessions.get", { key });
}

test("a session that was read is not asked for again, and is as the store has it", async () => {
  expect(await get("k")).toBeUndefined();
  await store.write("sessions.put", { key: "k", agentId: "main", entry: entry("s", { label: "a", gone: undefined, none: null }) });
  expect(await get("k")).toStrictEqual(stored("k"));
  const asked: string[] = [];
  const rows = createSessionRows((key) => (asked.push(key), get(key)));
  expect(await rows.get("k")).toStrictEqual(stored("k"));
  for (const patch of [{ label: null, said: "x" }, { said: "y" }]) {
    for (const kind of ["sessions.merge", "sessions.patch"] as const) {
      const writes = [[kind, { key: "k", patch }]] as const;
      rows.committing(writes, store.commit(writes));
      expect(await rows.get("k")).toStrictEqual(await get("k"));
      expect(await rows.get("k")).toStrictEqual(stored("k"));
    }
  }
  expect(asked).toEqual(["k"]);
  rows.clear();
  await rows.get("k");
  expect(asked).toEqual(["k", "k"]);
});

test("what is under way is seen by a read that comes after it", async () => {
  await store.write("sessions.put", { key: "k", agentId: "main", entry: entry("s") });
  const first = store.write("sessions.merge", { key: "k", patch: { said: "1" } });
  const second = store.write("sessions.merge", { key: "k", patch: { said: "2" } });
  expect((await get("k"))?.entry["said"]).toBe("2");
  await Promise.all([first, second]);
  expect((await get("k"))?.entry["said"]).toBe("2");
  const removed = store.write("sessions.delete", { key: "k" });
  expect(await get("k")).toBeUndefined();
  await removed;
  expect(await get("k")).toBeUndefined();
});

test("a rename moves the session also here", async () => {
  await store.write("sessions.put", { key: "a", agentId: "main", entry: entry("s") });
  await store.write("sessions.rename", { from: "a", to: "b" });
  expect(await get("a")).toBeUndefined();
  expect((await get("b"))?.entry.sessionId).toBe("s");
});

test("a refused change changes nothing, and a refused assertion has the session read again", async () => {
  await store.write("sessions.put", { key: "k", agentId: "main", entry: entry("s") });
  await expect(store.write("sessions.merge", { key: "k", patch: { said: "x" }, version: 7 })).rejects.toMatchObject({ code: "CONFLICT" });
  expect((await get("k"))?.version).toBe(1);
  await using other = await openStore({ stateDir: folder, clock: systemClock });
  await other.write("sessions.merge", { key: "k", patch: { said: "by another writer" } });
  await expect(store.write("sessions.expect", { key: "k", version: 1 })).rejects.toMatchObject({ code: "CONFLICT" });
  expect((await get("k"))?.entry["said"]).toBe("by another writer");
});

test("nobody can change what others are given", async () => {
  await store.write("sessions.put", { key: "k", agentId: "main", entry: entry("s") });
  const row = (await get("k"))!;
  expect(() => Object.assign(row.entry, { sessionId: "other" })).toThrow(TypeError);
  expect((await get("k"))?.entry.sessionId).toBe("s");
});

test("whatever is done in whatever order, a read after it gives what the store has", async () => {
  const random = seededRandom(7);
  const pick = (count: number): number => Math.floor(random.float() * count);
  for (let i = 0; i < 400; i += 1) {
    const key = `k${pick(3)}`;
    const doings = [
      () => store.write("sessions.put", { key, agentId: "main", entry: entry(`s${i}`, { n: i }) }),
      () => store.write("sessions.merge", { key, patch: { n: i, [`f${pick(3)}`]: pick(2) ? null : i } }),
      () => store.write("sessions.patch", { key, patch: { n: i } }),
      () => store.write("sessions.delete", { key }),
      () => store.write("sessions.rename", { from: key, to: `k${pick(3)}` }),
      () =>
        store.commit([
          ["sessions.merge", { key, patch: { a: i } }],
          ["sessions.merge", { key: `k${pick(3)}`, patch: { b: i } }],
        ]),
      () => get(key),
    ];
    const going = Array.from({ length: 1 + pick(3) }, () => doings[pick(doings.length)]!().catch(() => undefined));
    if (pick(2)) await Promise.all(going);
    // Answered after what was started before.
    const [ours] = await Promise.all([get(key), ...going]);
    expect(ours, `step ${i}`).toStrictEqual(stored(key));
  }
});
