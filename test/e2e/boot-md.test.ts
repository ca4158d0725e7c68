/** BOOT.md in a real gateway: one run for each start, also across kills; and the hooks of messages. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { startTelegram, type FakeTelegram } from "../fakes/telegram/index.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };

let telegram: FakeTelegram;
let gateway: LabGateway;
beforeAll(async () => {
  telegram = await startTelegram();
  telegram.direct(telegram.me);
  const own = { enabled: true, botToken: telegram.token, ackReaction: "", streamMode: "off", dmPolicy: "allowlist", allowFrom: [String(telegram.me.id)] };
  gateway = await startLabGateway({
    build: "dist-test",
    sections: { channels: { telegram: own }, hooks: { internal: { enabled: true } } },
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
  });
  await gateway.stop();
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await telegram?.[Symbol.asyncDispose]();
});
afterEach(async () => {
  if (gateway.isRunning()) await gateway.stop();
  gateway.model.answers(undefined);
  rmSync(bootFile(), { force: true });
});

const bootFile = (): string => join(gateway.workspace, "BOOT.md");
const asked = (word: string): number => gateway.model.requests.filter(({ user }) => user.includes(word)).length;
const texts = (): readonly string[] => telegram.messages(telegram.me.id).map(({ text }) => text);
const done = (word: string): number => gateway.output().split(`[hooks] ${word}`).length - 1;

test("BOOT.md runs once at each start in a session of its own, and may send messages", async () => {
  writeFileSync(bootFile(), "Tell me w-greeting is up.");
  gateway.model.answers(({ user, body }) => {
    if (!user.includes("w-greeting")) return undefined;
    if (body.includes('"role":"tool"')) return "NO_REPLY";
    return {
      text: "",
      calls: [{ name: "message", args: { action: "send", channel: "telegram", target: String(telegram.me.id), message: "w-greeting is up" } }],
    };
  });
  const before = done("BOOT.md of main is done");
  await gateway.start();
  await expect.poll(() => texts(), PATIENCE).toContain("w-greeting is up");
  await expect.poll(() => done("BOOT.md of main is done"), PATIENCE).toBe(before + 1);
  expect(asked("w-greeting")).toBe(2);
  const { payload } = await gateway.operator.request("sessions.list", {});
  const sessions = (payload as { sessions: readonly { readonly key: string; readonly sessionId?: string }[] }).sessions;
  expect(sessions.find(({ key }) => key === "agent:main:main")?.sessionId ?? "none").not.toContain("boot");
  const { sessionId } = sessions.find(({ key }) => key === "agent:main:boot") ?? {};
  expect(sessionId).toMatch(/^boot-\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d-\d{3}-[0-9a-f]{8}$/);
  const transcripts = readdirSync(join(gateway.place.stateDir, "agents", "main", "sessions"));
  expect(transcripts).toContain(`${sessionId}.jsonl`);
  await gateway.stop();
  await gateway.start();
  await expect.poll(() => done("BOOT.md of main is done"), PATIENCE).toBe(before + 2);
  expect(texts().filter((text) => text === "w-greeting is up")).toHaveLength(2);
});

test("without BOOT.md, or with nothing in it, no model is asked", async () => {
  writeFileSync(bootFile(), " \n");
  const before = asked("boot check");
  await gateway.start();
  await gateway.aside();
  expect(asked("boot check")).toBe(before);
});

test.each(["boot.prepared", "boot.accepted", "inbox.committed", "turn.started"])("killed at %s, BOOT.md is run once by the next start", async (failpoint) => {
  const word = `w-${failpoint.replaceAll(".", "")}`;
  writeFileSync(bootFile(), `Note ${word}.`);
  const ends = done("BOOT.md of main");
  // Nobody connects to it: it may end before that is done.
  await using killed = await gateway.place.gateway({
    build: "dist-test",
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot, OPENCLAW_FAILPOINT: failpoint },
  });
  expect(await killed.exited).toMatchObject({ signal: "SIGKILL" });
  await gateway.start();
  await expect.poll(() => done("BOOT.md of main"), PATIENCE).toBe(ends + 1);
  await expect.poll(() => asked(word), PATIENCE).toBe(1);
  await gateway.aside();
  expect(asked(word)).toBe(1);
});

test("hooks are called with messages that come in and go out, and what one adds to a command's answer reaches the chat", async () => {
  const folder = join(gateway.workspace, "hooks", "messages");
  const out = join(gateway.place.home, "messages.jsonl");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "HOOK.md"), '---\nmetadata: {"openclaw":{"events":["message","command:new"]}}\n---\n');
  const code = `const { appendFileSync } = require("node:fs");
module.exports = async ({ type, action, sessionKey, context, messages }) => {
  if (type === "command") return void messages.push("first note", "second note");
  appendFileSync(${JSON.stringify(out)}, JSON.stringify({ action, sessionKey, context }) + "\\n");
};
`;
  writeFileSync(join(folder, "handler.js"), code);
  await gateway.start();
  telegram.say("say w-hello");
  await expect.poll(() => texts(), PATIENCE).toContain("Heard w-hello.");
  const me = String(telegram.me.id);
  const lines = (): readonly unknown[] =>
    existsSync(out)
      ? readFileSync(out, "utf8")
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line) as unknown)
      : [];
  await expect.poll(() => lines().length, PATIENCE).toBe(2);
  const both = { channelId: "telegram", accountId: "default", conversationId: expect.stringContaining(me) };
  expect(lines()).toMatchObject([
    {
      action: "received",
      sessionKey: "agent:main:main",
      context: {
        ...both,
        from: expect.stringContaining(me),
        content: "say w-hello",
        messageId: expect.any(String),
        metadata: { provider: "telegram", senderId: me },
      },
    },
    { action: "sent", context: { ...both, to: expect.stringContaining(me), content: "Heard w-hello.", success: true, messageId: expect.any(String) } },
  ]);
  telegram.say("/new");
  await expect.poll(() => texts(), PATIENCE).toContain("first note\n\nsecond note");
});
