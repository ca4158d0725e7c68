import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { seededRandom } from "../../base/random.ts";
import type { HostConfig } from "../../protocol/index.ts";
import { openStore, type Store } from "../../store/index.ts";
import { createAllowLists, type AllowLists } from "./allow-lists.ts";
import { createAllowed, type Allowed } from "./allowed.ts";
import { createPairing, type Pairing } from "./pairing.ts";

const clock = manualClock();
let folder: string;
let store: Store;
let lists: AllowLists;
let pairing: Pairing;
let config: HostConfig;
let allowed: Allowed;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "allowed-"));
  store = await openStore({ stateDir: folder, clock });
  const random = seededRandom(7);
  lists = createAllowLists({ store });
  pairing = createPairing({ store, clock, random, ids: createIds(random), lists });
  config = {};
  allowed = createAllowed({ pairing, config: () => config });
});
afterEach(async () => {
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const named = async (filter = {}) =>
  (await allowed.list(filter)).map(({ channel, accountId, senderId, source, path }) => [channel, accountId, senderId, path ?? source]);

test("approved senders are listed with configured ones, each with its source", async () => {
  config = {
    channels: {
      defaults: { groupPolicy: "open" },
      telegram: { allowFrom: [11, "*", " "], accounts: { Work: { allowFrom: ["tg:12"] }, home: {} } },
      irc: { dm: { allowFrom: ["anna"] } },
      slack: {},
    },
  };
  const { code } = await pairing.request({ channel: "telegram", accountId: "home", senderId: "7" });
  await pairing.approve("telegram", code);
  await pairing.allow({ channel: "irc", accountId: "default", senderId: "bob" });
  expect(await named()).toEqual([
    ["irc", "default", "bob", "command"],
    ["telegram", "home", "7", "pairing"],
    ["telegram", "work", "tg:12", "channels.telegram.accounts.Work.allowFrom"],
    ["telegram", "home", "11", "channels.telegram.allowFrom"],
    ["telegram", "home", "*", "channels.telegram.allowFrom"],
    ["irc", "default", "anna", "channels.irc.dm.allowFrom"],
  ]);
  expect(await named({ channel: "telegram", accountId: "WORK" })).toEqual([["telegram", "work", "tg:12", "channels.telegram.accounts.Work.allowFrom"]]);
  expect((await allowed.list({ channel: "telegram", accountId: "home" }))[0]?.addedAt).toBe(clock.now());
});

test("a revoked sender is unknown at once, on that account only", async () => {
  for (const accountId of ["default", "work"]) await pairing.allow({ channel: "telegram", accountId, senderId: "7" });
  expect(await allowed.revoke({ channel: "telegram", senderId: " 7 " })).toEqual({ channel: "telegram", accountId: "default", senderId: "7" });
  expect([[...lists.get("telegram", "default")], [...lists.get("telegram", "work")]]).toEqual([[], ["7"]]);
  await expect(allowed.revoke({ channel: "telegram", senderId: "7" })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a setting that still allows the sender is named", async () => {
  config = { channels: { telegram: { allowFrom: ["telegram:7"] }, irc: { allowFrom: ["*"] } } };
  await pairing.allow({ channel: "telegram", accountId: "default", senderId: "7" });
  expect(await allowed.revoke({ channel: "telegram", senderId: "7" })).toMatchObject({ path: "channels.telegram.allowFrom" });
  await expect(allowed.revoke({ channel: "telegram", senderId: "7" })).rejects.toMatchObject({
    code: "NOT_FOUND",
    message: expect.stringContaining("channels.telegram.allowFrom in the configuration") as string,
  });
  await expect(allowed.revoke({ channel: "irc", senderId: "anybody" })).rejects.toMatchObject({
    message: expect.stringContaining("channels.irc.allowFrom") as string,
  });
});
