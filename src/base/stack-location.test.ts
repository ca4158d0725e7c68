import { expect, test } from "vitest";
import { findStackLocation } from "./stack-location.ts";

const thrown = (...frames: string[]): Error =>
  Object.assign(new Error("x"), { stack: `Error: x (at /no/frame.ts:1:1)\nmore text\n${frames.map((frame) => `    at ${frame}`).join("\n")}` });

test.each([
  ["a plain path", ["run (/p/a.ts:3:9)"], undefined, { file: "/p/a.ts", line: 3 }],
  ["a URL with a generation and escapes", ["async file:///p/my%20plugin/a.ts?g=1.2:30:1"], undefined, { file: "/p/my plugin/a.ts", line: 30 }],
  ["Node's own frames first", ["node:internal/timers:1:2", "Timeout._onTimeout (file:///p/t.ts:7:5)"], undefined, { file: "/p/t.ts", line: 7 }],
  ["the folder's frame behind another", ["check (/host/sdk.js:10:1)", "register (/p/a.ts:4:2)"], "/p", { file: "/p/a.ts", line: 4 }],
  ["no frame of the folder", ["check (/host/sdk.js:10:1)"], "/p", { file: "/host/sdk.js", line: 10 }],
  ["nothing but Node's frames", ["node:internal/timers:1:2", "native"], undefined, undefined],
])("%s", (_what, frames, folder, expected) => expect(findStackLocation(thrown(...frames), folder)).toEqual(expected));

test("a value that is not an error has no location", () =>
  expect([findStackLocation("x"), findStackLocation(undefined), findStackLocation({ stack: "at /p/a.ts:1:1" })]).toEqual([undefined, undefined, undefined]));
