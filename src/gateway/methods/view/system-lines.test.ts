import { expect, test } from "vitest";
import type { ChatEntry } from "../../../protocol/index.ts";
import { asNote, withoutSystemLines } from "./system-lines.ts";

const said = (text: string): ChatEntry => ({ seq: 1, ts: 1, kind: "user", content: [{ type: "text", text }, { type: "image" }] });
const LINE = "System: [2026-01-05 16:26:03 UTC] Exec finished (code 0)\nfirst\nsecond";

test("lines of the system before a message are not its words", () => {
  const { told: lines, content } = withoutSystemLines(said(`${LINE}\nSystem: [2026-01-05 16:27:00 GMT+1] Node: here\n\nand now?\n\nplease`));
  expect(lines).toEqual(["[2026-01-05 16:26:03 UTC] Exec finished (code 0)\nfirst\nsecond", "[2026-01-05 16:27:00 GMT+1] Node: here"]);
  expect(content).toEqual([{ type: "text", text: "and now?\n\nplease" }, { type: "image" }]);
});

test("what stands around a channel's message is taken off behind them, too", () => {
  expect(withoutSystemLines(said(`${LINE}\n\n[Telegram Ann 2026-01-05 16:27 UTC] hello`)).content[0]).toEqual({ type: "text", text: "hello" });
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
  expect(asNote(said("hello"), { kind: "exec" })).toMatchObject({ kind: "user" });
});
