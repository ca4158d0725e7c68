/** Tools that only the owner has, asked for in chats. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import type { ModelRequest } from "../conformance/channels/lab-model.ts";
import { startTelegram, type FakeTelegram, type User } from "../fakes/telegram/index.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };
const OWNERS = ["cron", "gateway"];

let telegram: FakeTelegram;
let gateway: LabGateway;
let guest: User;

beforeAll(async () => {
  telegram = await startTelegram();
  guest = telegram.person({ first_name: "Guest" });
  for (const user of [telegram.me, guest]) telegram.direct(user);
  const allowFrom = [String(telegram.me.id), String(guest.id)];
  const own = { enabled: true, botToken: telegram.token, ackReaction: "", streamMode: "off", dmPolicy: "allowlist", allowFrom };
  gateway = await startLabGateway({
    sections: { channels: { telegram: own }, session: { dmScope: "per-channel-peer" }, commands: { ownerAllowFrom: [`telegram:${telegram.me.id}`] } },
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await telegram?.[Symbol.asyncDispose]();
});
beforeEach(() => gateway.model.answers(undefined));

const texts = (user: User): readonly string[] => telegram.messages(user.id).map(({ text }) => text);
const asked = (word: string): ModelRequest | undefined => gateway.model.requests.find(({ user }) => user.includes(word));
const toolsOf = ({ body }: ModelRequest): readonly string[] =>
  (JSON.parse(body) as { tools: readonly { function: { name: string } }[] }).tools.map((tool) => tool.function.name);
const lastResult = ({ body }: ModelRequest): string | undefined => {
  const last = (JSON.parse(body) as { messages: readonly { role: string; content: string }[] }).messages.at(-1);
  return last?.role === "tool" ? last.content : undefined;
};

test("the owner's agent has them in a chat, and they work there", async () => {
  const job = {
    name: "Water",
    schedule: { kind: "every", everyMs: 3_600_000 },
    sessionTarget: "main",
    payload: { kind: "systemEvent", text: "water the plants" },
  };
  gateway.model.answers((request) => lastResult(request) ?? { text: "", calls: [{ name: "cron", args: { action: "add", job } }] });
  telegram.say("w-owner: remind me every hour");
  await expect.poll(() => texts(telegram.me).join("\n"), PATIENCE).toContain("water the plants");
  expect(toolsOf(asked("w-owner")!)).toEqual(expect.arrayContaining(OWNERS));
  const { payload } = await gateway.operator.request("cron.list", {});
  expect((payload as { jobs: readonly { name: string }[] }).jobs).toMatchObject([{ name: "Water" }]);
});

test("a sub-agent of the owner's chat works for the owner, and still has none that sub-agents never have", async () => {
  gateway.model.answers((request) => {
    if (request.user.includes("[Subagent Task]:")) return "done";
    return lastResult(request) === undefined ? { text: "", calls: [{ name: "sessions_spawn", args: { task: "w-child" } }] } : "started";
  });
  telegram.say("w-parent: hand it on");
  await expect.poll(() => texts(telegram.me), PATIENCE).toContain("✅ Subagent main finished\n\ndone");
  const child = gateway.model.requests.find(({ user }) => user.includes("[Subagent Task]: w-child"))!;
  for (const name of [...OWNERS, "agents_list", "session_status", "sessions_send"]) expect(toolsOf(child)).not.toContain(name);
});

test("another person's agent has none of them, and one that the model calls all the same is refused", async () => {
  gateway.model.answers((request) => lastResult(request) ?? { text: "", calls: [{ name: "cron", args: { action: "list" } }] });
  telegram.say("w-guest: show the jobs", { from: guest });
  await expect.poll(() => texts(guest).filter((text) => !text.includes("w-guest")).length, PATIENCE).toBeGreaterThan(0);
  const offered = toolsOf(asked("w-guest")!);
  for (const name of OWNERS) expect(offered).not.toContain(name);
  expect(offered).toEqual(expect.arrayContaining(["sessions_list", "sessions_history", "sessions_send", "sessions_spawn", "session_status", "subagents"]));
  expect(texts(guest).join("\n")).not.toContain("Water");
});
