import { expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createRedactor } from "../../base/redaction.ts";
import type { ChannelPlugin } from "../../protocol/index.ts";
import { readStatus } from "./status.ts";

test("who may write to an account is shown as the channel's plugin resolves it, unless its own description says it", async () => {
  const plugin = (id: string, description: object) =>
    ({
      id,
      meta: { id, label: id },
      config: { listAccountIds: () => ["default"], resolveAccount: () => ({}), describeAccount: () => ({ accountId: "default", ...description }) },
      security: { resolveDmPolicy: () => ({ policy: "allowlist", allowFrom: [7], allowFromPath: "a", approveHint: "b" }) },
    }) as unknown as ChannelPlugin;
  const answer = await readStatus(
    {
      cfg: { channels: { paper: {}, stone: {} } },
      clock: manualClock(),
      redactor: createRedactor(),
      plugins: [plugin("paper", {}), plugin("stone", { dmPolicy: "open" })],
      runtime: () => undefined,
      health: () => undefined,
      directions: () => ({}),
    },
    { probe: false, timeoutMs: 1000 },
  );
  expect(answer.channelAccounts).toMatchObject({ paper: [{ dmPolicy: "allowlist", allowFrom: ["7"] }], stone: [{ dmPolicy: "open" }] });
});

test("what a named account's probe and connection say is shown with that account's keys", async () => {
  const plugin = {
    id: "paper",
    meta: { id: "paper", label: "Paper" },
    config: { listAccountIds: () => ["default", "work"], resolveAccount: () => ({}) },
    status: { probeAccount: () => Promise.resolve({ ok: false, error: "401; check channels.paper.token" }) },
  } as unknown as ChannelPlugin;
  const { channelAccounts } = await readStatus(
    {
      cfg: { channels: { paper: {} } },
      clock: manualClock(),
      redactor: createRedactor(),
      plugins: [plugin],
      runtime: (_channel, accountId) => ({ accountId, lastError: "set channels.paper.token" }),
      health: () => undefined,
      directions: () => ({}),
    },
    { probe: true, timeoutMs: 1000 },
  );
  expect(channelAccounts["paper"]).toMatchObject([
    { lastError: "set channels.paper.token", probe: { error: "401; check channels.paper.token" } },
    { lastError: "set channels.paper.accounts.work.token", probe: { error: "401; check channels.paper.accounts.work.token" } },
  ]);
});
