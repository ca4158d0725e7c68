import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { seededRandom } from "../../src/base/random.ts";
import type { Commands } from "../../src/conversation/index.ts";
import type { LazyModels } from "../../src/models/index.ts";
import { entryAfterReset } from "../../src/sessions/index.ts";
import { openStore, type Store } from "../../src/store/index.ts";
import { echoAgents } from "../harness/echo-agents.ts";
import { noCommands, openTalk, type Talk } from "../harness/talk.ts";
import { openSessionTitles } from "../../src/app/session-titles.ts";

const KEY = "agent:main:web:a";
const PATIENCE = { timeout: 5000, interval: 5 };

let folder: string;
let store: Store;
let talk: Talk;
let titles: Disposable;
/** What the model was asked about. */
let asked: string[];
/** Called before the model answers. */
let before: () => Promise<void>;
let runs = 0;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "titles-"));
  const clock = systemClock;
  const ids = createIds(seededRandom(1));
  store = await openStore({ stateDir: folder, clock });
  const commands: Commands = {
    ...noCommands,
    run: async (call) =>
      call.ctx.CommandBody === "/status" ? { kind: "answered", reply: [{ text: "all well" }], outcome: "answered", why: "a command" } : noCommands.run(call),
  };
  talk = await openTalk({ store, clock, ids, commands, agents: echoAgents({ store, clock, ids, folder }) });
  asked = [];
  before = async () => {};
  const models = {
    select: async () => ({ entry: { provider: "test", id: "small" } }),
    async *call(_agentId: string, { messages }: { readonly messages: readonly { readonly content: string }[] }) {
      asked.push(messages[0]!.content);
      const title = `Title ${asked.length}`;
      await before();
      const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
      const message = { role: "assistant", content: [{ type: "text", text: title }], provider: "test", model: "small", api: "openai-responses", usage };
      yield { type: "done", result: { ok: true, message: { ...message, stopReason: "stop", timestamp: 1 }, attempts: [] } };
    },
  };
  const lazy = { models: async () => models, budgets: async () => ({ check: async () => ({ state: "ok" }) }) } as unknown as LazyModels;
  const config = { current: { session: { titles: { model: "test/small" } } } };
  titles = openSessionTitles({ config, store, clock, ids, log: silentLogger } as unknown as Parameters<typeof openSessionTitles>[0], lazy, talk.conversation);
});
afterEach(async () => {
  titles[Symbol.dispose]();
  await talk.conversation[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function say(message: string, sessionKey = KEY): Promise<void> {
  runs += 1;
  const runId = `r${runs}`;
  await talk.conversation.accept({ runId, sessionKey, message, channel: "webchat", scopes: ["operator.admin"] });
  await talk.conversation.outcome(runId);
}
const entryOf = async (key = KEY) => (await store.read("sessions.get", { key }))!.entry;
const titleOf = async (key = KEY) => (await entryOf(key))["title"];

async function reset(): Promise<void> {
  const { entry, version, agentId } = (await store.read("sessions.get", { key: KEY }))!;
  const fresh = entryAfterReset(entry, "explicit", { sessionId: `fresh-${version}`, now: systemClock.now() });
  await store.write("sessions.put", { key: KEY, agentId, entry: fresh, version });
}

test("a conversation is named once, and the one that follows a reset gets a name of its own", async () => {
  await say("one");
  await expect.poll(() => titleOf(), PATIENCE).toBe("Title 1");
  await say("two");
  await reset();
  await say("three");
  await expect.poll(() => titleOf(), PATIENCE).toBe("Title 2");
  expect(asked[1]).toContain("three");
});

test("the name of a conversation that was reset while the model thought is not given to the next one", async () => {
  before = reset;
  await say("one");
  await expect.poll(async () => (await store.read("usage.totals", { by: [] }))[0]?.calls, PATIENCE).toBe(2);
  expect(await titleOf()).toBeUndefined();
});

test("a conversation that begins with a command is named after its first answer", async () => {
  await say("/status");
  await say("one");
  await expect.poll(() => titleOf(), PATIENCE).toBe("Title 1");
});

test("single requests over HTTP cost no second call", async () => {
  await say("one", "agent:main:openai:0b0e7a52-5f0a-4a5e-8f0c-5d2b7a1c9e11");
  await say("two");
  await expect.poll(() => titleOf(), PATIENCE).toBe("Title 1");
  expect(asked).toHaveLength(1);
});
