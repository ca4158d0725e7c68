import { describe, expect, test, vi } from "vitest";
import { startModelServer } from "../fakes/model-server/index.ts";
import { answers, at, REFUSES, setupHome } from "./place.ts";

vi.setConfig({ testTimeout: 60_000 });

const KEY = "sk-CANARY-0123456789abcdefghijkl";
const flags = (url: string) => ["--custom-base-url", url, "--custom-model-id", "large", "--custom-api-key", KEY];

describe("a key is tried before it is kept", () => {
  test("one that the provider accepts is kept, and it was asked with it", async () => {
    await using server = await startModelServer(answers("openai-completions"));
    const home = setupHome();
    const { code, stdout, stderr } = await home.onboard(...flags(server.url), "--json");
    expect([code, stderr]).toEqual([0, ""]);
    const provider = `custom-127-0-0-1-${new URL(server.url).port}`;
    expect(JSON.parse(stdout)).toMatchObject({ authChoice: "custom-api-key", model: `${provider}/large` });
    expect(home.profiles()).toEqual({ [`${provider}:default`]: { type: "api_key", provider, key: KEY } });
    expect(at(home.config(), `models.providers`)).toMatchObject({
      [provider]: { baseUrl: server.url, api: "openai-completions", models: [{ id: "large", contextWindow: 128_000 }] },
    });
    expect(server.requests).toMatchObject([{ headers: { authorization: `Bearer ${KEY}` } }]);
  });

  test("one that it refuses is not kept, and nothing is written", async () => {
    await using server = await startModelServer(REFUSES);
    const home = setupHome();
    const { code, stdout, stderr } = await home.onboard(...flags(server.url));
    expect([code, stdout, home.text(), home.profiles()]).toEqual([1, "", undefined, {}]);
    expect(stderr).toContain("rejected the key");
    expect(stderr).not.toContain(KEY);
  });

  test("a provider that is not there says nothing about the key: it is kept, and that is said", async () => {
    const server = await startModelServer();
    await server[Symbol.asyncDispose]();
    const home = setupHome();
    const { code, stderr } = await home.onboard(...flags(server.url));
    expect([code, Object.keys(home.profiles()).length]).toEqual([0, 1]);
    expect(stderr).toMatch(/saved without being checked/);
  });

  test("an account without money has a good key, and its owner is notified", async () => {
    await using server = await startModelServer({ kind: "status", status: 402, body: { error: { message: "insufficient credit" } } });
    const home = setupHome();
    const { code, stderr } = await home.onboard(...flags(server.url));
    expect([code, Object.keys(home.profiles()).length]).toEqual([0, 1]);
    expect(stderr).toContain("insufficient credit");
  });

  test("a provider that speaks Anthropic's protocol is asked in it", async () => {
    await using server = await startModelServer(answers("anthropic-messages"));
    const home = setupHome();
    const { code } = await home.onboard(...flags(server.url), "--custom-compatibility", "anthropic", "--custom-provider-id", "acme", "--json");
    expect([code, at(home.config(), "models.providers.acme.api")]).toEqual([0, "anthropic-messages"]);
    expect(server.requests).toMatchObject([{ path: "/v1/messages", headers: { "x-api-key": KEY } }]);
  });

  test("the key may come from CUSTOM_API_KEY, where nobody sees it in a list of processes", async () => {
    await using server = await startModelServer(answers("openai-completions"));
    const home = setupHome();
    const args = [
      "onboard",
      "--non-interactive",
      "--accept-risk",
      "--custom-base-url",
      server.url,
      "--custom-model-id",
      "large",
      "--custom-provider-id",
      "acme",
    ];
    expect((await home.run(args, { CUSTOM_API_KEY: KEY })).code).toBe(0);
    expect(home.profiles()["acme:default"]).toMatchObject({ key: KEY });
  });

  test("a model of the machine itself is found by its server, and needs no key", async () => {
    await using server = await startModelServer({ kind: "status", status: 200, body: { data: [{ id: "tiny", owned_by: "vllm", max_model_len: 32_000 }] } });
    const home = setupHome();
    home.configure(JSON.stringify({ models: { providers: { vllm: { baseUrl: `${server.url}/v1`, models: [] } } } }));
    const { code, stdout, stderr } = await home.onboard("--auth-choice", "vllm", "--json");
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toMatchObject({ authChoice: "vllm", model: "vllm/tiny" });
    expect(at(home.config(), "models.providers.vllm")).toMatchObject({ baseUrl: `${server.url}/v1`, models: [{ id: "tiny", contextWindow: 32_000 }] });
  });
});
