import { expect, test } from "vitest";
import { withAccountKeys } from "./account-keys.ts";

test("a text for a named account names that account's keys, and one for the default account stays as it is", () => {
  const work = { channel: "slack", accountId: "work" };
  expect(withAccountKeys("set channels.slack.botToken or channels.slack.appToken", work)).toBe(
    "set channels.slack.accounts.work.botToken or channels.slack.accounts.work.appToken",
  );
  expect(withAccountKeys("channels.slack.accounts.work.botToken and channels.discord.token", work)).toBe(
    "channels.slack.accounts.work.botToken and channels.discord.token",
  );
  expect(withAccountKeys("set channels.slack.botToken", { channel: "slack", accountId: "default" })).toBe("set channels.slack.botToken");
});
