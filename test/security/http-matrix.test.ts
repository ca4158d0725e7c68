import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import type { PluginRoute, Route, RouteMethod } from "../../src/gateway/http/index.ts";
import { createAuthBench, type AuthBench } from "../harness/auth.ts";
import { HOOK_TOKEN, RUN_SECRET, startSurface, TOKEN, type TestSurface } from "../harness/http-surface.ts";

/** A route of each kind that plugins can declare, besides the gateway's own. */
const plugins: readonly PluginRoute[] = (["public", "bearer", "run-secret-detail", "hook-token", "own"] as const).map((auth) => ({
  plugin: "matrix",
  path: `/api/${auth}`,
  match: "prefix",
  methods: ["GET", "POST"],
  auth,
  maxBodyBytes: 1000,
  handle: ({ response, trusted }) => void response.end(`reached trusted=${trusted}`),
}));

const clock = manualClock();
let bench: AuthBench;
let gateway: TestSurface;
beforeAll(async () => {
  bench = await createAuthBench({ auth: { token: TOKEN } });
  gateway = await startSurface({
    auth: bench.auth,
    pluginRoutes: plugins,
    clock,
  });
});
// Failures with hook tokens are counted per minute; each test has its own.
beforeEach(() => clock.advance(60_000));
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await bench[Symbol.asyncDispose]();
});

const pathOf = (route: Route): string => (typeof route.path === "string" ? route.path : route.path()!);
/** Secrets that open each kind of route. */
const KEY: Readonly<Record<Route["auth"], string | undefined>> = {
  public: undefined,
  own: undefined,
  "run-secret-detail": undefined,
  bearer: TOKEN,
  canvas: TOKEN,
  "hook-token": HOOK_TOKEN,
};
const SECRETS = {
  token: TOKEN,
  hook: HOOK_TOKEN,
  run: RUN_SECRET,
  empty: "",
  garbage: "garbage",
  almost: `${TOKEN}x`,
  prefix: TOKEN.slice(0, -1),
  cased: TOKEN.toUpperCase(),
};

/** What lies behind each route when auth has passed. The same list for everybody: a new route must be added here, with its auth. */
const BEHIND: Readonly<Record<string, readonly [auth: Route["auth"], method: RouteMethod, status: number]>> = {
  "prefix /hooks": ["hook-token", "POST", 503],
  "exact /tools/invoke": ["bearer", "POST", 400],
  "prefix /v1/models": ["bearer", "GET", 200],
  "exact /v1/chat/completions": ["bearer", "POST", 400],
  "exact /v1/responses": ["bearer", "POST", 400],
  "prefix /__openclaw__": ["canvas", "GET", 404],
  "exact /health": ["run-secret-detail", "GET", 200],
  "exact /healthz": ["public", "GET", 200],
  "exact /readyz": ["public", "GET", 200],
  "exact /": ["public", "GET", 200],
  "exact /__openclaw/control-ui-config.json": ["public", "GET", 200],
  // Nobody has a picture.
  "prefix /avatar": ["public", "GET", 404],
  // A client that sends no Origin is not the page.
  "exact /__openclaw/login": ["own", "POST", 403],
  ...Object.fromEntries(plugins.map(({ auth, path }) => [`prefix ${path}`, [auth, "POST", 200] as const])),
};

test("every route is in the list, with the auth that it declares", () => {
  const declared = Object.fromEntries(gateway.surface.routes.map((route) => [`${route.match} ${pathOf(route)}`, [route.auth, route.methods]]));
  expect(Object.keys(declared).sort()).toEqual(Object.keys(BEHIND).sort());
  for (const [name, [auth, method]] of Object.entries(BEHIND))
    expect([name, declared[name]?.[0], declared[name]?.[1]?.includes(method)]).toEqual([name, auth, true]);
});

describe.each(Object.entries(BEHIND))("%s", (name, [auth, method, status]) => {
  const path = name.split(" ")[1]!;
  // The path of hooks alone names nothing.
  const at = path === "/hooks" ? [`${path}/x`] : name.startsWith("prefix") && path !== "/v1/models" ? [path, `${path}/x`] : [path];
  const needed = KEY[auth];
  const ask = (target: string, headers: Record<string, string> = {}) => gateway.ask(target, { method, headers, ...(method === "POST" ? { body: "{}" } : {}) });

  test("without a secret", async () => {
    for (const target of at) expect((await ask(target)).status).toBe(needed === undefined ? status : 401);
  });

  test.each(Object.entries(SECRETS))("with a secret: %s", async (_kind, secret) => {
    for (const target of at) {
      const reply = await ask(target, { authorization: `Bearer ${secret}` });
      expect(reply.status).toBe(needed === undefined || secret === needed ? status : 401);
      if (reply.status === 401 && auth === "bearer") expect(reply.json()).toEqual({ error: { message: "Unauthorized", type: "unauthorized" } });
    }
  });

  test("with the right secret in the wrong place", async () => {
    if (needed === undefined) return;
    const wrong = [
      [`${path}?token=${needed}`, {}],
      [`${path}?access_token=${needed}`, {}],
      [path, { authorization: needed }],
      [path, { authorization: `Basic ${Buffer.from(`:${needed}`).toString("base64")}` }],
      [path, { cookie: `token=${needed}` }],
      [path, { "x-forwarded-for": "127.0.0.1", "x-real-ip": "127.0.0.1", "tailscale-user-login": "me" }],
    ] as const;
    for (const [target, headers] of wrong) expect([400, 401]).toContain((await ask(target, headers)).status);
  });

  test("under a foreign name", async () => {
    for (const host of ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80"]) {
      expect((await ask(path, { host, ...(needed === undefined ? {} : { authorization: `Bearer ${needed}` }) })).status).toBe(403);
    }
  });

  test("answers carry the guarding headers and none for foreign pages", async () => {
    const right = needed === undefined ? {} : { authorization: `Bearer ${needed}` };
    for (const headers of [{}, { ...right, origin: `http://127.0.0.1:${gateway.port}` }]) {
      const reply = await ask(path, headers);
      expect(reply.headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cache-control": "no-store" });
      expect(Object.keys(reply.headers).filter((header) => header.startsWith("access-control-"))).toEqual([]);
    }
  });

  test("other methods are refused with what is allowed", async () => {
    for (const other of ["OPTIONS", "TRACE", "PUT", "DELETE"]) {
      const reply = await gateway.ask(path, { method: other, ...(needed === undefined ? {} : { token: needed }) });
      expect([other, reply.status]).toEqual([other, 405]);
      expect(reply.headers["allow"]).toContain(method);
    }
  });
});

test("run-secret-detail tells more to the run secret alone", async () => {
  const detail = async (token: string) => (await gateway.ask("/api/run-secret-detail", { token })).body;
  expect(await detail(RUN_SECRET)).toBe("reached trusted=true");
  for (const secret of [TOKEN, HOOK_TOKEN, "garbage"]) expect(await detail(secret)).toBe("reached trusted=false");
});
