import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createAllowLists, createPairing, type AllowLists, type Pairing } from "../../src/channels/index.ts";
import { openStore, type Store } from "../../src/store/index.ts";

const HERE = { channel: "telegram", accountId: "default" };

let folder: string;
let store: Store;
let lists: AllowLists;
let pairing: Pairing;

async function open(): Promise<void> {
  store = await openStore({ stateDir: folder, clock: systemClock });
  lists = createAllowLists({ store });
  await lists.load();
  pairing = createPairing({ store, clock: systemClock, random: systemRandom, ids: createIds(systemRandom), lists });
}
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "channel-pairing-"));
  await open();
});
afterEach(async () => {
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

test("7: of a hundred approvals of one code at once one succeeds", async () => {
  const { code } = await pairing.request({ ...HERE, senderId: "7" });
  const answers = await Promise.allSettled(Array.from({ length: 100 }, (_, n) => pairing.approve("telegram", n % 2 === 0 ? code : ` ${code.toLowerCase()} `)));
  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const answer of answers) if (answer.status === "rejected") expect(answer.reason).toMatchObject({ code: "NOT_FOUND" });
  expect([...lists.get("telegram", "default")]).toEqual(["7"]);
});

test("7: of approvals and rejections at once one counts, and the sender is in or out accordingly", async () => {
  const { code } = await pairing.request({ ...HERE, senderId: "7" });
  const answers = await Promise.allSettled(
    Array.from({ length: 100 }, (_, n) => (n % 2 === 0 ? pairing.reject("telegram", code) : pairing.approve("telegram", code))),
  );
  const winners = answers.flatMap(({ status }, n) => (status === "fulfilled" ? [n] : []));
  expect(winners).toHaveLength(1);
  const expected = winners[0]! % 2 === 0 ? [] : ["7"];
  expect([...lists.get("telegram", "default")]).toEqual(expected);
  expect(await pairing.allowed("telegram", "default")).toEqual(expected);
});

test("7: a code that was used is worth nothing after a restart, also when its sender was removed since", async () => {
  const { code } = await pairing.request({ ...HERE, senderId: "7" });
  await pairing.approve("telegram", code);
  await pairing.remove({ ...HERE, senderId: "7" });
  await store[Symbol.asyncDispose]();
  await open();
  await expect(pairing.approve("telegram", code)).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect([...lists.get("telegram", "default")]).toEqual([]);
});

test("7: a flood of strangers leaves three codes, and nobody who waits loses theirs", async () => {
  const { code } = await pairing.request({ ...HERE, senderId: "first" });
  const flood = await Promise.all(Array.from({ length: 300 }, (_, n) => pairing.request({ ...HERE, senderId: `s${n % 50}` })));
  expect(new Set(flood.map((answer) => answer.code).filter((text) => text !== "")).size).toBe(2);
  expect(await pairing.list()).toHaveLength(3);
  expect((await pairing.approve("telegram", code)).senderId).toBe("first");
});
