import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { AssistantMessage } from "../../protocol/index.ts";
import type { ModelEvent } from "./format.ts";
import { withoutThinkingTags } from "./thinking-tags.ts";

const COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: COST };
const messageOf = (text: string): AssistantMessage => ({
  role: "assistant",
  content: [{ type: "text", text }],
  api: "x",
  provider: "p",
  model: "m",
  usage: USAGE,
  stopReason: "stop",
  timestamp: 0,
});

/** What is shown of a text in these chunks, and what is stored. */
async function read(...pieces: readonly string[]) {
  async function* events(): AsyncGenerator<ModelEvent> {
    for (const delta of pieces) yield { type: "text", index: 0, delta };
    yield { type: "end", message: messageOf(pieces.join("")) };
  }
  const shown = { text: "", thinking: "" };
  let kept: readonly unknown[] = [];
  for await (const event of withoutThinkingTags(events())) {
    if (event.type === "text" || event.type === "thinking") shown[event.type] += event.delta;
    if (event.type === "end")
      kept = event.message.content.map((part) => (part.type === "text" ? part.text : part.type === "thinking" ? { thinks: part.thinking } : part));
  }
  return { ...shown, kept };
}

/** A text in which tags are content. */
const same = (text: string) => [text, { text, thinking: "", kept: [text] }] as const;

const TAGGED: readonly (readonly [string, { text: string; thinking: string; kept: readonly unknown[] }])[] = [
  ["<think>hm</think>Yes.", { text: "Yes.", thinking: "hm", kept: [{ thinks: "hm" }, "Yes."] }],
  ["<think>\nhm\n</think>\n\nYes.", { text: "Yes.", thinking: "hm\n", kept: [{ thinks: "hm" }, "Yes."] }],
  ["\n<THINKING>a < b</ thinking >ok", { text: "\nok", thinking: "a < b", kept: [{ thinks: "a < b" }, "ok"] }],
  ["<antthinking>x</antthinking>y", { text: "y", thinking: "x", kept: [{ thinks: "x" }, "y"] }],
  ["<think>a</think><final>b</final>", { text: "b", thinking: "a", kept: [{ thinks: "a" }, "b"] }],
  ["one <think>a</think>two", { text: "one two", thinking: "a", kept: ["one ", { thinks: "a" }, "two"] }],
  ["<think>never closed", { text: "", thinking: "never closed", kept: [{ thinks: "never closed" }] }],
  ["Answer first. <think>secret", { text: "Answer first. ", thinking: "secret", kept: ["Answer first. ", { thinks: "secret" }] }],
  ["<think>a <think>b</think> c</think>Hello", { text: "Hello", thinking: "a bc", kept: [{ thinks: "a bc" }, "Hello"] }],
  ["<think>I use `<think>` here</think>Hello", { text: "Hello", thinking: "I use `<think>` here", kept: [{ thinks: "I use `<think>` here" }, "Hello"] }],
  ["<think>a <think>b</think>Hello", { text: "Hello", thinking: "a b", kept: [{ thinks: "a b" }, "Hello"] }],
  ['<think foo="1">secret</think>Hello', { text: "Hello", thinking: "secret", kept: [{ thinks: "secret" }, "Hello"] }],
  [
    "It is a ` tick. <think>secret</think> Hello",
    { text: "It is a ` tick.  Hello", thinking: "secret", kept: ["It is a ` tick. ", { thinks: "secret" }, " Hello"] },
  ],
  ["a ` tick <think>sec`ret</think> Hello", { text: "a ` tick  Hello", thinking: "sec`ret", kept: ["a ` tick ", { thinks: "sec`ret" }, " Hello"] }],
  ["```x``` <think>secret</think>Hello", { text: "```x``` Hello", thinking: "secret", kept: ["```x``` ", { thinks: "secret" }, "Hello"] }],
  same("~~~\n<think>x</think>\n~~~\nend"),
  same("> ```\n> <think>x</think>\n> ```\nend"),
  same("so:\n\n    <think>x</think>\n    more\n\nend"),
  same("the tags `<think>` and `</think>` and ``<think>x</think>``"),
  ["> ```\n> a\n<think>secret</think>end", { text: "> ```\n> a\nend", thinking: "secret", kept: ["> ```\n> a\n", { thinks: "secret" }, "end"] }],
  ["write `<think>x</think>` there", { text: "write `<think>x</think>` there", thinking: "", kept: ["write `<think>x</think>` there"] }],
  [
    "```\n<think>x</think>\n```\n<think>y</think>z",
    { text: "```\n<think>x</think>\n```\nz", thinking: "y", kept: ["```\n<think>x</think>\n```\n", { thinks: "y" }, "z"] },
  ],
  ["a <b>bold</b> < c", { text: "a <b>bold</b> < c", thinking: "", kept: ["a <b>bold</b> < c"] }],
  ["<final> is a word", { text: "is a word", thinking: "", kept: ["is a word"] }],
  [" plain ", { text: " plain ", thinking: "", kept: [" plain "] }],
];

test.each(TAGGED)("%j", async (text, expected) => {
  expect(await read(text)).toEqual(expected);
});

test("the position of chunk boundaries makes no difference", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...TAGGED.map(([text]) => text)), fc.array(fc.nat(60), { maxLength: 8 }), async (text, cuts) => {
      const at = [...new Set(cuts.filter((cut) => cut < text.length))].sort((a, b) => a - b);
      const pieces = [...at, text.length].map((end, index) => text.slice(at[index - 1] ?? 0, end));
      expect(await read(...pieces)).toEqual(await read(text));
    }),
  );
});

test.each(["let me see\n</think>\n\nYes.", "let me see</think>Yes.", "let me see </think> Yes."])(
  "an answer that begins inside its thought is kept without it: %j",
  async (text) => {
    expect((await read(text)).kept).toEqual([{ thinks: "let me see" }, "Yes."]);
  },
);

/** The events of one answer after another of the same model. */
async function live(...answers: readonly (readonly string[])[]) {
  const begun = new Set<string>();
  const seen: (readonly string[])[] = [];
  for (const pieces of answers) {
    async function* events(): AsyncGenerator<ModelEvent> {
      for (const delta of pieces) yield { type: "text", index: 0, delta };
      yield { type: "end", message: messageOf(pieces.join("")) };
    }
    const one: string[] = [];
    for await (const event of withoutThinkingTags(events(), "p/m", begun)) {
      if (event.type === "text" || event.type === "thinking") one.push(`${event.type}: ${event.delta}`);
      else one.push(event.type);
    }
    seen.push(one);
  }
  return seen;
}

test("the text before a lone end of a thought is taken back as soon as that comes", async () => {
  expect(await live(["let me ", "see</thi", "nk>Yes."])).toEqual([["text: let me ", "text: see", "retract", "text: Yes.", "end"]]);
});

test("of a model that did so, the next answer shows no text before the thought has ended", async () => {
  const lone = ["let me ", "see</think>", "Yes."];
  expect((await live(lone, lone))[1]).toEqual(["thinking: let me ", "thinking: see", "text: Yes.", "end"]);
  expect((await live(lone, ["<think>hm</think>", "Yes."]))[1]).toEqual(["thinking: hm", "text: Yes.", "end"]);
});

test("an answer without a thought is shown whole at its end, and the next one as it comes", async () => {
  const [, held, shown] = await live(["a</think>b"], ["No ", "thought."], ["No ", "thought."]);
  expect(held!.filter((one) => !one.startsWith("thinking"))).toEqual(["text: No thought.", "end"]);
  expect(shown).toEqual(["text: No ", "text: thought.", "end"]);
});
