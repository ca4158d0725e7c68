import { describe, expect, test } from "vitest";
import type { ModelMessage } from "../../protocol/index.ts";
import { estimateTokens, ZERO_USAGE } from "../../sessions/index.ts";
import { fitMessages, leftOutText, withoutImages } from "./index.ts";

const user = (text: string): ModelMessage => ({ role: "user", content: text, timestamp: 1 });
const said = (content: Extract<ModelMessage, { role: "assistant" }>["content"]): ModelMessage => ({
  role: "assistant",
  content,
  api: "a",
  provider: "p",
  model: "m",
  usage: ZERO_USAGE,
  stopReason: "stop",
  timestamp: 1,
});
const call = (id: string, args: Record<string, unknown> = {}): ModelMessage => said([{ type: "toolCall", id, name: "read", arguments: args }]);
const result = (id: string, chars: number): ModelMessage => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "read",
  content: [{ type: "text", text: `HEAD${"r".repeat(chars)}TAIL` }],
  isError: false,
  timestamp: 1,
});
const image: ModelMessage = {
  role: "user",
  content: [
    { type: "image", data: "AA==", mimeType: "image/png" },
    { type: "text", text: "see" },
  ],
  timestamp: 1,
};

describe("a conversation that is too long for the window", () => {
  test("stays as it is when it fits", () => {
    const messages = [user("hello"), said([{ type: "text", text: "hi" }])];
    expect(fitMessages(messages, 1_000).messages).toBe(messages);
  });

  test("loses the middle of long results first; words stay", () => {
    const messages = [user("u".repeat(4_000)), call("a"), result("a", 80_000), call("b"), result("b", 400)];
    const { messages: fitted, left } = fitMessages(messages, 5_000);
    expect(estimateTokens(fitted)).toBeLessThanOrEqual(5_000);
    expect(fitted[0]).toBe(messages[0]);
    expect(fitted[4]).toBe(messages[4]);
    expect(JSON.stringify(fitted[2])).toMatch(/HEADr+\\n\[… \d+ of 80008 characters left out.*…\]\\nr+TAIL/);
    expect(left).toEqual({ shortened: 1, dropped: 0, images: 0 });
  });

  test("a single message that is larger than the window is shortened, with its beginning and its end", () => {
    const { messages, left } = fitMessages([user(`Look at this: ${"x".repeat(900_000)} and tell me.`)], 2_000);
    expect(estimateTokens(messages)).toBeLessThanOrEqual(2_000);
    expect(messages[0]!.content).toMatch(/^Look at this: x+\n\[… \d+ of \d+ characters left out/);
    expect(messages[0]!.content).toMatch(/and tell me\.$/);
    expect(left.shortened).toBe(1);
  });

  test("pictures go before words do, and the oldest turns go last", () => {
    const turns = Array.from({ length: 40 }, (_, n) => [user(`question ${n} ${"q".repeat(2_000)}`), said([{ type: "text", text: "a".repeat(2_000) }])]).flat();
    const { messages, left } = fitMessages([image, ...turns], 1_000);
    expect(estimateTokens(messages)).toBeLessThanOrEqual(1_000);
    expect(left.images).toBe(1);
    expect(left.dropped).toBeGreaterThan(0);
    expect(messages[0]!.role).toBe("user");
    expect(JSON.stringify(messages[0])).toContain(`[${left.dropped} earlier messages are left out`);
    expect(JSON.stringify(messages)).toContain("question 39");
  });

  test("thoughts and long arguments of calls go, and calls keep their results", () => {
    const thinking = said([
      { type: "thinking", thinking: "t".repeat(9_000) },
      { type: "toolCall", id: "a", name: "write", arguments: { text: "w".repeat(50_000) } },
    ]);
    const { messages } = fitMessages([user("go"), thinking, result("a", 10)], 600);
    expect(estimateTokens(messages)).toBeLessThanOrEqual(600);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult"]);
    expect(messages[1]).toMatchObject({ content: [{ type: "toolCall", id: "a", name: "write", arguments: { shortened: expect.any(String) as string } }] });
  });
});

test("without images there is a note in the place of each", () => {
  expect(withoutImages([image])).toMatchObject({ images: 1, messages: [{ content: [{ type: "text" }, { type: "text", text: "see" }] }] });
  const plain = [user("hello")];
  expect(withoutImages(plain).messages).toBe(plain);
});

test("the notice lists what was left out; there is none when nothing was", () => {
  expect(leftOutText({ shortened: 0, dropped: 0, images: 0 })).toBeUndefined();
  expect(leftOutText({ shortened: 1, dropped: 12, images: 2 }, 4_000)).toBe(
    "The conversation did not fit the model's context window: 12 earlier messages left out, 1 long message shortened, 2 images left out, 4000 characters of instructions (workspace files, skills) left out. The transcript keeps everything.",
  );
});
