import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { createLogger, type LogRecord } from "../../base/log/logger.ts";
import { systemRandom } from "../../base/random.ts";
import { createRedactor } from "../../base/redaction.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { createAuthProfiles, type AuthProfilesDeps } from "./index.ts";

const KEY = { type: "api_key", provider: "openai", key: "sk-CANARY-key-0123456789abcdef" } as const;

function setup(over: Partial<AuthProfilesDeps> = {}) {
  const root = mkdtempSync(join(tmpdir(), "openclaw-auth-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const clock = manualClock();
  const redactor = createRedactor();
  const records: LogRecord[] = [];
  const sink = { write: (record: LogRecord) => void records.push(record), flush: () => Promise.resolve() };
  const deps: AuthProfilesDeps = {
    agentDir: join(root, "agents/work/agent"),
    mainAgentDir: join(root, "agents/main/agent"),
    config: () => ({}),
    env: () => ({}),
    envNames: (provider) => (provider === "openai" ? ["OPENAI_API_KEY"] : provider === "anthropic" ? ["ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_API_KEY"] : []),
    clock,
    ids: createIds(systemRandom),
    log: createLogger({ clock, redactor, outputs: [{ sink, level: "trace" }] }),
    redactor,
    oauthFile: join(root, "credentials/oauth.json"),
    home: root,
    version: "test",
    ...over,
  };
  const put = (path: string, value: unknown): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), typeof value === "string" ? value : JSON.stringify(value));
  };
  const own = join(deps.agentDir, "auth-profiles.json");
  const read = (path = own) => JSON.parse(readFileSync(path, "utf8")) as Record<string, Record<string, unknown>>;
  return { root, clock, redactor, records, deps, put, own, read, profiles: createAuthProfiles(deps) };
}

const OWN = "agents/work/agent/auth-profiles.json";
const MAIN = "agents/main/agent/auth-profiles.json";

describe("the file", () => {
  test("is readable by its owner only and has the documented format", async () => {
    const { profiles, own, read } = setup();
    await profiles.add("openai:default", KEY);
    expect(statSync(own).mode & 0o777).toBe(0o600);
    expect(read()).toEqual({ version: 1, profiles: { "openai:default": KEY } });
    expect(readdirSync(dirname(own))).toEqual(["auth-profiles.json"]);
  });

  test("preserves unknown fields, at every level", async () => {
    const { profiles, put, read } = setup();
    put(OWN, {
      version: 1,
      future: [1],
      profiles: { "openai:old": { ...KEY, note: "mine" }, "x:y": { type: "magic", provider: "x" } },
      usageStats: { "openai:old": { odd: 7 } },
    });
    await profiles.add("openai:new", KEY);
    const [candidate] = await profiles.candidates("openai", { sessionPin: "openai:old" });
    await profiles.failed(candidate!, "gpt", "auth");
    expect(read()).toMatchObject({
      future: [1],
      profiles: { "openai:old": { note: "mine" }, "x:y": { type: "magic" } },
      usageStats: { "openai:old": { odd: 7, errorCount: 1 } },
    });
  });

  test("that is damaged is set aside, and reported without quoting it", async () => {
    const { profiles, put, own, records } = setup();
    const text = `{"version":1,"profiles":{"openai:default":{"type":"api_key","key":"sk-CANARY-0123456789abcdefgh"`;
    put(OWN, text);
    expect(await profiles.list()).toEqual([]);
    const kept = readdirSync(dirname(own)).filter((name) => name.startsWith("auth-profiles.json.damaged-"));
    expect(kept).toHaveLength(1);
    expect(readFileSync(join(dirname(own), kept[0]!), "utf8")).toBe(text);
    expect(records.filter(({ level }) => level === "error")).toMatchObject([{ message: expect.stringContaining(kept[0]!) }]);
    expect(JSON.stringify(records)).not.toContain("CANARY");
    await profiles.add("openai:default", KEY);
    expect(await profiles.list()).toHaveLength(1);
  });

  test("that cannot be read is an error, not an empty one", async () => {
    const { profiles, own } = setup();
    mkdirSync(own, { recursive: true });
    await expect(profiles.list()).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });

  test("that is a link stays a link", async () => {
    const { profiles, put, own, root } = setup();
    put("elsewhere.json", { version: 1, profiles: {} });
    mkdirSync(dirname(own), { recursive: true });
    symlinkSync(join(root, "elsewhere.json"), own);
    await profiles.add("openai:default", KEY);
    expect(readFileSync(join(root, "elsewhere.json"), "utf8")).toContain("openai:default");
  });

  test("changed by another process is read again", async () => {
    const { profiles, put } = setup();
    expect(await profiles.candidates("openai")).toEqual([]);
    put(OWN, { version: 1, profiles: { "openai:default": KEY } });
    expect(await profiles.candidates("openai")).toMatchObject([{ id: "openai:default", source: "profile" }]);
  });
});

describe("agents", () => {
  test("an agent's profiles override the main agent's, and nothing is copied", async () => {
    const { profiles, put, own } = setup();
    put(MAIN, { version: 1, profiles: { "openai:default": KEY, "openai:shared": KEY } });
    expect((await profiles.candidates("openai")).map(({ id }) => id)).toEqual(["openai:default", "openai:shared"]);
    expect(existsSync(own)).toBe(false);
    await profiles.add("openai:default", { ...KEY, key: "sk-mine-0123456789abcdefgh" });
    expect((await profiles.list()).map(({ id, from }) => [id, from])).toEqual([
      ["openai:default", "agent"],
      ["openai:shared", "main"],
    ]);
    const [mine] = await profiles.candidates("openai");
    expect((await profiles.credential(mine!)).apiKey).toBe("sk-mine-0123456789abcdefgh");
  });

  test("the state of a shared profile is written to the file that contains it", async () => {
    const { profiles, put, read, own, deps } = setup();
    put(MAIN, { version: 1, profiles: { "openai:shared": KEY } });
    const [shared] = await profiles.candidates("openai");
    await profiles.failed(shared!, "gpt", "rate_limit");
    expect(read(join(deps.mainAgentDir, "auth-profiles.json"))["usageStats"]).toHaveProperty("openai:shared");
    expect(existsSync(own)).toBe(false);
  });
});

describe("old files", () => {
  test("are imported as profiles once, and stay where they are", async () => {
    const { profiles, put, root, read, own } = setup();
    put("agents/work/agent/auth.json", { openai: { type: "api_key", key: "sk-old-0123456789abcdefg" }, broken: 5 });
    put("credentials/oauth.json", { chutes: { access: "a-0123456789", refresh: "r-0123456789", expires: 1 } });
    expect((await profiles.list()).map(({ id, type }) => [id, type])).toEqual([
      ["chutes:default", "oauth"],
      ["openai:default", "api_key"],
    ]);
    expect(read(own)["profiles"]).toEqual({ "openai:default": { type: "api_key", provider: "openai", key: "sk-old-0123456789abcdefg" } });
    expect(existsSync(join(root, "agents/work/agent/auth.json"))).toBe(true);
  });

  test("are not read again once there is a file, so that a removed profile stays removed", async () => {
    const { profiles, put, deps } = setup();
    put("agents/work/agent/auth.json", { openai: { type: "api_key", key: "sk-old-0123456789abcdefg" } });
    await profiles.list();
    expect(await profiles.remove("openai:default")).toBe(true);
    expect(await createAuthProfiles(deps).list()).toEqual([]);
    expect(await profiles.remove("openai:default")).toBe(false);
  });
});

describe("logins of other programs", () => {
  const login = (expires: number, access = "access-of-qwen-1") => ({ access_token: access, refresh_token: "refresh-of-qwen", expiry_date: expires });

  test("are imported, and again when they are newer and ours is about to expire", async () => {
    const { profiles, put, clock } = setup();
    put(".qwen/oauth_creds.json", login(clock.now() + 20 * 60_000));
    put(".minimax/oauth_creds.json", login(clock.now() + 20 * 60_000));
    expect((await profiles.list()).map(({ id }) => id)).toEqual(["qwen-portal:qwen-cli", "minimax-portal:minimax-cli"]);
    put(".qwen/oauth_creds.json", login(clock.now() + 60 * 60_000, "access-of-qwen-2"));
    const access = async () => (await profiles.credential((await profiles.candidates("qwen-portal"))[0]!)).apiKey;
    expect(await access()).toBe("access-of-qwen-1");
    clock.advance(11 * 60_000);
    expect(await access()).toBe("access-of-qwen-2");
  });

  test("that are half written are ignored", async () => {
    const { profiles, put } = setup();
    put(".qwen/oauth_creds.json", `{"access_token": "x`);
    expect(await profiles.list()).toEqual([]);
  });
});

describe("keys without a profile", () => {
  const config: OpenClawConfig = { models: { providers: { openai: { baseUrl: "http://x", models: [], apiKey: "${OTHER_KEY}" } } } };

  test("come after the profiles: the environment, then the configuration", async () => {
    const { profiles, redactor } = setup({
      config: () => config,
      env: () => ({ OPENAI_API_KEY: "sk-CANARY-env-0123456789", OTHER_KEY: "sk-CANARY-other-012345678" }),
    });
    await profiles.add("openai:default", KEY);
    const all = await profiles.candidates("openai");
    expect(all.map(({ id }) => id)).toEqual(["openai:default", "env:OPENAI_API_KEY", "config:models.providers.openai.apiKey"]);
    expect(JSON.stringify(all)).not.toContain("CANARY");
    expect(await Promise.all(all.map(async (candidate) => (await profiles.credential(candidate)).apiKey))).toEqual([
      KEY.key,
      "sk-CANARY-env-0123456789",
      "sk-CANARY-other-012345678",
    ]);
    expect(redactor.text("sk-CANARY-env-0123456789 sk-CANARY-other-012345678")).toBe("*** ***");
  });

  test.each([
    ["a variable's name", "OTHER_KEY", "value-of-other"],
    ["a reference to a variable", "${OTHER_KEY}", "value-of-other"],
    ["the key itself", "plain-key-01", "plain-key-01"],
    ["a name that is not set", "NOT_SET", undefined],
    ["a reference that is not set", "${NOT_SET}", undefined],
    ["a secret of the environment", { source: "env", id: "OTHER_KEY" }, "value-of-other"],
  ])("models.providers.*.apiKey may be %s", async (_name, apiKey, expected) => {
    const given = { models: { providers: { local: { baseUrl: "http://x", models: [], apiKey } } } } as unknown as OpenClawConfig;
    const { profiles } = setup({ config: () => given, env: () => ({ OTHER_KEY: "value-of-other" }) });
    const [candidate] = await profiles.candidates("local");
    expect(candidate && (await profiles.credential(candidate)).apiKey).toBe(expected);
  });

  test("a key in a file or from a program is fetched when it is used", async () => {
    const given = {
      models: { providers: { local: { baseUrl: "http://x", models: [], apiKey: { source: "file", path: "/run/key" } } } },
    } as unknown as OpenClawConfig;
    const { profiles } = setup({ config: () => given, secret: (input, path) => Promise.resolve(`${JSON.stringify(input)} at ${path}`) });
    const [candidate] = await profiles.candidates("local");
    expect((await profiles.credential(candidate!)).apiKey).toBe(`{"source":"file","path":"/run/key"} at models.providers.local.apiKey`);
  });

  test("the AWS chain comes before all profiles when configured, and last for Bedrock otherwise", async () => {
    const asked = { models: { providers: { "amazon-bedrock": { baseUrl: "http://x", models: [], auth: "aws-sdk" } } } } as unknown as OpenClawConfig;
    const before = setup({ config: () => asked }).profiles;
    await before.add("amazon-bedrock:key", { ...KEY, provider: "amazon-bedrock" });
    expect((await before.candidates("amazon-bedrock")).map(({ id }) => id)).toEqual(["aws-sdk", "amazon-bedrock:key"]);
    const behind = setup({ env: () => ({ AWS_PROFILE: "p" }) }).profiles;
    expect(await behind.candidates("amazon-bedrock")).toMatchObject([{ id: "aws-sdk", type: "ambient" }]);
  });

  test("get a cooldown, too, for the model that failed", async () => {
    const { profiles } = setup({ env: () => ({ OPENAI_API_KEY: "sk-env-0123456789abcdef" }) });
    const [key] = await profiles.candidates("openai", { modelId: "gpt" });
    expect(await profiles.failed(key!, "gpt", "rate_limit")).toMatchObject({ kind: "rate_limit", modelId: "gpt" });
    expect((await profiles.candidates("openai", { modelId: "gpt" }))[0]?.cooldown).toBeDefined();
    expect((await profiles.candidates("openai", { modelId: "mini" }))[0]?.cooldown).toBeUndefined();
    await profiles.succeeded(key!, "gpt");
    expect((await profiles.candidates("openai", { modelId: "gpt" }))[0]?.cooldown).toBeUndefined();
  });
});

describe("use", () => {
  test("are used round-robin: least recently used first, and the file is not written every time", async () => {
    const { profiles, clock, own } = setup();
    await profiles.add("openai:a", KEY);
    await profiles.add("openai:b", KEY);
    const order: string[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      clock.advance(1000);
      const [first] = await profiles.candidates("openai");
      order.push(first!.id);
      await profiles.succeeded(first!, "gpt");
    }
    expect(order).toEqual(["openai:a", "openai:b", "openai:a", "openai:b"]);
    const before = statSync(own).ino;
    await profiles.succeeded((await profiles.candidates("openai", { sessionPin: "openai:b" }))[0]!, "gpt");
    expect(statSync(own).ino).toBe(before);
  });

  test("keep unwritable state in memory, and write it when possible", async () => {
    const { profiles, own, read, records } = setup();
    await profiles.add("openai:a", KEY);
    const [candidate] = await profiles.candidates("openai", { modelId: "gpt" });
    mkdirSync(`${own}.lock`);
    expect(await profiles.failed(candidate!, "gpt", "rate_limit")).toMatchObject({ kind: "rate_limit" });
    expect(records.at(-1)).toMatchObject({ level: "warn" });
    expect((await profiles.candidates("openai", { modelId: "gpt" }))[0]?.cooldown).toBeDefined();
    expect(read()["modelFailures"]).toBeUndefined();
    rmSync(`${own}.lock`, { recursive: true });
    await profiles.failed(candidate!, "mini", "format");
    expect(read()["modelFailures"]).toMatchObject({ "openai:a": { gpt: { rate_limit: { count: 1 } }, mini: { format: { count: 1 } } } });
  });

  test("start without failures when replaced under the same name", async () => {
    const { profiles } = setup();
    await profiles.add("openai:a", KEY);
    await profiles.failed((await profiles.candidates("openai"))[0]!, "gpt", "billing");
    expect((await profiles.list())[0]?.rests).toHaveLength(1);
    await profiles.add("openai:a", { ...KEY, key: "sk-new-0123456789abcdefgh" });
    expect((await profiles.list())[0]?.rests).toEqual([]);
  });

  test("an order is stored per agent and can be removed", async () => {
    const { profiles, read } = setup();
    await profiles.add("openai:a", KEY);
    await profiles.add("openai:b", KEY);
    await profiles.setOrder("OpenAI", ["openai:b", "openai:a"]);
    expect(read()["order"]).toEqual({ openai: ["openai:b", "openai:a"] });
    expect((await profiles.candidates("openai")).map(({ id }) => id)).toEqual(["openai:b", "openai:a"]);
    await profiles.setOrder("openai", undefined);
    expect([await profiles.order("openai"), read()["order"]]).toEqual([undefined, undefined]);
  });

  test("a masked secret shows enough to distinguish two, and nothing of a short one", async () => {
    const { profiles } = setup();
    await profiles.add("openai:long", KEY);
    await profiles.add("openai:short", { ...KEY, key: "short-secret" });
    expect((await profiles.list()).map(({ masked }) => masked)).toEqual(["sk-CAN…cdef", "***"]);
  });

  test("Google's logins pass token and project in one text", async () => {
    const { profiles, clock } = setup();
    const login = {
      type: "oauth",
      provider: "google-gemini-cli",
      access: "access-0123456789",
      refresh: "r-0123456789",
      expires: clock.now() + 1000,
      projectId: "p1",
    } as const;
    await profiles.add("google-gemini-cli:default", login);
    const [candidate] = await profiles.candidates("google-gemini-cli");
    expect((await profiles.credential(candidate!)).apiKey).toBe(`{"token":"access-0123456789","projectId":"p1"}`);
  });
});
