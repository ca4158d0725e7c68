import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AppError } from "../../src/base/errors.ts";
import type { Handlers } from "../../src/gateway/index.ts";
import { openClient } from "../harness/gateway-client.ts";
import { startGateway, type Started } from "./start.ts";

let started: Started;
/** Resolves when a waiting request's signal fires. */
let aborted: PromiseWithResolvers<string>;
let release: PromiseWithResolvers<void>;
/** Calls of the method that waits for `release`. */
let asked = 0;
/** All places of a connection are taken by it. */
let full: PromiseWithResolvers<void>;

const handlers: Handlers = {
  "system-presence": () => [],
  wake: async (_, context) => {
    await new Promise<void>((resolve) => {
      context.signal.addEventListener("abort", () => resolve(), { once: true });
    });
    aborted.resolve("aborted");
    return { ok: true };
  },
  agent: async (params, { accepted }) => {
    accepted({ runId: params.idempotencyKey, status: "accepted", acceptedAt: 1 });
    const payload = { runId: params.idempotencyKey, status: "error", summary: "no model" };
    throw new AppError("UNAVAILABLE", "no model", { details: { payload } });
  },
  "sessions.list": async () => {
    asked += 1;
    if (asked === 512) full.resolve();
    await release.promise;
    return undefined as never;
  },
  "models.list": () => {
    throw new TypeError("cannot read x of undefined");
  },
  "agents.list": () => ({ self: 1n }) as never,
};

beforeAll(async () => {
  started = await startGateway({ handlers: () => handlers });
});
afterAll(() => started[Symbol.asyncDispose]());

async function connected(params: Record<string, unknown> = {}) {
  aborted = Promise.withResolvers();
  release = Promise.withResolvers();
  full = Promise.withResolvers();
  asked = 0;
  const client = await openClient(started.gateway.url);
  expect((await client.connect(params)).ok).toBe(true);
  return client;
}

test("what is not JSON is ignored and the socket stays open", async () => {
  await using client = await connected();
  client.send("hello");
  client.send(Buffer.from([1, 2, 3]));
  client.send("{");
  expect((await client.request("system-presence")).ok).toBe(true);
  expect(client.frames.filter((frame) => frame.type === "res")).toHaveLength(2);
});

test.each([
  ['{"type":"req","id":"7","method":""}', "7", /^invalid request frame: at \/method: /],
  ['{"type":"req","id":"7","method":"health","more":1}', "7", /^invalid request frame: at root: unexpected property 'more'$/],
  ['{"type":"req","method":"health"}', "invalid", /^invalid request frame: .*must have required property 'id'/],
  ["[1]", "invalid", /^invalid request frame: /],
  ["7", "invalid", /^invalid request frame: /],
  ['{"type":"req","id":"7","method":"health","params":{"a":{"__proto__":{"admin":true}}}}', "7", /__proto__/],
  ['{"type":"req","id":"7","method":"health","params":{"\\u005f_proto__":1}}', "7", /__proto__/],
  [`{"type":"req","id":"7","method":"health","params":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, "7", /nested deeper than 128/],
])("a bad frame is answered and the socket stays open: %#", async (text, id, message) => {
  await using client = await connected();
  client.send(text);
  const answer = await client.next((frame) => frame.type === "res" && frame.id === id);
  expect(answer).toMatchObject({ ok: false, error: { code: "INVALID_REQUEST", message: expect.stringMatching(message) } });
  expect((await client.request("system-presence", undefined, "after")).ok).toBe(true);
});

test("brackets inside texts are not nesting", async () => {
  await using client = await connected();
  const answer = await client.request("system-presence", { note: `\\"${"[{".repeat(5000)}` });
  expect(answer.error?.message ?? "").not.toContain("nested");
});

test("a second connect is refused, the connection stays", async () => {
  await using client = await connected();
  expect((await client.request("connect", {})).error).toEqual({ code: "INVALID_REQUEST", message: "connect is only valid as the first request" });
  expect((await client.request("system-presence")).ok).toBe(true);
});

test("scope comes before schema, and the missing scope is named", async () => {
  await using reader = await connected({ scopes: ["operator.read"] });
  expect((await reader.request("system-presence")).ok).toBe(true);
  expect((await reader.request("wake", { nonsense: 1 })).error!.message).toBe("missing scope: operator.write");
  expect((await reader.request("no.such")).error!.message).toBe("missing scope: operator.admin");
  await using empty = await connected({ scopes: [] });
  expect((await empty.request("system-presence")).error!.message).toBe("missing scope: operator.read");
  await using admin = await connected();
  expect((await admin.request("no.such")).error).toEqual({ code: "INVALID_REQUEST", message: "unknown method: no.such" });
  expect((await admin.request("__proto__")).error!.message).toBe("unknown method: __proto__");
  expect((await admin.request("skills.bins", {})).error!.message).toBe("unauthorized role: operator");
  expect((await admin.request("wake", { mode: "now", text: "x", more: 1 })).error!.message).toBe("invalid wake params: at root: unexpected property 'more'");
});

test("a node uses its own methods only", async () => {
  await using node = await connected({ role: "node", scopes: [] });
  expect((await node.request("system-presence")).error!.message).toBe("unauthorized role: node");
  expect((await node.request("skills.bins", {})).error!.message).toBe("skills.bins is not available in this version");
});

test("a method without a handler says that it is not available", async () => {
  await using client = await connected();
  const { error } = await client.request("cron.list", {});
  expect(error).toMatchObject({ code: "UNAVAILABLE", message: "cron.list is not available in this version" });
});

test("an answer can come in two steps, and a failure can carry a payload", async () => {
  await using client = await connected();
  const final = await client.request("agent", { message: "hi", idempotencyKey: "k1", sessionKey: "main" }, "two");
  const answers = client.frames.filter((frame) => frame.id === "two");
  expect(answers[0]).toMatchObject({ ok: true, payload: { runId: "k1", status: "accepted" } });
  expect(final).toEqual({
    type: "res",
    id: "two",
    ok: false,
    payload: { runId: "k1", status: "error", summary: "no model" },
    error: { code: "UNAVAILABLE", message: "no model" },
  });
});

test("a defect in a handler is answered with its text, and the gateway goes on", async () => {
  await using client = await connected();
  expect((await client.request("models.list", {})).error).toEqual({ code: "UNAVAILABLE", message: "cannot read x of undefined" });
  expect((await client.request("agents.list", {})).error!.message).toBe("the response could not be serialized as JSON");
});

test("answers overtake each other", async () => {
  await using client = await connected();
  const slow = client.request("sessions.list", {}, "slow");
  await client.request("system-presence", undefined, "quick");
  release.resolve();
  expect((await slow).ok).toBe(true);
  const order = client.frames.map((frame) => frame.id).filter((id) => id === "slow" || id === "quick");
  expect(order).toEqual(["quick", "slow"]);
});

test("a handler learns that its caller is gone", async () => {
  const client = await connected();
  client.request("wake", { mode: "now", text: "x" }).catch(() => {});
  await client.request("system-presence");
  client.ws.terminate();
  expect(await aborted.promise).toBe("aborted");
});

test("of more requests than may be open, those over the bound wait for a place", async () => {
  await using client = await connected();
  const all = Array.from({ length: 600 }, (_, index) => client.request("sessions.list", {}, `n${index}`));
  await full.promise;
  release.resolve();
  expect((await Promise.all(all)).every((answer) => answer.ok)).toBe(true);
});

test("a client that leaves while its requests wait for a place is let go, and what waited is not done", async () => {
  const client = await connected();
  const all = Array.from({ length: 600 }, (_, index) => client.request("sessions.list", {}, `n${index}`).catch(() => undefined));
  await full.promise;
  client.ws.terminate();
  await Promise.all(all);
  while (started.gateway.hub.clients.size > 0) await nextTurn();
  release.resolve();
  await nextTurn();
  expect(asked).toBe(512);
});

test("when all places are taken by requests that take long, those over the bound are refused with a hint", async () => {
  await using client = await connected();
  const all = Array.from({ length: 600 }, (_, index) => client.request("sessions.list", {}, `n${index}`));
  // Released only when all of them were refused: what arrives afterwards would find a place.
  const refused: unknown[] = [];
  const allRefused = Promise.withResolvers<void>();
  for (const answer of all) void answer.then(({ ok, error }) => !ok && refused.push(error) === 600 - 512 && allRefused.resolve());
  await allRefused.promise;
  expect(refused[0]).toMatchObject({ code: "UNAVAILABLE", retryable: true, retryAfterMs: 1000 });
  release.resolve();
  const answers = await Promise.all(all);
  expect(answers.filter((answer) => answer.ok)).toHaveLength(512);
});

test("a frame over 25 MiB closes the connection with 1009", async () => {
  await using client = await connected();
  client.send("x".repeat(26_214_401));
  expect((await client.closed).code).toBe(1009);
});

test("pings are answered, but not piled up for a client that does not read", async () => {
  await using client = await connected();
  const pong = Promise.withResolvers<string>();
  client.ws.on("pong", (data) => pong.resolve(data.toString()));
  client.ws.ping("hey");
  expect(await pong.promise).toBe("hey");
});

test("what was revoked is closed at once: by device, by role, by shared secret", async () => {
  const device = (id: string) => ({ device: { id, publicKey: "k", signature: "s", signedAt: 1 } });
  await using lost = await connected(device("lost"));
  await using kept = await connected(device("kept"));
  started.auth.revoke({ deviceId: "lost", cause: "revoked" });
  expect(await lost.closed).toEqual({ code: 1008, reason: expect.stringContaining("device token mismatch") });
  started.auth.revoke({ deviceId: "kept", role: "node", cause: "revoked" });
  expect((await kept.request("system-presence")).ok).toBe(true);
});
