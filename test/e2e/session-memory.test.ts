/** What the hook session-memory saves of a conversation in a chat. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startLabGateway } from "../conformance/channels/lab-gateway.ts";
import { startTelegram } from "../fakes/telegram/index.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };

test("a conversation is saved as people wrote it, without what the channel adds for the model", async () => {
  await using telegram = await startTelegram();
  telegram.direct(telegram.me);
  const id = String(telegram.me.id);
  await using gateway = await startLabGateway({
    sections: {
      channels: { telegram: { enabled: true, botToken: telegram.token, ackReaction: "", streamMode: "off", dmPolicy: "allowlist", allowFrom: [id] } },
      commands: { ownerAllowFrom: [`telegram:${id}`] },
      hooks: { internal: { enabled: true, entries: { "session-memory": { llmSlug: false } } } },
    },
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
  });
  const texts = (): readonly string[] => telegram.messages(telegram.me.id).map(({ text }) => text);
  telegram.say("say w-plum");
  await expect.poll(texts, PATIENCE).toContain("Heard w-plum.");
  expect((await gateway.operator.ask("memory.search", { query: "w-plum", minScore: 0 })).ok).toBe(true);
  telegram.say("/new");
  const folder = join(gateway.workspace, "memory");
  const files = (): readonly string[] => (existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".md")) : []);
  await expect.poll(files, PATIENCE).toHaveLength(1);
  const saved = readFileSync(join(folder, files()[0]!), "utf8");
  expect(saved).toMatch(/## Conversation Summary\n\nuser: say w-plum\nassistant: Heard w-plum\.\n$/);
  // The next search finds it, also when the index was made before.
  const { payload } = await gateway.operator.ask("memory.search", { query: "w-plum", minScore: 0 });
  expect((payload as { results: readonly { path: string }[] }).results.map(({ path }) => path)).toContain(`memory/${files()[0]}`);
});

test.each(["session-memory.saved", "session-memory.named"])("a gateway that is killed at %s has saved the conversation", async (failpoint) => {
  await using gateway = await startLabGateway({
    build: "dist-test",
    sections: { hooks: { internal: { enabled: true } } },
    env: { OPENCLAW_FAILPOINT: failpoint },
  });
  gateway.model.answers(({ user }) => (user.includes("w-pear") && user.includes("assistant:") ? "about-pears" : undefined));
  const say = async (message: string): Promise<void> => {
    await gateway.operator.request("chat.send", { sessionKey: "main", message, idempotencyKey: message }).catch(() => {});
  };
  await say("say w-pear");
  await expect.poll(() => gateway.model.requests.filter(({ user }) => user.includes("w-pear")).length, PATIENCE).toBe(1);
  await gateway.operator.request("agent.wait", { runId: "say w-pear", timeoutMs: 20_000 });
  void say("/new");
  expect(await gateway.ended()).toMatchObject({ signal: "SIGKILL" });
  const folder = join(gateway.workspace, "memory");
  const texts = (): readonly string[] => readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
  expect(texts()).toEqual([expect.stringContaining("user: say w-pear\nassistant: Heard w-pear.")]);
  await gateway.start({ OPENCLAW_FAILPOINT: "" });
  await gateway.aside();
  for (const text of texts()) expect(text).toContain("user: say w-pear\nassistant: Heard w-pear.");
});
