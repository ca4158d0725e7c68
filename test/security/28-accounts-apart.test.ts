import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createAllowLists, createPairing, decideAccess, type AllowLists, type Pairing } from "../../src/channels/index.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import type { ChannelInboundEvent, HostConfig } from "../../src/protocol/index.ts";
import { openStore, type Store } from "../../src/store/index.ts";
import { event, openPlace } from "../conversation/place.ts";

/** Channels that share lists over accounts elsewhere, and such that do not. */
const CHANNELS = ["telegram", "whatsapp", "discord", "slack", "signal", "irc", "matrix", "some-plugin"];
const ACCOUNTS = ["default", "work"];
const POLICIES = [undefined, "pairing", "allowlist", "open"];

let folder: string;
let store: Store;
let lists: AllowLists;
let pairing: Pairing;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "accounts-"));
  store = await openStore({ stateDir: folder, clock: systemClock });
  lists = createAllowLists({ store });
  pairing = createPairing({ store, clock: systemClock, random: systemRandom, ids: createIds(systemRandom), lists });
});
afterAll(async () => {
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const eventIn = (type: "direct" | "group"): ChannelInboundEvent => ({
  kind: "message",
  id: "m",
  text: "hello",
  to: "c",
  chat: { type, id: "c" },
  sender: { id: "7" },
  mention: { mentioned: true },
});

const mayWrite = (cfg: HostConfig, channel: string, accountId: string, type: "direct" | "group" = "direct"): boolean =>
  decideAccess({ cfg, plugin: undefined, channel, accountId, event: eventIn(type), approved: lists.get(channel, accountId) }).allow;

test.each(CHANNELS)("28: on %s who was paired with one account is a stranger to the other", async (channel) => {
  const { code } = await pairing.request({ channel, accountId: "work", senderId: "7" });
  await expect(pairing.approve(channel, code, "default")).rejects.toMatchObject({ code: "NOT_FOUND" });
  await pairing.approve(channel, code, "work");
  const reloaded = createAllowLists({ store });
  await reloaded.load();
  for (const known of [lists, reloaded]) {
    expect(ACCOUNTS.map((account) => known.get(channel, account).has("7"))).toEqual([false, true]);
  }
  for (const dmPolicy of POLICIES) {
    const cfg = { channels: { [channel]: { ...(dmPolicy ? { dmPolicy } : {}), accounts: { default: {}, work: {} } } } } as HostConfig;
    expect(ACCOUNTS.map((account) => mayWrite(cfg, channel, account))).toEqual([false, true]);
    expect(mayWrite(cfg, channel, "default", "group")).toBe(false);
  }
  expect(CHANNELS.filter((other) => other !== channel && lists.get(other, "work") === lists.get(channel, "work"))).toEqual([]);
});

test("28: a list of one account lets nobody in at the other", () => {
  const accounts = { default: { allowFrom: ["1"], groupAllowFrom: ["1"] }, work: { allowFrom: ["7"], groupAllowFrom: ["7"] } };
  for (const [dmPolicy, groupPolicy] of [
    ["allowlist", "allowlist"],
    ["open", "allowlist"],
  ]) {
    const cfg = { channels: { line: { dmPolicy, groupPolicy, accounts } } } as HostConfig;
    for (const type of ["direct", "group"] as const) expect(ACCOUNTS.map((account) => mayWrite(cfg, "line", account, type))).toEqual([false, true]);
  }
});

test("28: an account that says less is not looser than its channel", () => {
  const cfg = {
    channels: { line: { dmPolicy: "disabled", groupPolicy: "disabled", allowFrom: ["7"], accounts: { default: {}, work: { dmPolicy: "allowlist" } } } },
  };
  expect(ACCOUNTS.map((account) => mayWrite(cfg as HostConfig, "line", account))).toEqual([false, true]);
  expect(ACCOUNTS.map((account) => mayWrite(cfg as HostConfig, "line", account, "group"))).toEqual([false, false]);
});

test("28: accounts do not use up each other's limit of waiting strangers", async () => {
  const ask = (accountId: string, senderId: string) => pairing.request({ channel: "nostr", accountId, senderId });
  for (const senderId of ["1", "2", "3", "4"]) await ask("default", senderId);
  expect((await ask("default", "5")).code).toBe("");
  expect((await ask("work", "5")).created).toBe(true);
  // An account's name cannot be made to read like another's, whatever a sender calls itself.
  expect((await ask("work", "default:1")).created).toBe(true);
  expect((await pairing.list({ channel: "nostr", accountId: "default" })).map(({ senderId }) => senderId).sort()).toEqual(["1", "2", "3"]);
});

test("28: on the whole path who was let in by one account is a stranger to the other, in their own chat and in a group", async () => {
  const config = { channels: { test: { groups: { "*": { requireMention: false } }, groupAllowFrom: ["nobody"] } } } as OpenClawConfig;
  const asked: string[] = [];
  await using place = await openPlace(config, { heard: ({ messages }) => void asked.push(JSON.stringify(messages.at(-1))) });
  const [home, work] = ACCOUNTS.map((account) => place.conversation.inbound("test", account)) as [typeof place.inbound, typeof place.inbound];
  expect(await home.accept(event("hello"))).toMatchObject({ outcome: "refused" });
  await place.out(1);
  const [request] = await place.pairing.list({ channel: "test", accountId: "default" });
  await place.pairing.approve("test", request!.code, "default");
  expect(await work.accept(event("the other door"))).toMatchObject({ outcome: "refused" });
  expect(await work.accept(event("the other group", { chat: { type: "group", id: "g" }, to: "g" }))).toMatchObject({ outcome: "refused" });
  expect(await home.accept(event("the same door"))).toMatchObject({ outcome: "accepted" });
  await place.quiet();
  expect(asked).toHaveLength(1);
  expect(asked[0]).toContain("the same door");
});
