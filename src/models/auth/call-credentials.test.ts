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
import { createAuthProfiles, createCallCredentials } from "./index.ts";

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

test("a candidate that failed is not offered for that model until its rest is over", async () => {
  const { credentials, clock } = await setup(["a", "b"]);
  const [first] = await credentials.candidates(BIG);
  expect([first?.profileId, await first?.credential()]).toEqual(["openai:a", { apiKey: "key-of-a" }]);
  await credentials.failed(first!, BIG, "rate_limit");
  expect((await credentials.candidates(BIG)).map(({ profileId }) => profileId)).toEqual(["openai:b"]);
  expect(await credentials.candidates(model("openai", "small"))).toHaveLength(2);
  clock.advance(61_000);
  expect(await credentials.candidates(BIG)).toHaveLength(2);
});

test("a pin is a preference, a lock is a lock even while it rests", async () => {
  const { credentials } = await setup(["a", "b"]);
  const ids = async (locked: boolean) => (await credentials.candidates(BIG, { profileId: "openai:b", locked })).map(({ profileId }) => profileId);
  expect([await ids(false), await ids(true)]).toEqual([["openai:b", "openai:a"], ["openai:b"]]);
  await credentials.failed((await credentials.candidates(BIG, { profileId: "openai:b", locked: true }))[0]!, BIG, "auth");
  expect([await ids(false), await ids(true)]).toEqual([["openai:a"], ["openai:b"]]);
});

test("one that rests is tried shortly before its rest is over, when another model would answer otherwise, and not too often", async () => {
  const { credentials, clock } = await setup(["a"]);
  const tried = async (probe: boolean) => (await credentials.candidates(BIG, undefined, probe)).map(({ profileId }) => profileId);
  const [first] = await credentials.candidates(BIG);
  for (let times = 0; times < 2; times += 1) await credentials.failed(first!, BIG, "rate_limit");
  expect(await tried(true)).toEqual([]);
  clock.advance(3 * 60_000);
  expect([await tried(false), await tried(true), await tried(true)]).toEqual([[], ["openai:a"], []]);
  clock.advance(30_000);
  expect(await tried(true)).toEqual(["openai:a"]);
});

test("an account without money is not tried before its time", async () => {
  const { credentials, clock } = await setup(["a"]);
  await credentials.failed((await credentials.candidates(BIG))[0]!, BIG, "billing");
  clock.advance(5 * 3_600_000 - 60_000);
  expect(await credentials.candidates(BIG, undefined, true)).toEqual([]);
});

test("when nobody is left, the reason is told: no key at all, or all of them rest", async () => {
  const none = await setup([]);
  expect(await none.credentials.candidates(BIG)).toEqual([]);
  expect(none.credentials.missing(BIG)).toMatch(/^No API key found for provider "openai"\. Auth store: .*auth-profiles\.json/);
  const { credentials } = await setup(["a"]);
  await credentials.failed((await credentials.candidates(BIG))[0]!, BIG, "billing");
  expect(await credentials.candidates(BIG)).toEqual([]);
  expect(credentials.missing(BIG)).toContain("(openai:a, billing) is tried again in 5h");
});

test("a provider on this machine needs no key", async () => {
  const { credentials } = await setup([]);
  const [only] = await credentials.candidates(model("ollama", "llama"));
  expect(await only?.credential()).toEqual({});
  await credentials.succeeded(only!, model("ollama", "llama"));
});
