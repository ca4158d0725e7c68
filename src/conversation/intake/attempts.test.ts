import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log/logger.ts";
import { openStore, type Store } from "../../store/index.ts";
import { createAttempts } from "./attempts.ts";

async function setup() {
  const folder = mkdtempSync(join(tmpdir(), "attempts-"));
  const clock = manualClock();
  const store: Store = await openStore({ stateDir: folder, clock });
  onTestFinished(async () => {
    await store[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  const accept = async (messageId: string): Promise<number> =>
    (await store.write("inbox.accept", { channel: "test", account: "default", conversation: "c", messageId, kind: "message", text: messageId })).id;
  /** As the next process would make them. */
  const looks = (names: readonly string[] = ["inbound_claim"]) =>
    createAttempts({
      store,
      clock,
      log: silentLogger,
      hooks: { has: (name: string) => names.includes(name), run: () => Promise.resolve(undefined) } as never,
    });
  const stored = () => store.read("meta.get", { key: "intake.looks" });
  return { accept, looks, stored, clock };
}

test("the attempts of an input in which processes ended are counted, and the fourth is not made", async () => {
  const { accept, looks } = await setup();
  const id = await accept("poison");
  expect([await looks().begin([id]), await looks().begin([id]), await looks().begin([id]), await looks().begin([id])]).toEqual([true, true, true, false]);
});

test("inputs that were looked at in the same attempt go one at a time afterwards, and count nothing once plugins are done with them", async () => {
  const { accept, looks } = await setup();
  const [first, second] = [await accept("fine"), await accept("poison")];
  const before = looks();
  await Promise.all([before.begin([first]), before.begin([second])]);
  for (const isLast of [false, false, true]) {
    const now = looks();
    const order: string[] = [];
    const [one, two] = [now.begin([first]).then(() => order.push("first")), now.begin([second])];
    await one;
    now.passed([first]);
    expect(await two).toBe(!isLast);
    expect(order).toEqual(["first"]);
  }
});

test("one that takes its time holds up the next for half a minute at most", async () => {
  const { accept, looks, clock } = await setup();
  const [first, second] = [await accept("slow"), await accept("next")];
  const before = looks();
  await Promise.all([before.begin([first]), before.begin([second])]);
  const now = looks();
  expect(await now.begin([first])).toBe(true);
  const waiting = now.begin([second]);
  clock.advance(30_000);
  expect(await waiting).toBe(true);
});

test("nothing is written where no plugin is asked, and what has ended is forgotten", async () => {
  const { accept, looks, stored } = await setup();
  const id = await accept("plain");
  expect(await looks([]).begin([id])).toBe(true);
  expect(await stored()).toBeNull();
  const now = looks();
  await now.begin([id]);
  expect(await stored()).toEqual([[id, 1]]);
  now.passed([id]);
  await expect.poll(stored).toEqual([]);
});
