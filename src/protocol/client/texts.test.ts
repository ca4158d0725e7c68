import { expect, test } from "vitest";
import { createTexts } from "./texts.ts";

const piece = (delta: string, at: number, { stream = "assistant", runId = "r" } = {}) =>
  ({ type: "event", event: "agent", payload: { runId, stream, data: { delta, at }, sessionKey: "agent:main:main", seq: 1, ts: 7 }, seq: 5 }) as const;
const end = (state: string) => ({ type: "event", event: "chat", payload: { runId: "r", sessionKey: "agent:main:main", seq: 9, state } }) as const;

function setUp() {
  const gaps: unknown[] = [];
  const texts = createTexts((gap) => gaps.push(gap));
  const data = (...frames: Parameters<typeof texts.take>[0][]): unknown[] =>
    frames.flatMap((frame) => texts.take(frame).flatMap(({ event, payload }) => (event === "agent" ? [(payload as { data: unknown }).data] : [])));
  return { texts, gaps, data };
}

test("pieces become events with the whole text, as they are documented", () => {
  const { texts, data } = setUp();
  expect(texts.take(piece("Hel", 0))[0]).toEqual({ ...piece("", 0), payload: { ...piece("", 0).payload, data: { text: "Hel", delta: "Hel" } } });
  expect(data(piece("lo", 3), piece(" there", 5))).toEqual([
    { text: "Hello", delta: "lo" },
    { text: "Hello there", delta: " there" },
  ]);
});

test("runs and streams are kept apart, another answer begins with its first piece, and one that is sent again is not doubled", () => {
  const { data } = setUp();
  expect(data(piece("a", 0), piece("b", 0, { stream: "thinking" }), piece("c", 0, { runId: "other" }), piece("1", 1), piece("new", 0), piece("er", 2))).toEqual(
    [
      { text: "a", delta: "a" },
      { text: "b", delta: "b" },
      { text: "c", delta: "c" },
      { text: "a1", delta: "1" },
      { text: "new", delta: "new" },
      { text: "neer", delta: "er" },
    ],
  );
});

test("each piece of an answer comes as a delta of the chat, too; none of a thought, or while it may mean silence", () => {
  const { texts } = setUp();
  const chats = (frame: Parameters<typeof texts.take>[0]): unknown[] => texts.take(frame).filter(({ event }) => event === "chat");
  expect(chats(piece("NO_", 0))).toEqual([]);
  expect(chats(piece("hm", 0, { stream: "thinking" }))).toEqual([]);
  expect(chats(piece("T yet", 3))).toMatchObject([
    { payload: { runId: "r", state: "delta", seq: 1, message: { content: [{ text: "NO_T yet" }], timestamp: 7 } } },
  ]);
});

test("a piece whose beginning is missing is reported as a gap, and nothing is made up", () => {
  const { gaps, data } = setUp();
  expect(data(piece("b", 4))).toEqual([]);
  expect(gaps).toEqual([{ expected: 0, received: 4 }]);
});

test("whole texts of a gateway that knows no deltas, and all other events, pass as they are", () => {
  const { texts } = setUp();
  const whole = { ...piece("", 0), payload: { ...piece("", 0).payload, data: { text: "Hello", delta: "lo" } } };
  const delta = { type: "event", event: "chat", payload: { runId: "r", state: "delta" } } as const;
  const tick = { type: "event", event: "tick", payload: { ts: 1 } } as const;
  for (const frame of [whole, delta, tick, end("final"), { type: "event", event: "agent" } as const]) expect(texts.take(frame)).toEqual([frame]);
});

test("after the end of a run, or over another connection, its text is forgotten", () => {
  for (const forget of ["final", "aborted", "error", "reset"]) {
    const { texts, gaps, data } = setUp();
    data(piece("Hello", 0));
    if (forget === "reset") texts.reset();
    else texts.take(end(forget));
    expect([data(piece("!", 5)), gaps.length]).toEqual([[], 1]);
  }
});
