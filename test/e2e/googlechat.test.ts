/** Google Chat with its default settings, over a real gateway: the typing message becomes the answer. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { type FakeGoogleChat, type Message, startGoogleChat, type User } from "../fakes/googlechat/index.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };
const PROJECT = "123456789012";
const TYPING = "_is typing…_";

let chat: FakeGoogleChat;
let gateway: LabGateway;
let anna: User;

async function start(more: Record<string, unknown> = {}): Promise<void> {
  gateway = await startLabGateway({
    sections: {
      channels: {
        googlechat: {
          serviceAccount: chat.google.serviceAccount,
          audienceType: "project-number",
          audience: PROJECT,
          dm: { policy: "allowlist", allowFrom: [anna.name] },
          ...more,
        },
      },
    },
    env: { OPENCLAW_TEST_GOOGLECHAT_API_ROOT: chat.url },
  });
  chat.google.setAudience("project-number", PROJECT);
  chat.postTo(() => (gateway.isRunning() ? `${gateway.url.replace(/^ws/, "http")}/googlechat` : undefined));
  await vi.waitFor(async () => expect((await gateway.account("googlechat"))?.connected).toBe(true), PATIENCE);
}

beforeEach(async () => {
  chat = await startGoogleChat();
  anna = chat.person("Anna");
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await chat[Symbol.asyncDispose]();
});

const ours = (): Message[] => chat.messages(chat.direct(anna)).filter(({ sender }) => sender === chat.bot);
const texts = (): string[] => ours().map(({ text }) => text);
const say = (text: string): Message => chat.say(anna, chat.direct(anna), text);

test("a typing message is shown at once, and becomes the answer; a silent turn leaves none", async () => {
  await start();
  gateway.model.holds(({ user }) => user.includes("w-held"));
  say("a w-apple");
  await expect.poll(texts, PATIENCE).toEqual(["Heard w-apple."]);
  const [first] = ours();
  expect(first!.clientId).toMatch(/^client-/);
  gateway.model.answers(({ user }) => (user.includes("w-quiet") ? "NO_REPLY" : undefined));
  say("a w-quiet word");
  await expect.poll(() => gateway.model.requests.length, PATIENCE).toBe(2);
  say("a w-plum");
  await expect.poll(texts, PATIENCE).toEqual(["Heard w-apple.", "Heard w-plum."]);
  say("a w-held one");
  await expect.poll(texts, PATIENCE).toEqual(["Heard w-apple.", "Heard w-plum.", TYPING]);
});

test("a typing message of a gateway that was killed does not stay", async () => {
  await start();
  gateway.model.holds(({ user }) => user.includes("w-held"));
  say("a w-held one");
  await expect.poll(texts, PATIENCE).toEqual([TYPING]);
  await gateway.kill();
  gateway.model.holds(undefined);
  await gateway.start();
  await expect.poll(texts, PATIENCE).toEqual(["Heard w-held."]);
});

test("an answer that names its message stands in its thread", async () => {
  await start();
  gateway.model.answers(({ user }) => (user.includes("w-apple") ? "[[reply_to_current]] Heard w-apple." : undefined));
  const said = say("a w-apple");
  // What showed it while it was written stood elsewhere, and goes away.
  await expect.poll(() => ours().map(({ text, thread }) => [text, thread]), PATIENCE).toEqual([["Heard w-apple.", said.thread]]);
});

test("with replyToMode the typing message stands in the thread from the beginning", async () => {
  await start({ replyToMode: "all" });
  gateway.model.holds(({ user }) => user.includes("w-held"));
  const said = say("a w-plum");
  await expect.poll(() => ours().map(({ text, thread }) => [text, thread]), PATIENCE).toEqual([["Heard w-plum.", said.thread]]);
  const held = say("a w-held one");
  await expect.poll(() => ours().map(({ text, thread }) => [text, thread]), PATIENCE).toContainEqual([TYPING, held.thread]);
});

test("where Google does not take the file of an answer, the text comes without it", async () => {
  await start();
  const path = join(gateway.workspace, "chart.png");
  writeFileSync(path, Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64"));
  gateway.model.answers(({ user }) => (user.includes("draw") ? `Here is w-apple.\nMEDIA:${path}` : undefined));
  say("draw w-apple");
  await expect.poll(texts, PATIENCE).toEqual([expect.stringMatching(/^Here is w-apple\.\n\n\[not sent: chart\.png: .*user authorization/)]);
  expect(ours().flatMap(({ attachment }) => attachment)).toEqual([]);
});
