/** Speech over a gateway: methods, the command, the tool, with espeak-ng on this machine. */
import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { enter, type DeviceClient } from "../harness/device-client.ts";
import { makePlace, type GatewayProcess } from "../harness/gateway-process.ts";
import { orders, startHijackedModel, textOf, type HijackedModel } from "../harness/hijacked-model.ts";
import { canHear, canSpeak, NEEDED, recogniser, spoken } from "../harness/spoken.ts";

const TOKEN = "a-token-of-this-test-0123456789";
const place = makePlace();
const isThere = canSpeak();
const hears = canHear();

let model: HijackedModel;
let gateway: GatewayProcess;
let owner: DeviceClient;

beforeAll(async () => {
  model = await startHijackedModel();
  const models = [{ id: "m1", name: "m1", contextWindow: 200_000, maxTokens: 8192 }];
  place.configure(
    JSON.stringify({
      gateway: { mode: "local", auth: { token: TOKEN } },
      agents: { defaults: { model: { primary: "scripted/m1" }, skipBootstrap: true } },
      messages: { tts: { provider: "local", edge: { enabled: false } } },
      tools: { media: { audio: { models: [recogniser(join(place.home, "words.gram"), "good morning", "turn on the kitchen light", "stop")] } } },
      models: { providers: { scripted: { baseUrl: model.url, apiKey: "a-key", api: "openai-completions", models } } },
    }),
  );
  gateway = await place.gateway();
  if (gateway.url === undefined) throw new Error(gateway.output());
  owner = await enter(gateway.url, { token: TOKEN, scopes: ["operator.admin", "operator.read", "operator.write"] });
});
afterAll(async () => {
  for (const one of [owner, gateway, model]) await one?.[Symbol.asyncDispose]();
  rmSync(place.home, { recursive: true, force: true });
});

async function call(method: string, params: object = {}): Promise<Record<string, unknown>> {
  const { ok, payload, error } = await owner.request(method, params);
  if (!ok) throw new Error(JSON.stringify(error));
  return payload as Record<string, unknown>;
}

test("a text becomes a WAV file in the folder of media", async (context) => {
  context.skip(!isThere, "needs espeak-ng: apt-get install espeak-ng");
  const { audioPath, provider, voiceCompatible } = await call("tts.convert", { text: "Dinner is ready.", idempotencyKey: "one" });
  expect({ provider, voiceCompatible }).toEqual({ provider: "local", voiceCompatible: false });
  expect(String(audioPath)).toContain(join(place.stateDir, "media", "outbound"));
  expect(readFileSync(String(audioPath)).subarray(0, 4).toString("latin1")).toBe("RIFF");
  expect(statSync(String(audioPath)).size).toBeGreaterThan(10_000);
  expect(statSync(String(audioPath)).mode & 0o777).toBe(0o600);
});

test("the tool of an agent gives the line that sends the audio, and the answer carries the file", async (context) => {
  context.skip(!isThere, "needs espeak-ng: apt-get install espeak-ng");
  await call("chat.send", { sessionKey: "agent:main:voice", message: orders([{ name: "tts", args: { text: "Hello" } }]), idempotencyKey: "turn" });
  expect(await call("agent.wait", { runId: "turn", timeoutMs: 60_000 })).toMatchObject({ status: "ok" });
  const result = model.requests.flatMap(({ messages }) => messages.filter(({ role }) => role === "tool")).map(({ content }) => textOf(content));
  expect(result).toEqual([expect.stringMatching(/^MEDIA:.*\/media\/outbound\/voice---.*\.wav$/)]);
});

test("what is spoken in a recording is the message, also when it is a command", async (context) => {
  context.skip(!hears, NEEDED);
  const send = (text: string, idempotencyKey: string) => {
    const attachments = [{ mimeType: "audio/wav", fileName: "note.wav", content: spoken(text).toString("base64") }];
    return call("chat.send", { sessionKey: "agent:main:notes", message: "", attachments, idempotencyKey });
  };
  await send("turn on the kitchen light", "spoken");
  expect(await call("agent.wait", { runId: "spoken", timeoutMs: 60_000 })).toMatchObject({ status: "ok" });
  const texts = () => model.requests.flatMap(({ messages }) => messages.filter(({ role }) => role === "user")).map(({ content }) => textOf(content));
  expect(texts().at(-1)).toMatch(/\[Audio\]\nTranscript:\nturn on the kitchen light\n\n\[media attached: .*note---.*\.wav \(audio\/wav\)\]/);
  const before = model.requests.length;
  await send("stop", "stopping");
  await call("agent.wait", { runId: "stopping", timeoutMs: 60_000 });
  expect(model.requests.length).toBe(before);
});

test("a client talks: recordings become text, texts become sound, and what is missing or wrong is said", async (context) => {
  context.skip(!hears, NEEDED);
  expect(await call("talk.ready")).toEqual({ hears: ["pocketsphinx_continuous"], speaks: ["local"], interruptOnSpeech: true });
  const wav = spoken("good morning").toString("base64");
  expect(await call("talk.transcribe", { audioBase64: wav, mimeType: "audio/wav; codecs=1" })).toEqual({
    text: "good morning",
    provider: "pocketsphinx_continuous",
  });
  const sound = await call("talk.speak", { text: "**Good** morning, [Ada](https://a.b)." });
  expect(sound).toMatchObject({ mimeType: "audio/wav", provider: "local", outputFormat: "wav" });
  expect(Buffer.from(String(sound["audioBase64"]), "base64").length).toBeGreaterThan(10_000);
  expect(await call("talk.speak", { text: "```\ncode\n```" })).toMatchObject({ audioBase64: "" });
  await expect(call("talk.transcribe", { audioBase64: "AAAA", mimeType: "image/png" })).rejects.toThrow("is no recording but image/png");
  await expect(call("talk.transcribe", { audioBase64: "a", mimeType: "audio/wav" })).rejects.toThrow("not valid base64");
  await using reader = await enter(gateway.url!, { token: TOKEN, scopes: ["operator.read"] });
  expect(await reader.request("talk.speak", { text: "hello" })).toMatchObject({ ok: false, error: { message: expect.stringContaining("operator.write") } });
});

test("/tts says who speaks and what is missing, chooses, and refuses what it does not know", async () => {
  const last = async (): Promise<string> => {
    const { messages } = (await call("chat.history", { sessionKey: "agent:main:voice", limit: 1 })) as { messages: { content: unknown }[] };
    return textOf(messages[0]?.content);
  };
  const isAnswered = async (text: string, answer: RegExp): Promise<void> => {
    await call("chat.send", { sessionKey: "agent:main:voice", message: text, idempotencyKey: `say ${text}` });
    await expect.poll(last).toMatch(answer);
  };
  // The answer to a command is kept in a chat that has begun.
  await call("chat.send", { sessionKey: "agent:main:voice", message: "hello", idempotencyKey: "begin" });
  await call("agent.wait", { runId: "begin", timeoutMs: 60_000 });
  await isAnswered("/tts", /^Answers are not spoken\.\nlocal speaks\.\nNot set up:\n- openai: .*OPENAI_API_KEY.*\n- elevenlabs: .*\n- edge: switched off/);
  await isAnswered("/tts provider robot", /"robot" is no provider\. Known are openai, elevenlabs, edge, local\./);
  await isAnswered("/tts provider local", /^local speaks from now on\.$/);
  expect(JSON.parse(readFileSync(join(place.stateDir, "settings", "tts.json"), "utf8"))).toMatchObject({ tts: { provider: "local" } });
  await isAnswered("/tts on", /^All answers are spoken\.$/);
  await isAnswered("/tts limit 99", /^"99" is no limit\. Give a number from 100 to 4096\.$/);
  await isAnswered("/tts limit 800", /^Answers of more than 800 characters are summed up before they are spoken\.$/);
  await isAnswered("/tts summary off", /^Answers of more than 800 characters are not spoken\.$/);
  expect(JSON.parse(readFileSync(join(place.stateDir, "settings", "tts.json"), "utf8"))).toMatchObject({
    tts: { auto: "always", maxLength: 800, summarize: false },
  });
  await isAnswered("/tts off", /^Answers are not spoken\.$/);
});

test("methods: status, providers, the choice, and refusals that say what is wrong", async () => {
  expect(await call("tts.status")).toMatchObject({ enabled: false, auto: "off", provider: "local", hasOpenAIKey: false, edgeEnabled: false });
  expect(await call("tts.enable", { idempotencyKey: "enable" })).toEqual({ enabled: true });
  expect(await call("tts.status")).toMatchObject({ enabled: true, auto: "always" });
  expect(await call("tts.disable", { idempotencyKey: "disable" })).toEqual({ enabled: false });
  expect(await call("tts.setProvider", { provider: "edge", idempotencyKey: "edge" })).toEqual({ provider: "edge" });
  expect(await call("tts.providers")).toMatchObject({ active: "edge", providers: [{ id: "openai", configured: false }, {}, {}, {}] });
  expect(await call("tts.setProvider", { provider: "local", idempotencyKey: "local" })).toEqual({ provider: "local" });
  await expect(call("tts.convert", { text: "x".repeat(5000), idempotencyKey: "long" })).rejects.toThrow("4096 can be spoken at once");
  await expect(call("tts.setProvider", { provider: "robot", idempotencyKey: "robot" })).rejects.toThrow("INVALID_REQUEST");
});

test("words that wake the gateway are kept, cleaned, sent to every client, and brought back by an empty list", async () => {
  expect(await call("voicewake.get")).toEqual({ triggers: ["openclaw", "claude", "computer"] });
  const notified = owner.next(({ event }) => event === "voicewake.changed");
  expect(await call("voicewake.set", { triggers: ["  hey you ", "", "x".repeat(80)], idempotencyKey: "wake" })).toEqual({
    triggers: ["hey you", "x".repeat(64)],
  });
  expect((await notified).payload).toEqual({ triggers: ["hey you", "x".repeat(64)] });
  expect(await call("voicewake.get")).toEqual({ triggers: ["hey you", "x".repeat(64)] });
  expect(await call("voicewake.set", { triggers: [], idempotencyKey: "none" })).toEqual({ triggers: ["openclaw", "claude", "computer"] });
});

test("talking is turned on for every client; its key is shown only to those who may see it", async () => {
  const notified = owner.next(({ event }) => event === "talk.mode");
  expect(await call("talk.mode", { enabled: true, idempotencyKey: "talk" })).toMatchObject({ enabled: true, phase: null });
  expect((await notified).payload).toMatchObject({ enabled: true });
  expect(await call("talk.config", { includeSecrets: true })).toMatchObject({ config: { talk: {} } });
  await using reader = await enter(gateway.url!, { token: TOKEN, scopes: ["operator.read"] });
  expect(await reader.request("talk.config", {})).toMatchObject({ ok: true });
  expect(await reader.request("talk.config", { includeSecrets: true })).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining("operator.talk.secrets") },
  });
});
