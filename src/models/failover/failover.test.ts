import { describe, expect, test } from "vitest";
import type { ModelFailure } from "../failure.ts";
import { isRegion } from "./decide.ts";
import { classify, troubleOf, type FailureClass } from "./classify.ts";
import { decide, type Situation, type Step } from "./decide.ts";
import { failedText, type Attempt } from "./attempts.ts";

const failure = (facts: Partial<ModelFailure>): ModelFailure => ({ phase: "headers", text: "", ...facts });

test.each<[Partial<ModelFailure>, FailureClass]>([
  [{ status: 402 }, "billing"],
  [{ status: 400, text: "Your credit balance is too low to access the API" }, "billing"],
  [{ status: 429, text: "You exceeded your current quota, please check your plan and billing details" }, "billing"],
  [{ status: 429 }, "rate_limit"],
  [{ status: 429, text: "Overloaded" }, "overloaded"],
  [{ status: 529 }, "overloaded"],
  [{ status: 503, text: "The model is overloaded" }, "overloaded"],
  [{ text: "You have hit your usage limit" }, "rate_limit"],
  [{ text: "RESOURCE_EXHAUSTED" }, "rate_limit"],
  [{ status: 401, text: "invalid x-api-key" }, "auth"],
  [{ status: 403 }, "auth"],
  [{ status: 400, text: "API key not valid: invalid api key" }, "auth"],
  [{ status: 408 }, "timeout"],
  [{ status: 500 }, "timeout"],
  [{ status: 502 }, "timeout"],
  [{ phase: "stream", hung: true, text: "no progress for 60 s" }, "timeout"],
  [{ phase: "connect", code: "ETIMEDOUT", text: "connect ETIMEDOUT" }, "timeout"],
  [{ phase: "connect", code: "ECONNREFUSED", text: "connect ECONNREFUSED" }, "network"],
  [{ phase: "stream", code: "ECONNRESET", text: "read ECONNRESET" }, "network"],
  [{ status: 400, text: "messages.1.content.1.tool_use.id: String should match pattern" }, "format"],
  [{ phase: "stream", malformed: true, text: "the stream ended before the response was complete" }, "timeout"],
  [{ phase: "answer", malformed: true, text: "the model gave an empty answer" }, "format"],
  [{ status: 400, code: "context_length_exceeded", text: "maximum context length is 8192 tokens" }, "context_overflow"],
  [{ status: 413 }, "context_overflow"],
  [{ status: 400, text: "prompt is too long: 210000 tokens > 200000 maximum" }, "context_overflow"],
  [{ status: 400, text: "messages: roles must alternate between user and assistant" }, "role_order"],
  [{ status: 400, text: "image exceeds 5 MB maximum" }, "image_size"],
  [{ status: 400, text: "Unsupported value: 'reasoning.effort' does not support 'xhigh'" }, "thinking_level"],
  [{ status: 404, text: "The model `gpt-9` does not exist" }, "model_unknown"],
  [{ phase: "answer", code: "content_filter", text: "stopped" }, "refused"],
  [{ aborted: true, text: "the call was aborted" }, "aborted"],
  [{ status: 418, text: "teapot" }, "unknown"],
])("a failure with %j is of the class %s", (facts, expected) => {
  expect(classify(failure(facts))).toBe(expected);
});

const situation = (facts: Partial<Situation>): Situation => ({
  kind: "rate_limit",
  attempt: 1,
  afterContent: false,
  moreProfiles: true,
  moreModels: true,
  thinking: "low",
  chance: 0.5,
  ...facts,
});

describe("the next step", () => {
  test.each<[string, Partial<Situation>, Step["do"]]>([
    ["a rate limit moves on to the next credential", { kind: "rate_limit" }, "rotate"],
    ["and to the next model when none is left", { kind: "rate_limit", moreProfiles: false }, "next-model"],
    [
      "and waits when there is nobody else and the provider says for how long",
      { kind: "rate_limit", moreProfiles: false, moreModels: false, retryAfterMs: 2_000 },
      "retry",
    ],
    ["but not when it would take too long", { kind: "rate_limit", moreProfiles: false, moreModels: false, retryAfterMs: 61_000 }, "stop"],
    ["nor for ever", { kind: "rate_limit", attempt: 2, moreProfiles: false, moreModels: false, retryAfterMs: 2_000 }, "stop"],
    ["a dead key is not tried twice", { kind: "auth" }, "rotate"],
    ["an empty account is left", { kind: "billing" }, "rotate"],
    ["a 5xx is repeated", { kind: "timeout" }, "retry"],
    ["four times", { kind: "timeout", attempt: 4 }, "retry"],
    ["then another credential is tried", { kind: "timeout", attempt: 5 }, "rotate"],
    ["and at last it is reported", { kind: "timeout", attempt: 5, moreProfiles: false, moreModels: false }, "stop"],
    ["an overloaded provider gets four more chances", { kind: "overloaded", attempt: 4 }, "retry"],
    ["then another credential is tried", { kind: "overloaded", attempt: 5 }, "rotate"],
    ["one that asks for a moment is given it", { kind: "overloaded", retryAfterMs: 9_000 }, "retry"],
    ["one that asks for longer is left for another", { kind: "overloaded", retryAfterMs: 30_000 }, "rotate"],
    ["unless there is none", { kind: "overloaded", retryAfterMs: 30_000, moreProfiles: false, moreModels: false }, "retry"],
    ["a broken connection is opened again", { kind: "network", attempt: 4 }, "retry"],
    ["and another credential would not help it", { kind: "network", attempt: 5 }, "next-model"],
    ["a provider that hangs is asked once more", { kind: "timeout", hung: true }, "retry"],
    ["before another one is", { kind: "timeout", hung: true, attempt: 2 }, "rotate"],
    ["and three times when there is no other", { kind: "timeout", hung: true, attempt: 3, moreProfiles: false, moreModels: false }, "retry"],
    ["a certificate that is wrong stays wrong", { kind: "network", retries: 0 }, "next-model"],
    ["an answer that may not be so long is asked for shorter", { kind: "context_overflow", outputTokens: 4_000 }, "lower-output"],
    ["a garbled answer is asked for once more", { kind: "format" }, "retry"],
    ["then elsewhere", { kind: "format", attempt: 2 }, "rotate"],
    ["an unknown model is skipped", { kind: "model_unknown" }, "next-model"],
    ["too long a conversation stops: compaction is the caller's", { kind: "context_overflow" }, "stop"],
    ["so does a wrong order", { kind: "role_order" }, "stop"],
    ["so does too large an image", { kind: "image_size" }, "stop"],
    ["so does a refusal", { kind: "refused" }, "stop"],
    ["so does what nobody understands", { kind: "unknown" }, "stop"],
    ["an abort is final", { kind: "aborted" }, "stop"],
    ["a thinking level the model does not take is lowered", { kind: "thinking_level" }, "lower-thinking"],
    ["until there is none", { kind: "thinking_level", thinking: "off" }, "next-model"],
    ["a key that dies in the middle of an answer stops it: it was shown already", { kind: "auth", afterContent: true }, "stop"],
    ["a stream that hangs in the middle is tried again", { kind: "timeout", afterContent: true }, "retry"],
  ])("%s", (_, facts, expected) => {
    expect(decide(situation(facts)).do).toBe(expected);
  });

  test("pauses double, and half of them is chance", () => {
    const pause = (attempt: number, chance: number): unknown => decide(situation({ kind: "overloaded", attempt, chance }));
    expect([pause(1, 0), pause(1, 1), pause(2, 0), pause(2, 1)]).toEqual([250, 500, 500, 1000].map((afterMs) => ({ do: "retry", afterMs })));
  });
});

test("one failed model is reported by its own error, several are listed with their reasons", () => {
  const attempt = (model: string, outcome: Attempt["outcome"], error: string): Attempt => ({
    provider: "p",
    model,
    startedAt: 0,
    durationMs: 1,
    outcome,
    error,
  });
  expect(failedText([attempt("a", "rate_limit", "slow down")])).toBe("p/a: slow down (wait a little, or add another key or a fallback model)");
  expect(failedText([attempt("a", "rate_limit", "slow down"), attempt("b", "auth", "no")])).toBe(
    "All models failed (2): p/a: slow down (rate_limit) | p/b: no (auth)",
  );
});

test.each<[Partial<ModelFailure>, boolean]>([
  [{ status: 403, text: "Forbidden", codes: ["unsupported_country_region_territory"] }, true],
  [{ status: 403, text: "Country, region, or territory not supported" }, true],
  [{ status: 400, text: "User location is not supported for the API use." }, true],
  [{ status: 403, text: "This model is not available in your region" }, true],
  [{ status: 403, text: "Requests from your location are not allowed" }, true],
  [{ status: 401, text: "Incorrect API key provided" }, false],
  [{ status: 403, text: "Your key has no access to this model in the region us-east-1" }, false],
  [{ status: 500, text: "the service is not available in your region at the moment" }, false],
])("%j is about the place of the machine: %s", (facts, expected) => {
  expect(isRegion(failure(facts))).toBe(expected);
});

test("a refusal because of the region does not suggest another key", () => {
  const base = { provider: "p", model: "a", startedAt: 0, durationMs: 1, outcome: "auth", error: "no", status: 403 } as const;
  expect(failedText([base])).toContain("check the key");
  expect(failedText([{ ...base, region: true }])).toBe(
    "p/a: HTTP 403: no (the provider does not serve the region of this request; the key is not the cause: use another provider, or route the gateway through a supported region)",
  );
});

test.each<[ModelFailure, string | undefined]>([
  [{ phase: "headers", status: 500, text: "boom" }, "server error"],
  [{ phase: "headers", status: 502, html: true, text: "a page" }, "server error"],
  [{ phase: "stream", malformed: true, text: "an event of the answer is no JSON" }, "bad answer"],
  [{ phase: "answer", malformed: true, empty: true, text: "the model gave an empty answer" }, "empty answer"],
  [{ phase: "headers", status: 400, text: "the model gave an empty answer" }, undefined],
  [{ phase: "stream", hung: true, text: "nothing came for 60 s" }, undefined],
  [{ phase: "headers", status: 504, text: "upstream timed out" }, undefined],
  [{ phase: "connect", code: "ETIMEDOUT", text: "the connection failed" }, undefined],
  [{ phase: "headers", status: 429, text: "slow down" }, undefined],
])("only what took too long is called a time-out: %j", (failure, expected) => {
  expect(troubleOf(failure, classify(failure))).toBe(expected);
});
