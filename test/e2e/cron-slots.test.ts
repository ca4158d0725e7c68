/** More jobs than agents can answer. */
import { expect, test } from "vitest";
import { startLabGateway } from "../conformance/channels/lab-gateway.ts";
import { askedFor } from "../harness/hook-client.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };

test("jobs that do not end keep no message waiting", async () => {
  await using gateway = await startLabGateway();
  gateway.model.holds(({ user }) => user.includes("w-job"));
  const at = new Date(Date.now() + 300).toISOString();
  const job = { schedule: { kind: "at", at }, sessionTarget: "isolated", wakeMode: "now", delivery: { mode: "none" } };
  for (let index = 0; index < 12; index += 1) {
    const { ok } = await gateway.operator.request("cron.add", { ...job, name: `job ${index}`, payload: { kind: "agentTurn", message: "w-job" } });
    expect(ok).toBe(true);
  }
  // As many as may run side by side.
  await expect.poll(() => askedFor(gateway, "w-job").length, PATIENCE).toBe(8);
  await gateway.operator.request("chat.send", { sessionKey: "main", message: "say w-owner", idempotencyKey: "owner" });
  await expect.poll(() => askedFor(gateway, "say w-owner").length, PATIENCE).toBe(1);
  expect(askedFor(gateway, "w-job")).toHaveLength(8);
});
