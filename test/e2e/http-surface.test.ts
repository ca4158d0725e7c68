import { afterEach, expect, test } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import { AppError } from "../../src/base/errors.ts";
import type { PluginRoute } from "../../src/gateway/http/index.ts";
import type { ToolInvocation, ToolsPort } from "../../src/gateway/ports.ts";
import { createAuthBench } from "../harness/auth.ts";
import { HEALTHY, RUN_SECRET, startSurface, TOKEN, tokenAuth, type SurfaceOptions, type TestSurface } from "../harness/http-surface.ts";

let gateway: TestSurface;
afterEach(() => gateway[Symbol.asyncDispose]());
const start = async (options: SurfaceOptions = {}) => (gateway = await startSurface(options));

const open = { plugin: "x", match: "exact", methods: ["GET"], auth: "public", maxBodyBytes: 0 } as const;

test("anybody learns whether the gateway is well; the run secret shows the whole report", async () => {
  await start();
  expect((await gateway.ask("/health")).json()).toEqual({ ok: true, status: "ok" });
  expect((await gateway.ask("/health", { token: "wrong" })).json()).toEqual({ ok: true, status: "ok" });
  expect((await gateway.ask("/health", { token: RUN_SECRET })).json()).toEqual(HEALTHY);
});

test("probes: alive is not yet ready", async () => {
  let health = { ...HEALTHY, status: "starting" as "starting" | "degraded" | "failed", ok: false };
  await start({ health: () => health });
  const probe = async () => [(await gateway.ask("/healthz")).status, (await gateway.ask("/readyz")).status, (await gateway.ask("/health")).status];
  expect(await probe()).toEqual([200, 503, 503]);
  health = { ...HEALTHY, status: "degraded" };
  expect(await probe()).toEqual([200, 200, 200]);
  health = { ...HEALTHY, status: "failed", ok: false };
  expect(await probe()).toEqual([200, 503, 503]);
  expect((await gateway.ask("/healthz")).json()).toEqual({ ok: true, status: "live" });
});

test("the welcome page shows nothing private and cannot be framed", async () => {
  await start();
  const page = await gateway.ask("/");
  expect(page.headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "x-frame-options": "DENY",
    "content-security-policy": expect.stringContaining("default-src 'none'"),
  });
  expect(page.body).not.toContain("/private");
});

test("HEAD is GET without the body", async () => {
  await start();
  const [get, head] = [await gateway.ask("/health"), await gateway.ask("/health", { method: "HEAD" })];
  expect([head.status, head.body, head.headers["content-length"]]).toEqual([200, "", get.headers["content-length"]]);
  expect((await gateway.ask("/tools/invoke", { method: "HEAD", token: TOKEN })).headers["allow"]).toBe("POST");
});

test("nothing is said at unknown paths but that nothing is there", async () => {
  await start();
  const reply = await gateway.ask("/nope?token=x", { method: "POST", body: "{}" });
  expect([reply.status, reply.json()]).toEqual([404, { error: { message: "not found: /nope", type: "not_found" } }]);
});

test("a foreign page gets nothing, whatever it holds", async () => {
  await using bench = await createAuthBench({ auth: { token: TOKEN } });
  await start({ auth: bench.auth });
  const asked = (headers: Record<string, string>) => gateway.ask("/v1/models", { token: TOKEN, headers });
  expect((await asked({})).status).toBe(200);
  expect((await asked({ origin: `http://localhost:${gateway.port}` })).status).toBe(200);
  expect((await asked({ origin: "https://evil.example" })).status).toBe(403);
  expect((await asked({ host: "evil.example" })).status).toBe(403);
});

test("a locked out address learns when to come back", async () => {
  await start({ auth: tokenAuth({ locked: true }) });
  const reply = await gateway.ask("/v1/models");
  expect([reply.status, reply.headers["retry-after"], reply.json()]).toEqual([429, "2", { error: { message: expect.any(String), type: "rate_limited" } }]);
});

test("tools over HTTP: refused ones do not exist, and without tools no other is run", async () => {
  await start();
  const invoke = (body: object) => gateway.ask("/tools/invoke", { method: "POST", token: TOKEN, body: JSON.stringify(body) });
  const denied = await invoke({ tool: "sessions_spawn", args: {} });
  expect([denied.status, denied.json()]).toEqual([404, { ok: false, error: { type: "not_found", message: "Tool not available: sessions_spawn" } }]);
  const later = await invoke({ tool: "web_search", args: {} });
  expect([later.status, later.json()]).toEqual([
    503,
    { ok: false, error: { type: "unavailable", code: "UNAVAILABLE", message: expect.stringContaining("was not run") } },
  ]);
  for (const body of [{}, { tool: "" }, { tool: 5 }, { tool: "x", args: [] }, { tool: "x", action: 1 }, { tool: "x", sessionKey: {} }])
    expect((await invoke(body)).status).toBe(400);
});

test("tools over HTTP: a call reaches the tools with its session, and their answer comes back", async () => {
  const calls: ToolInvocation[] = [];
  const answers: Record<string, () => ReturnType<ToolsPort["invoke"]>> = {
    web_search: async () => ({ content: [{ type: "text", text: "found" }], details: { hits: 1 }, isError: false }),
    web_fetch: async () => ({ content: [{ type: "text", text: "url must be http" }], isError: true }),
    message: () => Promise.reject(new AppError("INVALID_INPUT", "to is missing")),
    canvas: () => Promise.reject(new Error("secret detail")),
  };
  const tools: ToolsPort = {
    async invoke(call) {
      calls.push(call);
      return answers[call.tool]?.();
    },
  };
  await start({ tools, config: { gateway: { tools: { deny: ["tts"] } }, agents: { list: [{ id: "main" }, { id: "ops" }] } } });
  const invoke = async (body: object, headers = {}) => {
    const reply = await gateway.ask("/tools/invoke", { method: "POST", token: TOKEN, headers, body: JSON.stringify(body) });
    return [reply.status, reply.json()];
  };
  const failed = (type: string, message: string) => ({ ok: false, error: { type, message } });
  expect(await invoke({ tool: " Web_Search ", args: { q: "x" }, action: "go", dryRun: true })).toEqual([
    200,
    { ok: true, result: { content: [{ type: "text", text: "found" }], details: { hits: 1 } } },
  ]);
  expect(calls[0]).toMatchObject({ tool: "web_search", args: { q: "x" }, action: "go", sessionKey: "agent:main:main", owner: true });
  await invoke({ tool: "web_search", sessionKey: "agent:OPS:work" }, { "x-openclaw-message-channel": "slack", "x-openclaw-account-id": "a1" });
  expect(calls[1]).toMatchObject({ args: {}, sessionKey: "agent:ops:work", channel: "slack", accountId: "a1" });
  expect(await invoke({ tool: "web_search", sessionKey: "agent:ghost:x" })).toEqual([400, failed("tool_error", 'unknown agent id "ghost"')]);
  expect(await invoke({ tool: "web_fetch" })).toEqual([400, failed("tool_error", "url must be http")]);
  expect(await invoke({ tool: "message" })).toEqual([400, failed("tool_error", "to is missing")]);
  expect(await invoke({ tool: "canvas" })).toEqual([500, failed("tool_error", "tool execution failed")]);
  expect(await invoke({ tool: "nodes" })).toEqual([404, failed("not_found", "Tool not available: nodes")]);
  const before = calls.length;
  for (const tool of ["tts", "exec", "read", "grep", "gateway", "sessions_send"]) {
    expect(await invoke({ tool })).toEqual([404, failed("not_found", `Tool not available: ${tool}`)]);
  }
  expect(calls.length).toBe(before);
});

test("a handler that fails is answered with 500 and nothing of its failure", async () => {
  await start({ pluginRoutes: [{ ...open, path: "/boom", handle: () => Promise.reject(new Error("secret detail")) }] });
  const reply = await gateway.ask("/boom");
  expect([reply.status, reply.json()]).toEqual([500, { error: { message: "internal error", type: "api_error" } }]);
});

test("a route that takes longer than it may is answered with 504, and its handler is notified", async () => {
  const clock = manualClock();
  const entered = Promise.withResolvers<AbortSignal>();
  await start({
    clock,
    pluginRoutes: [
      {
        ...open,
        path: "/slow",
        timeoutMs: 1000,
        handle: ({ signal }) => (entered.resolve(signal), new Promise((resolve) => signal.addEventListener("abort", () => resolve()))),
      },
    ],
  });
  const reply = gateway.ask("/slow");
  const signal = await entered.promise;
  clock.advance(1000);
  expect((await reply).status).toBe(504);
  expect(signal.aborted).toBe(true);
});

test("plugins add and remove routes while the gateway runs", async () => {
  await start();
  const route = gateway.surface.registerRoute({
    plugin: "x",
    path: "/api/x",
    match: "prefix",
    methods: ["POST"],
    auth: "bearer",
    maxBodyBytes: 10,
    handle: ({ response, body, path }) => void response.end(`${path} ${body.toString()}`),
  });
  const post = (body: string) => gateway.ask("/api/x/y", { method: "POST", token: TOKEN, body });
  expect((await post("hello")).body).toBe("/api/x/y hello");
  expect((await post("more than ten")).status).toBe(413);
  route[Symbol.dispose]();
  expect((await post("hello")).status).toBe(404);
});

test("a stopping gateway takes no new requests, and a connection that it closes itself is not a caller that left", async () => {
  const entered = Promise.withResolvers<void>();
  const left = Promise.withResolvers<boolean>();
  const held: PluginRoute = {
    ...open,
    path: "/held",
    async handle({ response, signal }) {
      response.once("close", () => left.resolve(signal.aborted));
      entered.resolve();
      await left.promise;
    },
  };
  await start({ pluginRoutes: [held] });
  gateway.socket().write("GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await entered.promise;
  gateway.surface[Symbol.dispose]();
  const refused = await gateway.ask("/healthz");
  expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "5"]);
  await gateway[Symbol.asyncDispose]();
  expect(await left.promise).toBe(false);
  await start();
});

test("after a refusal the rest of the body is thrown away and the connection closed, without waiting for a timer", async () => {
  await start({ clock: manualClock(), pluginRoutes: [{ ...open, path: "/small", methods: ["POST"], maxBodyBytes: 10, handle: () => {} }] });
  const chunk = `400\r\n${"x".repeat(1024)}\r\n`;
  const text = await gateway.raw(`POST /small HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(300)}0\r\n\r\n`);
  expect(text).toContain("HTTP/1.1 413");
  expect(text.toLowerCase()).toContain("connection: close");
});

test("a refusal reaches a caller that is still sending its body", async () => {
  await start();
  const reply = await gateway.ask("/v1/chat/completions", { method: "POST", body: Buffer.alloc(900_000, 0x20) });
  expect(reply.status).toBe(401);
});
