import { expect, test } from "vitest";
import { connectNode } from "../../src/protocol/client/node.ts";
import { makePlace } from "../harness/gateway-process.ts";

const TOKEN = "a-token-of-this-test-0123456789";

test("an encrypted gateway is reached by its own commands, and by others who pin its certificate", async () => {
  const place = makePlace();
  place.configure(`{ gateway: { mode: "local", auth: { token: "${TOKEN}" }, tls: { enabled: true } } }`);
  await using gateway = await place.gateway();
  expect(gateway.url, gateway.output()).toMatch(/^https:/);
  const { code, stdout, stderr } = place.cli("health", "--json");
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ ok: true });
  const client = { id: "test", mode: "test", version: "1.0.0", platform: "linux" } as const;
  const options = { url: gateway.url!, token: TOKEN, client, reconnect: false } as const;
  await expect(connectNode(options)).rejects.toThrow(/self.signed certificate/);
  await expect(connectNode({ ...options, tlsFingerprint: "00".repeat(32) })).rejects.toThrow(/fingerprint .* not the pinned one/);
});
