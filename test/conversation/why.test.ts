import { expect, test, vi } from "vitest";
import { createHooks } from "../../src/hooks/index.ts";
import { manualClock, systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { loadWhy, type Story } from "../../src/conversation/index.ts";
import { inspectStore, type Store } from "../../src/store/index.ts";
import { createIds } from "../../src/base/ids.ts";
import { seededRandom } from "../../src/base/random.ts";
import { openStore } from "../../src/store/index.ts";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { echoAgents } from "../harness/echo-agents.ts";
import { event, openPlace, OPEN } from "./place.ts";

vi.setConfig({ testTimeout: 120_000 });

const KEY = "agent:main:main";

async function tell(store: Pick<Store, "read">, what: string, last?: number): Promise<readonly Story[]> {
  const { createWhy } = await loadWhy();
  return createWhy({ store, now: () => Date.now() }).tell(what, last === undefined ? {} : { last });
}

const kinds = ({ steps }: Story): readonly string[] => steps.map(({ kind }) => kind);
const textOf = ({ steps }: Story, kind: string): string => steps.find((step) => step.kind === kind)?.text ?? "";

async function until(done: () => Promise<boolean>): Promise<void> {
  while (!(await done())) await new Promise((resolve) => setTimeout(resolve, 5));
}

function hooksOf(name: string) {
  const hooks = createHooks({ clock: systemClock, log: silentLogger });
  return { hooks, registration: { pluginId: name, trusted: true } as const };
}

test("an answered message: received, let in, routed, waited, asked the model, sent", async () => {
  await using place = await openPlace(OPEN);
  await place.inbound.accept(event("hello", { id: "77" }));
  await place.out(1);
  await place.quiet();
  const [story] = await tell(place.store, "77");
  expect(story!.verdict).toMatchObject({ outcome: "answered", level: "ok", text: expect.stringMatching(/^answered after /) });
  expect(story!.about).toMatchObject({ channel: "test", account: "default", conversation: "ada", sender: "ada", sessionKey: KEY, messageId: "77" });
  expect(kinds(story!)).toEqual(expect.arrayContaining(["received", "gate", "route", "queue", "start", "model", "end", "delivery"]));
  expect(kinds(story!)[0]).toBe("received");
  expect(textOf(story!, "gate")).toContain("channels.test");
  expect(textOf(story!, "route")).toContain(KEY);
  expect(textOf(story!, "delivery")).toContain("sent as message m1");
  expect(story!.steps.map(({ at }) => at)).toEqual(story!.steps.map(({ at }) => at).toSorted((a, b) => a - b));
  const model = story!.steps.find(({ kind }) => kind === "model")!;
  expect(model.lane).toBe("model");
  expect(story!.steps[model.parent!]!.kind).toBe("start");
});

test("the newest messages of all sessions, as many as are wanted", async () => {
  await using place = await openPlace(OPEN);
  expect(await tell(place.store, "recent", 5)).toEqual([]);
  await place.inbound.accept(event("one", { id: "r1" }));
  await place.inbound.accept(event("two", { id: "r2", chat: { type: "direct", id: "bob" }, sender: { id: "bob" }, to: "bob" }));
  await place.out(2);
  await place.quiet();
  expect((await tell(place.store, "recent", 5)).map(({ about }) => about.messageId)).toEqual(["r2", "r1"]);
  expect((await tell(place.store, "recent")).map(({ about }) => about.messageId)).toEqual(["r2"]);
});

test("the same story under each of its names", async () => {
  await using place = await openPlace(OPEN);
  await place.inbound.accept(event("hello", { id: "a:b" }));
  await place.out(1);
  await place.quiet();
  const [row] = await place.store.read("inbox.recent", {});
  const session = await place.store.read("sessions.get", { key: KEY });
  const [sent] = await place.store.read("outbox.recent", {});
  const names = [
    "a:b",
    `#${row!.id}`,
    `in:${row!.id}`,
    "test:default:ada:a:b",
    "test:ada:a:b",
    "test:a:b",
    KEY,
    session!.entry.sessionId,
    row!.turnId!,
    `out:${sent!.id}`,
    "m1",
    " a:b ",
  ];
  for (const name of names) expect((await tell(place.store, name))[0]!.about, name).toMatchObject({ inboxId: row!.id });
  await expect(tell(place.store, "nobody")).rejects.toMatchObject({ code: "NOT_FOUND", message: expect.stringContaining("in:<inbox row>") });
});

test("of an id that came twice the newest is shown and the others are named; of a session as many as are wanted", async () => {
  await using place = await openPlace(OPEN);
  await place.inbound.accept(event("one", { id: "5" }));
  await place.inbound.accept(event("two", { id: "5", chat: { type: "direct", id: "bob" }, sender: { id: "bob" }, to: "bob" }));
  await place.out(2);
  await place.quiet();
  const [story] = await tell(place.store, "5");
  expect(story!.about.sender).toBe("bob");
  expect(story!.others).toMatchObject([{ sender: "ada" }]);
  expect((await tell(place.store, KEY, 5)).map(({ about }) => about.sender)).toEqual(["bob", "ada"]);
});

test("a refused message: the reason, the key of the configuration, and what to do; nothing of its text", async () => {
  await using place = await openPlace({ channels: { test: { dmPolicy: "allowlist", allowFrom: ["eve"] } } });
  await place.inbound.accept(event("a secret of mine", { id: "9" }));
  const [story] = await tell(place.store, "9");
  expect(story!.verdict).toMatchObject({
    outcome: "refused",
    text: expect.stringMatching(/^no reply: .*channels\.test\.allowFrom/),
    todo: expect.stringContaining("openclaw config get channels.test"),
  });
  expect(JSON.stringify(story)).not.toContain("a secret of mine");
});

test("a stranger's message: how to let them in, and the code that was sent", async () => {
  await using place = await openPlace({ channels: { test: {} } });
  await place.inbound.accept(event("let me in", { id: "10" }));
  await place.out(1);
  await place.quiet();
  const [story] = await tell(place.store, "10");
  expect(story!.verdict).toMatchObject({ outcome: "refused", todo: "approve the sender: openclaw pairing list test" });
  expect(textOf(story!, "delivery")).toContain("sent as message m1");
});

test("a silent message says that it was on purpose, and why", async () => {
  await using place = await openPlace({
    channels: { test: { dmPolicy: "open", allowFrom: ["*"], groupPolicy: "open", groups: { "*": { requireMention: true } } } },
  });
  await place.inbound.accept(event("not for you", { id: "11", chat: { type: "group", id: "g" }, to: "g", mention: { mentioned: false, canDetect: true } }));
  const [story] = await tell(place.store, "11");
  expect(story!.verdict).toMatchObject({ outcome: "silent", level: "ok", text: expect.stringContaining("requireMention") });
});

test("a merged message names the turn that saw it", async () => {
  const { hooks, registration } = hooksOf("guard");
  hooks.on("before_dispatch", ({ content }) => (content === "marker" ? { cancel: true } : undefined), registration);
  const folder = mkdtempSync(join(tmpdir(), "why-"));
  const modelClock = manualClock(0);
  let agents: ReturnType<typeof echoAgents> | undefined;
  const open = () => (agents ??= echoAgents({ store: place.store, clock: systemClock, ids: createIds(seededRandom(4)), folder, modelClock }))();
  await using place = await openPlace({ ...OPEN, messages: { queue: { mode: "steer" } } }, { folder, hooks, agents: open });
  const settled = async (messageId: string) => (await place.store.read("inbox.find", { messageId }))[0]?.state === "settled";
  await place.inbound.accept(event("first @chunks=2 @gap=1000", { id: "12" }));
  await until(async () => (await place.store.read("turns.unfinished", {})).length > 0);
  await place.inbound.accept(event("second", { id: "13" }));
  // Messages of a chat go their way in order: once this one has its end, the one before it is with the turn.
  await place.inbound.accept(event("marker", { id: "13a" }));
  await until(() => settled("13a"));
  await until(async () => {
    modelClock.advance(1000);
    return settled("13");
  });
  await place.quiet();
  const [story] = await tell(place.store, "13");
  const [first] = await tell(place.store, "12");
  expect(story!.verdict).toMatchObject({ outcome: "merged", text: expect.stringContaining(first!.about.turnId!) });
  expect(textOf(story!, "merged")).toContain("shown to the turn that was running");
});

test("a stopped message says so", async () => {
  await using place = await openPlace(OPEN);
  await place.inbound.accept(event("long @chunks=1000 @gap=20", { id: "14" }));
  while ((await place.store.read("turns.unfinished", {})).length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  await place.inbound.accept(event("waits", { id: "15" }));
  while (place.conversation.depth(KEY) === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  expect((await tell(place.store, "15"))[0]!.verdict).toMatchObject({ outcome: "waiting", text: "queued, 1 ahead" });
  expect((await tell(place.store, "14"))[0]!.verdict).toMatchObject({ outcome: "running" });
  await place.conversation.stop(KEY);
  await place.quiet();
  expect((await tell(place.store, "14"))[0]!.verdict).toMatchObject({ outcome: "cancelled", text: "stopped: aborted (stop-command)" });
  expect((await tell(place.store, "15"))[0]!.verdict).toMatchObject({ outcome: "cancelled", text: "stopped: stopped by a command" });
});

test("a failed message: what went wrong, and that the sender was notified", async () => {
  await using place = await openPlace(OPEN, { agents: () => Promise.reject(new Error("no agents today")) });
  await place.inbound.accept(event("hello", { id: "16" }));
  await place.out(1);
  await place.quiet();
  const [story] = await tell(place.store, "16");
  expect(story!.verdict).toMatchObject({ outcome: "failed", level: "bad", text: "failed: no agents today; the sender was notified" });
});

test("a message in which the process ends again and again is given up, and called by its name", async () => {
  const folder = mkdtempSync(join(tmpdir(), "why-"));
  const store = await openStore({ stateDir: folder, clock: systemClock });
  const row = {
    channel: "test",
    account: "default",
    conversation: "ada",
    messageId: "poison",
    kind: "message",
    text: "poison",
    sender: "ada",
    sessionKey: KEY,
    agentId: "main",
    payload: {
      kind: "channel",
      event: { kind: "message", id: "poison", chat: { type: "direct", id: "ada" }, sender: { id: "ada" }, to: "ada" },
      access: { owner: false, commandAuthorized: false, wasMentioned: true, why: "" },
      address: { channel: "test", accountId: "default", to: "ada", chatType: "direct" },
      route: { matchedBy: "default" },
    },
  };
  const { id } = await store.write("inbox.accept", row);
  // A turn that was begun, and taken up again in three lives of the process.
  await store.commit([
    ["turns.start", { id: "turn-p", sessionKey: KEY, agentId: "main" }],
    ["inbox.claim", { ids: [id], turnId: "turn-p" }],
  ]);
  for (let life = 1; life <= 3; life += 1)
    await store.commit([
      ["turns.resume", { id: "turn-p" }],
      ["journal.append", { turnId: "turn-p", kind: "note", data: { resumed: life } }],
    ]);
  await store.write("journal.append", { turnId: "turn-p", kind: "tool.intent", callId: "c1", data: { name: "exec" } });
  await store[Symbol.asyncDispose]();
  await using place = await openPlace(OPEN, { folder });
  await place.conversation.resume();
  await place.out(1);
  await place.quiet();
  const [story] = await tell(place.store, "poison");
  expect(story!.verdict).toMatchObject({
    outcome: "failed",
    level: "bad",
    text: expect.stringMatching(/^poison: abandoned after 4 attempts.*the sender was notified$/),
  });
  expect(kinds(story!).filter((kind) => kind === "resumed")).toHaveLength(3);
  expect(textOf(story!, "tool")).toBe("exec: outcome unknown");
});

test("what plugins decided stands in the story with their times: before the turn, in it, and when it is sent", async () => {
  const { hooks, registration } = hooksOf("guard");
  hooks.on("inbound_claim", () => undefined, registration);
  hooks.on("before_dispatch", ({ content }) => ({ content: `${content} please` }), registration);
  hooks.on("reply_dispatch", () => undefined, registration);
  hooks.on("before_agent_run", () => ({ outcome: "pass" }), registration);
  hooks.on("message_sending", ({ content }) => ({ content: content.toUpperCase() }), registration);
  const folder = mkdtempSync(join(tmpdir(), "why-"));
  const scratch = await openStore({ stateDir: folder, clock: systemClock });
  await scratch[Symbol.asyncDispose]();
  let agents: ReturnType<typeof echoAgents> | undefined;
  await using place = await openPlace(OPEN, {
    folder,
    hooks,
    agents: () => (agents ??= echoAgents({ store: place.store, clock: systemClock, ids: createIds(seededRandom(3)), folder, hooks }))(),
  });
  await place.inbound.accept(event("hello", { id: "17" }));
  expect((await place.out(1))[0]).toContain("PLEASE");
  await place.quiet();
  const [story] = await tell(place.store, "17");
  const said = story!.steps.filter(({ kind }) => kind === "hook");
  expect(said.map(({ details }) => String(details!["hook"])).toSorted()).toEqual([
    "before_agent_run",
    "before_dispatch",
    "inbound_claim",
    "message_sending",
    "reply_dispatch",
  ]);
  expect(said.find(({ details }) => details!["hook"] === "before_dispatch")).toMatchObject({
    text: "before_dispatch by guard: content",
    ms: expect.any(Number),
    details: { decision: "decided" },
  });
  expect(said.find(({ details }) => details!["hook"] === "inbound_claim")).toMatchObject({ details: { decision: "ok" } });
});

test("a message that a plugin stopped names it, with its reason and its time", async () => {
  const { hooks, registration } = hooksOf("guard");
  hooks.on("before_dispatch", () => ({ cancel: true, cancelReason: "not on sundays" }), registration);
  await using place = await openPlace(OPEN, { hooks });
  await place.inbound.accept(event("hello", { id: "18" }));
  await place.quiet();
  const [story] = await tell(place.store, "18");
  expect(story!.verdict).toMatchObject({ outcome: "refused", text: "no reply: stopped by guard: not on sundays" });
  expect(textOf(story!, "hook")).toBe("before_dispatch by guard: cancel: not on sundays");
});

test("an answer that did not go out is no success: what failed, and how often it was tried", async () => {
  const fails = { deliveryMode: "direct", textChunkLimit: 4000, sendText: () => Promise.reject(Object.assign(new Error("chat not found"), { status: 400 })) };
  await using place = await openPlace(OPEN, { channel: { outbound: fails as never } });
  await place.inbound.accept(event("hello", { id: "19" }));
  while ((await place.store.read("outbox.recent", { state: "failed" })).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const [story] = await tell(place.store, "19");
  expect(story!.verdict).toMatchObject({ outcome: "answered", level: "bad", text: expect.stringContaining("but not delivered: ") });
  expect(textOf(story!, "delivery")).toContain("chat not found");
});

test("without a gateway the same is read from the database, and as text it is short and harmless", async () => {
  await using place = await openPlace(OPEN);
  await place.inbound.accept(event("hello", { id: "evil\u202e\u001b[31m", sender: { id: "ada" } }));
  await place.out(1);
  await place.quiet();
  using state = inspectStore(place.folder)!;
  const { createWhy, whyText } = await loadWhy();
  const [story] = await createWhy({ store: state, now: () => Date.now() }).tell(KEY);
  const text = whyText(story!, { short: true });
  expect(text).toMatch(/: answered after .*\n\+0\.0 s received: /);
  for (const evil of ["\u001b", "\u202e"]) expect(text).not.toContain(evil);
});
