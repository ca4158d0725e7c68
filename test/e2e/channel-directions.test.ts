/** Receiving and sending of an account fail and work each for itself. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { LabGateway } from "../conformance/channels/lab-gateway.ts";
import type { FakeTelegram } from "../fakes/telegram/index.ts";
import { startTelegramGateway, type TelegramGateway } from "../security/telegram-gateway.ts";

const PATIENCE = { timeout: 20_000, interval: 25 };
const FOR_EVER = { times: 1_000_000 };

let place: TelegramGateway;
let telegram: FakeTelegram;
let gateway: LabGateway;
let chat: number;

beforeAll(async () => {
  place = await startTelegramGateway(({ me }) => ({ dmPolicy: "allowlist", allowFrom: [String(me.id)], streamMode: "off" }));
  ({ telegram, gateway } = place);
  chat = telegram.me.id;
});
afterAll(() => place[Symbol.asyncDispose]());

/** Nothing is wrong, with the process as it is after a start. */
beforeEach(async () => {
  telegram.clearFaults();
  await gateway.stop();
  await gateway.start();
  await expect.poll(async () => (await gateway.account("telegram"))?.connected, PATIENCE).toBe(true);
});

const said = (word: string): number => telegram.messages(chat).filter(({ byBot, text }) => byBot && text.includes(word)).length;

/** Lets a poll that waits at the server end, so that the next one meets the fault. */
async function receivingFails(fault: Parameters<FakeTelegram["fault"]>[1]): Promise<void> {
  telegram.fault("getUpdates", { ...fault, ...FOR_EVER });
  telegram.dropConnections();
  await expect.poll(async () => (await gateway.account("telegram"))?.connected, PATIENCE).toBe(false);
}

test.each([
  ["409", { status: 409, description: "Conflict: terminated by other getUpdates request" }, "conflict"],
  ["500", { status: 500 }, "error"],
  ["a reset", { drop: "before" }, "error"],
] as const)("while getUpdates ends with %s, answers and openclaw message send go out, and the status names both", async (_how, fault, state) => {
  await receivingFails(fault);
  const word = `w-out${state}${telegram.calls("sendMessage").length}`;
  const sent = await gateway.cli("message", "send", "--channel", "telegram", "--target", String(chat), "--message", `${word}-cli`);
  expect(sent).toMatchObject({ code: 0 });
  expect(said(`${word}-cli`)).toBe(1);
  const idempotencyKey = `run-${word}`;
  await gateway.operator.request("agent", {
    message: `say ${word}`,
    sessionKey: "agent:main:out",
    deliver: true,
    channel: "telegram",
    to: String(chat),
    idempotencyKey,
  });
  await expect.poll(() => said(`Heard ${word}`), PATIENCE).toBe(1);
  await expect.poll(() => gateway.account("telegram"), PATIENCE).toMatchObject({ connected: false, receiving: { state }, sending: { state: "ok" } });
  const shown = await gateway.cli("channels", "status");
  expect(shown.output).toMatch(new RegExp(`receiving: ${state}[^]*sending: ok`));
  if (state === "conflict") {
    expect(shown.output).toContain("Stop the other program");
    expect((await gateway.account("telegram"))?.["health" as never]).toMatchObject({ state: "degraded" });
  }
  const json = JSON.parse((await gateway.cli("channels", "status", "--json")).output) as { channelAccounts: { telegram: object[] } };
  expect(json.channelAccounts.telegram[0]).toMatchObject({ receiving: { state, text: expect.any(String) as string }, sending: { state: "ok" } });
});

test("while sending fails, messages come in all the same, and the status says which of both it is", async () => {
  telegram.fault("sendMessage", { drop: "before", ...FOR_EVER });
  telegram.say("say w-inbound");
  await expect.poll(() => gateway.model.requests.some(({ user }) => user.includes("w-inbound")), PATIENCE).toBe(true);
  await expect
    .poll(() => gateway.account("telegram"), PATIENCE)
    .toMatchObject({ connected: true, receiving: { state: "ok" }, sending: { state: "error", text: expect.stringContaining("sendMessage") as string } });
  expect((await gateway.cli("channels", "status")).output).toMatch(/receiving: ok[^]*sending: error/);
});
