import { expect, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import { createOpenInvokes } from "./open-invokes.ts";
import type { NodeSession } from "./registry.ts";

test("a node that sends progress without any text is not listened to without end", async () => {
  const clock = manualClock();
  const nodeId = "aaaaaaaaaaaa";
  const link = { connId: "c1", send: () => true, close: () => undefined, followed: () => new Set<string>() };
  const node = { nodeId, link } as unknown as NodeSession;
  const registry = { connected: () => undefined, disconnected: () => undefined, get: () => node, list: async () => [], onGone: () => undefined };
  const open = createOpenInvokes({ registry, clock, ids: { uuid: () => "i1" } as never });
  let heard = 0;
  const request = { nodeId, command: "system.run", idempotencyKey: "k" };
  const outcome = open.send({ node, request, params: {}, cancel: new AbortController().signal, onProgress: () => (heard += 1) });
  for (let seq = 0; seq < 50_000; seq += 1) open.progress({ invokeId: "i1", nodeId, seq, chunk: "" }, "c1");
  expect(heard).toBeLessThan(25_000);
  open.answer({ id: "i1", nodeId, ok: true }, "c1");
  expect(await outcome).toEqual({ ok: true });
});
