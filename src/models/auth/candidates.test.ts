import { describe, expect, test } from "vitest";
import { keysInRotation, orderProfiles, wantsNextKey, type OrderInput } from "./candidates.ts";
import { EMPTY_DOCUMENT, type AuthDocument } from "./document.ts";

const NOW = 1_700_000_000_000;
const KEY = { type: "api_key", provider: "anthropic", key: "k-0123456789" };
const TOKEN = { type: "token", provider: "anthropic", token: "t-0123456789" };
const LOGIN = { type: "oauth", provider: "anthropic", access: "a", refresh: "r", expires: NOW + 1 };

const store = (profiles: AuthDocument["profiles"], more: Partial<AuthDocument> = {}): AuthDocument => ({ ...EMPTY_DOCUMENT, profiles, ...more });
const THREE = { "anthropic:key": KEY, "anthropic:token": TOKEN, "anthropic:login": LOGIN };
const ids = (document: AuthDocument, over: Partial<OrderInput> = {}): readonly string[] =>
  orderProfiles({ provider: "anthropic", document, config: {}, canonical: (name) => name.toLowerCase(), now: NOW, ...over }).map(({ id }) => id);
const inCooldown = (id: string, until: number) => ({ [id]: { m: { rate_limit: { count: 1, lastFailureAt: NOW, until } } } });

describe("order", () => {
  test("the agent's own order, before the configured one, as written", () => {
    const config = { auth: { order: { anthropic: ["anthropic:login"] } } };
    expect(ids(store(THREE, { order: { Anthropic: ["anthropic:key", "anthropic:token"] } }), { config })).toEqual(["anthropic:key", "anthropic:token"]);
    expect(ids(store(THREE), { config })).toEqual(["anthropic:login"]);
  });

  test("without an order: the configured profiles of the provider; without them, all that are stored", () => {
    const config = { auth: { profiles: { "anthropic:key": { provider: "anthropic", mode: "api_key" as const } } } };
    expect(ids(store(THREE), { config })).toEqual(["anthropic:key"]);
    expect(ids(store(THREE))).toEqual(["anthropic:login", "anthropic:token", "anthropic:key"]);
  });

  test("logins before tokens before keys, and within a kind the one that was used longest ago", () => {
    const two = store({ ...THREE, "anthropic:key2": KEY }, { usageStats: { "anthropic:key": { lastUsed: 5 }, "anthropic:key2": { lastUsed: 2 } } });
    expect(ids(two)).toEqual(["anthropic:login", "anthropic:token", "anthropic:key2", "anthropic:key"]);
  });

  test("those in cooldown come last, soonest first, also in an explicit order", () => {
    const document = store(THREE, { modelFailures: { ...inCooldown("anthropic:login", NOW + 9), ...inCooldown("anthropic:token", NOW + 3) } });
    expect(ids(document, { modelId: "m" })).toEqual(["anthropic:key", "anthropic:token", "anthropic:login"]);
    expect(ids(document, { modelId: "another" })).toEqual(["anthropic:login", "anthropic:token", "anthropic:key"]);
    const ordered = { ...document, order: { anthropic: ["anthropic:login", "anthropic:key"] } };
    expect(ids(ordered, { modelId: "m" })).toEqual(["anthropic:key", "anthropic:login"]);
  });
});

describe("pins", () => {
  test("the session's profile is a preference: first while it works, in its normal position during a cooldown", () => {
    expect(ids(store(THREE), { sessionPin: "anthropic:key" })).toEqual(["anthropic:key", "anthropic:login", "anthropic:token"]);
    const document = store(THREE, { modelFailures: inCooldown("anthropic:key", NOW + 9) });
    expect(ids(document, { sessionPin: "anthropic:key", modelId: "m" })).toEqual(["anthropic:login", "anthropic:token", "anthropic:key"]);
    expect(ids(store(THREE), { sessionPin: "anthropic:gone" })).toHaveLength(3);
  });

  test("the user's profile is a lock: it alone, in cooldown or not, and none when it is unusable", () => {
    const document = store(THREE, { modelFailures: inCooldown("anthropic:key", NOW + 9) });
    expect(
      orderProfiles({ provider: "anthropic", document: document, config: {}, canonical: String, now: NOW, modelId: "m", userPin: "anthropic:key" }),
    ).toMatchObject([{ id: "anthropic:key", locked: true, cooldown: { kind: "rate_limit" } }]);
    expect(ids(store(THREE), { userPin: "anthropic:gone" })).toEqual([]);
  });

  test("the user's profile of one provider does not bind a fallback of another", () => {
    expect(ids(store(THREE), { userPin: "openai:work" })).toHaveLength(3);
  });
});

describe("unusable profiles", () => {
  test.each([
    ["a token that has expired", { type: "token", provider: "anthropic", token: "t", expires: NOW }],
    ["a key that is empty", { type: "api_key", provider: "anthropic", key: "" }],
    ["a login that has expired and cannot be renewed", { type: "oauth", provider: "anthropic", access: "a", refresh: "", expires: NOW - 1 }],
    ["another provider's profile", { type: "api_key", provider: "openai", key: "k" }],
    ["an entry of an unknown kind", { type: "magic", provider: "anthropic" }],
  ])("%s", (_name, entry) => expect(ids(store({ "anthropic:x": entry }))).toEqual([]));

  test("a profile whose configured mode does not match its type; oauth accepts a token, too", () => {
    const config = (mode: "oauth" | "api_key") => ({ auth: { profiles: { "anthropic:token": { provider: "anthropic", mode } } } });
    expect(ids(store(THREE), { config: config("api_key") })).toEqual([]);
    expect(ids(store(THREE), { config: config("oauth") })).toEqual(["anthropic:token"]);
  });
});

test("the first choice, the list, the variable and its numbered ones, each once", () => {
  const env = { OPENAI_API_KEYS: "a, b;c\nd", OPENAI_API_KEY: "b", OPENAI_API_KEY_2: "f", OPENAI_API_KEY_1: "e", OTHER_API_KEY: "x" };
  expect(keysInRotation("openai", env, "first")).toEqual(["first", "a", "b", "c", "d", "e", "f"]);
});

test("a key for live tests is used alone", () => {
  expect(keysInRotation("openai", { OPENCLAW_LIVE_OPENAI_KEY: " live ", OPENAI_API_KEY: "b" }, "first")).toEqual(["live"]);
});

test("Google has two variables, Anthropic's list another name", () => {
  expect(keysInRotation("google", { GEMINI_API_KEY: "g", GOOGLE_API_KEY: "h" })).toEqual(["g", "h"]);
  expect(keysInRotation("anthropic", { OPENCLAW_LIVE_ANTHROPIC_KEYS: "a b", ANTHROPIC_API_KEYS: "ignored", ANTHROPIC_API_KEY: "c" })).toEqual(["a", "b", "c"]);
});

test.each([
  ["429 Too Many Requests", true],
  ["rate_limit_error", true],
  ["Quota exceeded for this day", true],
  ["RESOURCE_EXHAUSTED", true],
  ["401 invalid key", false],
  ["order 4290 not found", false],
])("%s: the next key? %s", (words, next) => expect(wantsNextKey(words)).toBe(next));
