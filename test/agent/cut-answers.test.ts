import { expect, onTestFinished, test } from "vitest";
import { openAgentFixture, said, type AgentFixture, type AgentFixtureOptions } from "../harness/agent-fixture.ts";

async function openFixture(says: AgentFixtureOptions["says"]): Promise<AgentFixture> {
  const opened = await openAgentFixture({ says });
  onTestFinished(() => opened[Symbol.asyncDispose]());
  return opened;
}

test("an answer that was cut off is continued: one reply, one message in the transcript, both calls paid", async () => {
  const at = await openFixture([{ text: "one tw", stop: "length" }, "o three"]);
  expect(await at.turn("count")).toMatchObject({ status: "ok", text: "one two three", texts: ["one two three"], stopReason: "stop" });
  expect((await at.transcript()).map((message) => [message.role, said(message)])).toEqual([
    ["user", "count"],
    ["assistant", "one two three"],
  ]);
  expect(at.requests[1]!.messages.map(said).slice(0, 2)).toEqual(["count", "one tw"]);
  expect(await at.store.read("usage.totals", { by: [] })).toMatchObject([{ calls: 2, input: 200, output: 20 }]);
  expect(at.events.flatMap((event) => (event.stream === "assistant" ? [event.data.text] : [])).at(-1)).toBe("one two three");
});

test("a caller that set a limit gets what fits it, and an answer that stays cut off says so", async () => {
  const limited = await openFixture([{ text: "one tw", stop: "length" }]);
  expect(await limited.turn("count", { maxTokens: 5 })).toMatchObject({ status: "ok", text: "one tw", stopReason: "length" });
  const endless = await openFixture(Array.from({ length: 10 }, () => ({ text: "la ", stop: "length" as const })));
  expect(await endless.turn("sing")).toMatchObject({ status: "ok", text: "la la la la", stopReason: "length" });
});
