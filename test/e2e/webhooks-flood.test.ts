/** More requests of other programs than agents can answer. */
import { expect, test } from "vitest";
import { startLabGateway } from "../conformance/channels/lab-gateway.ts";
import { askedFor, HOOK_TOKEN, postHook } from "../harness/hook-client.ts";

test("runs of other programs do not keep the user's message waiting, and of too many the rest is refused", async () => {
  await using gateway = await startLabGateway({ sections: { hooks: { enabled: true, token: HOOK_TOKEN } } });
  gateway.model.holds(({ user }) => user.includes("w-flood"));
  const send = async (): Promise<number> => (await postHook(gateway, "/agent", { message: "w-flood", deliver: false })).status;
  const statuses: number[] = [];
  for (let sent = 0; sent < 600; sent += 50) statuses.push(...(await Promise.all(Array.from({ length: 50 }, send))));
  expect(new Set(statuses)).toEqual(new Set([202, 429]));
  expect(statuses.filter((status) => status === 202)).toHaveLength(500);
  await gateway.operator.request("chat.send", { sessionKey: "main", message: "say w-owner", idempotencyKey: "owner" });
  await expect.poll(() => askedFor(gateway, "say w-owner").length, { timeout: 20_000, interval: 20 }).toBe(1);
}, 120_000);
