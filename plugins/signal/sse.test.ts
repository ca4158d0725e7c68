import { expect, test } from "vitest";
import { createEventReader, type ServerEvent } from "./sse.ts";

function read(chunks: readonly (string | Uint8Array)[], most?: number): { readonly events: readonly ServerEvent[]; readonly skipped: number } {
  const events: ServerEvent[] = [];
  let skipped = 0;
  const take = createEventReader(
    (event) => void events.push(event),
    () => (skipped += 1),
    most,
  );
  for (const chunk of chunks) take(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  return { events, skipped };
}

test("events are read whole, with their ids, whatever pieces they come in", () => {
  const text = 'id:7\nevent:receive\ndata:{"a":"ä🎉"}\n\n:\n\nevent:receive\r\ndata: two\r\ndata:lines\r\n\r\n';
  const expected = [
    { id: "7", data: '{"a":"ä🎉"}' },
    { id: undefined, data: "two\nlines" },
  ];
  expect(read([text]).events).toEqual(expected);
  expect(read([...Buffer.from(text)].map((byte) => Uint8Array.of(byte))).events).toEqual(expected);
});

test("comments, events without data and half an event are none", () => {
  expect(read([":\n:\n\nevent:receive\n\nid:5\n\nnonsense\n\ndata:half"]).events).toEqual([]);
});

test("an event that is too long is left out, and the next one is read", () => {
  const long = `data:${"x".repeat(500)}\n\n`;
  expect(read([long, "data:next\n\n"], 100)).toEqual({ events: [{ id: undefined, data: "next" }], skipped: 1 });
  expect(read(long.split("").concat("data:next\n\n"), 100)).toEqual({ events: [{ id: undefined, data: "next" }], skipped: 1 });
});
