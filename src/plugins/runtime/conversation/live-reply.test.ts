import { expect, test } from "vitest";
import type { TurnEnd } from "../../../agent/index.ts";
import { silentLogger } from "../../../base/log/logger.ts";
import { liveReply } from "./live-reply.ts";

function follow() {
  const reported: string[] = [];
  const reply = liveReply({
    deliver: async () => undefined,
    options: {},
    log: silentLogger,
    replyOptions: {
      onPartialReply: ({ text }) => void reported.push(`partial ${text}`),
      onReasoningStream: ({ text }) => void reported.push(`thought ${text}`),
      onReasoningEnd: () => void reported.push("end of thoughts"),
      onAssistantMessageStart: () => void reported.push("start"),
      onToolStart: ({ name }) => void reported.push(`tool ${name}`),
    },
  });
  const texts = { assistant: "", thinking: "" };
  return {
    reported,
    reply,
    say(delta: string, stream: "assistant" | "thinking" = "assistant") {
      texts[stream] += delta;
      reply.event!({ stream, data: { text: texts[stream], delta } });
    },
    tool: () => reply.event!({ stream: "tool", data: { phase: "start", name: "read", toolCallId: "t", args: {} } }),
    again: () => void (texts.assistant = ""),
  };
}

test("a plugin that follows a long answer receives a bounded multiple of it, each time the whole text so far, and all of it before the next event", () => {
  const { reported, reply, say, tool, again } = follow();
  for (let i = 0; i < 20_000; i += 1) say("thought ", "thinking");
  for (let i = 0; i < 20_000; i += 1) say("words ");
  tool();
  again();
  for (let i = 0; i < 1001; i += 1) say("more ");
  reply.ended!({} as TurnEnd);
  const chars = reported.reduce((sum, { length }) => sum + length, 0);
  expect(chars / (20_000 * 14 + 1001 * 5)).toBeLessThan(50);
  const before = (what: string): string => reported[reported.indexOf(what) - 1]!;
  expect(before("end of thoughts")).toBe(`thought ${"thought ".repeat(20_000)}`);
  expect(before("tool read")).toBe(`partial ${"words ".repeat(20_000)}`);
  expect(reported.at(-1)).toBe(`partial ${"more ".repeat(1001)}`);
  expect(reported.filter((each) => each === "start")).toHaveLength(2);
});

test("a short answer is reported with each of its pieces", () => {
  const { reported, say } = follow();
  for (const piece of ["a", "b", "c"]) say(piece);
  expect(reported).toEqual(["start", "partial a", "partial ab", "partial abc"]);
});
