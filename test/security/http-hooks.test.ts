import { afterEach, expect, test } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import { HOOK_TOKEN, startSurface, TOKEN, type TestSurface } from "../harness/http-surface.ts";

let gateway: TestSurface | undefined;
afterEach(async () => {
  await gateway?.[Symbol.asyncDispose]();
  gateway = undefined;
});

const on = (hooks: OpenClawConfig["hooks"] = {}): OpenClawConfig => ({ hooks: { enabled: true, token: HOOK_TOKEN, ...hooks } });
const post = (path: string, headers: Record<string, string> = {}, body = "{}") => gateway!.ask(path, { method: "POST", headers, body });
const right = { authorization: `Bearer ${HOOK_TOKEN}` };

test.each([
  ["no token", { hooks: { enabled: true } }],
  ["an empty token", { hooks: { enabled: true, token: "" } }],
  ["a blank token", { hooks: { enabled: true, token: "  " } }],
  ["the root as its path", { hooks: { enabled: true, token: HOOK_TOKEN, path: "/" } }],
  ["the gateway's own token", { hooks: { enabled: true, token: TOKEN }, gateway: { auth: { token: TOKEN } } }],
] satisfies [string, OpenClawConfig][])("hooks with %s do not start", async (_name, config) => {
  await expect(startSurface({ config })).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("hooks.") });
});

test("a token that turns out empty, or is taken away while running, opens nothing", async () => {
  const config: { hooks: { enabled: boolean; token?: string | { source: "env"; id: string } } } = {
    hooks: { enabled: true, token: { source: "env", id: "EMPTY" } },
  };
  gateway = await startSurface({ config });
  for (const token of ["", " ", "undefined", "null"]) expect((await post("/hooks/wake", { authorization: `Bearer ${token}` })).status).toBe(401);
  delete config.hooks.token;
  expect((await post("/hooks/wake", { "x-openclaw-token": "" })).status).toBe(401);
  expect((await post("/hooks/wake", right)).status).toBe(401);
});

test("hooks are not there until they are switched on", async () => {
  gateway = await startSurface({ config: {} });
  expect((await post("/hooks/wake", right)).status).toBe(404);
});

test("both headers carry the token, the address does not", async () => {
  gateway = await startSurface({ config: on() });
  expect((await post("/hooks/wake", right)).status).toBe(503);
  expect((await post("/hooks/wake", { "x-openclaw-token": HOOK_TOKEN })).status).toBe(503);
  expect((await post(`/hooks/wake?token=${HOOK_TOKEN}`, right)).status).toBe(400);
  expect((await post("/hooks/wake", { authorization: `Bearer ${TOKEN}` })).status).toBe(401);
});

test("what is accepted by the guard is refused by name until there is a handler", async () => {
  gateway = await startSurface({ config: on() });
  expect((await post("/hooks/agent", right)).json()).toEqual({ ok: false, error: expect.stringMatching(/^UNAVAILABLE: webhooks are not available/) });
});

test("the path follows the configuration", async () => {
  gateway = await startSurface({ config: on({ path: "in/coming/" }) });
  expect((await post("/in/coming/wake", right)).status).toBe(503);
  expect((await post("/hooks/wake", right)).status).toBe(404);
});

test("twenty failures in a minute lock an address out, right token or not, until the minute is over", async () => {
  const clock = manualClock();
  gateway = await startSurface({ config: on(), clock });
  const far = { "x-forwarded-for": "203.0.113.9" };
  for (let tries = 0; tries < 20; tries += 1) expect((await post("/hooks/wake", { authorization: "Bearer guess", ...far })).status).toBe(401);
  clock.advance(15_000);
  for (const headers of [far, { "x-openclaw-token": "guess", ...far }, { authorization: "Bearer guess", "x-forwarded-for": "8.8.8.8" }, { ...right, ...far }]) {
    const reply = await post("/hooks/wake", headers);
    expect([reply.status, reply.headers["retry-after"]]).toEqual([429, "45"]);
  }
  // A client on this machine itself is not locked out with it.
  expect((await post("/hooks/wake", right)).status).toBe(503);
  clock.advance(45_000);
  expect((await post("/hooks/wake", right)).status).toBe(503);
});
