import { expect, test } from "vitest";
import type { CallResult } from "../../models/index.ts";
import type { AssistantMessage, ModelMessage } from "../../protocol/index.ts";
import { wholeAnswer, type Heard } from "./loop.ts";

const COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const FACTS = {
  role: "assistant",
  api: "x",
  provider: "p",
  model: "m",
  timestamp: 0,
  usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: COST },
} as const;
const answer = (text: string, stopReason: AssistantMessage["stopReason"] = "length", ...more: AssistantMessage["content"]): AssistantMessage => ({
  ...FACTS,
  content: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...more],
  stopReason,
});
const CALL = { type: "toolCall", id: "a", name: "read", arguments: {} } as const;
const heard = (message: AssistantMessage): Heard => ({ text: "", result: { ok: true, message, model: {} as never, attempts: [] } });

/** Goes on with what is given; tells what it was asked with. */
async function whole(first: AssistantMessage, ...next: (AssistantMessage | "billing" | "aborted")[]) {
  const asked: (readonly ModelMessage[])[] = [];
  const spent: AssistantMessage[] = [];
  const { result } = await wholeAnswer(heard(first), {
    ask(only) {
      asked.push(only);
      const one = next.shift()!;
      if (typeof one !== "string") return Promise.resolve(heard(one));
      return Promise.resolve({ text: "", result: { ok: false, kind: one, text: one, message: answer(""), attempts: [] } satisfies CallResult });
    },
    spent: (part) => spent.push(part),
    now: () => 1,
  });
  return { result, asked, spent };
}

test("an answer that was cut off is gone on with, and is one answer", async () => {
  const { result, asked, spent } = await whole(answer("one tw"), answer("o thr"), answer("ee", "stop"));
  expect(result).toMatchObject({ ok: true, message: { content: [{ type: "text", text: "one two three" }], stopReason: "stop" } });
  expect(asked.map(([part]) => part)).toMatchObject([{ content: [{ text: "one tw" }] }, { content: [{ text: "one two thr" }] }]);
  expect(spent).toHaveLength(2);
});

test("calls in the rest are part of the answer; its thoughts are not", async () => {
  const { result } = await whole(answer("let me"), answer(" see", "toolUse", { type: "thinking", thinking: "hm" }, CALL));
  expect(result).toMatchObject({ message: { content: [{ text: "let me see" }, CALL], stopReason: "toolUse" } });
});

test("after a few times it stays cut off, and says so", async () => {
  const { result, asked } = await whole(answer("a"), answer("b"), answer("c"), answer("d"), answer("e"));
  expect(asked).toHaveLength(3);
  expect(result).toMatchObject({ message: { content: [{ text: "abcd" }], stopReason: "length" } });
});

test("a thought that reached the limit is gone on with: the model gets its end back and is asked for the answer", async () => {
  const { result, asked } = await whole(answer("", "length", { type: "thinking", thinking: "first this, then that" }), answer("Here it is.", "stop"));
  expect(asked).toMatchObject([[{ role: "user", content: [{ text: expect.stringMatching(/still thinking[^]*first this, then that$/) as string }] }]]);
  expect(result).toMatchObject({ message: { content: [{ type: "thinking" }, { type: "text", text: "Here it is." }], stopReason: "stop" } });
});

test("an answer that is whole, has a call, or is empty is left as it is", async () => {
  for (const first of [answer("all", "stop"), answer("see", "length", CALL), answer("", "length")]) {
    expect(await whole(first)).toMatchObject({ result: { message: first }, asked: [] });
  }
});

test("when the rest cannot be had, what came counts; a stop is a stop", async () => {
  expect((await whole(answer("a"), "billing")).result).toMatchObject({ ok: true, message: { content: [{ text: "a" }], stopReason: "length" } });
  expect((await whole(answer("a"), "aborted")).result).toMatchObject({ ok: false, kind: "aborted" });
});
