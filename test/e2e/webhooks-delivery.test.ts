/** Answers of runs that webhooks start, on their way to a chat. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { startTelegram, type FakeTelegram } from "../fakes/telegram/index.ts";
import { askedFor, HOOK_TOKEN, postHook } from "../harness/hook-client.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };

let telegram: FakeTelegram;
let gateway: LabGateway;

beforeAll(async () => {
  telegram = await startTelegram();
  telegram.direct(telegram.me);
  const own = { enabled: true, botToken: telegram.token, ackReaction: "", streamMode: "off", dmPolicy: "allowlist", allowFrom: [String(telegram.me.id)] };
  gateway = await startLabGateway({
    sections: { channels: { telegram: own }, hooks: { enabled: true, token: HOOK_TOKEN } },
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await telegram?.[Symbol.asyncDispose]();
});

const texts = (): readonly string[] => telegram.messages(telegram.me.id).map(({ text }) => text);

test("an answer goes to the chat that the request names, and the main session gets a line about it without a turn of its own", async () => {
  const to = String(telegram.me.id);
  expect(await postHook(gateway, "/agent", { message: "x", channel: "telegram" })).toMatchObject({
    status: 400,
    body: { error: expect.stringMatching(/^to required/) },
  });
  expect((await postHook(gateway, "/agent", { message: "say w-sent", name: "Sent", channel: "telegram", to })).status).toBe(202);
  await expect.poll(texts, PATIENCE).toContain("Heard w-sent.");
  expect(askedFor(gateway, "Hook Sent: ")).toEqual([]);
  await expect
    .poll(
      async () => {
        await gateway.operator.request("chat.send", { sessionKey: "main", message: "anything new?", idempotencyKey: crypto.randomUUID() });
        return askedFor(gateway, "Hook Sent: Heard w-sent.").length;
      },
      { timeout: 20_000, interval: 300 },
    )
    .toBe(1);
  expect(texts().filter((text) => text === "Heard w-sent.")).toHaveLength(1);
});
