import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { startJsonServer, type Answer } from "../fakes/json-server/index.ts";
import { STREAMS } from "../fakes/model-server/index.ts";
import { config } from "../../src/cli/commands/config/index.ts";
import { models } from "../../src/cli/commands/groups.ts";
import { openCommandLine } from "../harness/command-line.ts";

const KEY = "sk-or-0123456789abcdefghijklmnop";
const NOW = 1_800_000_000_000;

function makePlace(config?: string, env: Record<string, string> = {}) {
  const { run, path, stateDir } = openCommandLine("models", models, { config: config ?? null, env, columns: 200, now: NOW });
  const profiles = (value: object): void => {
    const folder = join(stateDir, "agents/main/agent");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, "auth-profiles.json"), JSON.stringify({ version: 1, profiles: value }), { mode: 0o600 });
  };
  return { run, profiles, text: () => readFileSync(path, "utf8") };
}

test("set: a reference or alias becomes the default, comments stay, the allowlist learns of it", async () => {
  const place = makePlace(`{\n  // mine\n  agents: { defaults: { models: { "anthropic/claude-haiku-4-5": { alias: "fast" } } } },\n}\n`);
  expect(await place.run("set", "fast")).toMatchObject({ code: 0, err: expect.stringContaining("No credential for anthropic") });
  expect((await place.run("status", "--plain")).out).toBe("anthropic/claude-haiku-4-5\n");
  await place.run("set", "OPENAI/gpt-5.2");
  expect((await place.run("status", "--json")).json()).toMatchObject({
    resolvedDefault: "openai/gpt-5.2",
    allowed: ["anthropic/claude-haiku-4-5", "openai/gpt-5.2"],
  });
  expect(place.text()).toContain("// mine");
});

test("set: without an allowlist none is made", async () => {
  const place = makePlace("{}");
  await place.run("set", "openai/gpt-5.2");
  expect((await place.run("status", "--json")).json()).toMatchObject({ allowed: [], reason: { source: "defaults" } });
});

test.each([["set"], ["set-image"], ["fallbacks", "add"], ["image-fallbacks", "add"], ["aliases", "add", "x"]])(
  "%s %s: an unknown model is refused with the nearest one, and nothing is written",
  async (...args) => {
    const place = makePlace("{ /* untouched */ }");
    const { code, err } = await place.run(...args.filter((word) => word !== undefined), "anthropic/claude-opuss-4-6");
    expect([code, err]).toEqual([1, "error: Unknown model: anthropic/claude-opuss-4-6; did you mean anthropic/claude-opus-4-6?\n"]);
    expect(place.text()).toBe("{ /* untouched */ }");
  },
);

test("set, config validate and status: a default model whose window is under the minimum is remarked on", async () => {
  const models = `[{ id: "small", name: "Small", contextWindow: 8000 }, { id: "large", name: "Large", contextWindow: 200000 }]`;
  const text = (primary: string): string =>
    `{\n  agents: { defaults: { model: { primary: "${primary}" } } },\n  models: { providers: { acme: { baseUrl: "http://127.0.0.1:9/v1", apiKey: "k", models: ${models} } } },\n}`;
  const place = makePlace(text("acme/large"));
  const words = "Model context window too small (8000 tokens). Minimum is 16000";
  expect(await place.run("set", "acme/small")).toMatchObject({ code: 0, err: expect.stringContaining(words) });
  expect((await place.run("status", "--json")).json()).toMatchObject({ warnings: [expect.stringContaining(words)] });
  expect((await place.run("set", "acme/large")).err).not.toContain("terminal too small");
  const validate = (primary: string) => openCommandLine<Record<string, unknown>>("config", config, { config: text(primary) }).run("validate", "--json");
  const found = await validate("acme/small");
  expect(found.code).toBe(0);
  expect(found.json()).toMatchObject({
    valid: true,
    warnings: [{ path: "agents.defaults.model", line: 2, severity: "warning", code: "small_window", message: expect.stringContaining(words) }],
  });
  expect((await validate("acme/large")).json()).toMatchObject({ valid: true, warnings: [] });
});

test("a model that its provider's own list does not have is refused; one that no list could have is remarked on", async () => {
  const providers = `acme: { baseUrl: "http://127.0.0.1:9/v1", models: [{ id: "large", name: "Large" }] }, open: { baseUrl: "http://127.0.0.1:9/v1", models: [] }`;
  const place = makePlace(`{ models: { providers: { ${providers} } } }`);
  expect(await place.run("set", "acme/lagre")).toMatchObject({
    code: 1,
    err: expect.stringContaining("Unknown model: acme/lagre; did you mean acme/large? Add a new model to models.providers.acme.models first"),
  });
  expect(await place.run("set", "acme/zzzzzzzzzz")).toMatchObject({
    code: 1,
    err: "error: Unknown model: acme/zzzzzzzzzz; models.providers.acme.models has large; add a new model there first\n",
  });
  expect(await place.run("set", "acme/large")).toMatchObject({ code: 0, err: expect.not.stringContaining("in no list") });
  expect(await place.run("fallbacks", "add", "open/anything")).toMatchObject({
    code: 0,
    err: expect.stringContaining("open/anything is not in a known model list"),
  });
});

test("set-image: the image model; one that sees nothing is remarked on", async () => {
  const place = makePlace("{}");
  expect((await place.run("set-image", "zai/glm-4.7")).err).toContain("may not support images");
  await place.run("set-image", "openai/gpt-5-mini");
  expect((await place.run("status", "--json")).json()).toMatchObject({ imageModel: "openai/gpt-5-mini" });
});

test("fallbacks: added once, listed in order, removed by any spelling, cleared", async () => {
  const place = makePlace(`{ agents: { defaults: { model: { primary: "openai/gpt-5.2" } } } }`);
  await place.run("fallbacks", "add", "z.ai/glm-4.7");
  await place.run("fallbacks", "add", "openai/gpt-5-mini");
  await place.run("fallbacks", "add", "zai/GLM-4.7");
  expect((await place.run("fallbacks", "list", "--json")).json()).toEqual({ fallbacks: ["zai/glm-4.7", "openai/gpt-5-mini"] });
  expect((await place.run("fallbacks", "list", "--plain")).out).toBe("zai/glm-4.7\nopenai/gpt-5-mini\n");
  expect((await place.run("fallbacks", "remove", "z-ai/glm-4.7")).code).toBe(0);
  expect((await place.run("fallbacks", "remove", "zai/glm-4.7")).code).toBe(1);
  expect((await place.run("fallbacks", "--json")).json()).toEqual({ fallbacks: ["openai/gpt-5-mini"] });
  await place.run("fallbacks", "clear");
  expect((await place.run("status", "--json")).json()).toMatchObject({ fallbacks: [], resolvedDefault: "openai/gpt-5.2" });
  await place.run("image-fallbacks", "add", "openai/gpt-5-mini");
  expect((await place.run("image-fallbacks", "list", "--json")).json()).toEqual({ fallbacks: ["openai/gpt-5-mini"] });
});

test("aliases: added, listed, refused twice, removed; the first one says what it changes", async () => {
  const place = makePlace("{}");
  expect((await place.run("aliases", "add", "fast", "anthropic/claude-haiku-4-5")).err).toContain("only its models");
  expect((await place.run("aliases", "list", "--json")).json()).toEqual({ aliases: { fast: "anthropic/claude-haiku-4-5" } });
  expect((await place.run("aliases", "list", "--plain")).out).toBe("fast anthropic/claude-haiku-4-5\n");
  expect(await place.run("aliases", "add", "FAST", "openai/gpt-5-mini")).toMatchObject({
    code: 1,
    err: expect.stringContaining("is already an alias of anthropic/claude-haiku-4-5"),
  });
  expect(await place.run("aliases", "add", "a b", "openai/gpt-5-mini")).toMatchObject({ code: 1 });
  expect((await place.run("aliases", "remove", "Fast")).code).toBe(0);
  expect((await place.run("aliases", "remove", "fast")).code).toBe(1);
});

test("list: the configured models with their tags; what nobody knows is missing", async () => {
  const place = makePlace(
    `{ agents: { defaults: { model: { primary: "openai/gpt-5.2", fallbacks: ["anthropic/claude-haiku-4-5"] }, models: { "anthropic/claude-haiku-4-5": { alias: "fast" }, "openai/gpt-5.2": {}, "nobody/nothing": {} } } } }`,
    { OPENAI_API_KEY: KEY },
  );
  expect((await place.run("list", "--json")).json()).toEqual({
    count: 3,
    models: [
      {
        key: "openai/gpt-5.2",
        name: "GPT-5.2",
        input: "text+image",
        contextWindow: expect.any(Number),
        local: false,
        available: true,
        tags: ["default", "configured", "alias:gpt"],
        missing: false,
      },
      {
        key: "anthropic/claude-haiku-4-5",
        name: expect.any(String),
        input: "text+image",
        contextWindow: 200_000,
        local: false,
        available: false,
        tags: ["fallback#1", "configured", "alias:fast"],
        missing: false,
      },
      {
        key: "nobody/nothing",
        name: "nobody/nothing",
        input: "-",
        contextWindow: null,
        local: null,
        available: null,
        tags: ["configured", "missing"],
        missing: true,
      },
    ],
  });
  expect((await place.run("list", "--plain", "--provider", "Anthropic")).out).toBe("anthropic/claude-haiku-4-5\n");
});

test("status: a missing key is reported, and --check makes it an exit code", async () => {
  const config = `{ agents: { defaults: { model: { primary: "openai/gpt-5.2" } } } }`;
  const missing = await makePlace(config).run("status", "--check", "--json");
  expect([missing.code, missing.json()]).toMatchObject([1, { auth: { missingProvidersInUse: ["openai"] } }]);
  const there = await makePlace(config, { OPENAI_API_KEY: KEY }).run("--check", "--json");
  expect([there.code, there.json()]).toMatchObject([
    0,
    { auth: { missingProvidersInUse: [], providers: [{ provider: "openai", effective: { kind: "env" }, env: { source: "OPENAI_API_KEY" } }] } },
  ]);
  expect(there.out).not.toContain(KEY);
});

test("status: short keys are not shown at all", async () => {
  const { out } = await makePlace(`{}`, { OPENAI_API_KEY: "short-key" }).run("status", "--json");
  expect(out).not.toContain("short-key");
});

test("status --check: 2 for a token that ends within a day, 1 for one that has ended", async () => {
  const place = makePlace(`{ agents: { defaults: { model: { primary: "anthropic/claude-opus-4-6" } } } }`);
  const token = (expires: number): object => ({ "anthropic:default": { type: "token", provider: "anthropic", token: KEY, expires } });
  // Whether a token has ended is decided by the clock of this machine, so the times are far from it in both directions.
  place.profiles(token(NOW + 3_600_000));
  expect((await place.run("status", "--check")).code).toBe(2);
  place.profiles(token(NOW + 48 * 3_600_000));
  expect((await place.run("status", "--check")).code).toBe(0);
  place.profiles(token(1_000));
  expect((await place.run("status", "--check")).code).toBe(1);
});

test("status: an agent that does not exist is refused", async () => {
  expect(await makePlace("{}").run("status", "--agent", "nobody")).toMatchObject({ code: 1, err: expect.stringContaining(`there is no agent "nobody"`) });
});

/** OpenRouter as far as these commands see it. */
async function openRouter(answers: (body: { model: string; tools?: unknown; messages: { content: unknown }[] }, response: ServerResponse) => void) {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    if (request.url === "/api/v1/models") {
      const model = (id: string, over: object) => ({ id, name: id, context_length: 64_000, supported_parameters: ["tools"], ...over });
      response.end(
        JSON.stringify({
          data: [
            model("a/text-8b:free", {}),
            model("b/sees-70b:free", { architecture: { input_modalities: ["text", "image"] } }),
            model("c/toolless-9b:free", { supported_parameters: [] }),
            model("d/paid", { pricing: { prompt: "1", completion: "1" } }),
          ],
        }),
      );
      return;
    }
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part)).on("end", () => answers(JSON.parse(Buffer.concat(parts).toString()) as never, response));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`;
  return {
    seen,
    config: `{ /* kept */ agents: { defaults: { model: { primary: "openrouter/auto" } } }, models: { providers: { openrouter: { baseUrl: "${url}", models: [] } } } }`,
    [Symbol.dispose]: () => void (server.closeAllConnections(), server.close()),
  };
}
const answer = (response: ServerResponse, scripted: Parameters<(typeof STREAMS)["openai-completions"]>[0]): void => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(STREAMS["openai-completions"]!(scripted).join(""));
};

test("scan --no-probe lists free models without a key, and writes nothing", async () => {
  using server = await openRouter(() => undefined);
  const place = makePlace(server.config);
  const { code, json } = await place.run("scan", "--no-probe", "--json");
  const result = json() as unknown as { results: { id: string }[]; written: boolean };
  expect([code, result.results.map(({ id }) => id), result.written]).toEqual([0, ["b/sees-70b:free", "c/toolless-9b:free", "a/text-8b:free"], false]);
  expect(place.text()).toBe(server.config);
});

test("scan needs a key to try models", async () => {
  using server = await openRouter(() => undefined);
  expect(await makePlace(server.config).run("scan")).toMatchObject({ code: 1, err: expect.stringContaining("OPENROUTER_API_KEY") });
});

test("scan tries tools and images; with --yes the best become fallbacks, and the first the default when asked", async () => {
  using server = await openRouter(({ tools }, response) =>
    answer(response, tools ? { toolCalls: [{ id: "t1", name: "ping", arguments: ["{}"] }] } : { text: ["OK"] }),
  );
  const place = makePlace(server.config, { OPENROUTER_API_KEY: KEY });
  const { code, json, out } = await place.run("scan", "--yes", "--set-default", "--set-image", "--max-candidates", "2", "--json");
  expect([code, json()]).toMatchObject([
    0,
    {
      selected: ["openrouter/b/sees-70b:free", "openrouter/a/text-8b:free"],
      selectedImages: ["openrouter/b/sees-70b:free"],
      setDefault: true,
      setImage: true,
      written: true,
    },
  ]);
  expect(out).not.toContain(KEY);
  expect((await place.run("status", "--json")).json()).toMatchObject({
    resolvedDefault: "openrouter/b/sees-70b:free",
    fallbacks: ["openrouter/a/text-8b:free"],
    imageModel: "openrouter/b/sees-70b:free",
  });
  expect(place.text()).toContain("/* kept */");
  expect(server.seen.some(({ headers }) => headers.authorization === `Bearer ${KEY}`)).toBe(true);
  // The list is public: no key is sent to the server.
  expect(server.seen.filter(({ url }) => url?.endsWith("/models")).map(({ headers }) => headers.authorization)).toEqual([undefined]);
});

test("scan without --yes writes nothing; a model that only talks is not picked", async () => {
  using server = await openRouter(({ model }, response) =>
    answer(response, model.startsWith("a/") ? { text: ["I would rather talk"] } : { toolCalls: [{ id: "t1", name: "ping", arguments: ["{}"] }] }),
  );
  const place = makePlace(server.config, { OPENROUTER_API_KEY: KEY });
  const { json } = await place.run("scan", "--json");
  expect(json()).toMatchObject({ selected: ["openrouter/b/sees-70b:free"], written: false });
  expect(place.text()).toBe(server.config);
});

test("status --probe asks with each credential and tells what came back, without the key", async () => {
  using server = await openRouter((_, response) =>
    response.writeHead(401, { "content-type": "application/json" }).end(JSON.stringify({ error: { message: `invalid key ${KEY}` } })),
  );
  const refused = await makePlace(server.config, { OPENROUTER_API_KEY: KEY }).run("status", "--probe", "--json");
  expect(refused.json()).toMatchObject({
    auth: { probes: { totalTargets: 1, results: [{ provider: "openrouter", profileId: "env:OPENROUTER_API_KEY", status: "auth" }] } },
  });
  expect(refused.out).not.toContain(KEY);
  using well = await openRouter((_, response) => answer(response, { text: ["OK"] }));
  const fine = await makePlace(well.config, { OPENROUTER_API_KEY: KEY }).run("status", "--probe", "--json");
  expect(fine.json()).toMatchObject({ auth: { probes: { results: [{ status: "ok", model: "openrouter/auto" }] } } });
});

/** Hosts on the internet, as this one test wants them. */
async function withHosts(answers: Readonly<Record<string, Answer>>) {
  const server = await startJsonServer(answers);
  vi.stubGlobal("fetch", server.fetch);
  onTestFinished(async () => {
    vi.unstubAllGlobals();
    await server[Symbol.asyncDispose]();
  });
  return server;
}

const CLAUDE_USAGE = "GET https://api.anthropic.com/api/oauth/usage";
const LOGIN = { "anthropic:work": { type: "token", provider: "anthropic", token: "sk-ant-oat01-0123456789abcdef" } };

test("status: a login's allowance is shown; who wants JSON or an exit code is not kept waiting for it", async () => {
  const server = await withHosts({ [CLAUDE_USAGE]: { body: { five_hour: { utilization: 50, resets_at: NOW + 3_600_000 } } } });
  const place = makePlace("{}");
  place.profiles(LOGIN);
  expect((await place.run("status")).out).toMatch(/Claude +5h +█████░░░░░ 50 % +resets in 1\s?h/);
  expect(server.asked[0]?.headers).toMatchObject({ "user-agent": "openclaw/9.9.9", authorization: "Bearer sk-ant-oat01-0123456789abcdef" });
  for (const flag of ["--json", "--check", "--plain"]) await place.run("status", flag);
  expect(server.asked).toHaveLength(1);
});

test("status --usage: keys are asked about too, what fails is reported, and machines get the same", async () => {
  await withHosts({
    [CLAUDE_USAGE]: { status: 403, body: {} },
    "GET https://api.z.ai/api/monitor/usage/quota/limit": { body: { data: { limits: [{ type: "TIME_LIMIT", percentage: 7 }] } } },
  });
  const place = makePlace("{}", { ZAI_API_KEY: "zai-0123456789" });
  place.profiles(LOGIN);
  const { code, out } = await place.run("status", "--usage");
  expect([code, /z\.ai +Monthly .*7 %/.test(out), /Claude .*not accepted.*403/.test(out)]).toEqual([0, true, true]);
  expect((await place.run("status", "--usage", "--json")).json()).toMatchObject({
    usage: {
      providers: [
        { provider: "anthropic", error: expect.any(String) },
        { provider: "zai", windows: [{ label: "Monthly", usedPercent: 7 }] },
      ],
    },
  });
  expect((await makePlace("{}").run("status", "--usage")).out).toContain("No provider in use reports usage limits");
});
