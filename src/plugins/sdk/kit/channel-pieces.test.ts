import { expect, test } from "vitest";
import type { ChannelMessageActionContext } from "../../../protocol/index.ts";
import { type ChannelAccount, createAccountReader } from "./accounts.ts";
import { createActions, emojiName } from "./actions.ts";
import { createCache, createClients } from "./clients.ts";
import { ChannelError, notSent, unfit, unsure } from "./failure.ts";
import { createIntake, silentLog } from "./intake.ts";
import { configuredDirectory, unseen } from "./outgoing.ts";
import { createEditedPreview } from "./preview.ts";
import { realWaiting } from "./waiting.ts";

const { signal } = new AbortController();
const LONG = "long enough to be shown to someone";

/** A platform that shows one message, and fails on request. */
function screen(failures: unknown[] = []) {
  const shown: string[] = [];
  let now = 0;
  const act = async (line: string): Promise<string> => {
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    shown.push(line);
    return "m1";
  };
  const preview = createEditedPreview({
    signal,
    now: () => now,
    maxChars: 40,
    post: (text) => act(`post ${text}`),
    edit: (id, text) => act(`edit ${id} ${text}`),
    remove: (id) => act(`remove ${id}`),
  });
  return { shown, preview, later: (ms: number) => (now += ms) };
}

test("a preview is posted once it is long enough, then edited, cut between characters, and removed", async () => {
  const { shown, preview } = screen();
  await preview.update("short");
  await preview.update(LONG);
  await preview.update(`${"x".repeat(38)}🎉 and more`);
  await preview.discard();
  await preview.update(`${LONG} again`);
  expect(shown).toEqual([`post ${LONG}`, `edit m1 ${"x".repeat(38)}…`, "remove m1"]);
  expect(preview.id?.()).toBeUndefined();
});

test("a preview waits as long as the platform asks, and ends where it may have been posted unseen", async () => {
  const paused = screen([notSent("send", "later", 9000)]);
  await paused.preview.update(LONG);
  paused.later(8999);
  await paused.preview.update(`${LONG}.`);
  expect(paused.shown).toEqual([]);
  paused.later(1);
  await paused.preview.update(`${LONG}!`);
  expect(paused.shown).toEqual([`post ${LONG}!`]);
  const lost = screen([unsure("send", "no answer")]);
  await lost.preview.update(LONG);
  expect([lost.preview.id?.(), await lost.preview.seal()]).toEqual([null, undefined]);
});

const CREDENTIALS = [{ key: "token", label: "Token" }];
const accounts = createAccountReader<ChannelAccount>({ channel: "paper", credentials: CREDENTIALS, read: (account) => account, env: () => undefined });
const cfg = (more = {}) => ({ channels: { paper: { token: "t", ...more } } });

test("where a post under the same nonce is the same message, a preview whose answer got lost is found again, in its window", async () => {
  const nonces: string[] = [];
  const posts: string[] = [];
  let now = 0;
  const open = (failures: number) =>
    createEditedPreview({
      signal,
      now: () => now,
      nonceWindowMs: 5000,
      async post(text, nonce) {
        nonces.push(nonce);
        posts.push(text);
        if (nonces.length <= failures) throw unsure("send", "no answer");
        return "m1";
      },
      edit: async (_id, text) => void posts.push(`edit ${text}`),
      remove: async () => undefined,
    });
  const found = open(1);
  await found.update(LONG);
  expect(found.id?.()).toBeNull();
  expect(await found.seal()).toBe("m1");
  expect([new Set(nonces).size, posts]).toEqual([1, [LONG, LONG]]);
  nonces.length = posts.length = 0;
  const late = open(1);
  await late.update(LONG);
  now += 1000;
  await late.update(`${LONG}, and more`);
  expect([new Set(nonces).size, posts]).toEqual([1, [LONG, LONG, `edit ${LONG}, and more`]]);
  nonces.length = posts.length = 0;
  const lost = open(9);
  await lost.update(LONG);
  now += 5000;
  await lost.update(`${LONG}, and more`);
  expect([await lost.seal(), lost.id?.(), posts]).toEqual([undefined, null, [LONG]]);
});

test("actions are offered and done where their switch is on, and refused with the switch to set", async () => {
  const run = async () => ({ done: true });
  const actions = createActions({
    channel: "paper",
    label: "Paper",
    accounts,
    actions: { react: { gate: "reactions", run }, pin: { gate: "pins", isOn: false, run } },
  });
  const act = (action: ChannelMessageActionContext["action"], more = {}) => actions.handleAction!({ channel: "paper", action, cfg: cfg(more), params: {} });
  expect([actions.listActions!({ cfg: cfg() }), actions.listActions!({ cfg: cfg({ actions: { pins: true, reactions: false } }) })]).toEqual([
    ["react"],
    ["pin"],
  ]);
  expect((await act("react")).details).toEqual({ ok: true, done: true });
  await expect(act("pin")).rejects.toThrow("set channels.paper.actions.pins to true");
  await expect(act("poll")).rejects.toThrow("available: send, react, pin");
  expect(actions.listActions!({ cfg: { channels: { paper: { token: "" } } } }), "an account that cannot run").toEqual([]);
});

test("a client is made again when what it depends on changes, and closed", () => {
  const log: string[] = [];
  const clients = createClients<ChannelAccount, string>({
    key: ({ credentials }) => credentials["token"]!,
    open: ({ credentials }) => (log.push("open"), credentials["token"]!),
    close: (client) => void log.push(`close ${client}`),
  });
  const of = (token: string): string => clients.of(accounts.read(cfg({ token })));
  expect([of("a"), of("a"), of("b")]).toEqual(["a", "a", "b"]);
  clients[Symbol.dispose]();
  expect(log).toEqual(["open", "close a", "open", "close b"]);
});

test("a cache asks once, forgets failures and its oldest entries", async () => {
  const asked: string[] = [];
  const cache = createCache(async (key) => {
    asked.push(key);
    if (key === "bad" && asked.length === 1) throw new Error("not now");
    return key.toUpperCase();
  }, 2);
  await expect(cache.get("bad")).rejects.toThrow("not now");
  expect(await Promise.all([cache.get("bad"), cache.get("bad")])).toEqual(["BAD", "BAD"]);
  await cache.get("b");
  await cache.get("c");
  await cache.get("bad");
  expect(asked).toEqual(["bad", "bad", "b", "c", "bad"]);
});

test("an event that has to be looked up keeps its turn in its chat", async () => {
  const taken: string[] = [];
  const event = (text: string) => ({ kind: "message", id: text, chat: { type: "direct", id: "c" }, sender: { id: "s" }, text, to: "c" }) as const;
  const inbound = { accept: async ({ text }: { readonly text: string }) => (taken.push(text), { outcome: "accepted", duplicate: false } as const) };
  const intake = createIntake({ inbound, waiting: realWaiting, signal, log: silentLog });
  const slow = intake.addLater("c", async () => {
    await new Promise((resolve) => void setImmediate(resolve));
    return event("first");
  });
  const nothing = intake.addLater("c", async () => undefined);
  const failed = intake.addLater("c", async () => Promise.reject(new Error("no answer")));
  expect(await Promise.all([slow, nothing, failed.catch(() => "failed"), intake.add(event("second"))])).toEqual([true, true, "failed", true]);
  expect(taken).toEqual(["first", "second"]);
});

test("a step that nobody sees may always be done again; what was refused stays refused", async () => {
  await expect(unseen(Promise.reject(unsure("upload", "no answer")))).rejects.toMatchObject({ delivery: { state: "retry" } });
  await expect(unseen(Promise.reject(unfit("upload", "too large")))).rejects.toBeInstanceOf(ChannelError);
  await expect(unseen(Promise.reject(unfit("upload", "too large")))).rejects.toMatchObject({ delivery: { state: "failed" } });
});

test("emoji have names, with or without colons; what is not known has none", () => {
  expect(["👍", "❤️", ":tada:", "White_Check_Mark", "🦄", ""].map(emojiName)).toEqual(["thumbsup", "heart", "tada", "white_check_mark", undefined, undefined]);
});

test("the directory of the configuration lists what can be written to", async () => {
  const directory = configuredDirectory(accounts, { user: (entry) => (entry.startsWith("u") ? `user:${entry}` : undefined), group: (key) => `channel:${key}` });
  const params = {
    cfg: cfg({ allowFrom: ["u1", "u1", "Ann", "*"], groups: { g1: {}, "*": {} } }),
    runtime: { log: () => {}, error: () => {}, exit: () => {} },
  };
  expect((await directory.listPeers(params)).map(({ id }) => id)).toEqual(["user:u1"]);
  expect((await directory.listGroups({ ...params, query: "#G" })).map(({ id }) => id)).toEqual(["channel:g1"]);
});

test("what is missing from a named account is named by that account's key", () => {
  const reader = createAccountReader<ChannelAccount>({
    channel: "paper",
    credentials: [{ key: "token", label: "Token", isOwn: true }],
    read: (account) => ({ ...account, problems: [...account.problems, "channels.paper.region is no country"] }),
  });
  const cfg = { channels: { paper: { token: "t", accounts: { work: {} } } } };
  expect(reader.read(cfg, "work").problems).toEqual(["no token: set channels.paper.accounts.work.token", "channels.paper.accounts.work.region is no country"]);
  expect(reader.read(cfg, "default").problems).toEqual(["channels.paper.region is no country"]);
});
