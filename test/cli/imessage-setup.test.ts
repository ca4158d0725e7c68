import { expect, test } from "vitest";
import { startLabGateway } from "../conformance/channels/lab-gateway.ts";
import { startMessages } from "../fakes/imessage/index.ts";

const PATIENCE = { timeout: 20_000, interval: 50 };

test("channels add with a program connects the running gateway; a wrong one is refused before anything is written", async () => {
  await using mac = await startMessages();
  await using gateway = await startLabGateway();
  const add = (...flags: string[]) => gateway.cli("channels", "add", "--channel", "imessage", ...flags);
  const refused = await add("--cli-path", "imsg; reboot");
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain("is not a program");
  const added = await add("--cli-path", mac.cliPath, "--db-path", mac.dbPath, "--service", "imessage", "--region", "de");
  expect(added.code, added.output).toBe(0);
  await expect.poll(() => mac.asked.some(({ method }) => method === "watch.subscribe"), PATIENCE).toBe(true);
  await expect.poll(async () => (await gateway.cli("channels", "status", "--json")).output, PATIENCE).toMatch(/"connected":\s*true/);
  const sent = await gateway.cli("message", "send", "--channel", "imessage", "--target", "+491701234567", "--message", "hello");
  expect(sent.code, sent.output).toBe(0);
  expect(mac.asked.findLast(({ method }) => method === "send")?.params).toEqual({ to: "+491701234567", text: "hello", service: "imessage", region: "DE" });
});
