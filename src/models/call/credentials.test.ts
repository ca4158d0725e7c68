import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { silentLogger } from "../../base/log/logger.ts";
import { systemRandom } from "../../base/random.ts";
import { createRedactor } from "../../base/redaction.ts";
import type { ModelEntry } from "../entry.ts";
import { createAuthProfiles } from "../auth/index.ts";
import { createCallCredentials } from "./credentials.ts";

const model = (provider: string, id: string): ModelEntry => ({
  provider,
  id,
  name: id,
  api: "openai-completions",
  baseUrl: "http://127.0.0.1:1",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1,
  maxTokens: 1,
  source: "config",
});
const BIG = model("openai", "big");

async function setup(keys: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-call-auth-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const clock = manualClock();
  const auth = createAuthProfiles({
    agentDir: folder,
    mainAgentDir: folder,
    config: () => ({}),
    env: () => ({}),
    envNames: () => [],
    clock,
    ids: createIds(systemRandom),
    log: silentLogger,
    redactor: createRedactor(),
    version: "test",
  });
  for (const name of keys) await auth.add(`openai:${name}`, { type: "api_key", provider: "openai", key: `key-of-${name}` });
  return { clock, credentials: createCallCredentials({ auth, needsNoKey: (provider) => provider === "ollama", now: () => clock.now() }) };
}

/** A call that started now and was refused. */
const failedNow = (clock: { now(): number }) => ({ startedAt: clock.now(), reason: "HTTP 429: slow down" });

test("a failed candidate is not offered for that model until its cooldown is over", async () => {
  const { credentials, clock } = await setup(["a", "b"]);
  const [first] = await credentials.candidates(BIG);
  expect([first?.profileId, await first?.credential()]).toEqual(["openai:a", { apiKey: "key-of-a" }]);
  await credentials.failed(first!, BIG, "rate_limit", failedNow(clock));
  expect((await credentials.candidates(BIG)).map(({ profileId }) => profileId)).toEqual(["openai:b"]);
  expect(await credentials.candidates(model("openai", "small"))).toHaveLength(2);
  clock.advance(61_000);
  expect(await credentials.candidates(BIG)).toHaveLength(2);
});

test("a pin is a preference, a lock holds even during a cooldown", async () => {
  const { credentials, clock } = await setup(["a", "b"]);
  const ids = async (locked: boolean) => (await credentials.candidates(BIG, { pin: { profileId: "openai:b", locked } })).map(({ profileId }) => profileId);
  expect([await ids(false), await ids(true)]).toEqual([["openai:b", "openai:a"], ["openai:b"]]);
  await credentials.failed((await credentials.candidates(BIG, { pin: { profileId: "openai:b", locked: true } }))[0]!, BIG, "auth", failedNow(clock));
  expect([await ids(false), await ids(true)]).toEqual([["openai:a"], ["openai:b"]]);
});

test("a credential is probed shortly before its cooldown ends, when another model would answer otherwise, and not too often", async () => {
  const { credentials, clock } = await setup(["a"]);
  const tried = async (probe: boolean) => (await credentials.candidates(BIG, { probe })).map(({ profileId }) => profileId);
  const [first] = await credentials.candidates(BIG);
  for (let times = 0; times < 2; times += 1) {
    await credentials.failed(first!, BIG, "rate_limit", failedNow(clock));
    clock.advance(1);
  }
  expect(await tried(true)).toEqual([]);
  clock.advance(3 * 60_000);
  expect([await tried(false), await tried(true), await tried(true)]).toEqual([[], ["openai:a"], []]);
  clock.advance(30_000);
  expect(await tried(true)).toEqual(["openai:a"]);
});

test("an account without money is not tried before its cooldown ends", async () => {
  const { credentials, clock } = await setup(["a"]);
  await credentials.failed((await credentials.candidates(BIG))[0]!, BIG, "billing", failedNow(clock));
  clock.advance(5 * 3_600_000 - 60_000);
  expect(await credentials.candidates(BIG, { probe: true })).toEqual([]);
});

test("without a candidate the reason is given: no key at all, or all of them in cooldown", async () => {
  const none = await setup([]);
  expect(await none.credentials.candidates(BIG)).toEqual([]);
  expect(none.credentials.missing(BIG)).toMatchObject({
    kind: "auth",
    text: expect.stringMatching(/^No API key found for provider "openai"\. Auth store: .*auth-profiles\.json/) as string,
  });
  const { credentials, clock } = await setup(["a"]);
  await credentials.failed((await credentials.candidates(BIG))[0]!, BIG, "billing", failedNow(clock));
  expect(await credentials.candidates(BIG)).toEqual([]);
  const { kind, text } = credentials.missing(BIG);
  expect(kind).toBe("billing");
  expect(text).toContain("openai:a is in cooldown for another 5h because the account has no credit left (HTTP 429: slow down)");
  expect(text).toContain("openclaw models auth clear");
});

test.each(["timeout", "overloaded", "network", "format"] as const)(
  "after %s another model goes first; with none left, the credential is tried",
  async (kind) => {
    const { credentials, clock } = await setup(["a"]);
    await credentials.failed((await credentials.candidates(BIG))[0]!, BIG, kind, failedNow(clock));
    expect(await credentials.candidates(BIG, { last: false })).toEqual([]);
    expect((await credentials.candidates(BIG, { last: true })).map(({ profileId }) => profileId)).toEqual(["openai:a"]);
    clock.advance(60_000);
    expect(await credentials.candidates(BIG, { last: false })).toHaveLength(1);
  },
);

test.each(["auth", "rate_limit", "billing"] as const)("after %s it is not tried, even with nothing else left", async (kind) => {
  const { credentials, clock } = await setup(["a"]);
  await credentials.failed((await credentials.candidates(BIG))[0]!, BIG, kind, failedNow(clock));
  expect(await credentials.candidates(BIG, { last: true })).toEqual([]);
});

test("a provider on this machine needs no key", async () => {
  const { credentials } = await setup([]);
  const [only] = await credentials.candidates(model("ollama", "llama"));
  expect(await only?.credential()).toEqual({});
  await credentials.succeeded(only!, model("ollama", "llama"));
});
