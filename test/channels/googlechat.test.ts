/** What a service account cannot do at Google, and what becomes of answers when its key is withdrawn. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { until } from "../harness/until.ts";
import { type FakeGoogleChat, startGoogleChat, type User } from "../fakes/googlechat/index.ts";

const PATIENCE = { timeout: 20_000, interval: 50 };
const PROJECT = "123456789012";

let chat: FakeGoogleChat;
let gateway: LabGateway;
let anna: User;

beforeAll(async () => {
  chat = await startGoogleChat();
  anna = chat.person("Anna");
  chat.google.setAudience("project-number", PROJECT);
  const account = { serviceAccount: chat.google.serviceAccount, audienceType: "project-number", audience: PROJECT, typingIndicator: "none" };
  gateway = await startLabGateway({
    sections: { channels: { googlechat: { ...account, dm: { policy: "allowlist", allowFrom: [anna.name] } } } },
    env: { OPENCLAW_TEST_GOOGLECHAT_API_ROOT: chat.url },
  });
  chat.postTo(() => (gateway.isRunning() ? `${gateway.url.replace(/^ws/, "http")}/googlechat` : undefined));
  await vi.waitFor(async () => expect((await gateway.account("googlechat"))?.connected).toBe(true), PATIENCE);
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await chat?.[Symbol.asyncDispose]();
});

const texts = (): readonly string[] =>
  chat
    .messages(chat.direct(anna))
    .filter(({ sender }) => sender === chat.bot)
    .map(({ text }) => text);

/** The gateway's own pauses pass quickly. */
async function hears(word: string): Promise<string> {
  const find = (): string | undefined => texts().find((text) => text.includes(word));
  await until(
    async () => {
      if (find() === undefined) await gateway.skip(250);
      return find() !== undefined;
    },
    () => `${word} was not heard; seen: ${JSON.stringify(texts())}\n${gateway.output().slice(-2000)}`,
    40_000,
  );
  return find()!;
}

test("a file of the agent is named below its answer with the reason, once", async () => {
  const path = join(gateway.workspace, "chart.png");
  writeFileSync(path, Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64"));
  gateway.model.answers(() => `Here is w-apple.\nMEDIA:${path}`);
  chat.say(anna, chat.direct(anna), "draw w-apple");
  expect(await hears("w-apple")).toMatch(
    /^Here is w-apple\.\n\n\[not sent: chart\.png: Google accepts files from Chat apps only with user authorization, [^\]]*\]$/,
  );
  gateway.model.answers(undefined);
  chat.say(anna, chat.direct(anna), "and w-plum?");
  await hears("w-plum");
  expect(texts().filter((text) => text.includes("w-apple"))).toHaveLength(1);
});

test("a key that is withdrawn makes the account degraded with the reason; answers wait, and are sent once it works again", async () => {
  chat.google.disable();
  chat.google.revokeTokens();
  const before = texts().length;
  chat.say(anna, chat.direct(anna), "and w-pear?");
  const health = async () => (await gateway.account("googlechat")) as { readonly health?: { readonly state: string; readonly why: string } } | undefined;
  await expect.poll(async () => (await health())?.health?.state, PATIENCE).toBe("degraded");
  expect((await health())?.health?.why).toMatch(/sending fails: .*account not found/);
  expect(texts()).toHaveLength(before);
  chat.google.enable();
  await hears("w-pear");
  expect(texts()).toHaveLength(before + 1);
  expect(gateway.output()).not.toContain("PRIVATE KEY");
});
