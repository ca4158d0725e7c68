import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock, type ManualClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { systemRandom, type Random } from "../../base/random.ts";
import { openStore, type Store } from "../../store/index.ts";
import { createAllowLists, createPairing, pairingReply, type AllowLists, type Pairing } from "../index.ts";

const HOUR = 60 * 60_000;
const here = { channel: "telegram", accountId: "default" };

let folder: string;
let clock: ManualClock;
let store: Store;
let lists: AllowLists;
let pairing: Pairing;

const ids = createIds(systemRandom);
const make = (random: Random = systemRandom): Pairing => createPairing({ store, clock, random, ids, lists });
const ask = async (senderId: string, place = here) => pairing.request({ ...place, senderId });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "pairing-"));
  clock = manualClock();
  store = await openStore({ stateDir: folder, clock });
  lists = createAllowLists({ store });
  pairing = make();
});
afterEach(async () => {
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

test("a stranger gets a code of eight unambiguous characters, and keeps it", async () => {
  const first = await ask("7");
  expect(first).toEqual({ code: expect.stringMatching(/^[A-HJ-NP-Z2-9]{8}$/) as string, created: true });
  clock.advance(5000);
  expect(await ask("7")).toEqual({ code: first.code, created: false });
  expect(await pairing.list({ channel: "telegram" })).toEqual([
    { ...here, senderId: "7", code: first.code, createdAt: clock.now() - 5000, lastSeenAt: clock.now(), expiresAt: clock.now() - 5000 + HOUR, meta: {} },
  ]);
});

test("pending requests have different codes, across channels and accounts", async () => {
  let draws = 0;
  // The second draw repeats the first.
  const repeating: Random = { float: () => 0, bytes: (size) => Buffer.alloc(size, draws++ < 2 ? 1 : 2) };
  pairing = make(repeating);
  expect((await ask("7")).code).toBe("BBBBBBBB");
  expect((await ask("7", { channel: "irc", accountId: "work" })).code).toBe("CCCCCCCC");
});

test("at most three requests are pending per account, also when many come at once; others get no answer", async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => ask(String(n))));
  expect(answers.filter(({ created }) => created)).toHaveLength(3);
  expect(answers.slice(3)).toEqual(Array.from({ length: 17 }, () => ({ code: "", created: false })));
  expect((await ask("7", { channel: "telegram", accountId: "work" })).created).toBe(true);
  expect(await pairing.list({ channel: "telegram", accountId: "default" })).toHaveLength(3);
});

test("a code expires after an hour, and makes space for new requests", async () => {
  const codes = await Promise.all(["1", "2", "3"].map((sender) => ask(sender)));
  clock.advance(HOUR);
  await expect(pairing.approve("telegram", codes[0]!.code)).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await pairing.list()).toEqual([]);
  const again = await ask("1");
  expect(again.created).toBe(true);
  expect(again.code).not.toBe(codes[0]!.code);
});

test("a code is accepted as people type it, approves one sender, and is used up", async () => {
  const { code } = await pairing.request({ ...here, senderId: "7", meta: { name: "Anna", junk: 5, long: "x".repeat(900) } });
  expect(await pairing.approve("telegram", ` ${code.toLowerCase()}\n`)).toEqual({ ...here, senderId: "7", meta: { name: "Anna", long: "x".repeat(200) } });
  expect([...lists.get("telegram", "default")]).toEqual(["7"]);
  expect(await pairing.allowed("telegram", "default")).toEqual(["7"]);
  await expect(pairing.approve("telegram", code)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a code is valid for its channel and account only", async () => {
  const { code } = await ask("7", { channel: "telegram", accountId: "work" });
  await expect(pairing.approve("irc", code)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(pairing.approve("telegram", code, "default")).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await pairing.approve("telegram", code, "Work")).toMatchObject({ accountId: "work" });
});

test("a rejected sender is not approved, and may ask again", async () => {
  const { code } = await ask("7");
  expect(await pairing.reject("telegram", code)).toMatchObject({ senderId: "7" });
  await expect(pairing.approve("telegram", code)).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await pairing.allowed("telegram", "default")).toEqual([]);
  expect((await ask("7")).created).toBe(true);
});

test("manual approvals and removals take effect at once and after a restart", async () => {
  expect(await pairing.allow({ ...here, senderId: " 7 " })).toBe(true);
  expect(await pairing.allow({ ...here, senderId: "7" })).toBe(false);
  await pairing.allow({ ...here, senderId: "8" });
  expect(await pairing.remove({ ...here, senderId: "8" })).toBe(true);
  expect(await pairing.remove({ ...here, senderId: "8" })).toBe(false);
  expect([...lists.get("telegram", "default")]).toEqual(["7"]);
  const later = createAllowLists({ store });
  expect([...later.get("telegram", "default")]).toEqual([]);
  await later.load();
  expect([...later.get("telegram", "DEFAULT")]).toEqual(["7"]);
});

test.each(["*", "", "  "])("%j is never let in", async (senderId) => {
  await expect(pairing.allow({ ...here, senderId })).rejects.toMatchObject({ code: "INVALID_INPUT" });
  await expect(pairing.request({ ...here, senderId })).rejects.toMatchObject({ code: "INVALID_INPUT" });
  expect((await ask("7")).created).toBe(true);
});

test("a sender's id may contain anything", async () => {
  const senderId = "a:b%_\\:é\u0000";
  const { code } = await ask(senderId);
  expect((await ask(senderId)).code).toBe(code);
  await pairing.approve("telegram", code);
  expect(lists.get("telegram", "default").has(senderId.trim())).toBe(true);
});

test("lists and requests of an earlier system are imported once; their files stay", async () => {
  const credentials = join(folder, "credentials");
  mkdirSync(credentials);
  const put = (name: string, content: unknown) => writeFileSync(join(credentials, name), typeof content === "string" ? content : JSON.stringify(content));
  const recent = new Date(clock.now() - 1000).toISOString();
  const request = { id: "9", code: "ABCDEFGH", createdAt: recent, lastSeenAt: recent, meta: { accountId: "work", name: "Eve" } };
  put("telegram-allowFrom.json", { version: 1, allowFrom: ["7", "*", 8, ""] });
  put("telegram-work-allowFrom.json", { version: 1, allowFrom: ["77"] });
  put("nextcloud-talk-allowFrom.json", { version: 1, allowFrom: ["anna"] });
  put("telegram-pairing.json", { version: 1, requests: [request, { ...request, id: "10", createdAt: new Date(clock.now() - HOUR).toISOString() }, 5] });
  put("irc-allowFrom.json", "{ broken");
  put("oauth.json", {});
  const problems: string[] = [];
  const files = { folder: credentials, cfg: { channels: { telegram: {}, irc: {} } }, channels: ["nextcloud-talk", "nextcloud"], clock, ids };
  const load = async (): Promise<AllowLists> => {
    const made = createAllowLists({ store, files: { ...files, problem: (text) => problems.push(text) } });
    await made.load();
    return made;
  };
  const first = await load();
  expect([...first.get("telegram", "default")]).toEqual(["7", "8"]);
  expect([...first.get("telegram", "work")]).toEqual(["77"]);
  expect([...first.get("nextcloud-talk", "default")]).toEqual(["anna"]);
  expect(await pairing.list({ channel: "telegram" })).toMatchObject([{ accountId: "work", senderId: "9", code: "ABCDEFGH", meta: { name: "Eve" } }]);
  expect(problems).toEqual([expect.stringContaining("irc-allowFrom.json was left unchanged")]);
  await pairing.remove({ ...here, senderId: "8" });
  expect([...(await load()).get("telegram", "default")]).toEqual(["7"]);
  expect(JSON.parse(readFileSync(join(credentials, "telegram-allowFrom.json"), "utf8"))).toMatchObject({ allowFrom: ["7", "*", 8, ""] });
});

test("a list without an account goes to the default account, which is the first one where none has that name", async () => {
  mkdirSync(join(folder, "c"));
  writeFileSync(join(folder, "c", "telegram-allowFrom.json"), JSON.stringify({ allowFrom: ["7"] }));
  const cfg = { channels: { telegram: { accounts: { zoe: {}, anna: {} } } } };
  const own = createAllowLists({ store, files: { folder: join(folder, "c"), cfg, clock, ids } });
  await own.load();
  expect([[...own.get("telegram", "anna")], [...own.get("telegram", "zoe")], [...own.get("telegram", "default")]]).toEqual([["7"], [], []]);
});

test("the reply to a stranger says what to do", () => {
  const text = pairingReply({ channel: "telegram", idLine: "Your user id: 7", code: "ABCDEFGH" });
  expect(text).toContain("Your user id: 7");
  expect(text).toContain("openclaw pairing approve telegram ABCDEFGH");
});
