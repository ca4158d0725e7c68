/** A run that takes longer than a run may: every caller hears of it, none takes it for an answer. */
import { rmSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startModelServer, STREAMS, type Behaviour, type ModelServer } from "../fakes/model-server/index.ts";
import { startTelegram } from "../fakes/telegram/index.ts";
import { makePlace, type GatewayProcess, type Place } from "../harness/gateway-process.ts";

const TOKEN = "a-token-of-this-test-0123456789";
const models = [{ id: "m1", name: "One", contextWindow: 200_000, maxTokens: 4096 }];

const configOf = (url: string): object => ({
  gateway: {
    mode: "local",
    auth: { mode: "token", token: TOKEN },
    http: { endpoints: { chatCompletions: { enabled: true }, responses: { enabled: true } } },
  },
  models: { providers: { slow: { baseUrl: url, apiKey: "a-key", api: "openai-completions", models } } },
  agents: { defaults: { model: { primary: "slow/m1" }, timeoutSeconds: 1 } },
});

describe("a model that does not answer in time", () => {
  let place: Place;
  let server: ModelServer;
  let gateway: GatewayProcess;
  beforeAll(async () => {
    const beginning = STREAMS["openai-completions"]!({ text: ["the beginning …"] }).slice(0, 2);
    server = await startModelServer(() => ({ kind: "stall", after: beginning, keepAliveMs: 200 }));
    place = makePlace();
    place.configure(JSON.stringify(configOf(server.url)));
    gateway = await place.gateway();
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    rmSync(place.home, { recursive: true, force: true, maxRetries: 3 });
  });

  test("fails `openclaw agent`, in words and as JSON", async () => {
    const words = await place.start("agent", "--agent", "main", "--message", "hello");
    expect(words).toMatchObject({ code: 1, stderr: expect.stringContaining("no reply within the configured time (agents.defaults.timeoutSeconds)") });
    const json = await place.start("agent", "--agent", "main", "--message", "hello", "--timeout", "1", "--json");
    expect(json).toMatchObject({ code: 1, stderr: expect.stringContaining("no reply within 1 s") });
    expect(JSON.parse(json.stdout)).toMatchObject({ result: { meta: { aborted: true, stopReason: "timeout" } } });
  });

  test.each(["/v1/chat/completions", "/v1/responses"])("is a 504 for callers of %s", async (path) => {
    const body = path.endsWith("responses") ? { input: "hello" } : { messages: [{ role: "user", content: "hello" }] };
    const response = await fetch(gateway.url!.replace(/^ws/, "http").replace(/\/$/, "") + path, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "openclaw:main", ...body }),
    });
    expect([response.status, await response.json()]).toEqual([
      504,
      { error: expect.objectContaining({ code: "run_timeout", message: expect.stringContaining("no response within 1 s") }) },
    ]);
  });

  test("ends a stream with an error", async () => {
    const response = await fetch(`${gateway.url!.replace(/^ws/, "http").replace(/\/$/, "")}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "openclaw:main", stream: true, messages: [{ role: "user", content: "hello" }] }),
    });
    expect(await response.text()).toContain('"code":"run_timeout"');
  });
});

test("a chat is notified that a turn ran out of time, and its next message is answered", async () => {
  const api = "openai-completions";
  const stalled: Behaviour = { kind: "stall", after: STREAMS[api]!({ text: ["the beginning …"] }).slice(0, 2), keepAliveMs: 200 };
  await using server = await startModelServer(stalled);
  await using telegram = await startTelegram();
  telegram.direct(telegram.me);
  const place = makePlace();
  onTestFinished(() => rmSync(place.home, { recursive: true, force: true, maxRetries: 3 }));
  const account = { botToken: telegram.token, dmPolicy: "open", allowFrom: ["*"] };
  place.configure(JSON.stringify({ ...configOf(server.url), channels: { telegram: { enabled: true, ackReaction: "", accounts: { main: account } } } }));
  await using _gateway = await place.gateway({ env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot } });
  const said = (): readonly string[] => telegram.messages(telegram.me.id).flatMap(({ byBot, text }) => (byBot ? [text] : []));
  telegram.say("hello");
  await expect.poll(said, { timeout: 20_000 }).toEqual([expect.stringContaining("agents.defaults.timeoutSeconds")]);
  server.play({ kind: "stream", frames: STREAMS[api]!({ text: ["all ", "well"] }) });
  telegram.say("and now?");
  await expect.poll(() => said().at(-1), { timeout: 20_000 }).toBe("all well");
  expect(said()).toHaveLength(2);
});

test("health says degraded, and why, while the configuration on disk is broken", async () => {
  const place = makePlace();
  onTestFinished(() => rmSync(place.home, { recursive: true, force: true, maxRetries: 3 }));
  place.configure(`{ gateway: { mode: "local" } }`);
  await using _gateway = await place.gateway();
  expect(place.cli("health")).toMatchObject({ code: 0, stdout: expect.stringMatching(/Gateway +ok,/) });
  writeFileSync(place.configPath, "{ gateway: { mode:");
  await expect.poll(() => JSON.parse(place.cli("health", "--json").stdout) as object, { timeout: 20_000 }).toMatchObject({ ok: true, status: "degraded" });
  expect(place.cli("health").stdout).toMatch(/Gateway +degraded,[^]*! .*openclaw\.json/);
  expect(place.cli("doctor", "--non-interactive").stdout).toMatch(/gateway\.health:problem: (?!.*\\u000a).*openclaw\.json/);
  const line = place.cli("gateway", "health");
  expect([line.stdout, line.stderr]).toEqual([expect.stringMatching(/^degraded \(/), expect.stringContaining("openclaw.json")]);
});

test("a gateway that is stopped in its tracks is named as one that does not answer, and why answers from the store", async () => {
  const place = makePlace();
  onTestFinished(() => rmSync(place.home, { recursive: true, force: true, maxRetries: 3 }));
  place.configure(`{ gateway: { mode: "local" } }`);
  await using gateway = await place.gateway();
  expect(await place.start("agent", "--agent", "main", "--message", "hello")).toMatchObject({ code: 0 });
  gateway.child.kill("SIGSTOP");
  try {
    const [why, health] = await Promise.all([place.start("why", "recent", "--timeout", "1000"), place.start("health", "--timeout", "1000")]);
    expect(why).toMatchObject({ code: 0, stdout: expect.stringContaining("answered after"), stderr: expect.stringContaining("does not answer") });
    expect(health).toMatchObject({ code: 1, stderr: expect.stringMatching(/process \d+ holds the lock of .* but does not answer/) });
  } finally {
    gateway.child.kill("SIGCONT");
  }
});

test("what is not known is not claimed while the configuration is missing or broken", async () => {
  const place = makePlace();
  onTestFinished(() => rmSync(place.home, { recursive: true, force: true, maxRetries: 3 }));
  place.configure(`{ gateway: { mode: "local" } }`);
  {
    await using _gateway = await place.gateway();
    rmSync(place.configPath);
    const { checks } = JSON.parse(place.cli("doctor", "--non-interactive", "--json").stdout) as { checks: readonly { id: string; text: string }[] };
    expect(checks.filter(({ id }) => id.startsWith("models.")).map(({ text }) => text)).toEqual(
      Array(2).fill(expect.stringContaining("is missing and the last good configuration is in use")),
    );
  }
  writeFileSync(place.configPath, "{ gateway: { port: 29876, mode:");
  expect(place.cli("health").stderr).toMatch(/from the default port: .*openclaw\.json has errors/);
});
