/**
 * 40: the gateway's own secrets must not come out through a tool and be stored: not by reading what holds them (the environment, `/proc`, lock files, the
 * configuration), and not by what a command inherits.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { enter, type DeviceClient } from "../harness/device-client.ts";
import { makePlace, type GatewayProcess } from "../harness/gateway-process.ts";
import type { HijackedCall } from "../harness/hijacked-model.ts";
import { startTalkingModel, type TalkingModel } from "../harness/talking-model.ts";

const canary = (name: string): string => `canary40-${name}-Zq7Lx2Vb9Tn4Rw8Ks1`;
const TOKEN = canary("gateway-token");
const ENVIRONMENT = {
  TELEGRAM_BOT_TOKEN: canary("telegram"),
  AWS_SECRET_ACCESS_KEY: canary("aws"),
  AWS_ACCESS_KEY_ID: canary("aws-id"),
  GH_TOKEN: canary("gh"),
  OPENAI_API_KEY: canary("openai"),
  DATABASE_URL: `postgres://me:${canary("database")}@db/app`,
  MY_OWN_THING: canary("thing"),
  PASSED_TOKEN: canary("passed"),
  HTTPS_PROXY: "http://proxy.example.com:3128",
  SSH_AUTH_SOCK: "/tmp/agent.sock",
  LC_TIME: "C",
};
const CONFIGURED = { provider: canary("provider"), webhook: canary("webhook"), file: canary("file") };
/** Nothing says of `MY_OWN_THING` that it is a secret: it is withheld from commands, and that is all. */
const SECRETS = [
  TOKEN,
  ...Object.entries(ENVIRONMENT).flatMap(([name, value]) => (/PROXY|SSH_|LC_|THING/.test(name) ? [] : [value])),
  ...Object.values(CONFIGURED),
];

const place = makePlace();
const { home, stateDir, configPath } = place;
const workspace = join(home, "ws");
let model: TalkingModel;
let gateway: GatewayProcess;
let client: DeviceClient;
let runs = 0;

beforeAll(async () => {
  model = await startTalkingModel();
  for (const folder of [workspace, join(home, "conf.d"), join(home, "keys")]) mkdirSync(folder);
  writeFileSync(join(home, "conf.d/hooks.json5"), `{ enabled: true, token: "${CONFIGURED.webhook}" }`);
  writeFileSync(join(home, "keys/key"), CONFIGURED.file, { mode: 0o600 });
  const models = [{ id: "m1", name: "m1", contextWindow: 200_000, maxTokens: 8192 }];
  const exec = { host: "gateway", security: "full", ask: "off", passEnv: ["PASSED_TOKEN"] };
  place.configure(
    JSON.stringify({
      gateway: { mode: "local", auth: { token: TOKEN } },
      hooks: { $include: "./conf.d/hooks.json5" },
      agents: {
        defaults: { model: { primary: "mock/m1" }, skipBootstrap: true },
        list: [{ id: "main", workspace, tools: { exec, fs: { outside: "allow" } } }],
      },
      models: {
        providers: {
          mock: { baseUrl: model.url, apiKey: CONFIGURED.provider, api: "openai-completions", models },
          other: { baseUrl: "http://127.0.0.1:1/v1", apiKey: { source: "file", path: join(home, "keys/key") }, api: "openai-completions", models },
        },
      },
      logging: { level: "trace" },
    }),
  );
  gateway = await place.gateway({ env: ENVIRONMENT });
  if (gateway.url === undefined) throw new Error(gateway.output());
  client = await enter(gateway.url, { token: TOKEN, scopes: ["operator.admin", "operator.read", "operator.write"] });
}, 60_000);

afterAll(async () => {
  for (const one of [client, gateway, model]) await one?.[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

/** Has the model make the calls, and returns the result of each. */
async function order(calls: readonly HijackedCall[], session = `s${runs}`): Promise<readonly string[]> {
  const idempotencyKey = `run-${(runs += 1)}`;
  model.plan({ calls });
  await client.request("chat.send", { sessionKey: `agent:main:${session}`, message: "go", idempotencyKey });
  const end = await client.request("agent.wait", { runId: idempotencyKey, timeoutMs: 60_000 });
  expect(end.payload?.["status"], JSON.stringify(end)).toBe("ok");
  const { messages } = JSON.parse(model.requests.at(-1)!) as { readonly messages: readonly { readonly role: string; readonly content: unknown }[] };
  return messages
    .filter(({ role }) => role === "tool")
    .map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content)))
    .slice(-calls.length);
}

const read = (path: string): HijackedCall => ({ name: "read", args: { path } });
const exec = (command: string, args: object = {}): HijackedCall => ({ name: "exec", args: { command, ...args } });
const found = (text: string): string[] => SECRETS.filter((secret) => text.includes(secret));

// In this order: the last one looks at what the others left behind.
describe("40", { shuffle: false }, () => {
  test("40: no tool reads what holds the gateway's secrets, and no command prints them", async () => {
    const { pid } = gateway.child;
    const lock = JSON.parse(readFileSync(join(stateDir, "gateway.lock"), "utf8")) as { readonly runSecret: string };
    const files = [
      configPath,
      join(home, "conf.d/hooks.json5"),
      join(home, "keys/key"),
      join(stateDir, "gateway.lock"),
      `/proc/${pid}/environ`,
      "/proc/self/environ",
      "/proc/self/cmdline",
    ];
    const results = await order([
      ...files.map(read),
      { name: "grep", args: { pattern: "canary40", path: home } },
      { name: "find", args: { pattern: "*.lock", path: stateDir } },
    ]);
    for (const text of results.slice(0, files.length)) expect(text).toMatch(/is sealed/);
    // With a command nobody is in the way, and they are masked wherever they come from.
    const printed = await order([
      exec(`cat ${files.slice(0, 4).join(" ")}`),
      exec(`tr '\\0' '\\n' < /proc/${pid}/environ`),
      exec("env"),
      exec(`sh -c 'printf "%s" ${TOKEN.slice(0, 20)}; sleep 0.1; printf "%s" ${TOKEN.slice(20)}'`),
      exec(`cat ${configPath}`, { background: true }),
      exec("sleep 0.5"),
      { name: "process", args: { action: "list" } },
    ]);
    const all = [...results, ...printed].join("\n");
    expect(found(all)).toEqual([]);
    expect(all).not.toContain(lock.runSecret);
    expect(printed[3]).toContain("***");
  });

  test("40: a command inherits what is known to be harmless, and what the configuration names", async () => {
    const [env] = await order([exec("env | sed 's/=.*//' | sort")]);
    const names = new Set(env!.split("\n"));
    for (const name of ["PATH", "HOME", "HTTPS_PROXY", "SSH_AUTH_SOCK", "LC_TIME", "PASSED_TOKEN"]) expect(names, name).toContain(name);
    for (const name of ["TELEGRAM_BOT_TOKEN", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "GH_TOKEN", "OPENAI_API_KEY", "DATABASE_URL", "MY_OWN_THING"])
      expect(names, name).not.toContain(name);
  });

  test("40: that a variable was withheld is explained once, with the key to set", async () => {
    writeFileSync(join(workspace, "gh"), "#!/bin/sh\necho 'please log in' >&2\nexit 4\n", { mode: 0o755 });
    const [first, second, other, fine] = await order(
      [exec("./gh pr list"), exec("./gh pr list"), exec("echo 'set AWS_SECRET_ACCESS_KEY first'; exit 1"), exec("./gh || true")],
      "hints",
    );
    expect(first).toMatch(/do not inherit GH_TOKEN .*tools\.exec\.passEnv: \["GH_TOKEN"\]/s);
    expect(second).not.toMatch(/do not inherit/);
    expect(other).toMatch(/do not inherit AWS_SECRET_ACCESS_KEY/);
    expect(fine).not.toMatch(/do not inherit/);
  });

  test("40: nothing of it is on disk, in a log or on a socket", async () => {
    model.plan({ say: [TOKEN.slice(0, 9), TOKEN.slice(9, 30), TOKEN.slice(30), " and ", CONFIGURED.provider.slice(0, -1)] });
    await client.request("chat.send", { sessionKey: "agent:main:said", message: "say it", idempotencyKey: "said" });
    await client.request("agent.wait", { runId: "said", timeoutMs: 20_000 });
    await client.request("chat.history", { sessionKey: "agent:main:said" });
    const frames = JSON.stringify(client.frames);
    expect(found(frames)).toEqual([]);
    expect(frames).toContain("*** and ");
    gateway.child.kill("SIGTERM");
    await gateway.exited;
    expect(found(gateway.output())).toEqual([]);
    const files = readdirSync(stateDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    const stored = files.filter((file) => !/config\.last-good\.json$|config-versions\//.test(file));
    expect(stored.length).toBeGreaterThan(3);
    for (const file of stored) expect([file, found(readFileSync(file, "latin1"))]).toEqual([file, []]);
  });
});
