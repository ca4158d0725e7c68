import { expect, test } from "vitest";
import type { PluginRoute, Route } from "./route.ts";
import { createRouter } from "./router.ts";

const route = (over: Partial<Route> = {}): Route => ({
  methods: ["GET"],
  path: "/own",
  match: "exact",
  auth: "public",
  maxBodyBytes: 0,
  handle: () => {},
  ...over,
});
const plugin = (over: Partial<PluginRoute> = {}): PluginRoute => ({
  ...route({ path: "/api/x", match: "prefix", auth: "bearer" }),
  plugin: "x",
  path: "/api/x",
  ...over,
});

test("an exact route has its path alone, a prefix what lies below it too", () => {
  const exact = route();
  const below = route({ path: "/tree", match: "prefix" });
  const router = createRouter([exact], [below]);
  expect([router.find("/own"), router.find("/own/"), router.find("/own/x"), router.find("/OWN")]).toEqual([exact, undefined, undefined, undefined]);
  expect([router.find("/tree"), router.find("/tree/"), router.find("/tree/a/b"), router.find("/treehouse")]).toEqual([below, below, below, undefined]);
});

test("routes are asked in order: the gateway's first ones, plugins, the rest", () => {
  const router = createRouter([route({ path: () => "/moved", match: "prefix" })], [route({ path: "/last" })]);
  router.register(plugin());
  expect(router.routes.map(({ path }) => (typeof path === "string" ? path : path()))).toEqual(["/moved", "/api/x", "/last"]);
});

test("a route whose path the configuration takes away is not found", () => {
  let path: string | undefined = "/hooks";
  const router = createRouter([route({ path: () => path, match: "prefix" })], []);
  expect(router.find("/hooks/a")).toBeDefined();
  path = undefined;
  expect(router.find("/hooks/a")).toBeUndefined();
});

test("a route without auth cannot be registered, by a plugin or by the gateway", () => {
  const { auth: _auth, ...bare } = plugin();
  const router = createRouter([], []);
  for (const auth of [undefined, "", "none", "constructor", "__proto__", null, true]) {
    const wrong = { ...bare, auth } as unknown as PluginRoute;
    expect(() => router.register(wrong)).toThrow(expect.objectContaining({ code: "INVALID_INPUT", message: expect.stringContaining("must declare auth") }));
    expect(() => createRouter([wrong], [])).toThrow("must declare auth");
  }
  expect(() => router.register(bare as unknown as PluginRoute)).toThrow("must declare auth");
  expect(router.find("/api/x")).toBeUndefined();
});

test.each([
  ["no methods", { methods: [] }],
  ["an unknown method", { methods: ["OPTIONS"] }],
  ["no body limit", { maxBodyBytes: undefined }],
  ["a limit that is none", { maxBodyBytes: Number.POSITIVE_INFINITY }],
  ["a relative path", { path: "api" }],
  ["a path with dots", { path: "/api/../x" }],
  ["a trailing slash", { path: "/api/" }],
  ["an unknown way to match", { match: "regex" }],
])("a route with %s is refused", (_name, over) => {
  expect(() => createRouter([], []).register({ ...plugin(), ...over } as unknown as PluginRoute)).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
});

test.each([
  ["the gateway's own path", { path: "/v1/models", match: "exact" }],
  ["a path above the gateway's", { path: "/v1", match: "prefix" }],
  ["a path below a prefix of the gateway", { path: "/hooks/mine", match: "exact" }],
  ["another plugin's path", { path: "/api/x", match: "exact" }],
  ["a path below another plugin's", { path: "/api/x/y", match: "exact" }],
  ["a path above another plugin's", { path: "/api", match: "prefix" }],
  ["the root", { path: "/", match: "prefix" }],
] as const)("a plugin cannot take %s", (_name, over) => {
  const router = createRouter([route({ path: "/hooks", match: "prefix" })], [route({ path: "/v1/models" }), route({ path: "/" })]);
  router.register(plugin());
  expect(() => router.register(plugin({ plugin: "y", ...over }))).toThrow(expect.objectContaining({ code: "CONFLICT" }));
});

test("a plugin's route can be taken away and registered again", () => {
  const router = createRouter([], []);
  const held = router.register(plugin());
  held[Symbol.dispose]();
  held[Symbol.dispose]();
  expect(router.find("/api/x")).toBeUndefined();
  router.register(plugin({ plugin: "y" }));
  expect(router.find("/api/x/1")).toBeDefined();
});
