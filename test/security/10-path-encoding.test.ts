import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FAKE_PAGE, makeFakeUi } from "../harness/fake-ui.ts";
import { behind, before, spelled } from "./spellings.ts";
import { ask, bearer, raw, start, TOKEN, type Started } from "./start.ts";

const ui = makeFakeUi();
let gateway: Started;
beforeAll(async () => {
  const endpoints = { chatCompletions: { enabled: true }, responses: { enabled: true } };
  gateway = await start({ gateway: { http: { endpoints }, controlUi: { root: ui.root } }, hooks: { enabled: true, token: "hook-token-0123456789" } });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  ui[Symbol.dispose]();
});

const GUARDED = ["/v1/models", "/v1/chat/completions", "/v1/responses", "/tools/invoke", "/__openclaw__/canvas", "/hooks/wake"];
const OPEN = new Set(["/", "/health", "/healthz", "/readyz"]);

const methods = fc.constantFrom("GET", "POST", "HEAD", "PUT", "get", "OPTIONS", "TRACE", "CONNECT", "PROPFIND");

test("10: no spelling of a guarded path, in a real socket, is answered with more than a refusal", { timeout: 120_000 }, async () => {
  const seen = new Map<number, number>();
  const target = fc.tuple(before, fc.constantFrom(...GUARDED).chain(spelled), behind).map((parts) => parts.join(""));
  const check = async (method: string, path: string): Promise<void> => {
    const text = await raw(
      gateway.port,
      Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, "latin1"),
    );
    const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);
    seen.set(status, (seen.get(status) ?? 0) + 1);
    // A path that is none of these may be one of a page, which shows nothing but itself.
    if (status === 200) {
      expect([method, path, text]).toEqual([method, path, expect.stringContaining(method === "HEAD" ? "text/html" : FAKE_PAGE)]);
      return;
    }
    // 0: the connection was closed without a word, as for CONNECT. 429: the budget of hooks.
    expect([method, path, status]).toEqual([method, path, expect.toSatisfy((code: number) => [0, 400, 401, 403, 404, 405, 429, 431, 501].includes(code))]);
    expect(text).not.toMatch(/"object"|choices|UNAVAILABLE/);
  };
  await fc.assert(fc.asyncProperty(methods, target, check), { numRuns: 1200, seed: 10 });
  for (const code of [400, 401, 404]) expect([code, seen.get(code) ?? 0]).toEqual([code, expect.toSatisfy((count: number) => count > 5)]);
});

test("10: what is open stays one spelling: every other one is no page", async () => {
  for (const path of OPEN) {
    if (path === "/") continue;
    for (const other of [
      `/${path}`,
      `${path}/`,
      `/.${path}`,
      path.toUpperCase(),
      `/%${path.charCodeAt(1).toString(16)}${path.slice(2)}`,
      `${path}%00`,
      `${path};x`,
    ]) {
      const text = await raw(gateway.port, `GET ${other} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
      // An escaped letter is the letter; the guard and the router see the same path.
      expect([other, status]).toEqual([other, /^\/%[0-9a-f]{2}/.test(other) ? 200 : expect.toSatisfy((code: number) => code === 400 || code === 404)]);
    }
  }
});

test("10: the guard and the router read one path: with the secret a path is there exactly when it is refused without", async () => {
  const spellings = [
    "/v1/models",
    "/%76%31/models",
    "/v1/%6dodels",
    "/v1//models",
    "/v1/./models",
    "/v1%2fmodels",
    "/V1/models",
    "/v1/models/",
    "/v1/models%00",
    "/v1;/models",
  ];
  for (const path of spellings) {
    const [without, withSecret] = [await ask(gateway.url, path), await ask(gateway.url, path, { headers: bearer(TOKEN) })];
    if (withSecret.status === 200) expect([path, without.status]).toEqual([path, 401]);
    else expect([path, without.status === 401 ? withSecret.status : without.status]).toEqual([path, withSecret.status]);
  }
});

test("10: smuggled and split requests are refused, and what follows them is not answered", async () => {
  const smuggled = "GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
  for (const head of [
    "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
    "Content-Length: 0\r\nContent-Length: 5\r\n",
    "Transfer-Encoding : chunked\r\n",
    "Transfer-Encoding: xchunked\r\n",
  ]) {
    const text = await raw(gateway.port, `POST /tools/invoke HTTP/1.1\r\nHost: 127.0.0.1\r\n${head}\r\n0\r\n\r\n${smuggled}`);
    expect([head, text.match(/HTTP\/1\.1 (\d+)/g)]).toEqual([head, [expect.stringMatching(/ (400|401|501)$/)]]);
  }
});

/** Each can be read as another path by a proxy, a router or a file system than by the guard. */
const AMBIGUOUS = [
  "/v1%2fmodels",
  "/v1%2Fmodels",
  "/v1%5cmodels",
  "/v1/models%00",
  "/v1/models%3fx",
  "/v1/models%23x",
  "/v1//models",
  "//v1/models",
  "/v1/./models",
  "/health/../v1/models",
  "/v1/%2e/models",
  "/health/%2e%2e/v1/models",
  "/v1/%256dodels",
  "/v1/%25%36%64odels",
  "/v1%ef%bc%8fmodels",
  "/v1/%e2%80%a4%e2%80%a4/models",
  "/health/%ef%bc%8e%ef%bc%8e/v1/models",
  "/v1/%c0%afmodels",
  "/v1/models%0a",
  "/v1/models%c2%85",
  "/v1/models%e2%80%a8",
];

test("10: a path with more than one reading is refused as such, with the secret as without it, and nothing is looked up", async () => {
  for (const path of AMBIGUOUS) {
    for (const headers of [{}, bearer(TOKEN)]) {
      const { status, body } = await ask(gateway.url, path, { headers });
      expect([path, status, body]).toEqual([path, 400, expect.stringContaining("invalid_request_error")]);
    }
  }
});
