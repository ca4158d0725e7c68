import { expect, test } from "vitest";
import type { ChannelPlugin, HostConfig } from "../protocol/index.ts";
import { accountFromInput, accountFromQuestions, type Questions } from "./channel-account.ts";

test("a plugin shows how its channel stands before it asks, and hears which account was made", async () => {
  const heard: unknown[] = [];
  const plugin = {
    id: "paper",
    meta: { id: "paper", label: "Paper" },
    config: { listAccountIds: () => [] },
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

test("an account that stands in the channel's own section stays one when another is added beside it", () => {
  const sectionOf = (cfg: HostConfig): Record<string, unknown> => cfg.channels?.["paper"] ?? {};
  const plugin = {
    id: "paper",
    meta: { id: "paper", label: "Paper" },
    config: { listAccountIds: (cfg: HostConfig) => Object.keys(sectionOf(cfg)["accounts"] ?? { default: {} }) },
    setup: {
      applyAccountConfig: ({ cfg, accountId }: { cfg: HostConfig; accountId: string }) => ({
        channels: { paper: { ...sectionOf(cfg), accounts: { [accountId]: { token: "two" } } } },
      }),
    },
  } as unknown as ChannelPlugin;
  const { next } = accountFromInput(plugin, { channels: { paper: { token: "one" } } }, { account: "work", input: {} });
  expect(next).toEqual({ channels: { paper: { token: "one", accounts: { default: {}, work: { token: "two" } } } } });
});
