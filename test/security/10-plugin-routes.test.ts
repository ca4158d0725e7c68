import { mkdirSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makePlace, type GatewayProcess } from "../harness/gateway-process.ts";

const TOKEN = "a-token-of-this-test-0123456789";
const CODE = `
const say = (word) => (request, response) => { response.end("handler " + word + " saw " + request.url); };
export default function register(api) {
  api.registerHttpRoute({ path: "/sample/private", auth: "gateway", match: "prefix", handler: say("private") });
  api.registerHttpRoute({ path: "/sample/public", auth: "plugin", handler: say("public") });
  api.registerHttpRoute({ path: "/sample/unsaid", handler: say("unsaid") });
  api.registerHttpRoute({ path: "/sample/other", auth: "none", handler: say("other") });
  api.registerHttpRoute({ path: "/sample/../escape", auth: "plugin", handler: say("escape") });
  api.registerHttpRoute({ path: "/sample/%70rivate", auth: "plugin", handler: say("encoded") });
  api.registerHttpRoute({ path: "/sample/private/inner", auth: "plugin", handler: say("inner") });
  api.registerHttpRoute({ path: "/api/channels/sample", auth: "plugin", handler: say("channel") });
  api.registerHttpRoute({ path: "/health", auth: "plugin", handler: say("health") });
}
`;

let gateway: GatewayProcess;
let port: number;

beforeAll(async () => {
  const place = makePlace();
  place.env["OPENCLAW_BUNDLED_PLUGINS_DIR"] = join(place.home, "none");
  // Where there is no page, what no route has is not there.
  place.configure(`{ gateway: { mode: "local", auth: { token: "${TOKEN}" }, controlUi: { enabled: false } } }\n`);
  const folder = join(place.stateDir, "extensions/sample");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify({ id: "sample", configSchema: { type: "object" } }));
  writeFileSync(join(folder, "index.mjs"), CODE);
  gateway = await place.gateway();
  port = Number(new URL(gateway.url!).port);
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** Asks for a path exactly as it is written. */
function get(path: string, token?: string, host?: string): Promise<{ readonly status: number; readonly body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  const headers = { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...(host === undefined ? {} : { host }) };
  request(
    { host: "127.0.0.1", port, path, headers },
    (response) => void text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject),
  )
    .on("error", reject)
    .end();
  return promise;
}

test("a route that does not say who checks its caller is not there", async () => {
  for (const path of ["/sample/unsaid", "/sample/other", "/escape", "/sample/escape"]) {
    for (const token of [undefined, TOKEN])
      expect([path, await get(path, token)]).toEqual([path, { status: 404, body: expect.not.stringContaining("handler") }]);
  }
});

test("a route that the gateway guards needs its token, one that the plugin guards does not", async () => {
  expect(await get("/sample/private")).toMatchObject({ status: 401 });
  expect(await get("/sample/private", "wrong-token-0123456789")).toMatchObject({ status: 401 });
  expect(await get("/sample/private/deep", TOKEN)).toEqual({ status: 200, body: "handler private saw /sample/private/deep" });
  expect(await get("/sample/public")).toEqual({ status: 200, body: "handler public saw /sample/public" });
});

test("under a foreign name no route answers, and the log says once what to do where a proxy stands before it", async () => {
  for (const path of ["/sample/public", "/sample/private", "/health", "/sample/nothing"]) {
    expect([path, await get(path, TOKEN, "claw.example.com")]).toEqual([path, { status: 403, body: expect.not.stringContaining("handler") }]);
  }
  expect(gateway.output().match(/claw\.example\.com.*gateway\.trustedProxies/g)).toHaveLength(1);
});

test("no way to write a guarded path gets past the guard", async () => {
  const letters = (word: string, encode: (letter: string) => string): string => word.split("").map(encode).join("");
  const hex = (letter: string): string => `%${letter.charCodeAt(0).toString(16)}`;
  const forms = [
    "/sample/private",
    "/sample/private/",
    "/sample//private",
    "//sample/private",
    "/sample/./private",
    "/sample/public/../private",
    "/x/../sample/private",
    "/sample/public/%2e%2e/private",
    "/sample/public/..%2fprivate",
    "/sample%2fprivate",
    "/sample%2Fprivate/deep",
    "/sample/%70rivate",
    `/sample/${letters("private", hex)}`,
    `/sample/${letters("private", (letter) => hex(letter).replace("%", "%25"))}`,
    "/sample/%2570rivate",
    "/sample\\private",
    "/sample/%5cprivate",
    "/sample/private%00",
    "/sample/private;x=1",
    "/sample/private?token=x",
    "/sample/private/inner",
    "/sample/private/%69nner",
    "/SAMPLE/private",
    "/sample/Private",
    "/sample/private%20",
    "/sample/private%2e",
    "/sample/public/%2e%2e/%70rivate/deep",
    "/api/channels/sample",
    "/api/channels/%73ample",
    "/api//channels/sample",
  ];
  for (const form of forms) {
    const { status, body } = await get(form);
    expect([form, status, body]).toEqual([
      form,
      expect.toSatisfy((code: number) => code >= 400 && code < 500, "a refusal"),
      expect.not.stringMatching(/handler (?:private|inner|channel|encoded)/),
    ]);
  }
});

test("a plugin does not take a path of the gateway", async () => {
  expect((await get("/health")).body).not.toContain("handler");
  expect(await get("/api/channels/sample", TOKEN)).toMatchObject({ status: 200, body: expect.stringContaining("handler channel") });
});
