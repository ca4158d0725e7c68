import { describe, expect, test } from "vitest";
import { afterFailure, afterSuccess, restFor, restMs, restRules, type FailureKind } from "./rest.ts";
import { EMPTY_DOCUMENT, type AuthDocument } from "./store/document.ts";

const NOW = 1_700_000_000_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const lower = (provider: string) => provider.toLowerCase();
const RULES = restRules({}, "openai", lower);
const ID = "openai:default";

const fail = (
  document: AuthDocument,
  over: Partial<{ id: string; modelId: string; kind: FailureKind; now: number; retryAfterMs: number; isProfile: boolean }> = {},
) => afterFailure(document, { id: ID, isProfile: true, modelId: "big", kind: "rate_limit", now: NOW, ...over }, RULES);
const succeed = (document: AuthDocument, over: Partial<{ modelId: string; now: number }> = {}) =>
  afterSuccess(document, { id: ID, isProfile: true, provider: "openai", modelId: "big", now: NOW, stampMs: 30_000, ...over });

describe("how long a credential rests", () => {
  test.each<[FailureKind, readonly number[]]>([
    ["rate_limit", [1, 5, 25, 60, 60]],
    ["auth", [1, 5, 25, 60, 60]],
    ["timeout", [1, 5, 25, 60, 60]],
    ["format", [1, 5, 25, 60, 60]],
    ["billing", [5 * 60, 10 * 60, 20 * 60, 24 * 60, 24 * 60]],
  ])("%s: %j minutes", (kind, minutes) => expect(minutes.map((_, index) => restMs(kind, index + 1, RULES) / MINUTE)).toEqual(minutes));

  test("auth.cooldowns changes the billing rests, for one provider too", () => {
    const config = { auth: { cooldowns: { billingBackoffHours: 2, billingBackoffHoursByProvider: { OpenAI: 1 }, billingMaxHours: 3, failureWindowHours: 6 } } };
    expect(restRules(config, "openai", lower)).toEqual({ billingFirstMs: HOUR, billingMaxMs: 3 * HOUR, windowMs: 6 * HOUR });
    expect(restRules(config, "zai", lower).billingFirstMs).toBe(2 * HOUR);
  });

  test("failures in a row lengthen it; a rest that is over starts anew", () => {
    const twice = fail(fail(EMPTY_DOCUMENT), { now: NOW + 1 });
    expect(restFor(twice, ID, "big", NOW + 1)?.until).toBe(NOW + 1 + 5 * MINUTE);
    const later = NOW + 6 * MINUTE;
    expect(restFor(twice, ID, "big", later)).toBeUndefined();
    expect(restFor(fail(twice, { now: later }), ID, "big", later)?.until).toBe(later + MINUTE);
  });

  test("failures further apart than the window do not count together", () => {
    const first = fail(EMPTY_DOCUMENT, { retryAfterMs: 24 * HOUR });
    const short = afterFailure(first, { id: ID, isProfile: true, modelId: "big", kind: "rate_limit", now: NOW + 7 * HOUR }, { ...RULES, windowMs: 6 * HOUR });
    expect(short.modelFailures?.[ID]?.["big"]?.["rate_limit"]?.count).toBe(1);
  });

  test("the server's own retry-after is kept when it is longer, and never shortened by the next failure", () => {
    const asked = fail(EMPTY_DOCUMENT, { retryAfterMs: 2 * HOUR });
    expect(restFor(asked, ID, "big", NOW)?.until).toBe(NOW + 2 * HOUR);
    expect(restFor(fail(asked, { now: NOW + MINUTE }), ID, "big", NOW + MINUTE)?.until).toBe(NOW + 2 * HOUR);
    expect(restFor(fail(EMPTY_DOCUMENT, { retryAfterMs: 3000 }), ID, "big", NOW)?.until).toBe(NOW + MINUTE);
    expect(restFor(fail(EMPTY_DOCUMENT, { retryAfterMs: 1e12 }), ID, "big", NOW)?.until).toBe(NOW + 24 * HOUR);
  });

  test.each<FailureKind>(["context_overflow", "image_size", "role_order", "aborted", "unknown", "model_unknown"])("%s is not the credential's fault", (kind) =>
    expect(fail(EMPTY_DOCUMENT, { kind })).toBe(EMPTY_DOCUMENT),
  );
});

describe("what a failure is held against", () => {
  test("one bad model does not take the account out", () => {
    const document = fail(EMPTY_DOCUMENT);
    expect(restFor(document, ID, "big", NOW)).toMatchObject({ kind: "rate_limit", modelId: "big" });
    expect(restFor(document, ID, "small", NOW)).toBeUndefined();
    expect(restFor(document, ID, undefined, NOW)).toBeUndefined();
  });

  test("the same account trouble with two models is the account's", () => {
    const document = fail(fail(EMPTY_DOCUMENT, { kind: "auth" }), { kind: "auth", modelId: "small" });
    expect(restFor(document, ID, "third", NOW)).toEqual({ kind: "auth", until: NOW + MINUTE });
    const slow = fail(fail(EMPTY_DOCUMENT, { kind: "timeout" }), { kind: "timeout", modelId: "small" });
    expect(restFor(slow, ID, "third", NOW)).toBeUndefined();
  });

  test("kinds of failure are counted apart", () => {
    const document = fail(fail(EMPTY_DOCUMENT, { kind: "timeout" }), { kind: "rate_limit" });
    expect(document.modelFailures?.[ID]?.["big"]).toMatchObject({ timeout: { count: 1 }, rate_limit: { count: 1 } });
  });

  test("an answer clears its model and leaves the others", () => {
    const document = succeed(fail(fail(EMPTY_DOCUMENT), { modelId: "small" }), { now: NOW + 1 });
    expect(restFor(document, ID, "big", NOW + 1)).toBeUndefined();
    expect(restFor(document, ID, "small", NOW + 1)).toMatchObject({ modelId: "small" });
    expect(document.lastGood).toEqual({ openai: ID });
  });

  test("an answer that changes nothing writes nothing, except the time of use now and then", () => {
    const document = succeed(EMPTY_DOCUMENT);
    expect(succeed(document, { now: NOW + 1000 })).toBe(document);
    expect(succeed(document, { now: NOW + 31_000 }).usageStats?.[ID]?.lastUsed).toBe(NOW + 31_000);
  });
});

describe("the documented counters", () => {
  test("say what others may know: counts by reason, the longest rest, when it failed", () => {
    const document = fail(fail(fail(EMPTY_DOCUMENT), { kind: "overloaded" }), { kind: "billing", modelId: "small" });
    expect(document.usageStats?.[ID]).toEqual({
      errorCount: 3,
      failureCounts: { rate_limit: 2, billing: 1 },
      lastFailureAt: NOW,
      cooldownUntil: NOW + MINUTE,
      disabledUntil: NOW + 5 * HOUR,
      disabledReason: "billing",
    });
  });

  test("are cleared by an answer", () => {
    const document = succeed(fail(EMPTY_DOCUMENT), { now: NOW + 5 });
    expect(document.usageStats?.[ID]).toEqual({ errorCount: 0, lastFailureAt: NOW, lastUsed: NOW + 5 });
    expect(document.modelFailures).toBeUndefined();
  });

  test("an answer of one model leaves the other's rest in them, no longer and no shorter", () => {
    const document = succeed(fail(fail(EMPTY_DOCUMENT, { retryAfterMs: HOUR }), { modelId: "small" }), { now: NOW + 1 });
    expect(document.usageStats?.[ID]).toMatchObject({ cooldownUntil: NOW + MINUTE, errorCount: 1 });
    expect(restFor(document, ID, "big", NOW + 1)).toBeUndefined();
  });

  test("a rest that another program wrote is kept for all models, and refuted by an answer", () => {
    const foreign: AuthDocument = { ...EMPTY_DOCUMENT, usageStats: { [ID]: { disabledUntil: NOW + HOUR, disabledReason: "billing", errorCount: 1 } } };
    expect(restFor(foreign, ID, "any", NOW)).toEqual({ kind: "billing", until: NOW + HOUR });
    expect(restFor(fail(foreign), ID, "other", NOW)).toEqual({ kind: "billing", until: NOW + HOUR });
    expect(restFor(succeed(foreign), ID, "any", NOW)).toBeUndefined();
  });

  test("know profiles only: a key of the environment has its state in our section", () => {
    const document = fail(EMPTY_DOCUMENT, { id: "env:OPENAI_API_KEY", isProfile: false });
    expect(document.usageStats).toBeUndefined();
    expect(restFor(document, "env:OPENAI_API_KEY", "big", NOW)).toBeDefined();
  });
});
