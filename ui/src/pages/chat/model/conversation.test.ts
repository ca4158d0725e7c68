import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createConversation } from "./conversation.ts";
import { fakeGateway, memoryStorage, said, settled, testPlatform, type FakeGateway } from "./gateway.fixture.ts";
import { createOutbox } from "./outbox.ts";
import { saidIn } from "./said.ts";
import type { ConversationState } from "./state.ts";

const KEY = "agent:main:main";

function talkTo(gateway: FakeGateway, storage = memoryStorage(), tab = "tab") {
  const outbox = createOutbox({ storage, events: new EventTarget() });
  const conversation = createConversation({ link: gateway.link(tab), sessionKey: KEY, outbox, platform: testPlatform(tab) });
  return { conversation, storage, state: () => conversation.state.value };
}

/** Every own message by its words: where it is shown. */
function shownWords({ entries, pending }: ConversationState): string[] {
  return [...entries.filter(({ kind }) => kind === "user").map(({ content }) => saidIn(content)), ...pending.map(({ text }) => text)];
}

const answers = ({ entries, runs }: ConversationState): string[] => [
  ...entries.filter(({ kind }) => kind === "assistant").map(({ content }) => saidIn(content)),
  ...runs.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === "said" && part.text !== "" ? [part.text] : []))),
];

describe("a conversation", () => {
  it("opens with the newest entries and reads older ones on demand, each once and in order", async () => {
    const gateway = fakeGateway(Array.from({ length: 500 }, (_, at) => said("user", `m${at + 1}`)));
    const { conversation, state } = talkTo(gateway);
    expect(state().loading).toBe(true);
    conversation.open();
    await settled();
    expect(state()).toMatchObject({ loading: false, moreBefore: true, moreAfter: false });
    expect(state().entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 60 }, (_, at) => 441 + at));
    for (let pages = 0; state().moreBefore; pages += 1) {
      expect(pages).toBeLessThan(10);
      await conversation.older();
    }
    expect(state().entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 500 }, (_, at) => 1 + at));
  });

  it("holds a bounded stretch: what is far is dropped and read again", async () => {
    const gateway = fakeGateway(Array.from({ length: 5000 }, (_, at) => said("user", `m${at + 1}`)));
    const { conversation, state } = talkTo(gateway);
    conversation.open();
    await settled();
    while (state().moreBefore) await conversation.older();
    expect(state().entries.length).toBe(2000);
    expect(state().entries[0]?.seq).toBe(1);
    expect(state().moreAfter).toBe(true);
    await conversation.newer();
    expect(state().entries.at(-1)?.seq).toBe(2200);
    expect(state().moreBefore).toBe(true);
    await conversation.newest();
    expect(state().entries.at(-1)?.seq).toBe(5000);
    expect(state().moreAfter).toBe(false);
  });

  it("shows a message while it is sent, while it waits and in the transcript, always once", async () => {
    const gateway = fakeGateway([]);
    const { conversation, state } = talkTo(gateway);
    const seen: string[][] = [];
    conversation.state.subscribe((now) => void seen.push(shownWords(now)));
    conversation.open();
    await settled();
    const runId = conversation.send({ text: "hello", attachments: [] });
    await settled();
    expect(state().pending).toMatchObject([{ runId, text: "hello", state: "accepted" }]);
    gateway.begin(runId);
    gateway.say(runId, "good");
    await settled();
    expect(answers(state())).toEqual(["good"]);
    gateway.finish(runId, "good day");
    await settled();
    expect(state()).toMatchObject({ pending: [], runs: [] });
    expect(answers(state())).toEqual(["good day"]);
    expect(seen.slice(seen.findIndex((words) => words.includes("hello"))).every((words) => words.join() === "hello")).toBe(true);
  });

  it("keeps a message that could not be sent, and sends it when the page is loaded again", async () => {
    const storage = memoryStorage();
    const gateway = fakeGateway([]);
    gateway.cut("tab");
    const first = talkTo(gateway, storage);
    first.conversation.open();
    first.conversation.send({ text: "kept", attachments: [] });
    expect(first.state().pending).toMatchObject([{ text: "kept", state: "unsent" }]);
    first.conversation.close();

    const second = talkTo(gateway, storage);
    second.conversation.open();
    expect(second.state().pending).toMatchObject([{ text: "kept", state: "unsent" }]);
    gateway.join("tab");
    await settled();
    expect(gateway.accepted).toEqual(["kept"]);
    expect(storage.length).toBe(0);
    expect(shownWords(second.state())).toEqual(["kept"]);
  });

  it("sends a message once when its answer was lost and two tabs send it again", async () => {
    const storage = memoryStorage();
    const gateway = fakeGateway([]);
    const one = talkTo(gateway, storage, "one");
    one.conversation.open();
    await settled();
    gateway.loseAnswers("one");
    one.conversation.send({ text: "once", attachments: [] });
    await settled();
    expect(gateway.accepted).toEqual(["once"]);
    gateway.cut("one");
    const two = talkTo(gateway, storage, "two");
    two.conversation.open();
    await settled();
    gateway.join("one");
    await settled();
    expect(gateway.accepted).toEqual(["once"]);
    expect(shownWords(one.state())).toEqual(["once"]);
    expect(shownWords(two.state())).toEqual(["once"]);
    expect(storage.length).toBe(0);
  });

  it("says why the gateway refused a message, and sends it again when asked to", async () => {
    const gateway = fakeGateway([]);
    const { conversation, state } = talkTo(gateway);
    conversation.open();
    await settled();
    gateway.refuse("the session is silenced");
    const runId = conversation.send({ text: "no", attachments: [] });
    await settled();
    expect(state().pending).toMatchObject([{ state: "failed", error: "The session is silenced" }]);
    gateway.refuse(undefined);
    conversation.resend(runId);
    await settled();
    expect(gateway.accepted).toEqual(["no"]);
    conversation.discard(runId);
    expect(state().pending).toHaveLength(1);
  });

  it("starts over when the session was reset", async () => {
    const gateway = fakeGateway(Array.from({ length: 10 }, (_, at) => said("user", `old${at}`)));
    const { conversation, state } = talkTo(gateway);
    conversation.open();
    await settled();
    gateway.reset();
    gateway.append(said("user", "new"));
    await settled();
    expect(shownWords(state())).toEqual(["new"]);
    expect(state().sessionId).toBe("session-2");
  });

  it("shows an answer that streams from its beginning when it is opened in the middle", async () => {
    const gateway = fakeGateway([]);
    const first = talkTo(gateway);
    first.conversation.open();
    await settled();
    const runId = first.conversation.send({ text: "ask", attachments: [] });
    await settled();
    gateway.begin(runId);
    gateway.say(runId, "a long");
    const second = talkTo(gateway, memoryStorage(), "two");
    second.conversation.open();
    await settled();
    expect(answers(second.state())).toEqual(["a long"]);
    gateway.say(runId, "a long answer");
    await settled();
    expect(answers(second.state())).toEqual(["a long answer"]);
  });

  it("keeps the answer to a command that the transcript does not have", async () => {
    const gateway = fakeGateway([said("user", "before")]);
    const { conversation, state } = talkTo(gateway);
    conversation.open();
    await settled();
    const runId = conversation.send({ text: "/status", attachments: [] });
    await settled();
    gateway.begin(runId, { silently: true });
    gateway.say(runId, "all is well");
    gateway.finish(runId, undefined);
    await settled();
    expect(answers(state())).toEqual(["all is well"]);
    expect(state().runs).toMatchObject([{ after: 1, ended: { how: "final" } }]);
    expect(state().asides).toMatchObject([{ text: "/status", after: 1 }]);
  });

  it("shows the answer to a command once when the transcript has it", async () => {
    const gateway = fakeGateway([said("user", "before")]);
    const { conversation, state } = talkTo(gateway);
    conversation.open();
    await settled();
    const runId = conversation.send({ text: "/status", attachments: [] });
    await settled();
    gateway.append(said("assistant", "all is well"));
    gateway.begin(runId, { silently: true });
    gateway.say(runId, "all is well");
    gateway.finish(runId, undefined);
    await settled();
    expect(answers(state())).toEqual(["all is well"]);
    expect(state().asides).toMatchObject([{ text: "/status", after: 1 }]);
  });

  it("says what failed when the transcript does not", async () => {
    const gateway = fakeGateway([]);
    const { conversation, state } = talkTo(gateway);
    conversation.open();
    await settled();
    const runId = conversation.send({ text: "ask", attachments: [] });
    await settled();
    gateway.begin(runId);
    gateway.fail(runId, "no key");
    await settled();
    expect(state().runs).toMatchObject([{ runId, ended: { how: "error", error: "no key" } }]);
  });

  it("reads the history of a gateway that has no pages", async () => {
    const gateway = fakeGateway([said("user", "one"), said("assistant", "two")], { pages: false });
    const { conversation, state } = talkTo(gateway);
    conversation.open();
    await settled();
    expect(state().entries).toMatchObject([
      { kind: "user", seq: 1 },
      { kind: "assistant", seq: 2 },
    ]);
    const runId = conversation.send({ text: "three", attachments: [] });
    await settled();
    gateway.begin(runId);
    gateway.finish(runId, "four");
    await settled();
    expect(shownWords(state())).toEqual(["one", "three"]);
    expect(answers(state())).toEqual(["two", "four"]);
  });
});

const step = fc.oneof(
  { weight: 4, arbitrary: fc.constant("send" as const) },
  { weight: 3, arbitrary: fc.constantFrom("begin", "say", "call", "result", "finish", "inject") },
  { weight: 2, arbitrary: fc.constantFrom("cut", "join", "reload", "lose", "older", "newest", "gap") },
  { weight: 6, arbitrary: fc.constantFrom("turn", "turns") },
);

describe("whatever the connection does", () => {
  it("shows every message once and in order", { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.integer({ min: 0, max: 130 }), async (steps, old) => {
        const gateway = fakeGateway(Array.from({ length: old }, (_, at) => said("user", `old${at}`)));
        const storage = memoryStorage();
        const sent: string[] = [];
        let tab = talkTo(gateway, storage);
        const failures: unknown[] = [];
        const check = (now: ConversationState): void => {
          const words = shownWords(now).filter((text) => text.startsWith("s"));
          expect(new Set(words).size, words.join()).toBe(words.length);
          const seqs = now.entries.map(({ seq }) => seq);
          expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b));
          const all = answers(now);
          expect(new Set(all).size, all.join("|")).toBe(all.length);
          if (!now.loading && !now.moreBefore && !now.moreAfter) expect(sent.filter((text) => !words.includes(text))).toEqual([]);
        };
        const begin = (): void => {
          tab.conversation.state.subscribe((now) => {
            try {
              check(now);
            } catch (error) {
              failures.push(error);
            }
          });
          tab.conversation.open();
        };
        begin();
        for (const name of steps) {
          if (name === "send") {
            sent.push(`s${sent.length}`);
            tab.conversation.send({ text: sent.at(-1)!, attachments: [] });
          } else if (name === "reload") {
            tab.conversation.close();
            gateway.cut("tab");
            tab = talkTo(gateway, storage);
            begin();
            gateway.join("tab");
          } else if (name === "older") void tab.conversation.older();
          else if (name === "newest") void tab.conversation.newest();
          else if (name === "turn") await Promise.resolve();
          else if (name === "turns") await settled();
          else gateway.act(name);
        }
        gateway.join("tab");
        await settled();
        for (let rest = 0; rest < 200 && gateway.act("finish"); rest += 1) await settled();
        await settled();
        check(tab.state());
        expect(tab.state().pending).toEqual([]);
        expect(tab.state().entries.at(-1)?.seq ?? 0).toBe(gateway.last());
        expect(gateway.accepted.toSorted()).toEqual(sent.toSorted());
        tab.conversation.close();
        expect(failures).toEqual([]);
      }),
      // The connection came back in the moment in which a message had been found to need a pause.
      { numRuns: 300, examples: [[["turn", "send", "turn", "turn", "cut", "turn", "turn"], 0]] },
    );
  });
});
