import { expect, test } from "vitest";
import { createEvents, createSequence } from "./events.ts";

const tick = (ts: number) => ({ type: "event", event: "tick", payload: { ts } }) as const;

test("a stream has every event from the call on, in order, until the end", async () => {
  const events = createEvents();
  events.emit(tick(0));
  const stream = events.stream("tick");
  events.emit(tick(1));
  events.emit({ type: "event", event: "health" });
  const first = await stream.next();
  const second = stream.next();
  events.emit(tick(2));
  expect([first.value, (await second).value]).toEqual([{ ts: 1 }, { ts: 2 }]);
  events.emit(tick(3));
  events.end();
  events.emit(tick(4));
  const rest: unknown[] = [];
  for await (const event of stream) rest.push(event);
  expect(rest).toEqual([{ ts: 3 }]);
});

test("a stream ends when its signal fires, also before the first event", async () => {
  const events = createEvents();
  const controller = new AbortController();
  const waiting = events.stream("tick", { signal: controller.signal }).next();
  controller.abort();
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(await events.stream("tick", { signal: controller.signal }).next()).toEqual({ done: true, value: undefined });
});

test("a reader that is too slow is notified, after what was buffered for it", async () => {
  const events = createEvents();
  const stream = events.stream("tick", { maxWaiting: 2 });
  for (const ts of [1, 2, 3]) events.emit(tick(ts));
  expect([(await stream.next()).value, (await stream.next()).value]).toEqual([{ ts: 1 }, { ts: 2 }]);
  await expect(stream.next()).rejects.toMatchObject({ code: "OVERLOADED" });
});

test("leaving the loop stops listening", async () => {
  const events = createEvents();
  const stream = events.stream("tick", { maxWaiting: 1 });
  events.emit(tick(1));
  for await (const event of stream) {
    expect(event).toEqual({ ts: 1 });
    break;
  }
  for (const ts of [2, 3]) events.emit(tick(ts));
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

test("a listener is called until it is disposed of", () => {
  const events = createEvents();
  const seen: unknown[] = [];
  const listening = events.on("tick", (payload) => seen.push(payload));
  events.emit(tick(1));
  listening[Symbol.dispose]();
  events.emit(tick(2));
  expect(seen).toEqual([{ ts: 1 }]);
});

test("missing numbers are noticed once; frames without a number, and a new connection, are no gap", () => {
  const gaps: unknown[] = [];
  const sequence = createSequence((gap) => gaps.push(gap));
  for (const seq of [7, 8, undefined, 9, 12, 13]) sequence.take(seq);
  expect(gaps).toEqual([{ expected: 10, received: 12 }]);
  sequence.reset();
  sequence.take(50);
  expect(gaps).toHaveLength(1);
});
