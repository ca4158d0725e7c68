import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { OPCODE, type ServerFrame } from "../wire/frame.ts";
import type { FuzzFrame } from "./frames.ts";
import { createJudge, shown } from "./judge.ts";
import { createTraffic } from "./traffic.ts";

/** Answers to two frames, `a` (a request) and `b` (without a usable id), and what the campaign says about them. */
async function verdicts(...answers: readonly unknown[]): Promise<string[]> {
  const queue: FuzzFrame[] = [
    { number: 1, kind: "valid", opcode: OPCODE.text, payload: "a", id: "a", method: "voicewake.get", expected: "id" },
    { number: 2, kind: "bad id", opcode: OPCODE.text, payload: "b", id: "b", expected: "id-or-invalid" },
  ];
  const broken: string[] = [];
  const report = (text: string): void => void broken.push(text);
  const socket = Object.assign(new EventEmitter(), { write: () => true }) as unknown as Socket;
  const raw = { socket, tap: undefined as ((frame: ServerFrame) => void) | undefined, [Symbol.dispose]() {} };
  using traffic = createTraffic(raw, { take: () => queue.shift(), judge: createJudge(report), report, shown, overdueMs: 1 });
  for (const answer of answers) raw.tap!({ fin: true, rsv: 0, masked: false, opcode: OPCODE.text, payload: Buffer.from(JSON.stringify(answer)) });
  await traffic.done;
  return broken;
}

const a = { type: "res", id: "a", ok: true, payload: { triggers: ["x"] } };
const b = { type: "res", id: "invalid", ok: false, error: { code: "INVALID_REQUEST", message: "m" } };

test("one answer each is what is expected", async () => {
  expect(await verdicts(b, a)).toEqual([]);
  expect(await verdicts({ ...b, id: "b" }, a)).toEqual([]);
  expect(await verdicts({ type: "event", event: "tick" }, { ...a, payload: { status: "accepted" } }, a, b)).toEqual([]);
});

test.each([
  ["a missing answer", [b], /^no answer within .* frame 1/],
  ["only a first answer", [{ ...a, payload: { status: "accepted" } }, b], /^no answer within .* frame 1/],
  ["a missing answer to a frame without id", [a], /^1 frames without a usable id have no answer/],
  ["a second answer", [a, a, b], /^an answer that nobody waits for/],
  ["an answer too many under invalid", [b, b, a], /^more answers under "invalid" than frames/],
  ["a code that is not documented", [{ ...a, ok: false, payload: undefined, error: { code: "OOPS", message: "m" } }, b], /^an error without a documented code/],
  [
    "words of a failure inside",
    [{ ...a, ok: false, payload: undefined, error: { code: "UNAVAILABLE", message: "Cannot read properties of undefined" } }, b],
    /^a failure inside/,
  ],
  ["a result of another shape", [{ ...a, payload: { triggers: 1 } }, b], /^a result that does not fit its declaration/],
])("%s is reported", async (_, answers, expected) => {
  const broken = await verdicts(...answers);
  expect(broken).toEqual([expect.stringMatching(expected)]);
});
