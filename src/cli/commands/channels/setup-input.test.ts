import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { setupFlags } from "./setup-input.ts";

type Entries = Parameters<typeof setupFlags>[0];

const entry = (channel: string, config?: object, reason?: string): Entries[number] =>
  ({ manifest: { channels: [channel], rest: config === undefined ? {} : { channelConfigs: { [channel]: config } } }, reason }) as unknown as Entries[number];

const listed = (...entries: Entries): Record<string, string> => Object.fromEntries(Object.entries(setupFlags(entries)).map(([name, { help }]) => [name, help]));

function bundled(id: string): Entries[number] {
  const manifest = JSON.parse(readFileSync(new URL(`../../../../plugins/${id}/openclaw.plugin.json`, import.meta.url), "utf8")) as Record<string, unknown>;
  return { manifest: { channels: manifest["channels"], rest: manifest } } as unknown as Entries[number];
}

test("flags are those that the channels' plugins declare, with the channel they are for", () => {
  expect(listed(bundled("telegram"), bundled("echo-channel"))).toEqual({
    token: "telegram: the bot's token, from @BotFather",
    "token-file": "telegram: a file with the token",
    "use-env": "telegram: take the token from TELEGRAM_BOT_TOKEN (default account only)",
  });
  expect(Object.keys(listed(bundled("irc")))).toEqual(["use-env", "http-port", "user-id", "password", "url", "group-channels"]);
});

test("flags of channels that are not here are not listed; one that several take is listed once", () => {
  expect(listed()).toEqual({});
  expect(listed(entry("slack"), entry("mattermost"))).toEqual({
    "bot-token": "slack, mattermost: Bot token",
    "app-token": "slack: App token",
    "use-env": "slack, mattermost: Read credentials from environment variables (default account only)",
    "http-url": "mattermost: Server URL",
  });
  expect(listed(entry("slack", undefined, "overridden by config plugin"))).toEqual({});
});

test("a channel that declares no flags takes those that are settings of its schema, or a token", () => {
  const schema = { properties: { botToken: {}, webhookUrl: {}, colour: {} } };
  expect(Object.keys(listed(entry("paper", { schema })))).toEqual(["token", "token-file", "bot-token", "webhook-url"]);
  expect(Object.keys(listed(entry("paper")))).toEqual(["token", "token-file", "use-env"]);
});
