import { expect, test } from "vitest";
import type { Steered } from "../../src/agent/index.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import { event, openPlace, OPEN, type Place } from "./place.ts";

const GROUP = { type: "group", id: "g1", title: "Friends" } as const;
const IN_GROUP: OpenClawConfig = {
  channels: { test: { dmPolicy: "open", allowFrom: ["*"], groupPolicy: "open", groups: { "*": { requireMention: true } } } },
};

test("a message is answered where it was written, once, and every row has its end", async () => {
  await using place = await openPlace(OPEN);
  expect(await place.inbound.accept(event("hello", { id: "1" }))).toEqual({ outcome: "accepted", duplicate: false });
  const [text] = await place.out(1);
  expect(text).toContain("hello");
  expect(place.sent[0]).toMatchObject({ to: "ada", accountId: "default" });
  await place.quiet();
  const [row] = await place.store.read("inbox.recent", {});
  expect(row).toMatchObject({ state: "settled", outcome: "answered", channel: "test", conversation: "ada", sender: "ada" });
  expect(await place.store.read("outbox.recent", {})).toMatchObject([{ state: "sent", target: "ada", turnId: row!.turnId }]);
});

test("a message that comes five times is answered once", async () => {
  await using place = await openPlace(OPEN);
  const results = [];
  for (let time = 0; time < 5; time += 1) results.push(await place.inbound.accept(event("again", { id: "same" })));
  expect(results.map((result) => result.outcome === "accepted" && result.duplicate)).toEqual([false, true, true, true, true]);
  await place.out(1);
  await place.quiet();
  expect(place.sent).toHaveLength(1);
});

test("a stranger gets a pairing code once, nothing of the message is kept, and after approval is answered", async () => {
  await using place = await openPlace({ channels: { test: {} } });
  expect(await place.inbound.accept(event("let me in"))).toMatchObject({ outcome: "refused" });
  expect(await place.inbound.accept(event("let me in please"))).toMatchObject({ outcome: "refused" });
  const [reply] = await place.out(1);
  const [request] = await place.pairing.list({ channel: "test" });
  expect(reply).toContain(request!.code);
  await place.quiet();
  expect(place.sent).toHaveLength(1);
  expect((await place.store.read("inbox.recent", {})).map(({ text, outcome }) => [text, outcome])).toEqual([
    ["", "refused"],
    ["", "refused"],
  ]);
  await place.pairing.approve("test", request!.code);
  await place.inbound.accept(event("thank you"));
  expect((await place.out(2))[1]).toContain("thank you");
});

test("a group's messages that were not for us are shown with the next one that is, and only once", async () => {
  await using place = await openPlace(IN_GROUP);
  const say = (text: string, mentioned: boolean) => place.inbound.accept(event(text, { chat: GROUP, to: "g1", mention: { mentioned, canDetect: true } }));
  await say("the sky is green today", false);
  await say("I think it is blue", false);
  await say("what colour is it?", true);
  const [first] = await place.out(1);
  expect(first).toMatch(/the sky is green today[\s\S]*I think it is blue[\s\S]*what colour is it\?/);
  await place.quiet();
  await say("and the sea?", true);
  const [, second] = await place.out(2);
  expect(second).toContain("and the sea?");
  expect(second).not.toContain("I think it is blue");
});

test("groups of Signal whose ids differ only in case have sessions of their own, under lower-cased keys", async () => {
  const config = { channels: { signal: { groupPolicy: "open", groups: { "*": { requireMention: false } } } } };
  await using place = await openPlace(config, { channel: { id: "signal" } });
  const inbound = place.conversation.inbound("signal", "default");
  for (const [at, id] of ["AbC=", "aBc=", "AbC=", "aBc="].entries()) {
    await inbound.accept(event(`hello ${at}`, { id: `m${at}`, chat: { type: "group", id }, to: `group:${id}` }));
    await place.out(at + 1);
    await place.quiet();
  }
  const keys = (await place.store.read("inbox.recent", {})).map(({ sessionKey }) => sessionKey).toReversed();
  expect(keys).toEqual([keys[0], keys[1], keys[0], keys[1]]);
  expect([keys[0], keys[1]]).toEqual(["agent:main:signal:group:abc=", expect.stringMatching(/^agent:main:signal:group:abc=%~[0-9a-f]{16}$/)]);
  expect(place.sent.map(({ to }) => to)).toEqual(["group:AbC=", "group:aBc=", "group:AbC=", "group:aBc="]);
});

test("what happens besides messages starts no turn and is passed to the next one", async () => {
  await using place = await openPlace(OPEN);
  for (const kind of ["edit", "reaction", "member", "notice"] as const) {
    expect(await place.inbound.accept(event(`a ${kind}`, { kind, id: `e-${kind}` }))).toEqual({ outcome: "noted" });
  }
  await place.inbound.accept(event("now a message"));
  const [text] = await place.out(1);
  for (const kind of ["edit", "reaction", "member", "notice"]) expect(text).toContain(`a ${kind}`);
  await place.quiet();
  expect(place.sent).toHaveLength(1);
});

test("messages that come while a turn runs are answered together afterwards", async () => {
  await using place = await openPlace({ ...OPEN, messages: { queue: { debounceMs: 20 } } });
  await place.inbound.accept(event("first @chunks=5 @gap=40"));
  await place.inbound.accept(event("second"));
  await place.inbound.accept(event("third"));
  const texts = await place.out(2);
  await place.quiet();
  expect(place.sent).toHaveLength(2);
  expect(texts[1]).toMatch(/second[\s\S]*third/);
});

test("a queue of a process that ended is there in the next, and answered once", async () => {
  const first = await openPlace(OPEN);
  const { folder } = first;
  // The reply address, the session and the order come from the rows alone.
  await first.store.write("inbox.accept", {
    channel: "test",
    account: "default",
    conversation: "ada",
    messageId: "left",
    kind: "message",
    text: "left behind",
    sender: "ada",
    sessionKey: "agent:main:main",
    agentId: "main",
    payload: {
      kind: "channel",
      event: { kind: "message", id: "left", chat: { type: "direct", id: "ada" }, sender: { id: "ada" }, to: "ada" },
      access: { owner: false, commandAuthorized: false, wasMentioned: true, why: "" },
      address: { channel: "test", accountId: "default", to: "ada", chatType: "direct" },
      route: { matchedBy: "default" },
    },
  });
  await first.conversation[Symbol.asyncDispose]();
  await first.delivery[Symbol.asyncDispose]();
  await first.store[Symbol.asyncDispose]();
  await using second = await openPlace(OPEN, { folder });
  expect(await second.conversation.resume()).toBe(1);
  expect((await second.out(1))[0]).toContain("left behind");
  await second.quiet();
  expect((await second.store.read("inbox.recent", {}))[0]).toMatchObject({ outcome: "answered" });
});

test("a long queue of a process that ended is read page by page, in order and each message once", async () => {
  const first = await openPlace(OPEN);
  const { folder } = first;
  const COUNT = 450;
  const row = (n: number) => ({
    channel: "test",
    account: "default",
    conversation: `p${n % 50}`,
    messageId: `left-${n}`,
    kind: "message",
    text: `left ${n}`,
    sender: `p${n % 50}`,
    sessionKey: `agent:main:test:direct:p${n % 50}`,
    agentId: "main",
    payload: {
      kind: "channel",
      event: { kind: "message", id: `left-${n}`, chat: { type: "direct", id: `p${n % 50}` }, sender: { id: `p${n % 50}` }, to: `p${n % 50}` },
      access: { owner: false, commandAuthorized: false, wasMentioned: true, why: "" },
      address: { channel: "test", accountId: "default", to: `p${n % 50}`, chatType: "direct" },
      route: { matchedBy: "default" },
    },
  });
  await first.store.commit(Array.from({ length: COUNT }, (_, n) => ["inbox.accept", row(n)] as const));
  await first.conversation[Symbol.asyncDispose]();
  await first.delivery[Symbol.asyncDispose]();
  await first.store[Symbol.asyncDispose]();
  await using second = await openPlace(OPEN, { folder });
  const pages: number[] = [];
  const { read } = second.store;
  const counting = async (kind: Parameters<typeof read>[0], input: never): Promise<unknown> => {
    const answer = await read(kind, input);
    if (kind === "inbox.open") pages.push((answer as readonly unknown[]).length);
    return answer;
  };
  Object.assign(second.store, { read: counting });
  expect(await second.conversation.resume()).toBe(COUNT);
  expect(Math.max(...pages)).toBeLessThanOrEqual(200);
  await second.quiet();
  expect(await second.store.read("inbox.counts", {})).toMatchObject({ pending: 0, claimed: 0 });
  const ended = await second.store.read("inbox.recent", { limit: COUNT });
  expect(ended.filter(({ state, outcome }) => state === "settled" && (outcome === "answered" || outcome === "merged"))).toHaveLength(COUNT);
});

test("a sender who writes too much is warned once and is refused until the limit allows more", async () => {
  await using place = await openPlace(OPEN);
  const results = [];
  for (let at = 0; at < 40; at += 1) results.push((await place.inbound.accept(event(`m${at}`))).outcome);
  expect(results.slice(0, 30).every((outcome) => outcome === "accepted")).toBe(true);
  expect(results.at(-1)).toBe("refused");
  await place.quiet();
  expect(place.sent.filter(({ text }) => text.includes("Too many messages"))).toHaveLength(1);
});

test("a message that a platform delivers again and again is one message: nothing is refused and nobody is warned", async () => {
  await using place = await openPlace(OPEN);
  const same = event("once");
  for (let at = 0; at < 60; at += 1) expect((await place.inbound.accept(same)).outcome).toBe("accepted");
  for (let at = 0; at < 29; at += 1) expect((await place.inbound.accept(event(`m${at}`))).outcome).toBe("accepted");
  // Also while the sender's budget is used up.
  while ((await place.inbound.accept(event("one more"))).outcome === "accepted");
  const warned = place.sent.filter(({ text }) => text.includes("Too many messages")).length;
  await place.inbound.accept(same);
  await place.quiet();
  expect([warned <= 1, place.sent.filter(({ text }) => text.includes("Too many messages")).length]).toEqual([true, 1]);
});

test("talk in a group that is not for us is never too much, and leaves the sender's budget alone", async () => {
  const groups = { channels: { test: { groupPolicy: "open", groups: { "*": { requireMention: true } } } } };
  await using place = await openPlace(groups);
  const inGroup = (text: string, mentioned: boolean) =>
    event(text, { chat: { type: "group", id: "club" }, to: "club", mention: { mentioned, implicit: false, others: false, canDetect: true } });
  for (let at = 0; at < 60; at += 1) expect((await place.inbound.accept(inGroup(`chatter ${at}`, false))).outcome).toBe("accepted");
  expect((await place.inbound.accept(inGroup("and you?", true))).outcome).toBe("accepted");
  const sent = await place.out(1);
  await place.quiet();
  expect([sent.length, place.sent.some(({ text }) => text.includes("Too many messages"))]).toEqual([1, false]);
});

test.each([
  ["by their time", { at: Date.now() - 3_600_000 }],
  ["by the channel's word", { backlog: true }],
])("a back-log, known %s, is answered in few turns: nothing is refused, dropped or shortened", async (_how, over) => {
  const heard: string[] = [];
  await using place = await openPlace(OPEN, { heard: ({ messages }) => void heard.push(JSON.stringify(messages.at(-1))) });
  for (let at = 0; at < 250; at += 1) expect((await place.inbound.accept(event(`word-${at}-of-many`, over))).outcome).toBe("accepted");
  await place.quiet();
  const missing = Array.from({ length: 250 }, (_, at) => `word-${at}-of-many`).filter((word) => !heard.some((text) => text.includes(word)));
  expect([missing, heard.length <= 10, place.sent.some(({ text }) => text.includes("Too many messages"))]).toEqual([[], true, false]);
});

test("a back-log of many people in one group is merged as well, past the cap of the queue", async () => {
  const heard: string[] = [];
  const first = Promise.withResolvers<void>();
  await using place = await openPlace(
    { channels: { test: { groupPolicy: "open", groups: { "*": { requireMention: false } } } }, messages: { queue: { debounceMs: 0 } } },
    {
      heard: ({ messages }) => void heard.push(JSON.stringify(messages.at(-1))),
      wrap: (turn) => async (input, ports) => (await first.promise, turn(input, ports)),
    },
  );
  const people = Array.from({ length: 40 }, (_, at) => `p${at}`);
  for (const id of people)
    await place.inbound.accept(event(`word-of-${id}-.`, { backlog: true, chat: { type: "group", id: "club" }, to: "club", sender: { id } }));
  while (place.conversation.depth("agent:main:test:group:club") < 39) await new Promise((resolve) => setTimeout(resolve, 2));
  first.resolve();
  await place.quiet();
  expect([people.filter((id) => !heard.some((text) => text.includes(`word-of-${id}-.`))), heard.length]).toEqual([[], 2]);
});

test("what another sender writes later does not overtake a back-log of the same session", async () => {
  const heard: string[] = [];
  await using place = await openPlace(
    { channels: { test: { groupPolicy: "open", groups: { "*": { requireMention: false } } } } },
    { heard: ({ messages }) => void heard.push(JSON.stringify(messages.at(-1))) },
  );
  const inGroup = (text: string, id: string, over: object) => event(text, { chat: { type: "group", id: "club" }, to: "club", sender: { id }, ...over });
  await place.inbound.accept(inGroup("the-earlier-one", "alice", { backlog: true }));
  await place.inbound.accept(inGroup("the-later-one", "bob", {}));
  await place.quiet();
  const at = (word: string): number => heard.findIndex((text) => text.includes(word));
  expect([at("the-earlier-one"), at("the-later-one") >= at("the-earlier-one")]).toEqual([0, true]);
});

test("a back-log that grew after another sender wrote stands behind that message", async () => {
  const heard: string[] = [];
  await using place = await openPlace(
    { channels: { test: { groupPolicy: "open", groups: { "*": { requireMention: false } } } }, messages: { queue: { mode: "followup", debounceMs: 0 } } },
    { heard: ({ messages }) => void heard.push(JSON.stringify(messages.at(-1))) },
  );
  const inGroup = (text: string, id: string) => event(text, { backlog: true, chat: { type: "group", id: "club" }, to: "club", sender: { id } });
  for (const [text, id] of [
    ["first of alice", "alice"],
    ["first of bob", "bob"],
    ["second of alice", "alice"],
  ] as const)
    await place.inbound.accept(inGroup(text, id));
  await place.quiet();
  const at = (words: string): number => heard.findIndex((text) => text.includes(words));
  expect([at("first of bob"), at("first of alice"), at("second of alice")]).toEqual([0, 1, 1]);
});

test("a stop is taken however much was written", async () => {
  await using place = await openPlace(OPEN);
  for (let at = 0; at < 40; at += 1) await place.inbound.accept(event(`m${at}`));
  expect((await place.inbound.accept(event("stop"))).outcome).toBe("accepted");
  await place.quiet();
});

test("a session that sends nothing stays silent, and the row says why", async () => {
  await using place = await openPlace({ ...OPEN, session: { sendPolicy: { default: "deny" } } });
  await place.inbound.accept(event("anybody there?"));
  await place.quiet();
  expect((await place.store.read("inbox.recent", {}))[0]).toMatchObject({ outcome: "silent", why: expect.stringContaining("sendPolicy") });
  expect(place.sent).toEqual([]);
});

test("what cannot be a message is refused with what was wrong, and nothing is kept", async () => {
  await using place = await openPlace(OPEN);
  for (const bad of [
    event("x", { id: "" }),
    event("x", { to: "" }),
    event("x", { kind: "wave" as never }),
    event("x", { chat: { type: "direct", id: "y".repeat(600) } }),
  ]) {
    await expect(place.inbound.accept(bad)).rejects.toMatchObject({ code: "INVALID_INPUT" });
  }
  expect(await place.store.read("inbox.recent", {})).toEqual([]);
});

test("a message that a failing turn took and did not keep is answered next, at once and on its own", async () => {
  let turns = 0;
  const fallsOver: Parameters<typeof openPlace>[1] = {
    wrap: (turn) => async (input, ports) => {
      turns += 1;
      if (turns > 1) return turn(input, ports);
      await place.inbound.accept(event("second", { id: "late" }));
      // The model would have seen it; the commit that keeps it does not come.
      while (ports.steered!().length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
      throw new Error("the tools fell over");
    },
  };
  await using place: Place = await openPlace({ ...OPEN, messages: { queue: { mode: "steer", debounceMs: 0 } } }, fallsOver);
  await place.inbound.accept(event("first", { id: "early" }));
  expect(await place.out(2)).toEqual([expect.stringContaining("went wrong"), expect.stringContaining("second")]);
  await place.quiet();
  const rows = await place.store.read("inbox.recent", {});
  expect(rows.map(({ messageId, outcome }) => `${messageId} ${outcome}`).sort()).toEqual(["early failed", "late answered"]);
});

test("a message that a turn took and kept ends with it, and is not answered again", async () => {
  let calls = 0;
  await using place: Place = await openPlace(
    { ...OPEN, messages: { queue: { mode: "steer", debounceMs: 0 } } },
    {
      wrap: (turn) => async (input, ports) => {
        calls += 1;
        if (calls > 1) return turn(input, ports);
        await place.inbound.accept(event("second", { id: "late" }));
        const shown: Steered[] = [];
        while (shown.length === 0) {
          await new Promise((resolve) => setTimeout(resolve, 2));
          shown.push(...ports.steered!());
        }
        return turn(input, { ...ports, steered: () => shown.splice(0) });
      },
    },
  );
  await place.inbound.accept(event("first", { id: "early" }));
  await place.quiet();
  const rows = await place.store.read("inbox.recent", {});
  expect([calls, ...rows.map(({ messageId, outcome }) => `${messageId} ${outcome}`).sort()]).toEqual([1, "early answered", "late merged"]);
});

test("what others write while a turn of the owner runs is not shown to it: it gets a turn of its own, without the owner's rights", async () => {
  const turns: (readonly [owner: boolean, text: string])[] = [];
  const config: OpenClawConfig = { ...OPEN, commands: { ownerAllowFrom: ["test:ada"] }, messages: { queue: { mode: "steer", debounceMs: 0 } } };
  await using place: Place = await openPlace(config, {
    wrap: (turn) => async (input, ports) => {
      turns.push([input.owner, input.message]);
      if (turns.length > 1) return turn(input, ports);
      await place.inbound.accept(event("second", { id: "late", to: "bob", sender: { id: "bob" }, chat: { type: "direct", id: "bob" } }));
      const shown: Steered[] = [];
      while (shown.length === 0 && place.conversation.depth(input.sessionKey) === 0) {
        await new Promise((resolve) => setTimeout(resolve, 2));
        shown.push(...ports.steered!());
      }
      expect(shown).toEqual([]);
      return turn(input, ports);
    },
  });
  await place.inbound.accept(event("first", { id: "early" }));
  await place.quiet();
  expect(turns.map(([owner]) => owner)).toEqual([true, false]);
  expect(turns[1]![1]).toContain("second");
});
