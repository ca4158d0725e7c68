import { expect, test } from "vitest";
import { startTelegramGateway } from "../security/telegram-gateway.ts";

const PATIENCE = { timeout: 20_000, interval: 25 };

test("what was written while the gateway was away is answered in few turns when it is back, with nothing refused", async () => {
  await using place = await startTelegramGateway(({ me }) => ({ dmPolicy: "allowlist", allowFrom: [String(me.id)], streamMode: "off" }));
  const { telegram, gateway } = place;
  await expect.poll(async () => (await gateway.account("telegram"))?.connected, PATIENCE).toBe(true);
  await gateway.stop();
  const words = Array.from({ length: 70 }, (_, at) => `w-late${at}x`);
  for (const word of words) telegram.say(`say ${word}`);
  await gateway.start();
  const missing = (): readonly string[] => words.filter((word) => !gateway.model.requests.some(({ user }) => user.includes(word)));
  await expect.poll(missing, PATIENCE).toEqual([]);
  const said = (): readonly string[] =>
    telegram
      .messages(telegram.me.id)
      .filter(({ byBot }) => byBot)
      .map(({ text }) => text);
  await expect.poll(() => said().join(" "), PATIENCE).toContain(words.at(-1));
  expect([gateway.model.requests.length <= 6, said().some((text) => text.includes("Too many messages"))]).toEqual([true, false]);
});
