import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { createIntake } from "./create-gateway.ts";
import type { Answer, CallContext } from "./methods/index.ts";

const CONTEXT = {} as CallContext;
const DONE: Answer = { ok: true, payload: "done" };

test("requests count until they are answered, HTTP ones until their connection is done", async () => {
  const answer = Promise.withResolvers<Answer>();
  const intake = createIntake({ advertised: ["health"], call: () => answer.promise });
  const response = new EventEmitter();
  const called = intake.dispatcher.call("health", {}, CONTEXT);
  intake.track(response as ServerResponse);
  expect(intake.running).toBe(2);
  answer.resolve(DONE);
  expect(await called).toBe(DONE);
  response.emit("close");
  response.emit("close");
  expect(intake.running).toBe(0);
});

test("closed, what was begun is answered, and what comes then waits until everything is over", async () => {
  const answer = Promise.withResolvers<Answer>();
  const reached: string[] = [];
  const call = (method: string): Promise<Answer> => {
    reached.push(method);
    return answer.promise;
  };
  const intake = createIntake({ advertised: [], call });
  const begun = intake.dispatcher.call("first", {}, CONTEXT);
  intake.close();
  let late: Answer | undefined;
  const waiting = intake.dispatcher.call("second", {}, CONTEXT).then((outcome) => (late = outcome));
  answer.resolve(DONE);
  expect(await begun).toBe(DONE);
  expect([intake.running, intake.closed, late, reached]).toEqual([0, true, undefined, ["first"]]);
  intake[Symbol.dispose]();
  expect(await waiting).toMatchObject({ ok: false, error: { code: "UNAVAILABLE", retryable: true } });
});
