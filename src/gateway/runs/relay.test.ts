import { describe, expect, test } from "vitest";
import { manualClock, type ManualClock } from "../../base/clock.ts";
import { createFanout, type Fanout, type Recipient } from "../fanout.ts";
import type { RunEvent } from "../ports.ts";
import { createRunRelay } from "./relay.ts";

const KEY = "agent:main:main";
const RUN = "3f0d4a52-8f1e-4c57-9a31-0e9f3b6f2a10";

interface Frame {
  readonly event: string;
  readonly seq?: number;
  readonly payload: {
    readonly stream?: string;
    readonly seq: number;
    readonly state?: string;
    readonly data?: { readonly text?: string; readonly delta?: string; readonly at?: number; readonly phase?: string };
    readonly message?: { readonly content: readonly [{ readonly text: string }] };
  };
}

/** A connection that reads at once, or not at all while `unread` says how much waits. */
function connection(connId: string, caps: readonly string[] = []) {
  const written: Buffer[] = [];
  const socket = {
    writableLength: 0,
    write: (frame: Buffer) => written.push(frame) > 0,
    cork() {},
    uncork() {},
  };
  const seen = { closed: false };
  const recipient: Recipient = {
    connId,
    role: "operator",
    scopes: new Set(["operator.read"]),
    caps: new Set(caps),
    socket,
    close: () => void (seen.closed = true),
  };
  const parse = (frame: Buffer): Frame => JSON.parse(frame.toString("utf8", frame[1] === 126 ? 4 : frame[1] === 127 ? 10 : 2)) as Frame;
  return {
    recipient,
    socket,
    seen,
    get bytes() {
      return written.reduce((sum, { length }) => sum + length, 0);
    },
    frames: () => written.map(parse),
    pieces: (stream: string) =>
      written
        .map(parse)
        .filter(({ event, payload }) => event === "agent" && payload.stream === stream)
        .map(({ payload }) => payload.data!),
  };
}

type Connection = ReturnType<typeof connection>;

function setUp(reasoning = "off") {
  const clock: ManualClock = manualClock();
  const fanout: Fanout = createFanout();
  let emit: (event: RunEvent) => void = () => {};
  const responder = {
    onEvent(listener: Parameters<Parameters<typeof createRunRelay>[0]["responder"]["onEvent"]>[0]) {
      emit = (event) => listener({ runId: RUN, sessionKey: KEY }, event);
      return { [Symbol.dispose]() {} };
    },
  };
  const { broadcast, piece, form, hasListeners, send } = fanout;
  const relay = createRunRelay({ responder, broadcast, piece, form, hasListeners, send, clock });
  const whole = connection("whole");
  const deltas = connection("deltas", ["text-deltas"]);
  for (const { recipient } of [whole, deltas]) fanout.add(recipient);
  relay.expect(RUN, { sessionKey: KEY, sentKey: KEY, kind: "chat", follower: "whole", reasoning });
  emit({ stream: "lifecycle", data: { phase: "start", startedAt: clock.now() } });
  const texts = { assistant: "", thinking: "" };
  return {
    clock,
    fanout,
    whole,
    deltas,
    emit,
    say(delta: string, stream: "assistant" | "thinking" = "assistant") {
      texts[stream] += delta;
      emit({ stream, data: { text: texts[stream], delta } });
    },
    again: () => void (texts.assistant = texts.thinking = ""),
    end: () => emit({ stream: "lifecycle", data: { phase: "end", endedAt: clock.now() } }),
  };
}

/** What a client that keeps whole texts has, and what one has that joins the parts. Each text begins with a piece that has all of it. */
function read(pieces: ReturnType<Connection["pieces"]>): { readonly texts: readonly string[]; readonly joined: readonly string[] } {
  const texts: string[] = [];
  const joined: string[] = [];
  for (const { text, delta = "", at } of pieces) {
    const begins = at === undefined ? text === delta : at === 0;
    if (begins) joined.push(delta);
    else joined[joined.length - 1] += delta;
    if (at !== undefined) expect(at).toBe(joined.at(-1)!.length - delta.length);
    if (text !== undefined && begins) texts.push(text);
    else if (text !== undefined) texts[texts.length - 1] = text;
  }
  return { texts, joined };
}

/** Frames have every number once; numbers of the run rise. */
function checkNumbers({ frames }: Connection): void {
  const numbers = frames().flatMap(({ seq }) => seq ?? []);
  expect(numbers).toEqual(numbers.map((_, index) => numbers[0]! + index));
  const inRun = frames().flatMap(({ event, payload }) => (event === "agent" ? [payload.seq] : []));
  expect(inRun).toEqual([...new Set(inRun)].sort((a, b) => a - b));
}

test("what is written while no one is connected comes whole with the next piece", () => {
  const { clock, fanout, whole, deltas, say, end } = setUp();
  for (const { recipient } of [whole, deltas]) fanout.remove(recipient);
  say("nobody ");
  clock.advance(1000);
  expect([whole.pieces("assistant"), deltas.pieces("assistant")]).toEqual([[], []]);
  for (const { recipient } of [whole, deltas]) fanout.add(recipient);
  say("listened");
  clock.advance(1000);
  end();
  expect(read(whole.pieces("assistant")).texts).toEqual(["nobody listened"]);
  expect(read(deltas.pieces("assistant")).joined).toEqual(["nobody listened"]);
  expect(whole.frames().at(-1)).toMatchObject({ event: "chat", payload: { state: "final" } });
  checkNumbers(whole);
});

const SCRIPTS = { plain: "words ", code: 'if (a === "b") {\n\t', "wide characters": "夏の🦞 " } as const;

describe.each([
  { pieces: 300, gap: 20 },
  { pieces: 2000, gap: 0 },
  { pieces: 2000, gap: 5 },
  { pieces: 2000, gap: 40 },
  { pieces: 8000, gap: 1 },
  { pieces: 600, gap: 400 },
])("an answer in $pieces pieces, one each $gap ms", ({ pieces, gap }) => {
  test.each(Object.entries(SCRIPTS))("of %s: bytes are bounded by the text, and nothing is lost or doubled", (_, words) => {
    const { clock, whole, deltas, say, end } = setUp();
    for (let i = 0; i < pieces; i += 1) {
      say(words);
      clock.advance(gap);
    }
    end();
    const text = words.repeat(pieces);
    const size = Buffer.byteLength(text);
    expect(deltas.bytes / size).toBeLessThanOrEqual(12);
    expect(whole.bytes / size).toBeLessThanOrEqual(60);
    for (const each of [whole, deltas]) {
      expect(read(each.pieces("assistant")).joined).toEqual([text]);
      expect(each.frames().at(-1)).toMatchObject({ event: "chat", payload: { state: "final", message: { content: [{ text }] } } });
      checkNumbers(each);
    }
    expect(read(whole.pieces("assistant")).texts).toEqual([text]);
    expect(deltas.frames().filter(({ payload }) => payload.state === "delta")).toEqual([]);
    expect(deltas.pieces("assistant").every((data) => !("text" in data))).toBe(true);
    const shown = whole.frames().flatMap(({ payload }) => (payload.state === "delta" ? [payload.message!.content[0].text] : []));
    expect(shown.every((each, index) => text.startsWith(each) && each.length > (shown[index - 1]?.length ?? 0))).toBe(true);
  });
});

test("short answers are shown as they come: the first piece at once, the rest in steps of 50 and 150 ms", () => {
  const { clock, whole, deltas, say } = setUp();
  for (let i = 0; i < 60; i += 1) {
    say("word ");
    clock.advance(10);
  }
  expect(whole.pieces("assistant").map(({ text }) => text!.length)).toEqual([5, 75, 150, 225, 300]);
  expect(deltas.pieces("assistant").length).toBeGreaterThanOrEqual(11);
});

test("what waits is sent when the model falls silent, to both kinds of client", () => {
  const { clock, whole, deltas, say } = setUp();
  for (let i = 0; i < 5000; i += 1) say("words and ");
  clock.advance(1);
  say("the last");
  clock.advance(3000);
  for (const each of [whole, deltas]) expect(read(each.pieces("assistant")).joined[0]).toMatch(/and the last$/);
});

test("what was said comes before what follows it: a tool, a thought, another answer, the end", () => {
  const { clock, whole, deltas, say, again, emit, end } = setUp("stream");
  const tool = { name: "read", toolCallId: "t1" };
  say("hm", "thinking");
  say(", yes", "thinking");
  say("I look ");
  say("it up.");
  emit({ stream: "tool", data: { ...tool, phase: "start", args: {} } });
  emit({ stream: "tool", data: { ...tool, phase: "result", isError: false, result: {} } });
  again();
  say("It ");
  say("is 4.");
  again();
  say("It is ");
  say("5.");
  clock.advance(1);
  end();
  const order = (each: Connection): readonly (string | undefined)[] =>
    each.frames().flatMap(({ event, payload: { stream, data } }) => (event === "agent" ? [`${stream} ${data!.phase ?? data!.delta}`] : []));
  const answers = ["assistant It is 4.", "assistant It is 5.", "lifecycle end"];
  const before = ["lifecycle start", "thinking hm", "thinking , yes", "assistant I look ", "assistant it up."];
  expect(order(whole)).toEqual([...before, "tool start", "tool result", ...answers]);
  expect(order(deltas)).toEqual([...before, ...answers]);
  expect(read(whole.pieces("assistant")).texts).toEqual(["I look it up.", "It is 4.", "It is 5."]);
  expect(read(deltas.pieces("assistant")).joined).toEqual(["I look it up.", "It is 4.", "It is 5."]);
});

test("thoughts and words that come in turns cost no more than one after the other", () => {
  const { clock, whole, deltas, say, end } = setUp("stream");
  for (let i = 0; i < 3000; i += 1) {
    say("a thought ", "thinking");
    say("some words ");
    clock.advance(2);
  }
  end();
  const size = 3000 * "a thought some words ".length;
  expect(deltas.bytes / size).toBeLessThanOrEqual(12);
  expect(whole.bytes / size).toBeLessThanOrEqual(60);
  for (const each of [whole, deltas]) {
    expect(read(each.pieces("assistant")).joined).toEqual(["some words ".repeat(3000)]);
    expect(read(each.pieces("thinking")).joined).toEqual(["a thought ".repeat(3000)]);
  }
});

test("a tool that reports without end is shown at a bounded rate, its newest report last, and none after its result", () => {
  const { clock, whole, emit } = setUp();
  const tool = { name: "exec", toolCallId: "t1" };
  emit({ stream: "tool", data: { ...tool, phase: "start", args: {} } });
  for (let i = 1; i <= 1000; i += 1) {
    emit({ stream: "tool", data: { ...tool, phase: "update", partialResult: { content: [{ type: "text", text: `line ${i}` }] } } });
    if (i % 10 === 0) clock.advance(15);
  }
  clock.advance(1000);
  emit({ stream: "tool", data: { ...tool, phase: "update", partialResult: {} } });
  emit({ stream: "tool", data: { ...tool, phase: "update", partialResult: {} } });
  emit({ stream: "tool", data: { ...tool, phase: "result", isError: false, result: {} } });
  clock.advance(1000);
  const phases = whole.pieces("tool").map(({ phase }) => phase);
  expect(phases.length).toBeLessThan(20);
  expect([phases.at(0), phases.at(-1), phases.at(-2)]).toEqual(["start", "result", "update"]);
});

test("a client that reads slowly is left out, keeps its connection, sees no gap, and misses nothing", () => {
  const { clock, fanout, whole, deltas, say, end } = setUp();
  const slow = [connection("slow"), connection("slow too", ["text-deltas"])];
  for (const { recipient } of slow) fanout.add(recipient);
  const speak = (words: string, times: number): void => {
    for (let i = 0; i < times; i += 1) {
      say(words);
      clock.advance(30);
    }
  };
  speak("first ", 20);
  for (const { socket } of slow) socket.writableLength = 300_000;
  const before = slow.map(({ bytes }) => bytes);
  speak("second ", 50);
  expect(slow.map(({ bytes }) => bytes)).toEqual(before);
  for (const { socket } of slow) socket.writableLength = 0;
  // Nothing more is said: they get what the others have.
  clock.advance(3000);
  for (const each of slow) expect(read(each.pieces("assistant")).joined[0]).toBe("first ".repeat(20) + "second ".repeat(50));
  speak("third ", 20);
  end();
  for (const each of [...slow, whole, deltas]) {
    expect(each.seen.closed).toBe(false);
    expect(read(each.pieces("assistant")).joined).toEqual(["first ".repeat(20) + "second ".repeat(50) + "third ".repeat(20)]);
    checkNumbers(each);
  }
});

test("who comes in the middle of an answer gets the text from its beginning", () => {
  const { clock, fanout, say, end } = setUp();
  for (let i = 0; i < 100; i += 1) {
    say("words ");
    clock.advance(10);
  }
  const late = [connection("late"), connection("late too", ["text-deltas"])];
  for (const { recipient } of late) fanout.add(recipient);
  for (let i = 0; i < 100; i += 1) {
    say("more ");
    clock.advance(10);
  }
  end();
  const text = "words ".repeat(100) + "more ".repeat(100);
  expect(late[0]!.pieces("assistant").at(-1)!.text).toBe(text);
  expect(read(late[1]!.pieces("assistant")).joined).toEqual([text]);
  for (const each of late) checkNumbers(each);
});

test("a text that is taken back is gone at once, for both kinds of client, and the next one begins at its start", () => {
  const { whole, deltas, say, emit, again, end } = setUp();
  say("let me think about it");
  emit({ stream: "assistant", data: { text: "", delta: "" } });
  expect(whole.pieces("assistant").at(-1)).toEqual({ text: "", delta: "" });
  expect(deltas.pieces("assistant").at(-1)).toEqual({ delta: "", at: 0 });
  again();
  say("Yes.");
  end();
  for (const client of [whole, deltas]) checkNumbers(client);
  expect(read(whole.pieces("assistant")).texts.at(-1)).toBe("Yes.");
  expect(read(deltas.pieces("assistant")).joined.at(-1)).toBe("Yes.");
  expect(whole.frames().at(-1)!.payload.message!.content[0].text).toBe("Yes.");
});
