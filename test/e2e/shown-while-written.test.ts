/**
 * What people see while a turn runs. "Text, call, text": the first text stays where they saw it, in every mode, also when the process is killed in
 * between. A thought of which only the end is marked goes away with that end.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { startTelegram, type FakeTelegram } from "../fakes/telegram/index.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };
const FIRST = "Let me look at the state of this session first.";
const SECOND = "Everything is in order, and nothing has to be done.";

let telegram: FakeTelegram;
let gateway: LabGateway;
let person: ReturnType<FakeTelegram["person"]>;

const sections = (streamMode: string, more: object = {}) => ({
  channels: {
    telegram: { enabled: true, botToken: telegram.token, ackReaction: "", streamMode, dmPolicy: "open", allowFrom: ["*"], ...more },
  },
  session: { dmScope: "per-channel-peer" },
});

beforeAll(async () => {
  telegram = await startTelegram();
  gateway = await startLabGateway({
    build: "dist-test",
    sections: sections("partial"),
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
  });
}, 60_000);

beforeEach(() => {
  person = telegram.person();
  telegram.direct(person);
  gateway.model.holds(undefined);
  gateway.model.answers(({ body }) => {
    const { messages } = JSON.parse(body) as { messages: readonly { role: string }[] };
    return messages.at(-1)!.role === "tool" ? SECOND : { text: FIRST, calls: [{ name: "session_status", args: {} }] };
  });
});

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await telegram?.[Symbol.asyncDispose]();
});

const seen = (): readonly string[] =>
  telegram
    .messages(person.id)
    .filter(({ byBot }) => byBot)
    .map(({ text }) => text);

const afterCall = ({ body }: { readonly body: string }): boolean =>
  (JSON.parse(body) as { messages: readonly { role: string }[] }).messages.at(-1)!.role === "tool";

async function restart(streamMode: string, more: object = {}, env: Record<string, string> = {}): Promise<void> {
  await gateway.stop();
  gateway.configure(sections(streamMode, more));
  await gateway.start(env);
  await expect.poll(async () => (await gateway.account("telegram"))?.connected, PATIENCE).toBe(true);
}

/** Whether an edit ever took words away from a message that had them. */
function hasShrunk(): boolean {
  const texts = new Map<number, string>();
  return telegram.calls("editMessageText").some(({ params }) => {
    const { message_id: id, text, chat_id: chat } = params as { message_id: number; text: string; chat_id: number };
    if (chat !== person.id) return false;
    const before = texts.get(id) ?? "";
    texts.set(id, text);
    return text.length < before.length;
  });
}

test.each(["partial", "block"])("with streamMode %s the first text is a message of its own before the call is answered", async (mode) => {
  await restart(mode);
  gateway.model.holds(afterCall);
  const before = gateway.model.requests.length;
  telegram.say("go", { from: person });
  await expect.poll(seen, PATIENCE).toEqual([FIRST]);
  await expect.poll(() => gateway.model.requests.slice(before).some(afterCall), PATIENCE).toBe(true);
  gateway.model.holds(undefined);
  await gateway.kill();
  await gateway.start();
  // One whose sending was not confirmed when the process died is there once more, and says so.
  const certain = () => seen().filter((text) => !text.startsWith("(repeat?)"));
  await expect.poll(certain, { ...PATIENCE, timeout: 40_000 }).toEqual([FIRST, `(continued after a restart)\n\n${SECOND}`]);
  expect(hasShrunk()).toBe(false);
});

test.each([
  ["partial", {}],
  ["block", {}],
  ["off", {}],
  ["off", { blockStreaming: true }],
])("with streamMode %s and %j both texts are sent, each once, and no message loses words", async (mode, more) => {
  await restart(mode, more);
  telegram.say("go", { from: person });
  await expect.poll(seen, PATIENCE).toEqual([FIRST, SECOND]);
  await expect.poll(async () => (await gateway.operator.request("status", {})).ok, PATIENCE).toBe(true);
  expect(seen()).toEqual([FIRST, SECOND]);
  expect(hasShrunk()).toBe(false);
});

test.each(
  [
    ["partial", {}],
    ["off", {}],
    ["off", { blockStreaming: true }],
  ].flatMap(([mode, more]) => ["model.result.committed", "tool.done"].map((failpoint) => [mode, more, failpoint] as const)),
)("with streamMode %s and %j, killed at %s, both texts arrive, each once", async (mode, more, failpoint) => {
  await restart(mode as string, more as object, { OPENCLAW_FAILPOINT: failpoint });
  telegram.say("go", { from: person });
  expect(await gateway.ended()).toMatchObject({ signal: "SIGKILL" });
  await gateway.start();
  const count = (text: string): number => seen().filter((one) => one.includes(text)).length;
  await expect.poll(() => count(SECOND), { ...PATIENCE, timeout: 40_000 }).toBe(1);
  // One that was being sent when the process died may be there twice, and says so.
  const repeated = seen().filter((one) => one.startsWith("(repeat?)"));
  expect(count(FIRST)).toBeLessThanOrEqual(1 + repeated.length);
  expect(seen()[0]).toContain(FIRST);
  expect(seen().at(-1)).toContain(SECOND);
});

test("thoughts that are shown come before the texts that they led to", async () => {
  await restart("partial");
  telegram.say("/reasoning on", { from: person });
  await expect.poll(() => seen().length, PATIENCE).toBe(1);
  gateway.model.thinks("w-hmm");
  telegram.say("go", { from: person });
  await expect.poll(() => seen().slice(1), PATIENCE).toEqual(["Reasoning:\nw-hmm", FIRST, "Reasoning:\nw-hmm", SECOND]);
  gateway.model.thinks(undefined);
});

test("a thought of which only the end is marked is taken out of the preview and away from clients, and is not shown the next time", async () => {
  await restart("partial");
  const thought = "The user wants a colour, and I think that it is green. ".repeat(12);
  gateway.model.answers(() => `${thought}</think>Green is the colour that I would take.`);
  gateway.model.pace(150);
  telegram.say("go", { from: person });
  await expect.poll(() => seen().some((text) => text.startsWith("The user wants")), PATIENCE).toBe(true);
  await expect.poll(seen, PATIENCE).toEqual(["Green is the colour that I would take."]);
  gateway.model.pace(undefined);
  const sessionKey = "agent:main:lone-thought";
  await gateway.operator.request("chat.send", { sessionKey, message: "go", idempotencyKey: sessionKey });
  await gateway.operator.request("agent.wait", { runId: sessionKey, timeoutMs: 20_000 });
  const texts = gateway.operator.frames.flatMap(({ event, payload }) => {
    const { runId, stream, data } = (payload ?? {}) as { runId?: string; stream?: string; data?: { text: string } };
    return event === "agent" && runId === sessionKey && stream === "assistant" ? [data!.text] : [];
  });
  expect(texts.join("")).not.toContain("The user wants");
  expect(texts.at(-1)).toBe("Green is the colour that I would take.");
});
