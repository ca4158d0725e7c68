import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { manualClock, systemClock, type Clock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log/logger.ts";
import { startLoopbackServer, type LoopbackHandler, type LoopbackServer } from "../../base/loopback-server.fixture.ts";
import type { Config, OpenClawConfig } from "../../config/index.ts";
import type { MediaSpending } from "../../media/index.ts";
import { createRecognition, type Recognition } from "./create-recognition.ts";
import type { AudioSettings } from "./types.ts";

const OGG = Buffer.concat([Buffer.from("OggS\0\x02"), Buffer.alloc(22), Buffer.from("OpusHead"), Buffer.alloc(40)]);

let home: string;
let servers: LoopbackServer[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openclaw-hearing-test-"));
  servers = [];
});
afterEach(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

interface Options {
  readonly env?: Record<string, string>;
  readonly keys?: Record<string, string[]>;
  readonly clock?: Clock;
  readonly more?: object;
  readonly spending?: MediaSpending;
}

function open(audio: AudioSettings | undefined, { env = {}, keys = {}, clock = systemClock, more = {}, spending }: Options = {}): Recognition {
  const current = { tools: { media: { audio } }, ...more } as unknown as OpenClawConfig;
  const config = { current, env: () => env } as unknown as Config;
  const auth = {
    candidates: async (provider: string) => (keys[provider] ?? []).map((key) => ({ type: "api_key", key })),
    credential: async ({ key }: { key: string }) => ({ apiKey: key }),
  };
  return createRecognition({ config, clock, log: silentLogger, auth: async () => auth as never, spending });
}

async function serve(handler: LoopbackHandler): Promise<LoopbackServer> {
  const server = await startLoopbackServer(handler);
  servers.push(server);
  return server;
}

const answer =
  (value: unknown, status = 200): LoopbackHandler =>
  (_request, response) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));

function recording(bytes = OGG, name = "note.ogg", mimeType = "audio/ogg") {
  const path = join(home, name);
  writeFileSync(path, bytes);
  return { path, mimeType };
}

function program(name: string, body: string): string {
  const folder = join(home, "bin");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\n${body}\n`);
  chmodSync(join(folder, name), 0o755);
  return join(folder, name);
}

const failureOf = async (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "nothing failed",
    (error: Error) => error.message,
  );

describe("providers", () => {
  test.each(["openai", "groq", "of-my-own"])("%s gets the file and the model as a form, and its key nowhere else", async (provider) => {
    const server = await serve(answer({ text: " Buy milk. " }));
    const { transcribe } = open({ language: "en", models: [{ provider, baseUrl: `${server.url}/v1/` }] }, { keys: { [provider]: ["sk-key"] } });
    expect(await transcribe(recording())).toEqual({ text: "Buy milk.", by: provider });
    const model = { openai: "gpt-4o-mini-transcribe", groq: "whisper-large-v3-turbo" }[provider] ?? "whisper-1";
    const [request] = server.requests;
    expect(request).toMatchObject({ method: "POST", path: "/v1/audio/transcriptions", headers: { authorization: "Bearer sk-key" } });
    expect(request!.body).toContain(`name="model"\r\n\r\n${model}\r\n`);
    expect(request!.body).toContain('name="language"\r\n\r\nen\r\n');
    expect(request!.body).toContain('name="file"; filename="audio.ogg"\r\ncontent-type: audio/ogg\r\n\r\nOggS');
  });

  test("the type that a client claims cannot add lines to the request, and counts only where the bytes do not tell", async () => {
    const server = await serve(answer({ text: "Hello" }));
    const { hear } = open({ models: [{ provider: "openai", baseUrl: server.url }] }, { keys: { openai: ["sk-key"] } });
    for (const mimeType of ["audio/ogg\r\nX-Evil: 1\r\n\r\ninjected", "text/html"]) {
      expect(await hear({ bytes: OGG, mimeType })).toEqual({ text: "Hello", by: "openai" });
      expect(server.requests.at(-1)!.body).toContain('filename="audio.ogg"\r\ncontent-type: audio/ogg\r\n\r\nOggS');
    }
    const asked = server.requests.length;
    const unknown = Buffer.from("no recording");
    expect(await failureOf(hear({ bytes: unknown, mimeType: "audio/ogg\r\nX-Evil: 1" }))).toContain("is not an audio recording but audio/ogg\\r\\nX-Evil: 1");
    expect(await failureOf(hear({ bytes: unknown, mimeType: "text/html" }))).toContain("is not an audio recording but text/html");
    expect(server.requests).toHaveLength(asked);
  });

  test("clients wait in a line that ends; more are refused at once", async () => {
    const held: (() => void)[] = [];
    const server = await serve((_request, response) => void held.push(() => response.end('{"text":"Hello"}')));
    const { hear } = open({ models: [{ provider: "openai", baseUrl: server.url }] }, { keys: { openai: ["sk-key"] } });
    const ends: string[] = [];
    for (let at = 0; at < 20; at += 1) void failureOf(hear({ bytes: OGG, mimeType: "audio/ogg" })).then((end) => ends.push(end));
    await expect.poll(() => ends).toEqual(Array.from({ length: 2 }, () => expect.stringMatching(/^2 are running and 16 are waiting; try again/)));
    await expect
      .poll(() => {
        for (const release of held.splice(0)) release();
        return ends.filter((end) => end === "nothing failed").length;
      })
      .toBe(18);
  });

  test("Deepgram gets the bytes, with its options as a query", async () => {
    const server = await serve(answer({ results: { channels: [{ alternatives: [{ transcript: "Hello" }] }] } }));
    const models = [{ provider: "deepgram", baseUrl: server.url, deepgram: { punctuate: true }, providerOptions: { deepgram: { smart_format: true } } }];
    expect(await open({ models }, { keys: { deepgram: ["dg-key"] } }).transcribe(recording())).toEqual({ text: "Hello", by: "deepgram" });
    expect(server.requests[0]).toMatchObject({
      path: "/listen?model=nova-3&punctuate=true&smart_format=true",
      headers: { authorization: "Token dg-key", "content-type": "audio/ogg" },
    });
  });

  test("Gemini gets the audio inside of a question", async () => {
    const server = await serve(
      answer({
        candidates: [{ content: { parts: [{ text: "Hello " }, { text: "there" }] } }],
        usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2 },
      }),
    );
    const models = [{ provider: "google", baseUrl: server.url, headers: { "X-Team": "blue" } }];
    const calls: unknown[] = [];
    const spending = { spent: async (call: object) => void calls.push(call), refusal: async () => undefined };
    expect(await open({ models }, { keys: { google: ["g-key"] }, spending }).transcribe(recording())).toEqual({ text: "Hello there", by: "google" });
    expect(calls).toMatchObject([{ agentId: "main", sessionKey: "agent:main:main", provider: "google", model: "gemini-3-flash-preview", input: 9, output: 2 }]);
    const [request] = server.requests;
    expect(request).toMatchObject({ path: "/models/gemini-3-flash-preview:generateContent", headers: { "x-goog-api-key": "g-key", "x-team": "blue" } });
    expect(JSON.parse(request!.body)).toMatchObject({ contents: [{ parts: [{}, { inline_data: { mime_type: "audio/ogg", data: OGG.toString("base64") } }] }] });
  });

  test("one that fails gives way to the next, once each; the error of all names each without its key", async () => {
    const refusing = await serve(answer({ error: { message: "bad key sk-secret-0123456789" } }, 401));
    const garbage = await serve((_request, response) => response.end("<html>"));
    const models = [
      { provider: "openai", baseUrl: refusing.url },
      { provider: "groq", baseUrl: garbage.url },
    ];
    const keys = { openai: ["sk-secret-0123456789"], groq: ["g"] };
    const failure = await failureOf(open({ models }, { keys }).transcribe(recording()));
    expect(failure).toMatch(/openai: openai answered with status 401: bad key .*; groq: groq returned a response that is not JSON/);
    expect(failure).not.toContain("sk-secret-0123456789");
    expect([refusing.requests.length, garbage.requests.length]).toEqual([1, 1]);
    const good = await serve(answer({ text: "Hello" }));
    expect(await open({ models: [...models, { provider: "other", baseUrl: good.url }] }, { keys }).transcribe(recording())).toEqual({
      text: "Hello",
      by: "other",
    });
  });

  test("a key that is over its limit gives way to the next key", async () => {
    const server = await serve((request, response, body) =>
      request.headers.authorization === "Bearer one"
        ? answer({ error: "slow down" }, 429)(request, response, body)
        : answer({ text: "Hi" })(request, response, body),
    );
    const models = [{ provider: "openai", baseUrl: server.url }];
    expect(await open({ models }, { keys: { openai: ["one", "two"] } }).transcribe(recording())).toMatchObject({ text: "Hi" });
    expect(await failureOf(open({ models }, { keys: { openai: ["one"] } }).transcribe(recording()))).toContain("status 429: slow down");
  });

  test("one that hangs is left after its time", async () => {
    const clock = manualClock();
    const server = await serve(() => clock.advance(20_000));
    const models = [{ provider: "openai", baseUrl: server.url, timeoutSeconds: 20 }];
    expect(await failureOf(open({ models }, { clock, keys: { openai: ["k"] } }).transcribe(recording()))).toContain(
      "openai: returned no transcript within 20 s",
    );
  });

  test("a server of one's own needs no key; a provider without one says so", async () => {
    const server = await serve(answer({ text: "Hello" }));
    expect(await open({ baseUrl: server.url }).transcribe(recording())).toEqual({ text: "Hello", by: "openai" });
    expect(server.requests[0]!.headers.authorization).toBeUndefined();
    expect(await failureOf(open({ models: [{ provider: "deepgram" }] }).transcribe(recording()))).toContain(
      "deepgram: no key: set one for the provider deepgram",
    );
  });
});

describe("what is not asked about", () => {
  const models = [{ provider: "openai", baseUrl: "http://127.0.0.1:9" }];

  test.each([
    [Buffer.alloc(0), /^the recording is empty$/],
    [Buffer.alloc(3000), /^the recording is 2\.9 KB; tools\.media\.audio\.maxBytes allows 2 KB$/],
    [Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", "base64"), /is not an audio recording but image\/png$/],
  ])("an empty, a too large and a wrong file", async (bytes, why) => {
    expect(await failureOf(open({ models, maxBytes: 2000 }).transcribe(recording(bytes)))).toMatch(why);
  });

  test("recordings where it is switched off, where nobody can, and in chats that the scope leaves out", async () => {
    expect(await open({ enabled: false, models }).transcribe(recording())).toBeUndefined();
    expect(await open(undefined).transcribe(recording())).toBeUndefined();
    const scope = { default: "deny" as const, rules: [{ action: "allow" as const, match: { channel: "telegram" } }] };
    const asked = { ...recording(), sessionKey: "agent:main:main" };
    expect(await open({ scope, models }).transcribe({ ...asked, channel: "discord" })).toBeUndefined();
    expect(await failureOf(open({ scope, models }).transcribe({ ...asked, channel: "telegram" }))).toContain("openai");
  });
});

describe("programs", () => {
  test("a configured one gets the file by its path, without a shell, and prints the words", async () => {
    const command = program("listen", 'printf "%s|" "$@"');
    const file = recording(OGG, "a $(touch owned) b.ogg");
    const models = [{ type: "cli" as const, command, args: ["--in", "{{MediaPath}}", "{{ Prompt }}", "{{Unknown}}"], prompt: "slowly" }];
    expect(await open({ models }).transcribe(file)).toEqual({ text: `--in|${file.path}|slowly||`, by: "listen" });
  });

  test("its transcript may be a text file beside the output, or JSON; what it fails with is said", async () => {
    const written = program("write", 'echo "a log line"; echo "Hello there" > "$1.txt"');
    expect(await open({ models: [{ type: "cli", command: written, args: ["{{OutputBase}}"] }] }).transcribe(recording())).toMatchObject({
      text: "Hello there",
    });
    const json = program("json", 'echo "loading"; echo "{\\"text\\": \\" Hello \\"}"');
    expect(await open({ models: [{ type: "cli", command: json }] }).transcribe(recording())).toMatchObject({ text: "Hello" });
    const broken = program("broken", "echo oops >&2; exit 3");
    expect(await failureOf(open({ models: [{ type: "cli", command: broken }] }).transcribe(recording()))).toContain("broken: broken ended with code 3: oops");
    expect(await failureOf(open({ models: [{ type: "cli", command: "/nowhere" }] }).transcribe(recording()))).toContain("there is no program /nowhere");
  });

  test.each([
    ["a pipe", 'mkfifo "$1.txt"', "but it is a pipe"],
    ["a link", 'ln -s "$0" "$1.txt"', "but it is a link"],
    ["a folder", 'mkdir "$1.txt"', "but it is a folder"],
    ["more than anybody says", 'truncate -s 6M "$1.txt"', "but it has 6291456 bytes; at most 5242880 are read"],
  ])("%s in place of the transcript is a failure and gives way to the next", async (_what, body, message) => {
    const asked = { type: "cli" as const, command: program("odd", body), args: ["{{OutputBase}}"] };
    const failures = await Promise.all(Array.from({ length: 6 }, async () => failureOf(open({ models: [asked] }).transcribe(recording()))));
    for (const failure of failures) expect(failure).toContain(`odd was to write note.txt as a regular file, ${message}`);
    const next = { type: "cli" as const, command: program("good", "echo words") };
    expect(await open({ models: [asked, next] }).transcribe(recording())).toMatchObject({ text: "words", by: "good" });
  });

  test("a pipe in place of the recording is refused, and blocks nobody", async () => {
    const path = join(home, "note.ogg");
    spawnSync("mkfifo", [path]);
    const command = program("listen", "echo words");
    const voice = open({ models: [{ type: "cli", command }] });
    const failures = await Promise.all(Array.from({ length: 6 }, async () => failureOf(voice.transcribe({ path, mimeType: "audio/ogg" }))));
    for (const failure of failures) expect(failure).toContain("no regular file");
  });

  test("the older setting is used while there is no other", async () => {
    const command = program("old", "printf old");
    const more = { audio: { transcription: { command: [command, "{{MediaPath}}"] } } };
    expect(await open(undefined, { more }).transcribe(recording())).toEqual({ text: "old", by: "old" });
  });

  test("without a choice, those that are installed come first, then providers with a key, in the documented order", async () => {
    for (const name of ["sherpa-onnx-offline", "whisper-cli", "whisper"]) program(name, "true");
    const models = join(home, "models");
    mkdirSync(models);
    for (const name of ["tokens.txt", "encoder.onnx", "decoder.onnx", "joiner.onnx", "ggml.bin"]) writeFileSync(join(models, name), "");
    const keys = { google: ["a"], deepgram: ["b"], groq: ["c"], openai: ["d"] };
    const env = { PATH: join(home, "bin") };
    expect(await open(undefined, { keys, env }).recognisers()).toEqual(["whisper", "openai", "groq", "deepgram", "google"]);
    const whole = { ...env, SHERPA_ONNX_MODEL_DIR: models, WHISPER_CPP_MODEL: join(models, "ggml.bin") };
    expect(await open(undefined, { env: whole }).recognisers()).toEqual(["sherpa-onnx-offline", "whisper-cli", "whisper"]);
  });
});

test("a recording of two hours is refused by its size, before any of it is read", async () => {
  const server = await serve(answer({ text: "Hi" }));
  const file = recording();
  // 16,000 samples of 16 bits a second.
  truncateSync(file.path, 2 * 3600 * 32_000);
  const failure = await failureOf(open({ models: [{ provider: "openai", baseUrl: server.url }] }, { keys: { openai: ["k"] } }).transcribe(file));
  expect(failure).toMatch(/^the recording is 2\d\d MB; tools\.media\.audio\.maxBytes allows 20 MB$/);
  expect(server.requests).toEqual([]);
});

test("a recording of a client is on the disk while it is its turn and not before, and one beyond the line never", async () => {
  const waiting: (() => void)[] = [];
  const server = await serve((_request, response) => waiting.push(() => response.end(JSON.stringify({ text: "Hi" }))));
  const { hear } = open(undefined, { more: { tools: { media: { concurrency: 1, audio: { baseUrl: server.url } } } } });
  vi.stubEnv("TMPDIR", home);
  onTestFinished(() => void vi.unstubAllEnvs());
  const heard = Array.from({ length: 18 }, () => hear({ bytes: OGG, mimeType: "audio/ogg" }).catch((error: Error) => error.message));
  expect(await heard[17]).toMatch(/are waiting; try again/);
  await expect.poll(() => waiting.length).toBe(1);
  expect(readdirSync(home).filter((name) => name.startsWith("openclaw-heard-"))).toHaveLength(1);
  const all = Promise.all(heard);
  let done = false;
  void all.then(() => (done = true));
  await expect.poll(() => (waiting.splice(0).forEach((end) => end()), done)).toBe(true);
  expect(readdirSync(home)).toEqual([]);
});

test("no more recordings are asked about at the same time than is set", async () => {
  const waiting: (() => void)[] = [];
  const server = await serve((_request, response) => waiting.push(() => response.end(JSON.stringify({ text: "Hi" }))));
  const more = { tools: { media: { concurrency: 2, audio: { baseUrl: server.url } } } };
  const { transcribe } = open(undefined, { more });
  const file = recording();
  const all = [1, 2, 3].map(() => transcribe(file));
  await expect.poll(() => server.requests.length).toBe(2);
  waiting.shift()!();
  await expect.poll(() => server.requests.length).toBe(3);
  for (const end of waiting) end();
  expect(await Promise.all(all)).toHaveLength(3);
});
