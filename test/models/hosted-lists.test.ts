import { describe, expect, test } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import { signedHeaders } from "../../src/models/discovery/aws-signature.ts";
import { createHostedLists } from "../../src/models/discovery/hosted.ts";
import { startJsonServer, type Answer, type JsonServer } from "../fakes/json-server/index.ts";

const VENICE = "GET https://api.venice.ai/api/v1/models";
const HUGGING_FACE = "GET https://router.huggingface.co/v1/models";
const BEDROCK = "GET https://bedrock.eu-west-1.amazonaws.com/foundation-models";

function listsOver(server: JsonServer, { env = {}, config = {} }: { readonly env?: Record<string, string>; readonly config?: OpenClawConfig } = {}) {
  const clock = manualClock(Date.UTC(2026, 1, 19, 12));
  const warnings: string[] = [];
  const lists = createHostedLists({ clock, env: () => env, config: () => config, version: "1.2.3", warn: (text) => warnings.push(text), fetch: server.fetch });
  return { clock, lists, warnings };
}

const models = (...ids: readonly string[]): Answer => ({ body: { data: ids.map((id) => ({ id })) } });

test("Venice tells windows and abilities; voices and pictures are not models to talk to", async () => {
  await using server = await startJsonServer({
    [VENICE]: {
      body: {
        data: [
          {
            id: "big",
            type: "text",
            model_spec: {
              name: "Big",
              pricing: { input: { usd: 0.15 }, output: { usd: 0.6 } },
              availableContextTokens: 65_536,
              capabilities: { supportsReasoning: true, supportsVision: true },
            },
          },
          { id: "plain", type: "text", model_spec: {} },
          { id: "voice", type: "tts" },
        ],
      },
    },
  });
  const { lists } = listsOver(server);
  expect(await lists.look("venice")).toEqual({
    models: [
      { id: "big", name: "Big", reasoning: true, input: ["text", "image"], contextWindow: 65_536, maxTokens: 8192, cost: { input: 0.15, output: 0.6 } },
      { id: "plain", name: "plain", reasoning: false, input: ["text"], contextWindow: 128_000, maxTokens: 8192 },
    ],
  });
  expect(server.asked[0]?.headers).toMatchObject({ "user-agent": "openclaw/1.2.3" });
  expect(server.asked[0]?.headers["authorization"]).toBeUndefined();
});

test("of Hugging Face's backends the smallest window and the highest price count", async () => {
  const model = {
    id: "deepseek-ai/DeepSeek-R1",
    architecture: { input_modalities: ["text"] },
    providers: [{ context_length: 64_000, pricing: { input: 1, output: 5 } }, { context_length: 16_000, pricing: { input: 3, output: 4 } }, {}],
  };
  await using server = await startJsonServer({ [HUGGING_FACE]: { body: { data: [model] } } });
  expect((await listsOver(server).lists.look("huggingface"))?.models).toMatchObject([
    { id: model.id, reasoning: true, contextWindow: 16_000, cost: { input: 3, output: 5 } },
  ]);
});

describe("memory", () => {
  test("a list is good for an hour; then the old one serves while the new one is fetched", async () => {
    await using server = await startJsonServer({ [VENICE]: (_asked, count) => models(`m${count}`) });
    const { lists, clock } = listsOver(server);
    const ids = (found: Awaited<ReturnType<typeof lists.look>>) => found?.models?.map(({ id }) => id);
    expect(lists.known("venice")).toBeUndefined();
    expect(ids(await lists.look("venice"))).toEqual(["m1"]);
    clock.advance(59 * 60_000);
    expect(ids(await lists.look("venice"))).toEqual(["m1"]);
    clock.advance(60_001);
    expect(ids(await lists.look("venice"))).toEqual(["m1"]);
    await expect.poll(() => ids(lists.known("venice"))).toEqual(["m2"]);
    expect(server.asked).toHaveLength(2);
  });

  test("a host that fails is reported once, keeps what it had, and is asked again after five minutes", async () => {
    await using server = await startJsonServer({ [VENICE]: (_asked, count) => (count === 2 ? models("m") : { status: 500, body: "" }) });
    const { lists, clock, warnings } = listsOver(server);
    expect(await lists.look("venice")).toBeUndefined();
    expect([await lists.look("venice"), server.asked.length, warnings.length]).toEqual([undefined, 1, 1]);
    clock.advance(5 * 60_000);
    await expect.poll(() => lists.known("venice")?.models?.length).toBe(1);
    clock.advance(61 * 60_000);
    lists.known("venice");
    await expect.poll(() => server.asked.length).toBe(3);
    expect([lists.known("venice")?.models?.length, warnings.length]).toEqual([1, 1]);
  });
});

describe("Amazon Bedrock", () => {
  const summary = (over: object) => ({
    modelId: "anthropic.claude-x",
    modelName: "Claude X",
    providerName: "Anthropic",
    inputModalities: ["TEXT", "IMAGE"],
    outputModalities: ["TEXT"],
    responseStreamingSupported: true,
    modelLifecycle: { status: "ACTIVE" },
    ...over,
  });
  const answer: Answer = {
    body: {
      modelSummaries: [
        summary({}),
        summary({ modelId: "amazon.nova", providerName: "Amazon", inputModalities: ["TEXT"] }),
        summary({ modelId: "anthropic.old", modelLifecycle: { status: "LEGACY" } }),
        summary({ modelId: "anthropic.slow", responseStreamingSupported: false }),
        summary({ modelId: "stability.pictures", outputModalities: ["IMAGE"] }),
      ],
    },
  };
  const keys = { AWS_REGION: "eu-west-1", AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "secret", AWS_SESSION_TOKEN: "session" };

  test("lists what talks, streams and is sold in the region, with a signed request", async () => {
    await using server = await startJsonServer({ [BEDROCK]: answer });
    expect(await listsOver(server, { env: keys }).lists.look("amazon-bedrock")).toEqual({
      baseUrl: "https://bedrock-runtime.eu-west-1.amazonaws.com",
      models: [
        { id: "anthropic.claude-x", name: "Claude X", reasoning: false, input: ["text", "image"], contextWindow: 32_000, maxTokens: 4096 },
        { id: "amazon.nova", name: "Claude X", reasoning: false, input: ["text"], contextWindow: 32_000, maxTokens: 4096 },
      ],
    });
    expect(server.asked[0]?.headers).toMatchObject({
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20260219\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=host;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
      ),
      "x-amz-date": "20260219T120000Z",
      "x-amz-security-token": "session",
    });
  });

  test("makers, limits and region are the configuration's; a bearer token needs no signature", async () => {
    const settings = { region: "eu-west-1", providerFilter: ["Anthropic"], defaultContextWindow: 200_000, defaultMaxTokens: 9000 };
    await using server = await startJsonServer({ [BEDROCK]: answer });
    const { lists } = listsOver(server, { env: { AWS_BEARER_TOKEN_BEDROCK: "bearer-1" }, config: { models: { bedrockDiscovery: settings } } });
    expect((await lists.look("amazon-bedrock"))?.models).toMatchObject([{ id: "anthropic.claude-x", contextWindow: 200_000, maxTokens: 9000 }]);
    expect(server.asked[0]?.headers["authorization"]).toBe("Bearer bearer-1");
  });

  test("is asked only with keys that can sign, and not when it is turned off", async () => {
    await using server = await startJsonServer({});
    const hosts = (env: Record<string, string>, config: OpenClawConfig = {}) => listsOver(server, { env, config }).lists.hosts(() => true);
    expect(hosts(keys)).toContain("amazon-bedrock");
    expect(hosts({ AWS_PROFILE: "work" })).not.toContain("amazon-bedrock");
    expect(hosts(keys, { models: { bedrockDiscovery: { enabled: false } } })).not.toContain("amazon-bedrock");
  });

  test("the signature is the one that Amazon's own examples have", () => {
    const url = new URL("https://example.amazonaws.com/");
    const request = { url, region: "us-east-1", service: "service", now: Date.UTC(2015, 7, 30, 12, 36) };
    const { authorization } = signedHeaders(request, { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" });
    expect(authorization).toMatch(/Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31$/);
  });
});
