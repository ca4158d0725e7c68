import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { connectParams, createDevice } from "../harness/auth.ts";
import { openClient } from "../harness/gateway-client.ts";
import { ROOT } from "../harness/gateway-process.ts";
import { start, TOKEN } from "./start.ts";

/** Other texts for the same bytes of a base64url signature. */
function spellings(signature: string): readonly string[] {
  const bytes = Buffer.from(signature, "base64url");
  const last = signature.at(-1)!;
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const loose = alphabet[(alphabet.indexOf(last) & 0b110000) | ((alphabet.indexOf(last) + 1) & 0b001111)]!;
  return [signature, bytes.toString("base64"), `${signature}==`, `${signature.slice(0, -1)}${loose}`, ` ${signature}`, `${signature}\n`, bytes.toString("hex")];
}

test("23: a signed handshake that was overheard opens no second connection, however its signature is written", async () => {
  await using gateway = await start();
  const device = createDevice();
  await using first = await openClient(gateway.url);
  const nonce = String((await first.event("connect.challenge")).payload!["nonce"]);
  const signed = device.sign(connectParams({ auth: { token: TOKEN }, scopes: ["operator.admin"] }), { now: Date.now(), nonce });
  expect((await first.request("connect", signed)).ok).toBe(true);
  for (const signature of spellings(signed.device!.signature)) {
    await using again = await openClient(gateway.url);
    const fresh = String((await again.event("connect.challenge")).payload!["nonce"]);
    expect(fresh).not.toBe(nonce);
    const replayed = { ...signed, device: { ...signed.device!, signature } };
    expect((await again.request("connect", replayed)).error?.message).toMatch(/^device nonce mismatch$/);
    await using patched = await openClient(gateway.url);
    const other = String((await patched.event("connect.challenge")).payload!["nonce"]);
    const answer = await patched.request("connect", { ...replayed, device: { ...replayed.device, nonce: other } });
    expect(answer.error?.message).toBe("device signature invalid");
  }
});

test("23: a handshake that was overheard opens nothing after a restart either", async () => {
  const gateway = await start();
  const device = createDevice();
  let signed: ReturnType<typeof device.sign>;
  {
    await using first = await openClient(gateway.url);
    const nonce = String((await first.event("connect.challenge")).payload!["nonce"]);
    signed = device.sign(connectParams({ auth: { token: TOKEN }, scopes: ["operator.admin"] }), { now: Date.now(), nonce });
    expect((await first.request("connect", signed)).ok).toBe(true);
    gateway.process.child.kill("SIGKILL");
    await gateway.process.exited;
  }
  await using second = await gateway.place.gateway();
  await using again = await openClient(second.url!);
  await again.event("connect.challenge");
  expect((await again.request("connect", signed)).error?.message).toBe("device nonce mismatch");
});

test("23: while no webhook is signed, the replay of one is on the list of what is owed", () => {
  expect(readFileSync(join(ROOT, "docs/deferred.md"), "utf8")).toMatch(/\| .*signed webhook.* \| .* \| issue 7 .*\|/);
});
