import { afterEach, expect, test } from "vitest";
import { loadHttp } from "../base/builtin.ts";
import { silentLogger } from "../base/log/logger.ts";
import { createGateway, type Gateway, type HealthReport } from "./index.ts";

const report: HealthReport = {
  ok: true,
  status: "ok",
  version: "1.2.3",
  pid: 1,
  startedAt: "2026-01-01T00:00:00.000Z",
  uptimeMs: 5,
  problems: [],
  config: { path: "/private/openclaw.json", source: "file", issues: [] },
  store: {},
};
let gateway: Gateway;
afterEach(() => gateway[Symbol.asyncDispose]());

async function start(health: HealthReport = report): Promise<Gateway> {
  gateway = await createGateway({ host: "127.0.0.1", port: 0, health: () => health, runSecret: "run-secret", log: silentLogger });
  return gateway;
}

function get(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  const sent = loadHttp().request(gateway.url + path, { headers, method }, (response) => {
    let body = "";
    response.on("data", (chunk) => (body += String(chunk)));
    response.on("end", () => resolve({ status: response.statusCode!, body }));
  });
  sent.on("error", reject);
  sent.end();
  return promise;
}

test("anybody on this machine learns whether it is well, and nothing else", async () => {
  await start();
  expect(await get("/health")).toEqual({ status: 200, body: JSON.stringify({ ok: true, status: "ok" }) });
  expect((await get("/")).body).not.toContain("/private");
});

test("the run secret shows the whole report, a wrong one does not", async () => {
  await start();
  expect(JSON.parse((await get("/health", { authorization: "Bearer run-secret" })).body)).toEqual(report);
  expect((await get("/health", { authorization: "Bearer run-secreT" })).body).not.toContain("private");
});

test("a failed gateway answers 503", async () => {
  await start({ ...report, ok: false, status: "failed" });
  expect((await get("/health")).status).toBe(503);
});

test("a foreign Host header is refused: no web page reaches the gateway by rebinding its name", async () => {
  await start();
  expect((await get("/health", { host: "evil.example" })).status).toBe(403);
  expect((await get("/health", { host: "127.0.0.1.evil.example" })).status).toBe(403);
  expect((await get("/health", { host: `localhost:${gateway.port}` })).status).toBe(200);
});

test("unknown paths and other methods are refused in words", async () => {
  await start();
  expect((await get("/nope?x=1")).status).toBe(404);
  expect((await get("/health", {}, "POST")).status).toBe(405);
});

test("a taken port is named, with what to do", async () => {
  await start();
  await expect(createGateway({ host: "127.0.0.1", port: gateway.port, health: () => report, runSecret: "x", log: silentLogger })).rejects.toMatchObject({
    code: "LOCKED",
    message: expect.stringMatching(/another gateway instance is already listening on ws:\/\/127\.0\.0\.1:\d+.*--port/),
  });
});
