import { expect, test } from "vitest";
import { startLabGateway } from "../conformance/channels/lab-gateway.ts";
import { appManifest } from "../../plugins/slack/manifest.ts";
import { startSlack } from "../fakes/slack/index.ts";

const PATIENCE = { timeout: 20_000, interval: 50 };

test("channels add with the two tokens connects the running gateway; wrong ones are refused before anything is written", async () => {
  await using slack = await startSlack();
  await using gateway = await startLabGateway({ env: { OPENCLAW_TEST_SLACK_API_ROOT: slack.apiRoot } });
  const refused = await gateway.cli("channels", "add", "--channel", "slack", "--bot-token", "123", "--app-token", slack.appToken);
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain("starts with xoxb-");
  const added = await gateway.cli("channels", "add", "--channel", "slack", "--bot-token", slack.botToken, "--app-token", slack.appToken);
  expect(added.code, added.output).toBe(0);
  await expect.poll(() => slack.delivery.open, PATIENCE).toBe(1);
  // The gateway takes the plugin over, and its clients have to come back: the command does.
  await expect
    .poll(async () => (await gateway.cli("channels", "status", "--json")).output, PATIENCE)
    .toMatch(/"botTokenSource":\s*"config"[^]*"connected":\s*true|"connected":\s*true[^]*"botTokenSource":\s*"config"/);
  expect(added.output).not.toContain(slack.botToken);
});

test("channels add with a signing secret sets HTTP mode up, and prints the manifest for the public address", async () => {
  await using slack = await startSlack();
  await using gateway = await startLabGateway({ env: { OPENCLAW_TEST_SLACK_API_ROOT: slack.apiRoot } });
  slack.delivery.useHttp({ url: `${gateway.url.replace(/^ws/, "http")}/in/slack`, secret: "s3cret" });
  const flags = ["--bot-token", slack.botToken, "--signing-secret", "s3cret", "--webhook-url", "https://claw.example.com/in/slack"];
  const added = await gateway.cli("channels", "add", "--channel", "slack", ...flags);
  expect(added.code, added.output).toBe(0);
  const printed: unknown = JSON.parse(/^\{\n[^]*^\}$/m.exec(added.output)![0]);
  expect(printed).toEqual(appManifest({ mode: "http", command: "openclaw", url: "https://claw.example.com/in/slack" }));
  await expect
    .poll(async () => (await gateway.cli("channels", "status", "--json")).output, PATIENCE)
    .toMatch(/"mode":\s*"http"[^]*"connected":\s*true|"connected":\s*true[^]*"mode":\s*"http"/);
  slack.people.say("hello", { by: slack.world.person("ada"), channel: slack.world.direct(slack.world.person("bob").id).id });
  await expect.poll(() => slack.delivery.posts.map(({ status }) => status), PATIENCE).toContain(200);
  expect(added.output).not.toContain("s3cret");
});

test("channels add without flags and without a terminal prints the steps and the manifest", async () => {
  await using gateway = await startLabGateway();
  const refused = await gateway.cli("channels", "add", "--channel", "slack");
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain("no bot token");
  expect(refused.output).toMatch(/^1\. Open https:\/\/api\.slack\.com\/apps/m);
  expect(JSON.parse(/^\{\n[^]*^\}$/m.exec(refused.output)![0])).toEqual(appManifest({ mode: "socket", command: "openclaw" }));
});

test("channels add --help names the flags", async () => {
  await using gateway = await startLabGateway();
  const help = await gateway.cli("channels", "add", "--help");
  expect(help.output).toMatch(/--bot-token/);
  expect(help.output).toMatch(/--app-token/);
  expect(help.output).toMatch(/--signing-secret/);
  expect(help.output).toMatch(/--mode/);
});
