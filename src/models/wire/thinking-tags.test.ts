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

/** What is shown of a text that comes in these pieces, and what is kept of it. */
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

const TAGGED: readonly (readonly [string, { text: string; thinking: string; kept: readonly unknown[] }])[] = [
  ["<think>hm</think>Yes.", { text: "Yes.", thinking: "hm", kept: [{ thinks: "hm" }, "Yes."] }],
  ["<think>\nhm\n</think>\n\nYes.", { text: "Yes.", thinking: "hm\n", kept: [{ thinks: "hm" }, "Yes."] }],
  ["\n<THINKING>a < b</ thinking >ok", { text: "\nok", thinking: "a < b", kept: [{ thinks: "a < b" }, "ok"] }],
  ["<antthinking>x</antthinking>y", { text: "y", thinking: "x", kept: [{ thinks: "x" }, "y"] }],
  ["<think>a</think><final>b</final>", { text: "b", thinking: "a", kept: [{ thinks: "a" }, "b"] }],
  ["one <think>a</think>two", { text: "one two", thinking: "a", kept: ["one ", { thinks: "a" }, "two"] }],
  ["<think>never closed", { text: "", thinking: "never closed", kept: [{ thinks: "never closed" }] }],
  ["the <think> tag opens", { text: "the <think> tag opens", thinking: "", kept: ["the <think> tag opens"] }],
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

test("it makes no difference where a text is split", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...TAGGED.map(([text]) => text)), fc.array(fc.nat(60), { maxLength: 8 }), async (text, cuts) => {
      const at = [...new Set(cuts.filter((cut) => cut < text.length))].sort((a, b) => a - b);
      const pieces = [...at, text.length].map((end, index) => text.slice(at[index - 1] ?? 0, end));
      expect(await read(...pieces)).toEqual(await read(text));
    }),
  );
});

test("an answer that begins inside its thought is kept without it", async () => {
  expect((await read("let me see\n</think>\n\nYes.")).kept).toEqual([{ thinks: "let me see" }, "Yes."]);
  expect((await read("the tag </think> closes")).kept).toEqual(["the tag </think> closes"]);
});
