import { expect, test } from "vitest";
import type { ChannelPlugin } from "../protocol/index.ts";
import { accountFromQuestions, type Questions } from "./channel-account.ts";

test("a plugin shows how its channel stands before it asks, and hears which account was made", async () => {
  const heard: unknown[] = [];
  const plugin = {
    id: "paper",
    meta: { id: "paper", label: "Paper" },
    onboarding: {
      channel: "paper",
      getStatus: () => Promise.resolve({ channel: "paper", configured: true, statusLines: ["Paper: one account"] }),
      configure: () => Promise.resolve({ cfg: { channels: { paper: {} } }, accountId: "work" }),
      onAccountRecorded: (accountId: string) => void heard.push(accountId),
    },
  } as unknown as ChannelPlugin;
  const prompter = { note: (text: string, title: string) => Promise.resolve(void heard.push([title, text])) } as unknown as Questions["prompter"];
  const made = await accountFromQuestions(plugin, {}, { prompter, runtime: {} as Questions["runtime"] });
  expect(made).toEqual({ next: { channels: { paper: {} } }, accountId: "work" });
  expect(heard).toEqual([["Paper", "Paper: one account"], "work"]);
});
