import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PluginRoute } from "../../src/gateway/http/index.ts";
import { createAuthBench, type AuthBench } from "../harness/auth.ts";
import { startSurface, TOKEN, type TestSurface } from "../harness/http-surface.ts";

const reached: string[] = [];
const canary: PluginRoute = {
  plugin: "canary",
  path: "/api/secret",
  match: "prefix",
  methods: ["GET"],
  auth: "bearer",
  maxBodyBytes: 0,
  handle: ({ response, path }) => {
    reached.push(path);
    response.end("reached");
  },
};

let bench: AuthBench;
let gateway: TestSurface;
beforeAll(async () => {
  bench = await createAuthBench({ auth: { token: TOKEN } });
  gateway = await startSurface({
    auth: bench.auth,
    pluginRoutes: [canary, { ...canary, plugin: "open", path: "/api/open", auth: "public", handle: ({ response, path }) => void response.end(path) }],
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await bench[Symbol.asyncDispose]();
});

/** One request line as it is, past every client that would tidy it up. */
const status = async (target: string): Promise<number> => {
  const text = await gateway.raw(Buffer.from(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`, "latin1"));
  return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
};

const escaped = (char: string): fc.Arbitrary<string> => {
  const hex = char.charCodeAt(0).toString(16).padStart(2, "0");
  return fc.constantFrom(char, `%${hex}`, `%${hex.toUpperCase()}`, `%25${hex}`, `%2525${hex}`, char.toUpperCase());
};
/** Half of the time the plain form, so that whole paths come out intact but for one place. */
const mostly = (plain: string, odd: fc.Arbitrary<string>): fc.Arbitrary<string> => fc.oneof(fc.constant(plain), odd);
const joiner = fc.constantFrom(
  "/",
  "//",
  "/./",
  "/x/../",
  "%2f",
  "%2F",
  "\\",
  "%5c",
  "/;/",
  "/%2e/",
  "/x/%2e%2e/",
  "%00/",
  "%252f",
  "/%ef%bc%8f",
  "/.%2e/api/",
);
const word = (text: string): fc.Arbitrary<string> =>
  fc
    .tuple(...text.split("").map((char) => fc.oneof({ weight: 20, arbitrary: fc.constant(char) }, { weight: 1, arbitrary: escaped(char) })))
    .map((chars) => chars.join(""));
const ending = fc.constantFrom("", "/", "/x", "?x", "%3f", "#", ";a=b", "/..", "/../open", "%00", ".json", "/%2e%2e/open", "%20");
const start = fc.constantFrom(
  "/",
  "//",
  "/./",
  "/open/../",
  "http://127.0.0.1/",
  "http://evil.example/",
  "/api/open/../../",
  "/api/open/%2e%2e/%2e%2e/",
  "/api/open/..%2f..%2f",
  "/healthz/../",
);

test("no spelling of a guarded path gets past the guard", { timeout: 120_000 }, async () => {
  const spelled = fc.tuple(mostly("/", start), word("api"), mostly("/", joiner), word("secret"), mostly("", ending)).map((parts) => parts.join(""));
  const seen = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(spelled, async (target) => {
      const code = await status(target);
      seen.set(code, (seen.get(code) ?? 0) + 1);
      expect([400, 401, 404]).toContain(code);
    }),
    { numRuns: 1500, seed: 10 },
  );
  expect(reached).toEqual([]);
  // All three outcomes occur: the corpus meets the guard, the router and the reader of paths.
  for (const code of [400, 401, 404]) expect([code, seen.get(code) ?? 0]).toEqual([code, expect.toSatisfy((count: number) => count > 5)]);
});

test("a path below an open prefix never names something outside it", { timeout: 120_000 }, async () => {
  const below = fc
    .array(fc.constantFrom("..", ".", "%2e%2e", "a", "secret", "%2f", "/", "%5c", "\\", "..;", "%252e", "%c0%ae"), { maxLength: 8 })
    .map((parts) => `/api/open/${parts.join("/")}`);
  let open = 0;
  await fc.assert(
    fc.asyncProperty(below, async (target) => {
      const text = await gateway.raw(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
      if (!text.startsWith("HTTP/1.1 200")) return;
      open += 1;
      const path = text.split("\r\n\r\n")[1]!;
      expect(path).toMatch(/\/api\/open/);
      expect(path).not.toMatch(/\/\.{1,2}(?:\/|$)|\\|%/);
    }),
    { numRuns: 500, seed: 11 },
  );
  expect(open).toBeGreaterThan(10);
});

test("absolute and authority forms, and targets that no URL has, are refused", async () => {
  for (const target of ["http://127.0.0.1/health", "http://evil.example/health", "*", "/health%00", "//health", "/%2e/health", "/health%2f"]) {
    expect([target, await status(target)]).toEqual([target, 400]);
  }
});
