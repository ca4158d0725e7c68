import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { connectNode, type NodeConnectOptions } from "../../src/protocol/client/node.ts";
import { makePlace, type Place } from "../harness/gateway-process.ts";

const TOKEN = "a-token-of-this-test-0123456789";

function place(): Place {
  const made = makePlace();
  made.configure(`{ gateway: { mode: "local", auth: { token: "${TOKEN}" } } }`);
  return made;
}

function optionsFor(url: string): NodeConnectOptions {
  const client = { id: "test", mode: "test", version: "1.0.0", platform: "linux" } as const;
  return { url, token: TOKEN, client, stateDir: mkdtempSync(join(tmpdir(), "openclaw-client-")), reconnect: { firstMs: 20, maxMs: 100 } };
}

test("a message is sent and its answer read from the events, typed by the method and the event", async () => {
  await using gateway = await place().gateway();
  await using client = await connectNode(optionsFor(gateway.url!));
  const chat = client.events("chat");
  expect(await client.request("chat.send", { sessionKey: "main", message: "hello", idempotencyKey: "run-1" })).toMatchObject({ runId: "run-1" });
  const states: string[] = [];
  for await (const event of chat) {
    if (event.runId !== "run-1") continue;
    states.push(event.state);
    if (event.state !== "delta") break;
  }
  expect(states.at(-1)).toBe("final");
});

test("the device token of the first connection is enough for the second", async () => {
  await using gateway = await place().gateway();
  const options = optionsFor(gateway.url!);
  const first = await connectNode(options);
  first.close();
  const { token: _shared, ...without } = options;
  await using second = await connectNode(without);
  expect(await second.request("health", {})).toMatchObject({ ok: true });
});

test("a restarted gateway is found again, and requests made meanwhile are answered", async () => {
  const home = place();
  const first = await home.gateway();
  const stale: string[] = [];
  await using client = await connectNode({ ...optionsFor(first.url!), onStale: ({ kind }) => stale.push(kind) });
  const before = client.hello.server.connId;
  const shutdown = client.events("shutdown").next();
  first.child.kill("SIGTERM");
  expect((await shutdown).value).toMatchObject({ reason: expect.any(String) });
  await first.exited;
  const answer = client.request("health", {});
  await using second = await home.gateway({ args: ["--port", new URL(first.url!).port] });
  expect(second.url).toBe(first.url);
  expect(await answer).toMatchObject({ ok: true });
  expect(client.hello.server.connId).not.toBe(before);
  expect(stale).toContain("reconnected");
});
