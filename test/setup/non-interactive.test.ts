import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { at, setupHome } from "./place.ts";

// Every command is a process of its own.
vi.setConfig({ testTimeout: 60_000 });

const KEY = "sk-CANARY-0123456789abcdefghijkl";

describe("nothing is asked", () => {
  test("without --accept-risk nothing is done, and the exit code is 1", async () => {
    const home = setupHome();
    const { code, stderr, stdout } = await home.run(["onboard", "--non-interactive"]);
    expect([code, stdout, home.text(), existsSync(home.stateDir)]).toEqual([1, "", undefined, false]);
    expect(stderr).toContain("--accept-risk");
  });

  test("without a terminal and without --non-interactive it says what to do", async () => {
    const home = setupHome();
    expect(await home.run(["onboard"])).toMatchObject({ code: 1, stderr: expect.stringContaining("--non-interactive --accept-risk") });
    expect(await home.run(["configure"])).toMatchObject({ code: 1, stderr: expect.stringContaining("config set") });
    expect(await home.run(["config"])).toMatchObject({ code: 1, stderr: expect.stringContaining("config set") });
    expect(await home.run(["configure", "--section", "modle"])).toMatchObject({ code: 1, stderr: expect.stringContaining("did you mean model?") });
    expect(home.text()).toBeUndefined();
  });

  test("the summary is the documented one, and nothing else is on the standard output", async () => {
    const home = setupHome();
    const { code, stdout } = await home.onboard("--skip-health", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      mode: "local",
      workspace: join(home.stateDir, "workspace"),
      authChoice: "skip",
      gateway: { port: 18789, bind: "loopback", authMode: "token", tailscaleMode: "off" },
      installDaemon: false,
      skipSkills: false,
      skipHealth: true,
    });
  });

  test("it writes the documented keys, for the owner only, and makes workspace and folders", async () => {
    const home = setupHome();
    expect((await home.onboard("--skip-health", "--workspace", "files")).code).toBe(0);
    const config = home.config();
    expect(config).toMatchObject({
      gateway: {
        mode: "local",
        port: 18789,
        bind: "loopback",
        auth: { mode: "token", token: expect.stringMatching(/^[\da-f]{48}$/) },
        tailscale: { mode: "off", resetOnExit: false },
      },
      agents: { defaults: { workspace: join(home.home, "files"), compaction: { mode: "safeguard" }, maxConcurrent: 4, subagents: { maxConcurrent: 8 } } },
      messages: { ackReactionScope: "group-mentions" },
      commands: { native: "auto", nativeSkills: "auto", restart: true },
      wizard: { lastRunAt: expect.any(String), lastRunVersion: expect.any(String), lastRunCommand: "onboard", lastRunMode: "local" },
      meta: { lastTouchedVersion: expect.any(String) },
    });
    expect(statSync(home.configPath).mode & 0o777).toBe(0o600);
    expect(statSync(home.stateDir).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(home.home, "files"))).toContain("AGENTS.md");
    expect(existsSync(join(home.stateDir, "agents/main/sessions"))).toBe(true);
    expect((await home.run(["config", "validate"])).code).toBe(0);
  });

  test("a second run keeps what is set, remarks included", async () => {
    const home = setupHome();
    home.configure(
      `{\n  // mine\n  gateway: { mode: "local", port: 4321, auth: { token: "a-token-of-mine-0123456789" } }, // here\n  agents: { defaults: { maxConcurrent: 2 } },\n}\n`,
    );
    expect((await home.onboard("--skip-health", "--gateway-bind", "lan", "--json")).code).toBe(0);
    const text = home.text()!;
    expect(text).toMatch(/\/\/ mine\n/);
    expect(text).toContain("a-token-of-mine-0123456789");
    expect(text).toMatch(/port: 4321/);
    expect(text).toMatch(/maxConcurrent: 2/);
    expect(text).toMatch(/bind: "lan"/);
  });
});

describe("every flag of the gateway", () => {
  test.each<[readonly string[], string, unknown]>([
    [["--gateway-port", "19999"], "gateway.port", 19999],
    [["--gateway-bind", "lan"], "gateway.bind", "lan"],
    [["--gateway-bind", "tailnet"], "gateway.bind", "tailnet"],
    [["--gateway-token", "a-token-that-is-given-01234"], "gateway.auth.token", "a-token-that-is-given-01234"],
    [["--gateway-auth", "password", "--gateway-password", "open sesame 42"], "gateway.auth", { mode: "password", password: "open sesame 42" }],
    [["--tailscale", "serve", "--tailscale-reset-on-exit"], "gateway.tailscale", { mode: "serve", resetOnExit: true }],
    [["--node-manager", "pnpm"], "skills.install.nodeManager", "pnpm"],
  ])("%j", async (flags, path, value) => {
    const home = setupHome();
    const { code, stdout, stderr } = await home.onboard("--skip-health", ...flags, "--json");
    expect([code, stderr]).toEqual([0, ""]);
    expect(at(home.config(), path)).toEqual(value);
    for (const secret of ["open sesame 42", "a-token-that-is-given-01234"]) expect(stdout).not.toContain(secret);
  });

  test.each<[readonly string[], string]>([
    [["--gateway-port", "99999"], "--gateway-port takes a number from 1 to 65535"],
    [["--gateway-port", "0"], "port"],
    [["--gateway-bind", "everywhere"], "loopback, lan, tailnet, auto, custom"],
    [["--gateway-bind", "custom"], "gateway.customBindHost"],
    [["--gateway-auth", "password"], "--gateway-password"],
    [["--tailscale", "funnel"], "password"],
    [["--tailscale", "serve", "--gateway-bind", "lan"], "loopback"],
    [["--flow", "slow"], "quickstart"],
    [["--mode", "remote"], "--remote-url"],
    [["--mode", "remote", "--remote-url", "gateway.example"], "wss://"],
    [["--install-daemon", "--skip-daemon"], "both"],
    [["--daemon-runtime", "bun"], "node"],
    [["--node-manager", "yarn2"], "npm"],
  ])("%j is refused with what is expected, and nothing is written", async (flags, expected) => {
    const home = setupHome();
    const { code, stderr } = await home.onboard("--skip-health", ...flags);
    expect([code, home.text()]).toEqual([1, undefined]);
    expect(stderr).toContain(expected);
  });

  test("a gateway elsewhere needs its address only", async () => {
    const home = setupHome();
    const { code, stdout } = await home.onboard(
      "--mode",
      "remote",
      "--remote-url",
      "wss://gateway.example:18789",
      "--remote-token",
      "a-remote-token-0123456789",
      "--json",
    );
    expect([code, JSON.parse(stdout)]).toEqual([0, { mode: "remote", remoteUrl: "wss://gateway.example:18789", auth: "token" }]);
    expect(home.config()).toMatchObject({
      gateway: { mode: "remote", remote: { url: "wss://gateway.example:18789", token: "a-remote-token-0123456789" } },
      wizard: { lastRunMode: "remote" },
    });
  });
});

describe("every choice of a model", () => {
  test.each<[readonly string[], string, string, string]>([
    [["--anthropic-api-key", KEY], "apiKey", "anthropic:default", "anthropic/claude-opus-4-6"],
    [["--openai-api-key", KEY], "openai-api-key", "openai:default", "openai/gpt-5.2"],
    [["--openrouter-api-key", KEY], "openrouter-api-key", "openrouter:default", "openrouter/auto"],
    [["--gemini-api-key", KEY], "gemini-api-key", "google:default", "google/gemini-3-pro-preview"],
    [["--xai-api-key", KEY], "xai-api-key", "xai:default", "xai/grok-4"],
    [["--zai-api-key", KEY], "zai-api-key", "zai:default", "zai/glm-5"],
    [["--auth-choice", "zai-cn", "--zai-api-key", KEY], "zai-cn", "zai:default", "zai/glm-5"],
    [["--moonshot-api-key", KEY], "moonshot-api-key", "moonshot:default", "moonshot/kimi-k2.5"],
    [["--kimi-code-api-key", KEY], "kimi-code-api-key", "kimi-coding:default", "kimi-coding/k2p5"],
    [["--minimax-api-key", KEY], "minimax-api", "minimax:default", "minimax/MiniMax-M2.1"],
    [["--auth-choice", "minimax-api-lightning", "--minimax-api-key", KEY], "minimax-api-lightning", "minimax:default", "minimax/MiniMax-M2.1-lightning"],
    [["--auth-choice", "minimax-api-key-cn", "--minimax-api-key", KEY], "minimax-api-key-cn", "minimax-cn:default", "minimax-cn/MiniMax-M2.1"],
    [["--litellm-api-key", KEY], "litellm-api-key", "litellm:default", "litellm/claude-opus-4-6"],
    [["--ai-gateway-api-key", KEY], "ai-gateway-api-key", "vercel-ai-gateway:default", "vercel-ai-gateway/anthropic/claude-opus-4.6"],
    [["--opencode-zen-api-key", KEY], "opencode-zen", "opencode:default", "opencode/claude-opus-4-6"],
    [["--qianfan-api-key", KEY], "qianfan-api-key", "qianfan:default", "qianfan/deepseek-v3.2"],
    [["--xiaomi-api-key", KEY], "xiaomi-api-key", "xiaomi:default", "xiaomi/mimo-v2-flash"],
    [["--synthetic-api-key", KEY], "synthetic-api-key", "synthetic:default", "synthetic/hf:MiniMaxAI/MiniMax-M2.1"],
    [["--venice-api-key", KEY], "venice-api-key", "venice:default", "venice/llama-3.3-70b"],
    [["--together-api-key", KEY], "together-api-key", "together:default", "together/moonshotai/Kimi-K2.5"],
    [["--huggingface-api-key", KEY], "huggingface-api-key", "huggingface:default", "huggingface/deepseek-ai/DeepSeek-R1"],
  ])("%j", async (flags, authChoice, profileId, model) => {
    const home = setupHome();
    const { code, stdout, stderr } = await home.onboard("--skip-health", ...flags, "--json");
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toMatchObject({ authChoice, model });
    const provider = profileId.split(":")[0]!;
    expect(home.profiles()).toEqual({ [profileId]: { type: "api_key", provider, key: KEY } });
    expect(home.config()).toMatchObject({
      agents: { defaults: { model: { primary: model } } },
      auth: { profiles: { [profileId]: { provider, mode: "api_key" } } },
    });
    // The key is in one place, and never shown.
    expect(stdout + home.text()!).not.toContain(KEY);
    const status = await home.run(["models", "status", "--json"]);
    expect(JSON.parse(status.stdout)).toMatchObject({ resolvedDefault: model });
  });

  test("the addresses of regions are written down", async () => {
    const home = setupHome();
    expect((await home.onboard("--skip-health", "--auth-choice", "moonshot-api-key-cn", "--moonshot-api-key", KEY)).code).toBe(0);
    expect(at(home.config(), "models.providers.moonshot.baseUrl")).toBe("https://api.moonshot.cn/v1");
  });

  test("Cloudflare's account and gateway go with the key", async () => {
    const home = setupHome();
    expect((await home.onboard("--skip-health", "--cloudflare-ai-gateway-api-key", KEY)).code).toBe(1);
    const ids = ["--cloudflare-ai-gateway-account-id", "a1", "--cloudflare-ai-gateway-gateway-id", "g1"];
    expect((await home.onboard("--skip-health", "--cloudflare-ai-gateway-api-key", KEY, ...ids)).code).toBe(0);
    expect(home.profiles()["cloudflare-ai-gateway:default"]).toMatchObject({ key: KEY, metadata: { accountId: "a1", gatewayId: "g1" } });
  });

  test("a token has a provider, a name and an end", async () => {
    const home = setupHome();
    const token = `sk-ant-oat01-${"x".repeat(80)}`;
    expect(await home.onboard("--skip-health", "--token", "short", "--token-provider", "anthropic")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("sk-ant-oat01-"),
    });
    expect(
      (await home.onboard("--skip-health", "--auth-choice", "token", "--token", token, "--token-provider", "anthropic", "--token-expires-in", "365d")).code,
    ).toBe(0);
    expect(home.profiles()["anthropic:manual"]).toMatchObject({ type: "token", token, expires: expect.any(Number) });
  });

  test("two keys without a choice are refused; so are a choice that nobody knows, one without its key and one that needs a browser", async () => {
    const home = setupHome();
    expect(await home.onboard("--openai-api-key", KEY, "--xai-api-key", KEY)).toMatchObject({ code: 1, stderr: expect.stringContaining("--auth-choice") });
    expect(await home.onboard("--auth-choice", "openai-api-kee")).toMatchObject({ code: 1, stderr: expect.stringContaining("did you mean openai-api-key?") });
    expect(await home.onboard("--auth-choice", "openai-api-key")).toMatchObject({ code: 1, stderr: expect.stringContaining("--openai-api-key") });
    expect(await home.onboard("--auth-choice", "openai-codex")).toMatchObject({ code: 1, stderr: expect.stringContaining("models auth login") });
    expect([home.text(), home.profiles()]).toEqual([undefined, {}]);
  });

  test("a key in the environment is used where it is", async () => {
    const home = setupHome();
    const { code, stdout } = await home.run(["onboard", "--non-interactive", "--accept-risk", "--skip-health", "--auth-choice", "openai-api-key", "--json"], {
      OPENAI_API_KEY: KEY,
    });
    expect([code, home.profiles()]).toEqual([0, {}]);
    expect(JSON.parse(stdout)).toMatchObject({ model: "openai/gpt-5.2" });
  });
});
