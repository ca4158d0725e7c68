import { expect, test } from "vitest";
import { startLabGateway } from "../conformance/channels/lab-gateway.ts";
import { CHANNEL_SETUPS } from "../harness/channel-setups.ts";

const PATIENCE = { timeout: 20_000, interval: 50 };

/** Those that have no test of their own for it. */
const ADDED = ["telegram", "discord", "mattermost", "irc"];

test.each(ADDED)("channels add sets %s up beside a running gateway, which connects, and prints no secret", async (id) => {
  await using setup = await CHANNEL_SETUPS[id]!();
  await using gateway = await startLabGateway({ env: setup.env });
  const added = await gateway.cli("channels", "add", "--channel", id, ...setup.flags);
  expect(added.code, added.output).toBe(0);
  expect(added.output).not.toMatch(/warning/i);
  if (setup.isUp) await expect.poll(() => setup.isUp!(), PATIENCE).toBe(true);
  await expect.poll(async () => (await gateway.cli("channels", "status", "--json")).output, PATIENCE).toMatch(/"connected":\s*true/);
  if (id === "telegram") expect((await gateway.cli("channels", "capabilities", "--channel", id)).output).toMatch(/Telegram default ok/i);
  for (const [name, value] of Object.entries(setup.fields)) if (/token$/i.test(name)) expect(added.output).not.toContain(value);
});
