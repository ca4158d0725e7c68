import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FAKE_PAGE, makeFakeUi } from "../harness/fake-ui.ts";
import { ROOT } from "../harness/gateway-process.ts";
import { ask, bearer, start, TOKEN, type Started } from "./start.ts";

const ui = makeFakeUi();
let gateway: Started;
beforeAll(async () => {
  gateway = await start({ gateway: { controlUi: { root: ui.root } } });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  ui[Symbol.dispose]();
});

const QUERY = "?gatewayUrl=wss://evil.example&token=canary-query-token&password=canary-query-token";
const PAGES = ["/", "/index.html", "/chat", "/ui", "/dashboard", "/__openclaw__/canvas/", "/health", "/healthz", "/readyz", "/v1/models"];

test("1: no page that is served repeats or reads a gateway address or a token from its query", async () => {
  for (const page of PAGES) {
    for (const headers of [{}, bearer(TOKEN)]) {
      const { body, headers: answered } = await ask(gateway.url, `${page}${QUERY}`, { headers });
      expect(body + JSON.stringify(answered)).not.toMatch(/evil\.example|canary-query-token/);
      // Scripts come from files of the page alone: nothing is put into it, and nothing in it runs by itself.
      const inline = body
        .replaceAll('<script type="module" src="./assets/main-00000000.js"></script>', "")
        .replaceAll(/<script src="\/__openclaw__\/a2ui\/bridge\.js"(?: data-live="\/__openclaw__\/ws")?><\/script>/g, "");
      expect([page, inline.match(/<script|gatewayUrl|location\.(?:search|hash|href)|URLSearchParams|\son\w+=/g)]).toEqual([page, null]);
      expect(answered["set-cookie"]).toBeUndefined();
    }
  }
});

test("1: the page may connect to its own host and nowhere else, and takes no other address", async () => {
  const { status, headers, body } = await ask(gateway.url, `/${QUERY}`);
  const policy = String(headers["content-security-policy"]);
  expect([status, body.includes(FAKE_PAGE), policy]).toEqual([200, true, expect.stringMatching(/^default-src 'none'; script-src 'self'; /)]);
  expect(/connect-src ([^;]*)/.exec(policy)?.[1]).toBe(`'self' ws://127.0.0.1:${gateway.port} wss://127.0.0.1:${gateway.port}`);
  expect(policy).toMatch(/base-uri 'self'; form-action 'none'; frame-ancestors 'none'/);
  // Frames without an origin show the canvas, and nothing else.
  const frames = `frame-src http://127.0.0.1:${gateway.port}/__openclaw__/cap/ https://127.0.0.1:${gateway.port}/__openclaw__/cap/; `;
  expect(policy).toContain(frames);
  expect(policy.replace(frames, "")).not.toMatch(/\*|unsafe|https?:/);
});

test("1: where no page is built the welcome page may do nothing at all", async () => {
  await using bare = await start({ gateway: { controlUi: { enabled: false } } });
  const { status, headers } = await ask(bare.url, "/");
  expect([status, headers["content-security-policy"]]).toEqual([200, expect.stringMatching(/^default-src 'none'/)]);
  expect(String(headers["content-security-policy"])).not.toMatch(/script-src|connect-src|\*/);
});

test("1: a token in the query opens nothing", async () => {
  for (const name of ["token", "access_token", "auth", "password", "key"]) {
    expect((await ask(gateway.url, `/v1/models?${name}=${TOKEN}`)).status).toBe(401);
  }
});

test("1: while there is no UI, the test in a browser is on the list of what is owed", () => {
  const ui = readdirSync(ROOT).includes("ui");
  const owed = readFileSync(join(ROOT, "docs/deferred.md"), "utf8");
  expect(ui || /\| .*gatewayUrl.* \| .* \| issue 8 .*\|/.test(owed)).toBe(true);
});
