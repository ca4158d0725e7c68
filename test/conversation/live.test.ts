/** Messages whose replies are handed to the caller that sent them, and what becomes of the replies when the caller is gone. */
import { expect, test } from "vitest";
import type { LiveReply } from "../../src/conversation/index.ts";
import { event, openPlace, OPEN, type Place } from "./place.ts";

const LET_IN = {
  allow: true,
  trigger: true,
  owner: false,
  commandAuthorized: false,
  wasMentioned: false,
  requireMention: false,
  reason: "dm-allowlist",
  why: "let in by its plugin",
} as const;

function offer(place: Place, text: string, reply: LiveReply, id?: string) {
  const one = event(text, id === undefined ? {} : { id });
  return place.conversation.dispatch({ channel: "test", accountId: "default", event: one }, LET_IN, { Body: text, SessionKey: "agent:main:main" }, reply);
}

test("the replies are handed over instead of being sent, and the rows have their ends", async () => {
  await using place = await openPlace(OPEN);
  const heard: string[] = [];
  const end = await offer(place, "hello", { deliver: async ({ text }, { kind }) => void heard.push(`${kind} ${text?.includes("hello")}`) });
  expect([end, heard, place.sent]).toEqual([{ taken: true, counts: { tool: 0, block: 0, final: 1 } }, ["final true"], []]);
  await place.quiet();
  expect(await place.store.read("outbox.recent", {})).toMatchObject([{ state: "sent" }]);
  expect(await place.store.read("inbox.recent", {})).toMatchObject([{ outcome: "answered" }]);
});

test.each([
  ["agent:Work:Test:dm:Ada", "agent:work:test:direct:ada", "work"],
  ["agent::x", "agent:main:main", "main"],
])("a plugin that names the session %s has it answered in %s by %s", async (SessionKey, sessionKey, agentId) => {
  await using place = await openPlace({ ...OPEN, agents: { list: [{ id: "main" }, { id: "work" }] } });
  const asked = { channel: "test", accountId: "default", event: event("hello") };
  await place.conversation.dispatch(asked, LET_IN, { Body: "hello", SessionKey }, { deliver: async () => {} });
  await place.quiet();
  expect(await place.store.read("inbox.recent", {})).toMatchObject([{ sessionKey, agentId, outcome: "answered" }]);
});

test("each message of several that are answered together has its end; the last one's is handed the reply", async () => {
  await using place = await openPlace({ ...OPEN, messages: { queue: { debounceMs: 10 } } });
  const heard: string[] = [];
  const say = (text: string) => offer(place, text, { deliver: async () => void heard.push(text) });
  const [first, second, third] = await Promise.all([say("first @chunks=5 @gap=40"), say("second"), say("third")]);
  expect([first, second, third].map(({ counts }) => counts.final)).toEqual([1, 0, 1]);
  expect(heard.map((text) => text.slice(0, 5))).toEqual(["first", "third"]);
});

test("one who writes too much through a plugin is refused as anywhere else", async () => {
  await using place = await openPlace(OPEN);
  const taken = await Promise.all(Array.from({ length: 40 }, (_, at) => offer(place, `m${at}`, { deliver: async () => {} })));
  expect([taken.slice(0, 30).every((end) => end.taken), taken.at(-1)?.taken]).toEqual([true, false]);
});

test("a message that is stopped while it waits has its end, too", async () => {
  await using place = await openPlace(OPEN);
  const first = offer(place, "first @chunks=50 @gap=1000", { deliver: async () => {} });
  const second = offer(place, "second", { deliver: async () => {} });
  while (place.conversation.depth("agent:main:main") === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  expect(await place.conversation.stop("agent:main:main")).toMatchObject({ dropped: 1 });
  expect((await Promise.all([first, second])).map(({ counts }) => counts.final)).toEqual([0, 0]);
});

test("what was not handed over when the process ended goes out over the channel after the next start, once", async () => {
  const first = await openPlace(OPEN);
  const { folder } = first;
  const address = { channel: "test", accountId: "default", to: "ada", chatType: "direct" } as const;
  const { writes } = await first.delivery.prepare(address, [{ text: "left behind" }], { kind: "final", runId: "r1", live: "caller" });
  await first.store.commit([["turns.start", { id: "r1", sessionKey: "agent:main:main", agentId: "main" }], ...writes]);
  await first.conversation[Symbol.asyncDispose]();
  await first.delivery[Symbol.asyncDispose]();
  await first.store[Symbol.asyncDispose]();
  await using second = await openPlace(OPEN, { folder });
  second.delivery.kick();
  expect(await second.out(1)).toEqual(["left behind"]);
  await second.quiet();
  expect(second.sent[0]).toMatchObject({ to: "ada" });
});

test("a process that stops leaves nobody waiting, and the message waits on disk for the next", async () => {
  const first = await openPlace(OPEN);
  const { folder } = first;
  const running = offer(first, "busy @chunks=50 @gap=1000", { deliver: async () => {} });
  const waiting = offer(first, "kept for later", { deliver: async () => {} });
  while (first.conversation.depth("agent:main:main") === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  first.conversation.interrupt("agent:main:main");
  await first.conversation[Symbol.asyncDispose]();
  await first.delivery[Symbol.asyncDispose]();
  expect((await Promise.all([running, waiting])).map(({ counts }) => counts.final)).toEqual([0, 0]);
  await first.store[Symbol.asyncDispose]();
  await using second = await openPlace(OPEN, { folder });
  expect(await second.conversation.resume()).toBe(1);
  expect((await second.out(1))[0]).toContain("kept for later");
});
