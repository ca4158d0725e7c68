import { mkdtempSync, readFileSync, rmSync, statSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createRedactor } from "../../src/base/redaction.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import { createModels, type ModelsDeps } from "../../src/models/create-models.ts";
import type { CallRequest, CallResult, ModelEntry, Models } from "../../src/models/index.ts";
import { startJsonServer } from "../fakes/json-server/index.ts";
import { startModelServer, STREAMS, type ModelServer } from "../fakes/model-server/index.ts";

const ANSWER = { kind: "stream", frames: STREAMS["openai-completions"]!({ text: ["hello"] }) } as const;
const MODEL = { id: "large", name: "Large", contextWindow: 128_000, maxTokens: 8192, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } };

function world(config: OpenClawConfig, env: Record<string, string> = {}, over: Partial<ModelsDeps> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-models-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const clock = manualClock();
  const agentDir = join(folder, "agent");
  const file = join(agentDir, "models.json");
  const models = createModels({
    config: () => config,
    env: () => ({ HOME: join(folder, "home"), ...env }),
    agentDir: () => agentDir,
    mainAgentDir: agentDir,
    oauthFile: join(folder, "credentials", "oauth.json"),
    clock,
    ids: createIds(systemRandom),
    random: systemRandom,
    log: silentLogger,
    redactor: createRedactor(),
    version: "1.2.3",
    ...over,
  });
  return {
    models,
    clock,
    folder,
    agentDir,
    file,
    written: () => JSON.parse(readFileSync(file, "utf8")) as { providers: Record<string, { apiKey?: unknown; headers?: unknown; models: { id: string }[] }> },
  };
}

const acme = (server: Pick<ModelServer, "url">, over: object = {}): OpenClawConfig =>
  ({
    models: { providers: { acme: { baseUrl: `${server.url}/v1`, api: "openai-completions", models: [MODEL], ...over } } },
    agents: { defaults: { model: { primary: "acme/large" } } },
  }) as unknown as OpenClawConfig;

async function ask(models: Models, over: Partial<CallRequest> = {}): Promise<CallResult> {
  const { entry, fallbacks } = await models.select({ agentId: "main" });
  const messages = [{ role: "user" as const, content: "hi", timestamp: 1 }];
  for await (const event of models.call("main", { runId: "r", models: [entry, ...fallbacks], messages, thinking: "off", ...over })) {
    if (event.type === "done") return event.result;
  }
  throw new Error("the call has no end");
}

const wordsOf = ({ message }: CallResult): unknown => message.content.map((part) => (part.type === "text" ? part.text : part.type)).join("");

test("providers are sent who asks, unless the user configures otherwise", async () => {
  await using server = await startModelServer(ANSWER);
  expect(wordsOf(await ask(world(acme(server, { apiKey: "key-12345678" })).models))).toBe("hello");
  await ask(world(acme(server, { apiKey: "key-12345678", headers: { "User-Agent": "mine" } })).models);
  expect(server.requests.map(({ headers }) => headers["user-agent"])).toEqual(["openclaw/1.2.3", "mine"]);
});

test("a key is sent as a bearer token where that is configured", async () => {
  await using server = await startModelServer({ kind: "stream", frames: STREAMS["anthropic-messages"]!({ text: ["hello"] }) });
  for (const authHeader of [false, true]) await ask(world(acme(server, { api: "anthropic-messages", apiKey: "key-12345678", authHeader })).models);
  expect(server.requests.map(({ headers }) => [headers["x-api-key"], headers["authorization"]])).toEqual([
    ["key-12345678", undefined],
    [undefined, "Bearer key-12345678"],
  ]);
});

test("a key that is kept in a file or given by a program is fetched when it is used", async () => {
  await using server = await startModelServer(ANSWER);
  const asked: unknown[] = [];
  const secret = async (input: unknown, path: string): Promise<string> => (asked.push([input, path]), "fetched-key");
  const apiKey = { source: "file", path: "/run/key" };
  await ask(world(acme(server, { apiKey }), {}, { secret }).models);
  expect(server.requests[0]?.headers["authorization"]).toBe("Bearer fetched-key");
  expect(asked).toEqual([[apiKey, "models.providers.acme.apiKey"]]);
});

describe("models.json", () => {
  test("has the configured providers and those that a key implies, for its owner only", async () => {
    const { models, written, file } = world(acme({ url: "http://127.0.0.1:9" }, { apiKey: "ACME_KEY" }), {
      NVIDIA_API_KEY: "nvidia-key-1",
      ACME_KEY: "acme-key-1",
    });
    await models.choices("main");
    const { providers } = written();
    expect(Object.keys(providers).sort()).toEqual(["acme", "nvidia"]);
    expect([providers["acme"]?.apiKey, providers["nvidia"]?.apiKey, statSync(file).mode & 0o777]).toEqual(["ACME_KEY", "NVIDIA_API_KEY", 0o600]);
    expect(providers["acme"]?.models).toEqual([MODEL]);
  });

  test("holds no secret: neither what variables hold nor what stands in the configuration", async () => {
    const config = acme(
      { url: "http://127.0.0.1:9" },
      { apiKey: "acme-key-1", headers: { Authorization: "Bearer literal-secret", "X-Team": "acme-key-1", "X-Plain": "yes" } },
    );
    const named = world(config, { ACME_KEY: "acme-key-1" });
    await named.models.choices("main");
    expect(named.written().providers["acme"]).toMatchObject({ apiKey: "ACME_KEY", headers: { "X-Plain": "yes" } });
    const literal = world(config);
    await literal.models.choices("main");
    for (const { file } of [named, literal]) expect(readFileSync(file, "utf8")).not.toMatch(/acme-key-1|literal-secret/);
    expect(literal.written().providers["acme"]?.apiKey).toBeUndefined();
  });

  test("keeps what is there when merging, replaces it when asked to, and stays as it is when nothing changed", async () => {
    const config = acme({ url: "http://127.0.0.1:9" });
    const merging = world(config);
    mkdirSync(merging.agentDir, { recursive: true });
    writeFileSync(merging.file, JSON.stringify({ providers: { mine: { baseUrl: "http://mine/v1", models: [{ id: "own" }] } } }));
    const { catalogue } = await merging.models.choices("main");
    expect([Object.keys(merging.written().providers), catalogue.get({ provider: "mine", id: "own" }).source]).toEqual([["mine", "acme"], "models.json"]);
    const { mtimeMs } = statSync(merging.file);
    merging.clock.advance(11_000);
    await merging.models.choices("main");
    expect(statSync(merging.file).mtimeMs).toBe(mtimeMs);
    const replacing = world({ ...config, models: { ...config.models, mode: "replace" } });
    mkdirSync(replacing.agentDir, { recursive: true });
    writeFileSync(replacing.file, JSON.stringify({ providers: { mine: { baseUrl: "http://mine/v1", models: [{ id: "own" }] } } }));
    await replacing.models.choices("main");
    expect(Object.keys(replacing.written().providers)).toEqual(["acme"]);
  });

  test("is not missed where it cannot be written; that is said once", async () => {
    const warnings: string[] = [];
    const log = { ...silentLogger, warn: (text: string) => void warnings.push(text) };
    const { models, clock, agentDir } = world(acme({ url: "http://127.0.0.1:9" }), {}, { log, ids: { ...createIds(systemRandom), hex: () => "taken" } });
    mkdirSync(join(agentDir, "models.json.taken.tmp"), { recursive: true });
    for (let times = 0; times < 2; times += 1, clock.advance(11_000)) expect((await models.select({ agentId: "main" })).entry.id).toBe("large");
    expect(warnings).toEqual([expect.stringContaining("could not be written")]);
  });

  test("has what a host lists, and a model of that list can be called", async () => {
    const listed = { body: { data: [{ id: "brand-new", model_spec: { availableContextTokens: 50_000 } }] } };
    await using server = await startJsonServer({ "GET https://api.venice.ai/api/v1/models": listed });
    const config = { agents: { defaults: { model: { primary: "venice/brand-new" } } } } as OpenClawConfig;
    const { models, written } = world(config, { VENICE_API_KEY: "venice-key-1" }, { fetch: server.fetch });
    const { entry } = await models.select({ agentId: "main" });
    expect([entry.contextWindow, entry.api, entry.baseUrl]).toEqual([50_000, "openai-completions", "https://api.venice.ai/api/v1"]);
    expect(written().providers["venice"]?.models.map(({ id }) => id)).toEqual(["brand-new"]);
  });
});

describe("plugins", () => {
  const expired = (now: number) => ({ type: "oauth", provider: "acme", access: "old-access", refresh: "old-refresh", expires: now - 1 }) as const;

  test("renew the logins of their providers and say what their requests are signed with", async () => {
    await using server = await startModelServer(ANSWER);
    const renewed: string[] = [];
    const { models, clock } = world(
      acme(server),
      {},
      {
        plugins: () => [
          {
            id: "acme",
            refreshOAuth: async (login) => (
              renewed.push(login.refresh),
              { ...login, access: "new-access", refresh: "new-refresh", expires: login.expires + 3_600_000 }
            ),
            formatApiKey: (credential) => (credential.type === "oauth" ? `signed:${credential.access}` : ""),
          },
        ],
      },
    );
    await models.auth("main").add("acme:me", expired(clock.now()));
    expect((await ask(models)).ok).toBe(true);
    expect([renewed, server.requests[0]?.headers["authorization"]]).toEqual([["old-refresh"], "Bearer signed:new-access"]);
    await ask(models);
    expect(renewed).toHaveLength(1);
  });

  test("that fail at it make one credential unusable, in words, and the next one serves", async () => {
    await using server = await startModelServer(ANSWER);
    const formatApiKey = (): string => {
      throw new Error("no such format");
    };
    const { models, clock } = world(acme(server, { apiKey: "key-12345678" }), {}, { plugins: () => [{ id: "acme", formatApiKey }] });
    await models.auth("main").add("acme:me", { ...expired(clock.now()), expires: clock.now() + 3_600_000 });
    const result = await ask(models);
    expect([result.ok, result.attempts.map(({ outcome }) => outcome)]).toEqual([true, ["auth", "ok"]]);
    expect(result.attempts[0]?.error).toContain("the plugin for acme cannot use this credential: no such format");
  });

  test("name variables that hold the keys of their providers", async () => {
    await using server = await startModelServer(ANSWER);
    const { models } = world(acme(server), { ACME_TOKEN: "from-variable" }, { plugins: () => [{ id: "acme", envVars: ["ACME_TOKEN"] }] });
    expect((await ask(models)).ok).toBe(true);
    expect(server.requests[0]?.headers["authorization"]).toBe("Bearer from-variable");
  });
});

test("a login of GitHub is exchanged before it is used, and says who caused the request", async () => {
  const token = "tid=1;proxy-ep=proxy.business.githubcopilot.com";
  await using server = await startJsonServer({
    "GET https://api.github.com/copilot_internal/v2/token": { body: { token, expires_at: 1_800_000_000 } },
    "POST https://api.business.githubcopilot.com/chat/completions": { body: ANSWER.frames.join(""), headers: { "content-type": "text/event-stream" } },
  });
  const config = { agents: { defaults: { model: { primary: "github-copilot/gpt-4o" } } } } as OpenClawConfig;
  const { models } = world(config, {}, { fetch: server.fetch });
  await models.auth("main").add("github-copilot:github", { type: "token", provider: "github-copilot", token: "gho_secret" });
  expect(wordsOf(await ask(models))).toBe("hello");
  const sent = server.asked.find(({ line }) => line.startsWith("POST"))!;
  expect(sent.headers).toMatchObject({
    authorization: `Bearer ${token}`,
    "x-initiator": "user",
    "openai-intent": "conversation-edits",
    "user-agent": "openclaw/1.2.3",
  });
  expect(sent.headers).not.toHaveProperty("copilot-integration-id");
});

test("a login that another program made serves, when the user has one", async () => {
  const config = { agents: { defaults: { model: { primary: "qwen-portal/coder-model" } } } } as OpenClawConfig;
  const { models, folder, clock } = world(config);
  mkdirSync(join(folder, "home", ".qwen"), { recursive: true });
  writeFileSync(
    join(folder, "home", ".qwen", "oauth_creds.json"),
    JSON.stringify({ access_token: "a", refresh_token: "r", expiry_date: clock.now() + 3_600_000 }),
  );
  expect((await models.auth("main").candidates("qwen-portal")).map(({ id }) => id)).toEqual(["qwen-portal:qwen-cli"]);
});

describe("a model that may not be called", () => {
  const spent =
    (provider: string) =>
    async (model: ModelEntry): Promise<string | undefined> =>
      model.provider === provider ? `the budget of ${provider} is used up` : undefined;

  test("is passed over without asking its provider; the next one answers", async () => {
    await using first = await startModelServer(ANSWER);
    await using second = await startModelServer(ANSWER);
    const config = acme(first, { apiKey: "key-12345678" });
    const other = { baseUrl: `${second.url}/v1`, api: "openai-completions", apiKey: "key-87654321", models: [MODEL] };
    const both = {
      models: { providers: { ...config.models?.providers, other } },
      agents: { defaults: { model: { primary: "acme/large", fallbacks: ["other/large"] } } },
    } as unknown as OpenClawConfig;
    const result = await ask(world(both).models, { permit: spent("acme") });
    expect([result.ok, result.attempts.map(({ outcome }) => outcome), first.requests.length]).toEqual([true, ["budget", "ok"], 0]);
  });

  test("says why when there is no other", async () => {
    await using server = await startModelServer(ANSWER);
    const result = await ask(world(acme(server, { apiKey: "key-12345678" })).models, { permit: spent("acme") });
    expect(result).toMatchObject({ ok: false, kind: "budget", text: "acme/large: the budget of acme is used up" });
    expect(server.requests).toEqual([]);
  });
});
