import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { createStandardOutput, type OutputPort } from "./standard-output.ts";

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

function build(write: OutputPort["write"], isDevice = false) {
  const streamed: string[] = [];
  const seen = { opened: 0, ended: 0 };
  const stream = Object.assign(new EventEmitter(), {
    isTTY: true,
    columns: 80,
    write: (text: string | Uint8Array) => streamed.push(Buffer.from(text).toString("utf8")) > 0,
  });
  const port: OutputPort = {
    write,
    isDevice: () => isDevice,
    stream: () => {
      seen.opened += 1;
      return stream as unknown as ReturnType<OutputPort["stream"]>;
    },
    end: () => void (seen.ended += 1),
  };
  return { output: createStandardOutput(port), streamed, seen, stream };
}

test("text goes out without the stream, also when it is taken in pieces", () => {
  let written = "";
  const { output, seen } = build((bytes) => {
    const piece = bytes.subarray(0, 3);
    written += Buffer.from(piece).toString("latin1");
    return piece.length;
  });
  output.write("größer als drei");
  expect(Buffer.from(written, "latin1").toString("utf8")).toBe("größer als drei");
  expect(seen.opened).toBe(0);
});

test("what a full pipe did not take goes through the stream, and so does all that follows", () => {
  let calls = 0;
  const { output, streamed } = build(() => {
    calls += 1;
    if (calls > 1) throw failure("EAGAIN");
    return 4;
  });
  output.write("one two");
  output.write("three");
  expect(streamed).toEqual(["two", "three"]);
  expect(calls).toBe(2);
});

test("a reader that has gone ends the program quietly", () => {
  const direct = build(() => {
    throw failure("EPIPE");
  });
  direct.output.write("x");
  expect(direct.seen.ended).toBe(1);
  const streaming = build(() => {
    throw failure("EAGAIN");
  });
  streaming.output.write("x");
  streaming.stream.emit("error", failure("EPIPE"));
  expect(streaming.seen.ended).toBe(1);
});

test("a write that fails for another reason is not swallowed", () => {
  const { output } = build(() => {
    throw failure("ENOSPC");
  });
  expect(() => output.write("x")).toThrow("ENOSPC");
});

test("only a device is asked whether it is a terminal", () => {
  const file = build(() => 1);
  expect([file.output.isTerminal, file.output.columns, file.seen.opened]).toEqual([false, undefined, 0]);
  const terminal = build(() => 1, true);
  expect([terminal.output.isTerminal, terminal.output.columns]).toEqual([true, 80]);
});
