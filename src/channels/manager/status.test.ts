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
