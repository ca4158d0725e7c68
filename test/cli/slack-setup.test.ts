import { expect, test } from "vitest";
import { startLabGateway } from "../conformance/channels/lab-gateway.ts";
import { startSlack } from "../fakes/slack/index.ts";

const PATIENCE = { timeout: 20_000, interval: 50 };

test("channels add with the two tokens connects the running gateway; wrong ones are refused before anything is written", async () => {
  await using slack = await startSlack();
  await using gateway = await startLabGateway({ env: { OPENCLAW_TEST_SLACK_API_ROOT: slack.apiRoot } });
  const refused = await gateway.cli("channels", "add", "--channel", "slack", "--bot-token", "123", "--app-token", slack.appToken);
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain("begins with xoxb-");
  const added = await gateway.cli("channels", "add", "--channel", "slack", "--bot-token", slack.botToken, "--app-token", slack.appToken);
  expect(added.code, added.output).toBe(0);
  await expect.poll(() => slack.delivery.open, PATIENCE).toBe(1);
  // The gateway takes the plugin over, and its clients have to come back: the command does.
  await expect
    .poll(async () => (await gateway.cli("channels", "status", "--json")).output, PATIENCE)
    .toMatch(/"botTokenSource":\s*"config"[^]*"connected":\s*true|"connected":\s*true[^]*"botTokenSource":\s*"config"/);
  expect(added.output).not.toContain(slack.botToken);
});

test("channels add --help names the flags", async () => {
  await using gateway = await startLabGateway();
  const help = await gateway.cli("channels", "add", "--help");
  expect(help.output).toMatch(/--bot-token/);
  expect(help.output).toMatch(/--app-token/);
});
