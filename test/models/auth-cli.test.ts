import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { startOAuthServer } from "../fakes/oauth-server/index.ts";
import { programArguments } from "../harness/program.ts";

// Every command is a process of its own: on a busy machine that takes a while.
vi.setConfig({ testTimeout: 120_000 });

const KEY = "sk-CANARY-0123456789abcdefghijkl";
let home: string;
let shown: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openclaw-models-auth-"));
  shown = "";
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
});

/** Runs `openclaw models auth …` in a process and home of its own. */
async function auth(args: readonly string[], options: { input?: string; env?: Record<string, string>; onErr?: (text: string) => void } = {}) {
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    OPENCLAW_STATE_DIR: join(home, "state"),
    OPENCLAW_CONFIG_PATH: join(home, "openclaw.json"),
    ...options.env,
  };
  const child = spawn(process.execPath, [...programArguments(), "models", "auth", ...args], { cwd: home, env });
  const output = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => (output.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => {
    output.err += chunk.toString();
    options.onErr?.(output.err);
  });
  child.stdin.end(options.input ?? "");
  const [code] = (await once(child, "close")) as [number];
  shown += output.out + output.err;
  return { code, ...output };
}

const storePath = () => join(home, "state/agents/main/agent/auth-profiles.json");
const stored = (path = storePath()) => JSON.parse(readFileSync(path, "utf8")) as { profiles: Record<string, Record<string, unknown>>; order?: unknown };

test("a key comes from the standard input, is stored for its owner only and never shown whole", async () => {
  expect(await auth(["add", "--provider", "openai"], { input: `${KEY}\n` })).toMatchObject({ code: 0, err: "" });
  expect(stored().profiles).toEqual({ "openai:default": { type: "api_key", provider: "openai", key: KEY } });
  expect(statSync(storePath()).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(home, "openclaw.json"), "utf8")).toMatch(/openai:default/);
  await auth(["add", "--provider", "openai", "--profile-id", "openai:short"], { input: "short-key-1" });
  const status = await auth(["status"]);
  expect(status.out).toMatch(/^openai:default +api_key +sk-CAN…ijkl +agent +ok$/m);
  expect(status.out).toMatch(/^openai:short +api_key +\*\*\* +agent +ok$/m);
  expect(JSON.parse((await auth(["status", "--json"])).out)).toMatchObject({
    agentId: "main",
    authStorePath: storePath(),
    profiles: [{ id: "openai:default" }, {}],
  });
  for (const secret of [KEY, "short-key-1"]) expect(shown).not.toContain(secret);
});

test("a provider that nobody knows is named, with the one that may have been meant", async () => {
  const { code, err } = await auth(["add", "--provider", "opena1"], { input: KEY });
  expect([code, err]).toEqual([0, expect.stringContaining('No provider is named "opena1": did you mean openai?')]);
  expect(stored().profiles).toHaveProperty(["opena1:default"]);
});

test("nothing on the standard input, and words that do not fit, are refused with what was expected", async () => {
  expect(await auth(["add", "--provider", "openai"])).toMatchObject({ code: 1, err: expect.stringContaining("the API key for openai on standard input") });
  expect(await auth(["add"])).toMatchObject({ code: 1, err: expect.stringContaining("--provider") });
  expect(await auth(["add", "--provider", "openai", "--profile-id", "zai:x"], { input: KEY })).toMatchObject({
    code: 1,
    err: expect.stringContaining("openai:<name>"),
  });
  expect(await auth(["add", "--provider", "openai", "--agent", "nobody"], { input: KEY })).toMatchObject({ code: 1, err: expect.stringContaining("no agent") });
  expect(shown).not.toContain(KEY);
});

test("paste-token stores a token that ends; setup-token looks at its form", async () => {
  const before = Date.now();
  expect((await auth(["paste-token", "--provider", "z.ai", "--expires-in", "365d"], { input: KEY })).code).toBe(0);
  const token = stored().profiles["zai:manual"]!;
  expect(token).toMatchObject({ type: "token", provider: "zai", token: KEY });
  expect(Number(token["expires"]) - before).toBeGreaterThanOrEqual(365 * 86_400_000);
  expect(await auth(["paste-token", "--provider", "zai", "--expires-in", "soon"], { input: KEY })).toMatchObject({
    code: 1,
    err: expect.stringContaining("--expires-in"),
  });
  expect(await auth(["setup-token"], { input: KEY })).toMatchObject({ code: 1, err: expect.stringContaining("sk-ant-oat01-") });
  const good = `sk-ant-oat01-${"CANARY".repeat(14)}`;
  expect((await auth(["setup-token", "--yes"], { input: good })).code).toBe(0);
  expect(stored().profiles["anthropic:manual"]).toMatchObject({ type: "token", token: good });
  for (const secret of [KEY, good]) expect(shown).not.toContain(secret);
});

test("an order names stored profiles only, is kept per agent, and says when a new profile is left out", async () => {
  writeFileSync(join(home, "openclaw.json"), `{ agents: { list: [{ id: "main", default: true }, { id: "work" }] } }`);
  for (const name of ["a", "b"]) await auth(["add", "--provider", "openai", "--profile-id", `openai:${name}`], { input: KEY });
  expect(await auth(["order", "set", "--provider", "openai", "openai:z"])).toMatchObject({ code: 1, err: expect.stringContaining("did you mean openai:a?") });
  expect((await auth(["order", "set", "--provider", "openai", "openai:b"])).code).toBe(0);
  expect(JSON.parse((await auth(["order", "get", "--provider", "openai", "--json"])).out)).toMatchObject({
    agentId: "main",
    provider: "openai",
    order: ["openai:b"],
  });
  expect((await auth(["add", "--provider", "openai", "--profile-id", "openai:c"], { input: KEY })).err).toContain(
    "order set --provider openai openai:b openai:c",
  );
  expect((await auth(["order", "clear", "--provider", "openai"])).code).toBe(0);
  expect(stored().order).toBeUndefined();
  expect((await auth(["add", "--provider", "openai", "--agent", "work"], { input: KEY })).code).toBe(0);
  expect(Object.keys(stored(join(home, "state/agents/work/agent/auth-profiles.json")).profiles)).toEqual(["openai:default"]);
});

test("a login with a client of one's own: browser, loopback, profile by email", async () => {
  await using server = await startOAuthServer({ email: "me@example.test" });
  const urls = ["--client-id", "ours", "--authorize-url", `${server.url}/authorize`, "--token-url", `${server.url}/token`];
  let opened = false;
  const done = await auth(["login", "--provider", "acme", ...urls], {
    // There is a screen here, but no program can open anything on it.
    env: { DISPLAY: ":nowhere", PATH: home },
    onErr(text) {
      const url = /^http:\S+\/authorize\S+$/m.exec(text)?.[0];
      if (url === undefined || opened || !text.endsWith("\n")) return;
      opened = true;
      void fetch(url);
    },
  });
  expect(done).toMatchObject({ code: 0 });
  expect(stored().profiles["acme:me@example.test"]).toMatchObject({ type: "oauth", provider: "acme", clientId: "ours", tokenUrl: `${server.url}/token` });
  expect(server.requests).toMatchObject([{ userAgent: expect.stringMatching(/^openclaw\//) }]);
  for (const secret of server.secrets) expect(shown).not.toContain(secret);
});

test("a login far from the browser takes the pasted address from the standard input", async () => {
  await using server = await startOAuthServer();
  const urls = ["--client-id", "ours", "--authorize-url", `${server.url}/authorize`, "--token-url", `${server.url}/token`];
  const refused = await auth(["login", "--provider", "acme", ...urls], { input: "http://127.0.0.1:9/oauth-callback?code=x&state=other" });
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("another login") });
});

test("a device login to GitHub stores the token, and keeps what is there unless forced", async () => {
  await using server = await startOAuthServer();
  const login = ["login-github-copilot", "--client-id", "ours", "--token-url", `${server.url}/token`, "--device-url", `${server.url}/device`];
  expect(await auth(login)).toMatchObject({ code: 0, err: expect.stringContaining("ABCD-EFGH") });
  const token = stored().profiles["github-copilot:github"]!["token"];
  expect(stored().profiles["github-copilot:github"]).toMatchObject({ type: "token", provider: "github-copilot" });
  expect(await auth(login)).toMatchObject({ code: 0, err: expect.stringContaining("--yes") });
  expect(stored().profiles["github-copilot:github"]!["token"]).toBe(token);
  for (const secret of server.secrets) expect(shown).not.toContain(secret);
});

test("without a client id nothing is asked of anybody, and no other product's is used", async () => {
  expect(await auth(["login", "--provider", "openai-codex"])).toMatchObject({ code: 1, err: expect.stringContaining("--client-id") });
  expect(await auth(["login-github-copilot"])).toMatchObject({ code: 1, err: expect.stringContaining("--client-id") });
});

test("a plugin's way to log in is run, its profiles stored, its model made the default", async () => {
  const plugin = join(home, "state/extensions/acme");
  mkdirSync(plugin, { recursive: true });
  writeFileSync(join(plugin, "openclaw.plugin.json"), JSON.stringify({ id: "acme", providers: ["acme"], configSchema: {} }));
  writeFileSync(
    join(plugin, "index.js"),
    `export function register(api) {
      api.registerProvider({ id: "acme", label: "Acme", auth: [
        { id: "key", label: "Key", kind: "api_key", run: async (ctx) => ({
          profiles: [{ profileId: "acme:default", credential: { type: "api_key", provider: "acme", key: await ctx.prompter.text({ message: "Key" }) } }],
          configPatch: { agents: { defaults: { models: { "acme/big": {} } } } }, defaultModel: "acme/big", notes: ["have fun with ${KEY}"],
        }) },
        { id: "broken", label: "Broken", kind: "custom", run: async () => { throw new Error("no luck with ${KEY}"); } },
      ] });
    }`,
  );
  expect(await auth(["login", "--provider", "acme"])).toMatchObject({ code: 1, err: expect.stringContaining("key (Key), broken (Broken)") });
  expect(await auth(["login", "--provider", "acme", "--method", "key", "--set-default"], { input: KEY })).toMatchObject({ code: 0 });
  expect(stored().profiles["acme:default"]).toMatchObject({ key: KEY });
  expect(readFileSync(join(home, "openclaw.json"), "utf8")).toMatch(/primary["']?: ["']acme\/big/);
  expect(await auth(["login", "--provider", "acme", "--method", "broken"])).toMatchObject({
    code: 1,
    err: expect.stringContaining("the login of the plugin acme failed"),
  });
  expect(shown).not.toContain(KEY);
});
