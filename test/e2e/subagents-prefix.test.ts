/** What children of an agent are sent begins with the same bytes, so that a provider's cache knows it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import type { LabCalls, ModelRequest } from "../conformance/channels/lab-model.ts";
import { startTelegram, type FakeTelegram } from "../fakes/telegram/index.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };
const TASK = "[Subagent Task]: ";

let telegram: FakeTelegram;
let gateway: LabGateway;

beforeAll(async () => {
  telegram = await startTelegram();
  telegram.direct(telegram.me);
  const own = { enabled: true, botToken: telegram.token, ackReaction: "", streamMode: "off", dmPolicy: "allowlist", allowFrom: [String(telegram.me.id)] };
  gateway = await startLabGateway({
    sections: { channels: { telegram: own }, session: { dmScope: "per-channel-peer" }, commands: { ownerAllowFrom: [`telegram:${telegram.me.id}`] } },
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await telegram?.[Symbol.asyncDispose]();
});

const taskOf = (word: string): ModelRequest | undefined => gateway.model.requests.find(({ user }) => user.includes(`${TASK}find ${word}`));
const isTask = ({ user }: ModelRequest): boolean => user.includes(TASK);
const spawn = (task: string, label: string): LabCalls => ({ text: "", calls: [{ name: "sessions_spawn", args: { task, label } }] });
const hasResult = ({ body }: ModelRequest): boolean => (JSON.parse(body) as { messages: readonly { role: string }[] }).messages.at(-1)?.role === "tool";

interface Sent {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools: unknown;
}
/** The request up to the task, and the parts that providers cache one by one. */
function prefixOf({ body }: ModelRequest): { readonly start: string; readonly system: unknown; readonly tools: string } {
  const { messages, tools } = JSON.parse(body) as Sent;
  return { start: body.slice(0, body.indexOf(TASK) + TASK.length), system: messages[0], tools: JSON.stringify(tools) };
}

test("children of different chats, with other tasks and labels, are sent the same bytes up to their task", async () => {
  gateway.model.answers((request) => {
    const word = /w-[a-z]+/.exec(request.user)?.[0];
    if (isTask(request) || request.user.includes("[System Message]") || word === undefined) return undefined;
    return hasResult(request) ? "started" : spawn(`find ${word}`, `Label of ${word}`);
  });
  for (const [sessionKey, message] of [
    ["agent:main:main", "w-one"],
    ["agent:main:elsewhere", "w-two"],
  ] as const) {
    const { ok } = await gateway.operator.request("chat.send", { sessionKey, message, idempotencyKey: message });
    expect(ok).toBe(true);
  }
  telegram.say("w-three");
  await expect.poll(() => ["w-one", "w-two", "w-three"].filter((word) => taskOf(word)), PATIENCE).toHaveLength(3);
  const [one, two, three] = [taskOf("w-one")!, taskOf("w-two")!, taskOf("w-three")!].map(prefixOf);
  expect(two).toEqual(one);
  expect(three).toEqual(one);
  expect(one!.start.length).toBeGreaterThan(2000);
  // What only one of them has comes behind its task.
  expect(taskOf("w-one")!.user).toMatch(
    /find w-one\n\n\[Subagent Session\]: agent:main:subagent:[0-9a-f-]{36} \(Label of w-one\), started by agent:main:main$/,
  );
});
