import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { manualClock } from "../../../base/clock.ts";
import { openEventStream, restOf } from "./event-stream.ts";

/** A response whose reader the test plays. */
function reader() {
  const frames: string[] = [];
  const state = { writable: true, destroyed: false, ended: false };
  const response = Object.assign(new EventEmitter(), {
    writeHead: () => {},
    flushHeaders: () => {},
    write: (frame: string) => (frames.push(frame), state.writable),
    end: () => void (state.ended = true),
    destroy: () => void (state.destroyed = true),
    get writableEnded() {
      return state.ended;
    },
    get destroyed() {
      return state.destroyed;
    },
  });
  return { frames, state, response: response as unknown as ServerResponse };
}
const encode = (delta: string) => ({ data: { delta } });

test("deltas leave at once while the reader keeps up", () => {
  const { frames, response } = reader();
  const stream = openEventStream(response, { clock: manualClock(), encode });
  stream.delta("a");
  stream.delta("b");
  stream.done();
  expect(frames).toEqual(['data: {"delta":"a"}\n\n', 'data: {"delta":"b"}\n\n', "data: [DONE]\n\n"]);
});

test("for a slow reader the text waits as one delta, and keeps its place before what follows", () => {
  const { frames, state, response } = reader();
  const stream = openEventStream(response, { clock: manualClock(), encode });
  state.writable = false;
  stream.delta("a");
  for (let count = 0; count < 10_000; count += 1) stream.delta("x");
  expect(frames.length).toBe(1);
  state.writable = true;
  response.emit("drain");
  expect(frames[1]).toBe(`data: {"delta":"${"x".repeat(10_000)}"}\n\n`);
  state.writable = false;
  stream.delta("y");
  stream.delta("z");
  stream.send({ last: true }, "end");
  expect(frames.slice(2)).toEqual(['data: {"delta":"y"}\n\n', 'data: {"delta":"z"}\n\n', 'event: end\ndata: {"last":true}\n\n']);
});

test("a silent stream sends comments, so that proxies keep it open", () => {
  const clock = manualClock();
  const { frames, response } = reader();
  const stream = openEventStream(response, { clock, encode });
  stream.send(1);
  clock.advance(45_000);
  expect(frames.slice(1)).toEqual([": keep-alive\n\n", ": keep-alive\n\n", ": keep-alive\n\n"]);
  stream[Symbol.dispose]();
  clock.advance(60_000);
  expect(frames.length).toBe(4);
});

test("a reader that takes nothing for a minute is cut off, during the answer and after it", () => {
  const clock = manualClock();
  const during = reader();
  during.state.writable = false;
  openEventStream(during.response, { clock, encode }).delta("a");
  clock.advance(59_999);
  expect(during.state.destroyed).toBe(false);
  clock.advance(1);
  expect(during.state.destroyed).toBe(true);
  const after = reader();
  openEventStream(after.response, { clock, encode }).done();
  clock.advance(60_000);
  expect(after.state.destroyed).toBe(true);
});

test("the rest of an answer is what was not sent yet", () => {
  expect([restOf("abc", "a"), restOf("abc", ""), restOf("abc", "abc"), restOf("abc", "abd")]).toEqual(["bc", "abc", "", ""]);
});
