import { describe, expect, test } from "vitest";
import { afterFailure, afterSuccess, cooldownFor, cooldownMs, cooldownRules, withoutTransient, withoutCooldowns, type FailureKind } from "./cooldowns.ts";
import { EMPTY_DOCUMENT, type AuthDocument } from "./document.ts";

const NOW = 1_700_000_000_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const lower = (provider: string) => provider.toLowerCase();
const RULES = cooldownRules({}, "openai", lower);
const ID = "openai:default";

const fail = (
  document: AuthDocument,
  over: Partial<{ id: string; modelId: string; kind: FailureKind; now: number; retryAfterMs: number; startedAt: number; isProfile: boolean }> = {},
) => afterFailure(document, { id: ID, isProfile: true, modelId: "big", kind: "rate_limit", now: NOW, ...over }, RULES);
const succeed = (document: AuthDocument, over: Partial<{ modelId: string; now: number }> = {}) =>
  afterSuccess(document, { id: ID, isProfile: true, provider: "openai", modelId: "big", now: NOW, stampMs: 30_000, ...over });

describe("the length of a cooldown", () => {
  test.each<[FailureKind, readonly number[]]>([
    ["rate_limit", [1, 5, 25, 60, 60]],
    ["auth", [1, 5, 25, 60, 60]],
    ["format", [1, 5, 25, 60, 60]],
    ["billing", [5 * 60, 10 * 60, 20 * 60, 24 * 60, 24 * 60]],
  ])("%s: %j minutes", (kind, minutes) => expect(minutes.map((_, index) => cooldownMs(kind, index + 1, RULES) / MINUTE)).toEqual(minutes));

  test("auth.cooldowns changes the billing cooldowns, also for one provider", () => {
    const config = { auth: { cooldowns: { billingBackoffHours: 2, billingBackoffHoursByProvider: { OpenAI: 1 }, billingMaxHours: 3, failureWindowHours: 6 } } };
    expect(cooldownRules(config, "openai", lower)).toEqual({ billingFirstMs: HOUR, billingMaxMs: 3 * HOUR, windowMs: 6 * HOUR });
    expect(cooldownRules(config, "zai", lower).billingFirstMs).toBe(2 * HOUR);
  });

  test.each<FailureKind>(["timeout", "overloaded", "network"])("%s: seconds, and a minute at most", (kind) =>
    expect([1, 2, 3, 4, 9].map((count) => cooldownMs(kind, count, RULES) / 1000)).toEqual([10, 20, 40, 60, 60]),
  );

  test("concurrent calls count as one failure, however many they are", () => {
    let document = EMPTY_DOCUMENT;
    for (let call = 0; call < 6; call += 1) document = fail(document, { now: NOW + 100 + call, startedAt: NOW + call });
    expect(cooldownFor(document, ID, "big", NOW + 200)?.until).toBe(NOW + 100 + MINUTE);
    const later = fail(document, { now: NOW + 2_000, startedAt: NOW + 1_000 });
    expect(cooldownFor(later, ID, "big", NOW + 2_000)?.until).toBe(NOW + 2_000 + 5 * MINUTE);
  });

  test("failures in a row lengthen it; after it is over the count starts again", () => {
    const twice = fail(fail(EMPTY_DOCUMENT), { now: NOW + 1 });
    expect(cooldownFor(twice, ID, "big", NOW + 1)?.until).toBe(NOW + 1 + 5 * MINUTE);
    const later = NOW + 6 * MINUTE;
    expect(cooldownFor(twice, ID, "big", later)).toBeUndefined();
    expect(cooldownFor(fail(twice, { now: later }), ID, "big", later)?.until).toBe(later + MINUTE);
  });

  test("failures further apart than the window do not count together", () => {
    const first = fail(EMPTY_DOCUMENT, { retryAfterMs: 24 * HOUR });
    const short = afterFailure(first, { id: ID, isProfile: true, modelId: "big", kind: "rate_limit", now: NOW + 7 * HOUR }, { ...RULES, windowMs: 6 * HOUR });
    expect(short.modelFailures?.[ID]?.["big"]?.["rate_limit"]?.count).toBe(1);
  });

  test("a rate limit lasts as long as the provider says; nothing shortens a longer cooldown", () => {
    const asked = fail(EMPTY_DOCUMENT, { retryAfterMs: 2 * HOUR });
    expect(cooldownFor(asked, ID, "big", NOW)?.until).toBe(NOW + 2 * HOUR);
    expect(cooldownFor(fail(asked, { now: NOW + MINUTE }), ID, "big", NOW + MINUTE)?.until).toBe(NOW + 2 * HOUR);
    expect(cooldownFor(fail(EMPTY_DOCUMENT, { retryAfterMs: 3000 }), ID, "big", NOW)?.until).toBe(NOW + 3000);
    const again = fail(fail(EMPTY_DOCUMENT, { retryAfterMs: 3000 }), { retryAfterMs: 3000, now: NOW + 1 });
    expect(cooldownFor(again, ID, "big", NOW + 1)?.until).toBe(NOW + 1 + 5 * MINUTE);
    expect(cooldownFor(fail(EMPTY_DOCUMENT, { retryAfterMs: 1e12 }), ID, "big", NOW)?.until).toBe(NOW + 24 * HOUR);
  });

  test.each<FailureKind>(["context_overflow", "image_size", "role_order", "aborted", "unknown", "model_unknown", "timeout", "network", "overloaded"])(
    "%s is written nowhere",
    (kind) => expect(fail(EMPTY_DOCUMENT, { kind })).toBe(EMPTY_DOCUMENT),
  );
});

describe("scope of a failure", () => {
  test("one bad model does not disable the account", () => {
    const document = fail(EMPTY_DOCUMENT);
    expect(cooldownFor(document, ID, "big", NOW)).toMatchObject({ kind: "rate_limit", modelId: "big" });
    expect(cooldownFor(document, ID, "small", NOW)).toBeUndefined();
    expect(cooldownFor(document, ID, undefined, NOW)).toBeUndefined();
  });

  test("the same account error with two models counts for the account", () => {
    const document = fail(fail(EMPTY_DOCUMENT, { kind: "auth" }), { kind: "auth", modelId: "small" });
    expect(cooldownFor(document, ID, "third", NOW)).toEqual({ kind: "auth", until: NOW + MINUTE });
    const slow = fail(fail(EMPTY_DOCUMENT, { kind: "format" }), { kind: "format", modelId: "small" });
    expect(cooldownFor(slow, ID, "third", NOW)).toBeUndefined();
  });

  test("classes of failure are counted separately", () => {
    const document = fail(fail(EMPTY_DOCUMENT, { kind: "format" }), { kind: "rate_limit" });
    expect(document.modelFailures?.[ID]?.["big"]).toMatchObject({ format: { count: 1 }, rate_limit: { count: 1 } });
  });

  test("an answer clears its own model only", () => {
    const document = succeed(fail(fail(EMPTY_DOCUMENT), { modelId: "small" }), { now: NOW + 1 });
    expect(cooldownFor(document, ID, "big", NOW + 1)).toBeUndefined();
    expect(cooldownFor(document, ID, "small", NOW + 1)).toMatchObject({ modelId: "small" });
    expect(document.lastGood).toEqual({ openai: ID });
  });

  test("an answer that changes nothing writes nothing, except the time of use now and then", () => {
    const document = succeed(EMPTY_DOCUMENT);
    expect(succeed(document, { now: NOW + 1000 })).toBe(document);
    expect(succeed(document, { now: NOW + 31_000 }).usageStats?.[ID]?.lastUsed).toBe(NOW + 31_000);
  });
});

describe("the documented counters", () => {
  test("contain counts by reason, the longest cooldown, and when it failed", () => {
    const document = fail(fail(fail(EMPTY_DOCUMENT), { kind: "format" }), { kind: "billing", modelId: "small" });
    expect(document.usageStats?.[ID]).toEqual({
      errorCount: 3,
      failureCounts: { rate_limit: 1, format: 1, billing: 1 },
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

  test("an answer of one model leaves the other's cooldown unchanged", () => {
    const document = succeed(fail(fail(EMPTY_DOCUMENT, { retryAfterMs: HOUR }), { modelId: "small" }), { now: NOW + 1 });
    expect(document.usageStats?.[ID]).toMatchObject({ cooldownUntil: NOW + MINUTE, errorCount: 1 });
    expect(cooldownFor(document, ID, "big", NOW + 1)).toBeUndefined();
  });

  test("a cooldown that another program wrote applies to all models, and is cleared by an answer", () => {
    const foreign: AuthDocument = { ...EMPTY_DOCUMENT, usageStats: { [ID]: { disabledUntil: NOW + HOUR, disabledReason: "billing", errorCount: 1 } } };
    expect(cooldownFor(foreign, ID, "any", NOW)).toEqual({ kind: "billing", until: NOW + HOUR });
    expect(cooldownFor(fail(foreign), ID, "other", NOW)).toEqual({ kind: "billing", until: NOW + HOUR });
    expect(cooldownFor(succeed(foreign), ID, "any", NOW)).toBeUndefined();
  });

  test("cover profiles only: a key from the environment has its state in our section", () => {
    const document = fail(EMPTY_DOCUMENT, { id: "env:OPENAI_API_KEY", isProfile: false });
    expect(document.usageStats).toBeUndefined();
    expect(cooldownFor(document, "env:OPENAI_API_KEY", "big", NOW)).toBeDefined();
  });
});

describe("cooldowns that older versions and other programs stored after transient errors", () => {
  const state = (minutes: number) => ({ count: 4, lastFailureAt: NOW, until: NOW + minutes * MINUTE });
  const stats = { errorCount: 4, failureCounts: { timeout: 4 }, lastFailureAt: NOW, cooldownUntil: NOW + 60 * MINUTE };

  test("are removed, from our section and the documented one", () => {
    const old: AuthDocument = {
      ...EMPTY_DOCUMENT,
      modelFailures: { [ID]: { big: { timeout: state(60), overloaded: state(25) } }, "config:models.providers.x.apiKey": { big: { network: state(5) } } },
      usageStats: { [ID]: stats, "openai:other": { ...stats } },
    };
    const clean = withoutTransient(old);
    for (const id of [ID, "config:models.providers.x.apiKey", "openai:other"]) expect(cooldownFor(clean, id, "big", NOW)).toBeUndefined();
    expect(clean.modelFailures).toBeUndefined();
  });

  test("leave the others as they are", () => {
    const old: AuthDocument = {
      ...EMPTY_DOCUMENT,
      modelFailures: { [ID]: { big: { timeout: state(60), rate_limit: state(5) } } },
      usageStats: { [ID]: { ...stats, failureCounts: { timeout: 4, rate_limit: 1 } } },
    };
    const clean = withoutTransient(old);
    expect(cooldownFor(clean, ID, "big", NOW)).toMatchObject({ kind: "rate_limit", until: NOW + 5 * MINUTE });
    expect(cooldownFor(clean, ID, "other", NOW)).toBeUndefined();
    expect(clean.usageStats?.[ID]?.cooldownUntil).toBe(NOW + 5 * MINUTE);
    const limited = fail(EMPTY_DOCUMENT);
    expect(withoutTransient(limited)).toBe(limited);
  });
});

describe("ending cooldowns", () => {
  test("of one credential leaves the others; of all leaves none", () => {
    const both = fail(fail(EMPTY_DOCUMENT, { kind: "billing" }), { id: "env:KEY", isProfile: false });
    const one = withoutCooldowns(both, [ID]);
    expect([cooldownFor(one, ID, "big", NOW), cooldownFor(one, "env:KEY", "big", NOW)?.kind]).toEqual([undefined, "rate_limit"]);
    expect(withoutCooldowns(both).modelFailures).toBeUndefined();
    expect(withoutCooldowns(both).usageStats?.[ID]).toMatchObject({ errorCount: 0 });
    expect(withoutCooldowns(EMPTY_DOCUMENT)).toBe(EMPTY_DOCUMENT);
  });
});
