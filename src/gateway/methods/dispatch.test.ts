import { EventEmitter } from "node:events";
import { mkdtempSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { silentLogger } from "../../base/log/logger.ts";
import { loadValidators } from "../../protocol/index.ts";
import { openStore, type Store } from "../../store/index.ts";
import { createDispatcher } from "./dispatch.ts";
import type { CallContext, Handlers } from "./handler.ts";
import { failureOf } from "./protocol-error.ts";

const stateDir = mkdtempSync(join(tmpdir(), "openclaw-dispatch-"));
let store: Store;
beforeAll(async () => {
  store = await openStore({ stateDir, clock: systemClock });
});
afterAll(() => store[Symbol.asyncDispose]());

const context: CallContext = {
  caller: {
    connId: "c",
    role: "operator",
    scopes: new Set(["operator.admin"]),
    client: { id: "test", mode: "test", version: "1", platform: "linux" },
    caps: new Set(),
    local: true,
  },
  signal: new AbortController().signal,
  accepted: () => {},
};

const dispatcher = (handlers: Handlers, stopping = new AbortController().signal) =>
  createDispatcher({ handlers, store, log: silentLogger, validators: loadValidators, stopping });

/** Counts how often it really runs. */
function counting(work: (run: number) => unknown = (run) => ({ ok: true, run })) {
  let runs = 0;
  return { handler: (() => work((runs += 1))) as never, runs: () => runs };
}

const wake = (key: string, text = "x") => ({ mode: "now", text, idempotencyKey: key });

test("only methods with a handler are advertised, and never those that are documented as hidden", () => {
  const { handler } = counting();
  expect(dispatcher({ wake: handler, poll: handler, health: handler }).advertised).toEqual(["health", "wake"]);
});

test("methods of plugins come after ours, need their scope, and are advertised while they are there", async () => {
  const names = ["p.read", "health"];
  const extra = {
    names: () => names,
    find: (method: string) =>
      names.includes(method) ? { access: "operator.read" as const, call: async (params: unknown) => ({ ok: true as const, payload: { params } }) } : undefined,
  };
  const { call, ...rest } = createDispatcher({
    handlers: {},
    extra,
    store,
    log: silentLogger,
    validators: loadValidators,
    stopping: new AbortController().signal,
  });
  expect(rest.advertised).toContain("p.read");
  const as = (role: "operator" | "node", ...scopes: string[]): CallContext => ({ ...context, caller: { ...context.caller, role, scopes: new Set(scopes) } });
  expect(await call("p.read", { a: 1 }, as("operator", "operator.write"))).toEqual({ ok: true, payload: { params: { a: 1 } } });
  expect(await call("p.read", {}, as("operator", "operator.pairing"))).toMatchObject({ error: { message: "missing scope: operator.read" } });
  expect(await call("p.read", {}, as("node", "operator.admin"))).toMatchObject({ error: { message: "unauthorized role: node" } });
  expect(await call("health", {}, context)).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" } });
  names.length = 0;
  expect(await call("p.read", {}, context)).toMatchObject({ error: { message: "unknown method: p.read" } });
});

test("the same key and content are done once and answered the same", async () => {
  const work = counting();
  const { call } = dispatcher({ wake: work.handler });
  const first = await call("wake", wake("same"), context);
  expect(await call("wake", { idempotencyKey: "same", text: "x", mode: "now" }, context)).toEqual(first);
  expect(work.runs()).toBe(1);
});

test("another content under a used key is refused", async () => {
  const work = counting();
  const { call } = dispatcher({ wake: work.handler });
  await call("wake", wake("other"), context);
  expect(await call("wake", wake("other", "y"), context)).toMatchObject({
    ok: false,
    error: { code: "INVALID_REQUEST", message: expect.stringContaining('"other"') },
  });
  expect(work.runs()).toBe(1);
});

test("who asks while it is being done waits for that answer, and another content is refused meanwhile", async () => {
  const gate = Promise.withResolvers<void>();
  const work = counting(async (run) => {
    await gate.promise;
    return { ok: true, run };
  });
  const { call } = dispatcher({ wake: work.handler });
  const both = [call("wake", wake("together"), context), call("wake", wake("together"), context)];
  expect(await call("wake", wake("together", "y"), context)).toMatchObject({ ok: false });
  gate.resolve();
  const [a, b] = await Promise.all(both);
  expect(a).toEqual(b);
  expect(work.runs()).toBe(1);
});

test("a key counts for its method only; without a key every request is done", async () => {
  const work = counting();
  const { call } = dispatcher({ wake: work.handler, "system-event": work.handler });
  await call("wake", wake("mine"), context);
  await call("system-event", { text: "x", idempotencyKey: "mine" }, context);
  await call("wake", { mode: "now", text: "x" }, context);
  await call("wake", { mode: "now", text: "x" }, context);
  expect(work.runs()).toBe(4);
});

test("a failure is remembered too, unless it asked to come again", async () => {
  const failing = counting(() => {
    throw new AppError("NOT_FOUND", "no such thing", { details: { name: "x" } });
  });
  const { call } = dispatcher({ wake: failing.handler });
  const first = await call("wake", wake("fails"), context);
  expect(first).toEqual({ ok: false, error: { code: "INVALID_REQUEST", message: "no such thing", details: { name: "x" } } });
  expect(await call("wake", wake("fails"), context)).toEqual(first);
  expect(failing.runs()).toBe(1);

  const busy = counting((run) => {
    if (run === 1) throw new AppError("OVERLOADED", "full", { details: { retryAfterMs: 10 } });
    return { ok: true };
  });
  const again = dispatcher({ wake: busy.handler });
  expect(await again.call("wake", wake("busy"), context)).toMatchObject({ ok: false, error: { retryable: true, retryAfterMs: 10 } });
  expect(await again.call("wake", wake("busy"), context)).toEqual({ ok: true, payload: { ok: true } });
});

test("a defect in the handler is remembered as its text", async () => {
  const broken = counting(() => {
    throw new Error("boom");
  });
  const { call } = dispatcher({ wake: broken.handler });
  const first = await call("wake", wake("defect"), context);
  expect(first).toEqual({ ok: false, error: { code: "UNAVAILABLE", message: "boom" } });
  expect(await call("wake", wake("defect"), context)).toEqual(first);
});

test("the answer survives a restart; a request that was cut off by it is not done again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-dispatch-"));
  const work = counting();
  const deps = { handlers: { wake: work.handler }, log: silentLogger, validators: loadValidators, stopping: context.signal };
  let first: unknown;
  {
    await using before = await openStore({ stateDir: folder, clock: systemClock });
    first = await createDispatcher({ ...deps, store: before }).call("wake", wake("kept"), context);
    const never = { wake: (() => new Promise(() => {})) as never };
    void createDispatcher({ ...deps, handlers: never, store: before }).call("wake", wake("cut"), context);
    while (!(await before.read("idempotency.get", { scope: "wake", key: "cut" }))) await new Promise(setImmediate);
  }
  await using after = await openStore({ stateDir: folder, clock: systemClock });
  const { call } = createDispatcher({ ...deps, store: after });
  expect(await call("wake", wake("kept"), context)).toEqual(first);
  expect(await call("wake", wake("cut"), context)).toMatchObject({
    ok: false,
    error: { code: "UNAVAILABLE", retryable: false, details: { outcome: "unknown" }, message: expect.stringContaining("outcome is unknown") },
  });
  expect(work.runs()).toBe(1);
});

test("work under a key outlives its caller, work without one does not", async () => {
  const gone = new AbortController();
  gone.abort();
  const stopping = new AbortController().signal;
  const signals: boolean[] = [];
  const handler = ((_: unknown, { signal }: CallContext) => (signals.push(signal.aborted), { ok: true })) as never;
  const { call } = dispatcher({ wake: handler }, stopping);
  await call("wake", wake("outlives"), { ...context, signal: gone.signal });
  await call("wake", { mode: "now", text: "x" }, { ...context, signal: gone.signal });
  expect(signals).toEqual([false, true]);
});

test("answers with secrets are not written to disk", async () => {
  const work = counting((run) => ({ deviceId: "d", role: "operator", token: `secret-${run}`, scopes: [], rotatedAtMs: 1 }));
  const { call } = dispatcher({ "device.token.rotate": work.handler });
  await call("device.token.rotate", { deviceId: "d", role: "operator", idempotencyKey: "rot" }, context);
  expect(await store.read("idempotency.get", { scope: "device.token.rotate", key: "rot" })).toBeUndefined();
});

test("runs keep track of their keys themselves", async () => {
  const work = counting();
  const { call } = dispatcher({ "chat.send": work.handler });
  const params = { sessionKey: "main", message: "hi", idempotencyKey: "run-1" };
  await call("chat.send", params, context);
  await call("chat.send", params, context);
  expect(work.runs()).toBe(2);
});

test.each([
  ["INVALID_INPUT", "INVALID_REQUEST"],
  ["NOT_FOUND", "INVALID_REQUEST"],
  ["CONFLICT", "INVALID_REQUEST"],
  ["CONFIG_INVALID", "INVALID_REQUEST"],
  ["CONFIG_STALE", "INVALID_REQUEST"],
  ["STORE_FAILED", "UNAVAILABLE"],
  ["TIMEOUT", "UNAVAILABLE"],
  ["INTERNAL", "UNAVAILABLE"],
] as const)("%s becomes %s", (code, wire) => {
  expect(failureOf(new AppError(code, "why"))).toEqual({ ok: false, error: { code: wire, message: "why" } });
});

test("issues, hints and payloads of an error have their places", () => {
  const details = { issues: [{ path: "a", message: "b" }], retryable: true, retryAfterMs: 1500.2, payload: { x: 1 } };
  expect(failureOf(new AppError("CONFIG_INVALID", "invalid config", { details }))).toEqual({
    ok: false,
    error: { code: "INVALID_REQUEST", message: "invalid config", details: { issues: details.issues }, retryable: true, retryAfterMs: 1501 },
    payload: { x: 1 },
  });
});

test("requests count until they are answered, HTTP ones until their connection is done", async () => {
  const answer = Promise.withResolvers<never>();
  const counted = dispatcher({ health: () => answer.promise });
  const response = new EventEmitter();
  const called = counted.call("health", {}, context);
  counted.track(response as ServerResponse);
  expect(counted.running).toBe(2);
  answer.resolve("done" as never);
  expect(await called).toEqual({ ok: true, payload: "done" });
  response.emit("close");
  response.emit("close");
  expect(counted.running).toBe(0);
});

test("closed, what was begun is answered, and what comes then waits until everything is over", async () => {
  const answer = Promise.withResolvers<never>();
  const reached: string[] = [];
  const ending = dispatcher({
    health: () => {
      reached.push("health");
      return answer.promise;
    },
    status: () => {
      reached.push("status");
      return answer.promise;
    },
  });
  const begun = ending.call("health", {}, context);
  ending.close();
  let late: unknown;
  const waiting = ending.call("status", {}, context).then((outcome) => (late = outcome));
  answer.resolve("done" as never);
  expect(await begun).toEqual({ ok: true, payload: "done" });
  expect([ending.running, ending.closed, late, reached]).toEqual([0, true, undefined, ["health"]]);
  ending[Symbol.dispose]();
  expect(await waiting).toMatchObject({ ok: false, error: { code: "UNAVAILABLE", retryable: true } });
});
