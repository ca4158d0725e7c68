import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock, systemClock } from "../base/clock.ts";
import { createIds } from "../base/ids.ts";
import { silentLogger } from "../base/log/logger.ts";
import { startLoopbackServer, type LoopbackHandler, type LoopbackServer } from "../base/loopback-server.fixture.ts";
import { seededRandom } from "../base/random.ts";
import type { Config } from "../config/index.ts";
import { createImaging, type ImagingDeps } from "./create-imaging.ts";
import type { Imaging } from "./types.ts";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const ids = createIds(seededRandom(5));
let home: string;
let servers: LoopbackServer[] = [];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openclaw-imaging-"));
  servers = [];
});
afterEach(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

async function serve(handler: LoopbackHandler): Promise<LoopbackServer> {
  const server = await startLoopbackServer(handler);
  servers.push(server);
  return server;
}

const answer =
  (value: unknown, status = 200): LoopbackHandler =>
  (_request, response) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));

const OPENAI = { data: [{ b64_json: PNG.toString("base64"), revised_prompt: "a red fox" }], usage: { input_tokens: 9, output_tokens: 100 } };

function open(imageGenerationModel: unknown, urls: Record<string, string>, over: Partial<ImagingDeps> = {}, keys: Record<string, string> = {}): Imaging {
  const providers = Object.fromEntries(Object.entries(urls).map(([id, baseUrl]) => [id, { baseUrl }]));
  const current = { agents: { defaults: { imageGenerationModel } }, models: { providers } };
  const auth = {
    candidates: async (provider: string) => (keys[provider] === undefined ? [] : [{ type: "api_key", key: keys[provider] }]),
    credential: async ({ key }: { key: string }) => ({ apiKey: key }),
  };
  const config = { current, paths: { state: home, home } } as unknown as Config;
  return createImaging({ config, clock: systemClock, ids, log: silentLogger, auth: async () => auth as never, ...over });
}

const make = (imaging: Imaging, over: object = {}, signal = new AbortController().signal) =>
  imaging.generate({ agentId: "main", sessionKey: "agent:main:main", prompt: "a fox", count: 1, signal, ...over });

test("OpenAI is asked for pictures, which become media, and the call is counted", async () => {
  const server = await serve(answer(OPENAI));
  const calls: unknown[] = [];
  const spending = { spent: async (call: object) => void calls.push(call), refusal: async () => undefined };
  const imaging = open("openai/gpt-image-1", { openai: `${server.url}/v1/` }, { spending }, { openai: "sk-key" });
  const made = await make(imaging, { count: 2, size: "1024x1024" });
  expect(made).toMatchObject({ provider: "openai", model: "gpt-image-1", revisedPrompt: "a red fox", failures: [] });
  expect(made.paths).toEqual([expect.stringMatching(/\/media\/outbound\/image---.*\.png$/)]);
  expect(readFileSync(made.paths[0]!)).toEqual(PNG);
  expect(server.requests[0]).toMatchObject({ method: "POST", path: "/v1/images/generations", headers: { authorization: "Bearer sk-key" } });
  expect(JSON.parse(server.requests[0]!.body)).toEqual({ model: "gpt-image-1", prompt: "a fox", n: 2, size: "1024x1024" });
  expect(calls).toMatchObject([{ provider: "openai", model: "gpt-image-1", input: 9, output: 100, sessionKey: "agent:main:main" }]);
});

test("Gemini is asked once for each picture", async () => {
  const server = await serve(
    answer({ candidates: [{ content: { parts: [{ text: "Here" }, { inlineData: { mimeType: "image/png", data: PNG.toString("base64") } }] } }] }),
  );
  const made = await make(open({ primary: "google/gemini-2.5-flash-image" }, { google: server.url }, {}, { google: "g-key" }), { count: 2 });
  expect(made.paths).toHaveLength(2);
  expect(server.requests).toHaveLength(2);
  expect(server.requests[0]).toMatchObject({ path: "/models/gemini-2.5-flash-image:generateContent", headers: { "x-goog-api-key": "g-key" } });
  expect(JSON.parse(server.requests[0]!.body)).toMatchObject({ generationConfig: { responseModalities: ["TEXT", "IMAGE"] } });
});

test("one that fails gives way to the next, and the error of all names each without its key", async () => {
  const bad = await serve(answer({ error: { message: "bad key sk-secret-0123456789" } }, 401));
  const html = await serve((_request, response) => response.end("<html>"));
  const text = await serve(answer({ data: [{ b64_json: Buffer.from("<svg onload=x>").toString("base64") }] }));
  const empty = await serve(answer({ data: [] }));
  const good = await serve(answer(OPENAI));
  const urls = { openai: bad.url, html: html.url, text: text.url, empty: empty.url, good: good.url };
  const fallbacks = ["html/x", "text/x", "empty/x", "nobody/x"];
  const keys = { openai: "sk-secret-0123456789" };
  const failure: Error = await make(open({ primary: "openai/gpt-image-1", fallbacks }, urls, {}, keys)).then(
    () => new Error("made"),
    (error: Error) => error,
  );
  for (const part of ["status 401", "not JSON", "no image", "without any image", "no provider nobody makes images here"])
    expect(failure.message).toContain(part);
  expect(failure.message).not.toContain("sk-secret-0123456789");
  expect(await make(open({ primary: "openai/gpt-image-1", fallbacks: ["good/x"] }, urls, {}, keys))).toMatchObject({
    provider: "good",
    failures: [expect.stringContaining("openai/gpt-image-1: ")],
  });
  await expect(make(open(undefined, {}))).rejects.toThrow("set agents.defaults.imageGenerationModel");
  await expect(make(open("openai/gpt-image-1", {}))).rejects.toThrow("no key: set one for the provider openai");
  await expect(make(open("fox", {}))).rejects.toThrow('as provider/model, got "fox"');
  const poor = { spent: async () => {}, refusal: async () => "the budget is spent" };
  await expect(make(open("good/x", urls, { spending: poor }))).rejects.toThrow("the budget is spent");
});

test("no more pictures are stored than were asked for, and none when one of them is no picture", async () => {
  const one = { b64_json: PNG.toString("base64") };
  const many = await serve(answer({ data: [one, one, one, one] }));
  const mixed = await serve(answer({ data: [one, { b64_json: Buffer.from("<svg>").toString("base64") }] }));
  const stored = (): readonly string[] => readdirSync(join(home, "media", "outbound"));
  expect((await make(open("many/x", { many: many.url }), { count: 2 })).paths).toHaveLength(2);
  expect(stored()).toHaveLength(2);
  await expect(make(open("mixed/x", { mixed: mixed.url }), { count: 2 })).rejects.toThrow("something that is no image");
  expect(stored()).toHaveLength(2);
});

test("a plugin makes pictures; one that hangs is given up", async () => {
  const clock = manualClock();
  const asked: unknown[] = [];
  let isAsked = false;
  const makers = () => [
    { id: "Studio", generateImage: async (request: object) => (asked.push(request), { images: [{ buffer: PNG }] }) },
    { id: "hanging", generateImage: () => ((isAsked = true), new Promise(() => {})) },
  ];
  const imaging = open({ primary: "hanging/x", fallbacks: ["studio/s1"] }, {}, { makers, clock });
  const making = make(imaging);
  await expect.poll(() => isAsked).toBe(true);
  clock.advance(180_000);
  expect(await making).toMatchObject({ provider: "studio", model: "s1", failures: ["hanging/x: gave no image within 180 s"] });
  expect(asked).toMatchObject([{ provider: "studio", model: "s1", prompt: "a fox", count: 1 }]);
});
