import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import { silentLogger } from "../base/log/logger.ts";
import type { OpenClawConfig } from "../config/index.ts";
import { openStore, type Write, scheduleMaintenance } from "../store/index.ts";
import { expireMedia } from "./expiry.ts";

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 5, 30);

async function open(config: OpenClawConfig = {}) {
  const stateDir = mkdtempSync(join(tmpdir(), "media-"));
  const clock = manualClock(NOW);
  const store = await openStore({ stateDir, clock });
  onTestFinished(async () => {
    await store[Symbol.asyncDispose]();
    rmSync(stateDir, { recursive: true, force: true });
  });
  const path = (name: string): string => join(stateDir, "media", name);
  function file(name: string, days: number): string {
    mkdirSync(join(path(name), ".."), { recursive: true });
    writeFileSync(path(name), name);
    utimesSync(path(name), new Date(NOW - days * DAY), new Date(NOW - days * DAY));
    return path(name);
  }
  const message = (messageId: string, payload: unknown): Write => [
    "inbox.accept",
    { channel: "test", account: "default", conversation: "ada", messageId, kind: "message", text: "look", payload },
  ];
  const answer = (nonce: string, payload: unknown): Write => [
    "outbox.add",
    { rows: [{ nonce, channel: "test", account: "default", target: "ada", payload, expiresAt: NOW + DAY }] },
  ];
  const deps = { store, clock, config: () => config, stateDir, log: silentLogger };
  return { ...deps, deps, file, path, message, answer };
}

test("files of messages go after seven days, in whichever folder a channel keeps them; links and younger ones stay", async () => {
  const { deps, file, path } = await open();
  const [old, deep, young] = [file("inbound/a---1.png", 8), file("irc/logs/b.txt", 8), file("inbound/c.png", 6)];
  symlinkSync(young, path("inbound/link"));
  expect(await expireMedia(deps)).toEqual({ removed: 2, kept: 0 });
  expect([old, deep, young, path("inbound/link")].map((one) => existsSync(one))).toEqual([false, false, true, true]);
});

test("store.retention.mediaDays says how long", async () => {
  const { deps, file } = await open({ store: { retention: { mediaDays: 30 } } });
  const [old, young] = [file("inbound/a.png", 31), file("inbound/b.png", 29)];
  await expireMedia(deps);
  expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
});

test("above store.retention.mediaMb the oldest go, unless a message is open that came before them", async () => {
  const { deps, store, file, message } = await open({ store: { retention: { mediaMb: 2 } } });
  const heavy = (name: string, days: number): string => {
    const path = file(name, days);
    writeFileSync(path, Buffer.alloc(1024 * 1024));
    utimesSync(path, new Date(NOW - days * DAY), new Date(NOW - days * DAY));
    return path;
  };
  const paths = [heavy("inbound/c.png", 3), heavy("inbound/b.png", 2), heavy("outbound/a.png", 1), heavy("inbound/now.png", 0)];
  const exist = (): boolean[] => paths.map((path) => existsSync(path));
  expect(await expireMedia(deps)).toEqual({ removed: 2, kept: 0 });
  expect(exist()).toEqual([false, false, true, true]);
  paths.push(heavy("inbound/d.png", -1), heavy("inbound/e.png", -1));
  await store.commit([message("m1", { event: {} })]);
  deps.clock.advance(2 * DAY);
  expect(await expireMedia(deps)).toEqual({ removed: 1, kept: 0 });
  expect(exist()).toEqual([false, false, false, true, true, true]);
});

test("a file that a message without an end or an unsent answer names stays until they have their end", async () => {
  const { deps, store, file, message, answer } = await open();
  const [asked, sent, address, nobody] = [
    file("inbound/asked.png", 9),
    file("inbound/sent.png", 9),
    file("outbound/ein bild.png", 9),
    file("inbound/x.png", 9),
  ];
  await store.commit([
    message("m1", { event: { media: [{ kind: "image", ref: { saved: asked } }] } }),
    answer("n1", { text: "here", mediaUrls: [sent] }),
    answer("n2", { mediaUrl: `file://${encodeURI(address)}` }),
  ]);
  expect(await expireMedia(deps)).toEqual({ removed: 1, kept: 3 });
  expect([asked, sent, address, nobody].map((one) => existsSync(one))).toEqual([true, true, true, false]);
  await store.write("outbox.mark", { id: 1, state: "attempting" });
  await expireMedia(deps);
  expect(existsSync(sent)).toBe(true);
  await store.commit([
    ["outbox.mark", { id: 1, state: "sent" }],
    ["outbox.mark", { id: 2, state: "failed", why: "gone" }],
    ["inbox.settle", { ids: [1], outcome: "answered", why: "" }],
  ]);
  expect(await expireMedia(deps)).toEqual({ removed: 3, kept: 0 });
});

test("without a folder there is nothing to do", async () => {
  const { deps } = await open();
  expect(await expireMedia(deps)).toEqual({ removed: 0, kept: 0 });
});

test("the gateway's hourly pass does it", async () => {
  const { deps, clock, file } = await open();
  const old = file("inbound/a.png", 8);
  using _job = scheduleMaintenance({ ...deps, expireFiles: () => expireMedia(deps) });
  clock.advance(60_000);
  await expect.poll(() => existsSync(old)).toBe(false);
});
