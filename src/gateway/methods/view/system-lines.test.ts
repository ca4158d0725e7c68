import { expect, test } from "vitest";
import type { ChatEntry } from "../../../protocol/index.ts";
import { shownMessage } from "../chat/history.ts";
import { asNote, withoutSystemLines } from "./system-lines.ts";

const said = (text: string): ChatEntry => ({ seq: 1, ts: 1, kind: "user", content: [{ type: "text", text }, { type: "image" }] });
const LINE = "System: [2026-01-05 16:26:03 UTC] Exec finished (code 0)\nfirst\nsecond";

test("lines of the system before a message are not its words", () => {
  const { told: lines, content } = withoutSystemLines(said(`${LINE}\nSystem: [2026-01-05 16:27:00 GMT+1] Node: here\n\nand now?\n\nplease`));
  expect(lines).toEqual(["[2026-01-05 16:26:03 UTC] Exec finished (code 0)\nfirst\nsecond", "[2026-01-05 16:27:00 GMT+1] Node: here"]);
  expect(content).toEqual([{ type: "text", text: "and now?\n\nplease" }, { type: "image" }]);
});

test("what stands around a channel's message is taken off behind them, too", () => {
  const stored = { role: "user", content: [{ type: "text", text: `${LINE}\n\n[Telegram Ann 2026-01-05 16:27 UTC] hello` }] };
  const { content } = shownMessage(stored);
  expect(withoutSystemLines({ ...said(""), content: content as ChatEntry["content"] }).content[0]).toEqual({ type: "text", text: "hello" });
});

test("a message that only speaks of the system stays as it is", () => {
  for (const text of ["System: is down", "what does\nSystem: [2026-01-05 16:26:03 UTC] mean?", "hello"])
    expect(withoutSystemLines(said(text))).toEqual(said(text));
  const answer: ChatEntry = { ...said(LINE), kind: "assistant" };
  expect(withoutSystemLines(answer)).toBe(answer);
});

test("what the gateway itself had the agent go on with is a note; what people said with such lines is theirs", () => {
  const entry = withoutSystemLines(said(`${LINE}\n\nGo on.`));
  expect(asNote(entry, { kind: "exec" })).toMatchObject({ kind: "note", content: [], told: [expect.any(String)] });
  expect(asNote(entry, { kind: "message" })).toBe(entry);
});

test.each([
  ["cron", "A scheduled reminder is due:\n\nTake the pills.\n\nTell them.", "Reminder: Take the pills.\n\nTell them."],
  ["cron", "[cron:04365d08-1c37 Weather] Look outside.", "Weather: Look outside."],
  ["announce", '[System Message] [sessionId: s1] A subagent task "look" completed successfully.', 'A subagent task "look" completed successfully.'],
  ["heartbeat", "Read HEARTBEAT.md.", "Read HEARTBEAT.md."],
])("what the gateway given the agent in a turn of the kind %s is nobody's words", (kind, prompt, shown) => {
  expect(asNote(said(prompt), { kind })).toMatchObject({ kind: "note", content: [], told: [shown] });
});

test("what other agents and programs wrote is shown with who wrote it", () => {
  for (const kind of ["webhook", "subagent", "session"]) expect(asNote(said("do it"), { kind })).toMatchObject({ kind: "user", from: expect.any(String) });
});
