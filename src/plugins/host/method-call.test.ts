import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { callMethod } from "./method-call.ts";

const owner = { pluginId: "p", source: "/p", generation: 1, bundled: false };
const call = { id: "1", params: { a: 1 }, client: null, isWebchat: false, context: {} };
type Given = { params: unknown; respond(...args: unknown[]): void };

async function answer(handler: (given: Given) => unknown, params: unknown = call.params) {
  const errors: unknown[] = [];
  const clock = manualClock();
  const registration = { owner, value: { method: "p.m", access: "operator.admin" as const, handler: handler as never } };
  const answered = callMethod(registration, { ...call, params }, { clock, onError: (error) => void errors.push(error) });
  await turn();
  clock.advance(300_000);
  return { answer: await answered, errors };
}

test("the first answer counts, at once or later", async () => {
  expect((await answer(({ params, respond }) => (respond(true, params), respond(false, undefined, { code: "X", message: "no" })))).answer).toEqual({
    ok: true,
    payload: { a: 1 },
  });
  expect((await answer(({ params, respond }) => respond(true, params), [1])).answer).toEqual({ ok: true, payload: {} });
  expect((await answer(({ respond }) => respond(false, { p: 1 }, { code: "NOT_LINKED", message: "m", retryable: true, retryAfterMs: 1.5 }))).answer).toEqual({
    ok: false,
    payload: { p: 1 },
    error: { code: "NOT_LINKED", message: "m", retryable: true, retryAfterMs: 2 },
  });
});

test("a throw, garbage and silence are answers of the host", async () => {
  const thrown = await answer(() => {
    throw new Error("no");
  });
  expect(thrown.answer).toEqual({ ok: false, error: { code: "UNAVAILABLE", message: "p.m failed: no" } });
  expect(thrown.errors).toHaveLength(1);
  expect((await answer(async () => Promise.reject(new Error("later")))).answer).toMatchObject({ ok: false, error: { message: "p.m failed: later" } });
  expect((await answer(({ respond }) => respond("yes", 1, "text"))).answer).toEqual({
    ok: false,
    payload: 1,
    error: { code: "UNAVAILABLE", message: "p.m failed" },
  });
  expect((await answer(() => new Promise(() => {}))).answer).toEqual({
    ok: false,
    error: { code: "UNAVAILABLE", message: "p.m did not respond within 300000 ms" },
  });
});
