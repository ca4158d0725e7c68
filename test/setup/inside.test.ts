import { rmSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { startModelServer, type ModelServer } from "../fakes/model-server/index.ts";
import { visit, type DeviceClient } from "../harness/device-client.ts";
import type { MethodName } from "../../src/protocol/index.ts";
import { makePlace, type GatewayProcess, type Place } from "../harness/gateway-process.ts";
import { answers, at, BUILD, homeOf, REFUSES } from "./place.ts";

vi.setConfig({ testTimeout: 60_000 });

const TOKEN = "a-token-of-this-test-0123456789";
const KEY = "sk-CANARY-0123456789abcdefghijkl";

/** Nobody is there who could say whether a key is good. */
const BUSY = { kind: "status", status: 503, body: { error: { message: "down for maintenance" } } } as const;

let open: AsyncDisposableStack;
let place: Place;
let server: ModelServer;
let gateway: GatewayProcess;
let client: DeviceClient;

async function start(config: object = {}): Promise<void> {
  const openai = { baseUrl: server.url, models: [] };
  writeFileSync(
    place.configPath,
    `// mine\n${JSON.stringify({ gateway: { mode: "local", auth: { token: TOKEN } }, models: { providers: { openai } }, ...config }, null, 2)}\n`,
    { mode: 0o600 },
  );
  gateway = open.use(await place.gateway({ build: BUILD }));
  if (gateway.url === undefined) throw new Error(gateway.output());
  client = open.use(await visit(gateway.url, { token: TOKEN, scopes: ["operator.admin"] }));
  expect(client.answer.ok).toBe(true);
}

beforeEach(async () => {
  open = new AsyncDisposableStack();
  place = makePlace();
  open.defer(() => rmSync(place.home, { recursive: true, force: true }));
  server = open.use(await startModelServer(answers("openai-responses")));
});
afterEach(() => open.disposeAsync());

type Payload = Record<string, never> & { readonly [key: string]: unknown };

/** What comes fits what is declared, or the test fails. */
async function call(method: MethodName, params: object = {}): Promise<Payload> {
  const { ok, payload, error } = await client.ask(method, params);
  if (!ok) throw new Error(error?.message);
  return payload as Payload;
}

describe("setup.status", () => {
  test("tells which model answers and why, and what can be added in one step", async () => {
    await start();
    const status = (await call("setup.status")) as unknown as {
      providers: { id: string; hasKey: boolean; label: string; model?: string }[];
      channels: { id: string; configured: boolean; fields: { path: string; secret: boolean; required: boolean }[] }[];
      local: { id: string }[];
    };
    expect(status).toMatchObject({
      answering: { model: "builtin/offline", offline: true, why: expect.any(String) },
      workspace: expect.stringContaining("workspace"),
      sessions: 0,
    });
    expect(status.providers.slice(0, 2)).toMatchObject([
      { id: "anthropic", label: "Anthropic", hasKey: false, model: "anthropic/claude-opus-4-6" },
      { id: "openai", hasKey: false },
    ]);
    expect(status.local.map(({ id }) => id).toSorted()).toEqual(["llamacpp", "lmstudio", "ollama", "vllm"]);
    const channel = (id: string) => status.channels.find((one) => one.id === id);
    expect(channel("telegram")).toMatchObject({ configured: false, fields: [{ path: "botToken", secret: true, required: true }] });
    expect(channel("irc")!.fields.map(({ path, required }) => [path, required])).toEqual([
      ["host", true],
      ["port", false],
      ["tls", false],
      ["nick", true],
      ["channels", false],
      ["password", false],
    ]);
  });

  test("a key in the environment is named by its variable, never by its value", async () => {
    await start();
    await gateway[Symbol.asyncDispose]();
    gateway = open.use(await place.gateway({ build: BUILD, env: { OPENAI_API_KEY: KEY } }));
    client = open.use(await visit(gateway.url!, { token: TOKEN, scopes: ["operator.admin"] }));
    const status = await call("setup.status");
    expect(status["providers"]).toEqual(expect.arrayContaining([expect.objectContaining({ id: "openai", hasKey: true, from: "OPENAI_API_KEY" })]));
    expect(status["answering"]).toMatchObject({ model: "openai/gpt-5.2", offline: false });
    expect(JSON.stringify(status)).not.toContain(KEY);
  });
});

describe("setup.key", () => {
  test("a key that is accepted answers the next message, without a restart", async () => {
    await start();
    const files = homeOf(place);
    expect(await call("setup.key", { provider: "openai", key: KEY })).toEqual({ ok: true, provider: "openai", model: "openai/gpt-5.2", checked: "accepted" });
    expect(files.profiles()).toEqual({ "openai:default": { type: "api_key", provider: "openai", key: KEY } });
    expect(files.text()).toMatch(/^\/\/ mine\n/);
    expect(files.text()).not.toContain(KEY);
    expect(await call("setup.status")).toMatchObject({ answering: { model: "openai/gpt-5.2", offline: false } });
    const asked = server.requests.length;
    await call("chat.send", { sessionKey: "main", message: "hello", idempotencyKey: "first" });
    await client.next((frame) => frame.event === "chat" && frame.payload?.["state"] === "final");
    expect(server.requests.slice(asked)).toMatchObject([{ headers: { authorization: `Bearer ${KEY}` } }]);
    expect(gateway.output()).not.toMatch(/restarting/);
    expect(gateway.output()).not.toContain(KEY);
  });

  test("one that is refused is not kept, and what answered before answers still", async () => {
    await start();
    server.play(REFUSES);
    const before = homeOf(place).text();
    const answer = await call("setup.key", { provider: "openai", key: KEY });
    expect(answer).toMatchObject({ checked: "refused", model: "builtin/offline", detail: expect.stringContaining("Incorrect") });
    expect(JSON.stringify(answer)).not.toContain(KEY);
    expect([homeOf(place).profiles(), homeOf(place).text()]).toEqual([{}, before]);
  });

  test("one that could not be checked is kept and displaces nothing, until it is checked or the user says so", async () => {
    await start();
    server.play(BUSY);
    const first = await call("setup.key", { provider: "openai", key: KEY });
    expect(first).toMatchObject({ checked: "unreachable", model: "builtin/offline", offered: "openai/gpt-5.2" });
    expect(homeOf(place).profiles()).toMatchObject({ "openai:default": { key: KEY } });
    expect(await call("setup.status")).toMatchObject({ answering: { model: "builtin/offline", offline: true } });
    expect(await call("setup.key", { provider: "openai" })).toMatchObject({ checked: "unreachable", model: "builtin/offline" });
    server.play(answers("openai-responses"));
    expect(await call("setup.key", { provider: "openai" })).toMatchObject({ checked: "accepted", model: "openai/gpt-5.2" });
    expect(await call("setup.status")).toMatchObject({ answering: { model: "openai/gpt-5.2", offline: false } });
  });

  test("one that could not be checked answers when the user says so; without any key there is nothing to check", async () => {
    await start();
    await expect(call("setup.key", { provider: "openai" })).rejects.toThrow("no key for OpenAI yet");
    server.play(BUSY);
    await call("setup.key", { provider: "openai", key: KEY });
    const asked = server.requests.length;
    const used = await call("setup.key", { provider: "openai", model: "openai/gpt-5.2", check: false });
    expect(used).toMatchObject({ checked: "skipped", model: "openai/gpt-5.2" });
    expect(server.requests).toHaveLength(asked);
    expect(JSON.stringify(used)).not.toContain(KEY);
  });

  test("a model that was chosen stays, unless another is asked for", async () => {
    await start({ agents: { defaults: { model: { primary: "openai/gpt-5.1-codex" } } } });
    expect(await call("setup.key", { provider: "openai", key: KEY, check: false })).toMatchObject({ checked: "skipped", model: "openai/gpt-5.1-codex" });
    expect(await call("setup.key", { provider: "openai", key: KEY, check: false, model: "gpt-5.2" })).toMatchObject({ model: "openai/gpt-5.2" });
    expect(server.requests).toEqual([]);
  });

  test("a provider or model that nobody knows, and a key with spaces, are refused with what to do", async () => {
    await start();
    await expect(call("setup.key", { provider: "opnai", key: KEY })).rejects.toThrow("did you mean openai?");
    await expect(call("setup.key", { provider: "openai", key: KEY, model: "openai/gpt-99-turbo-x" })).resolves.toMatchObject({ checked: "accepted" });
    await expect(call("setup.key", { provider: "openai", key: "two words" })).rejects.toThrow("spaces");
    await expect(call("setup.key", { provider: "anthropic", key: KEY, model: "no-such-model" })).rejects.toThrow("Unknown model");
  });
});

describe("setup.local and setup.channel", () => {
  test("a model of this machine answers once its server has it", async () => {
    await start();
    server.play({ kind: "status", status: 200, body: { models: [{ name: "llama3.2:3b" }] } });
    await expect(call("setup.local", { id: "ollama", url: server.url, model: "other" })).rejects.toThrow("it has llama3.2:3b");
    expect(await call("setup.local", { id: "ollama", url: server.url, model: "llama3.2:3b" })).toEqual({ ok: true, model: "ollama/llama3.2:3b" });
    expect(await call("setup.status")).toMatchObject({ answering: { model: "ollama/llama3.2:3b", offline: false } });
    await expect(call("setup.local", { id: "openai", model: "x" })).rejects.toThrow("ollama, lmstudio");
  });

  test("a channel's section is checked, written and turned on, and what happens then is reported", async () => {
    await start();
    const before = homeOf(place).text();
    await expect(call("setup.channel", { channel: "telegram", fields: {} })).rejects.toThrow("Bot token (botToken)");
    await expect(call("setup.channel", { channel: "irc", fields: { host: "irc.example", nick: "claw", port: "many" } })).rejects.toThrow("channels.irc.port");
    await expect(call("setup.channel", { channel: "telgram", fields: {} })).rejects.toThrow("did you mean telegram?");
    expect(homeOf(place).text()).toBe(before);
    const fields = { host: "127.0.0.1", nick: "claw", channels: "#help, #random" };
    expect(await call("setup.channel", { channel: "irc", fields })).toMatchObject({
      ok: true,
      channel: "irc",
      accountId: "default",
      reload: { kind: "hot" },
    });
    expect(at(homeOf(place).parsed(), "channels.irc")).toEqual({ host: "127.0.0.1", nick: "claw", channels: ["#help", "#random"], enabled: true });
    await expect
      .poll(async () => (await call("channels.status")) as object)
      .toMatchObject({ channelAccounts: { irc: [{ accountId: "default", enabled: true }] } });
    expect(gateway.output()).not.toContain("restarting");
  });
});

interface Step {
  readonly id: string;
  readonly type: string;
  readonly message?: string;
  readonly sensitive?: boolean;
  readonly options?: readonly { readonly value: unknown; readonly label: string }[];
}

interface Progress {
  readonly sessionId: string;
  readonly done: boolean;
  readonly status: string;
  readonly step?: Step;
  readonly error?: string;
}

describe("the wizard over the wire", () => {
  const next = async (sessionId: string, step: Step | undefined, value?: unknown): Promise<Progress> =>
    (await call("wizard.next", { sessionId, answer: { stepId: step!.id, ...(value === undefined ? {} : { value }) } })) as unknown as Progress;
  const begin = async (params: object = {}): Promise<Progress> => (await call("wizard.start", params)) as unknown as Progress;

  test("asks step by step, keeps nothing before the end, and then the key answers", async () => {
    await start();
    const files = homeOf(place);
    const before = files.text();
    const { sessionId, step: risk, status } = await begin();
    expect([status, risk!.type]).toEqual(["running", "note"]);
    await expect(begin()).rejects.toThrow("wizard already running");
    let now = await next(sessionId, risk);
    expect(now.step).toMatchObject({ type: "confirm" });
    now = await next(sessionId, now.step, "maybe");
    expect(now).toMatchObject({ done: false, error: "expected true or false" });
    now = await next(sessionId, now.step, true);
    now = await next(sessionId, now.step, "quickstart");
    expect(now.step!.options!.map(({ value }) => value)).toEqual(["keep", "modify"]);
    now = await next(sessionId, now.step, "keep");
    expect(now.step!.message).toBe("Which model do you want to use?");
    now = await next(sessionId, now.step, "openai-api-key");
    now = await next(sessionId, now.step);
    expect(now.step).toMatchObject({ type: "text", sensitive: true });
    server.play(REFUSES, answers("openai-responses"));
    now = await next(sessionId, now.step, "sk-wrong-0123456789abcdef");
    expect(now.step).toMatchObject({ type: "note", title: expect.stringContaining("rejected") });
    now = await next(sessionId, now.step);
    now = await next(sessionId, now.step, KEY);
    expect(now.step).toMatchObject({ type: "multiselect" });
    expect([files.text(), files.profiles()]).toEqual([before, {}]);
    now = await next(sessionId, now.step, []);
    while (now.step?.type === "note") now = await next(sessionId, now.step);
    expect(now).toEqual({ done: true, status: "done" });
    expect(await call("wizard.status", { sessionId })).toEqual({ status: "done" });
    expect(files.profiles()).toMatchObject({ "openai:default": { key: KEY } });
    expect(files.parsed()).toMatchObject({ agents: { defaults: { model: { primary: "openai/gpt-5.2" } } }, wizard: { lastRunCommand: "wizard" } });
    expect(files.text()).toMatch(/^\/\/ mine\n/);
    expect(gateway.output()).not.toMatch(/restarting/);
  });

  test("left in the middle it has changed nothing, and another may begin", async () => {
    await start();
    const before = homeOf(place).text();
    const { sessionId, step } = await begin();
    await next(sessionId, step);
    expect(await call("wizard.cancel", { sessionId })).toEqual({ status: "cancelled" });
    expect(homeOf(place).text()).toBe(before);
    await expect(next(sessionId, step)).resolves.toEqual({ done: true, status: "cancelled" });
    const second = await begin();
    expect(second.status).toBe("running");
    await expect(call("wizard.next", { sessionId })).rejects.toThrow("wizard not found");
    await expect(call("wizard.next", { sessionId: second.sessionId, answer: { stepId: "other" } })).rejects.toThrow("does not wait");
  });

  test("a gateway killed in the middle has changed nothing", async () => {
    await start();
    const before = homeOf(place).text();
    let { sessionId, step } = await begin();
    ({ step } = await next(sessionId, step));
    ({ step } = await next(sessionId, step, true));
    gateway.child.kill("SIGKILL");
    await gateway.exited;
    expect([homeOf(place).text(), homeOf(place).profiles()]).toEqual([before, {}]);
  });

  test("it does not make a gateway that runs here a remote one", async () => {
    await start();
    const { sessionId, step } = await begin({ mode: "remote" });
    let now = await next(sessionId, step);
    now = await next(sessionId, now.step, true);
    now = await next(sessionId, now.step, "quickstart");
    now = await next(sessionId, now.step, "keep");
    expect(now).toMatchObject({ done: true, status: "error", error: expect.stringContaining("--mode remote") });
  });
});
