import { expect, test } from "vitest";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { scannedInTerminal } from "../fakes/whatsapp/picture.ts";
import { CHANNEL_SETUPS, type ChannelSetup } from "../harness/channel-setups.ts";
import { programArguments } from "../harness/program.ts";

const PATIENCE = { timeout: 20_000, interval: 50 };

/** Those that have no test of their own for it. */
const ADDED = ["telegram", "discord", "mattermost", "irc", "whatsapp"];

/** Scans the code that `channels login` shows. */
async function link({ place, cli }: LabGateway, id: string, { env, scan }: ChannelSetup): Promise<void> {
  const child = spawn(process.execPath, [...programArguments(), "channels", "login", "--channel", id], { env: { ...place.env, ...env }, cwd: place.home });
  let shown = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (shown += String(chunk)));
  const ended = once(child, "exit");
  await expect.poll(() => shown, PATIENCE).toContain("Linked devices");
  scan!(scannedInTerminal(shown)!);
  expect((await ended)[0], shown).toBe(0);
  await expect.poll(async () => (await cli("channels", "start", "--channel", id)).output, PATIENCE).toContain("runs");
}

test.each(ADDED)("channels add sets %s up beside a running gateway, which connects, and prints no secret", async (id) => {
  await using setup = await CHANNEL_SETUPS[id]!();
  await using gateway = await startLabGateway({ env: setup.env });
  const added = await gateway.cli("channels", "add", "--channel", id, ...setup.flags);
  expect(added.code, added.output).toBe(0);
  expect(added.output).not.toMatch(/warning/i);
  expect(added.output).toContain("a running gateway applies it without a restart");
  if (setup.scan) await link(gateway, id, setup);
  if (setup.isUp) await expect.poll(() => setup.isUp!(), PATIENCE).toBe(true);
  await expect.poll(async () => (await gateway.cli("channels", "status", "--json")).output, PATIENCE).toMatch(/"connected":\s*true/);
  if (id === "telegram") expect((await gateway.cli("channels", "capabilities", "--channel", id)).output).toMatch(/Telegram default ok/i);
  // What it said is true: the gateway came up once.
  expect(gateway.output().match(/ready on http/g)).toHaveLength(1);
  for (const [name, value] of Object.entries(setup.fields)) if (/token$/i.test(name)) expect(added.output).not.toContain(value);
});
