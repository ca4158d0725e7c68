import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { METHODS, type MethodName } from "../../src/protocol/index.ts";
import { enter, METHOD_NAMES, visit, type DeviceClient } from "../harness/device-client.ts";
import { makePlace } from "../harness/gateway-process.ts";
import type { HijackedCall } from "../harness/hijacked-model.ts";
import { startTalkingModel } from "../harness/talking-model.ts";
import { ask, bearer } from "./start.ts";

let count = 0;
/** A secret that cannot be mistaken for anything else. */
const canary = (name: string): string => `canary${String((count += 1)).padStart(2, "0")}-${name}-Zq7Lx2Vb9Tn4Rw8Ks1`;

const SECRETS = {
  token: canary("gateway-token"),
  remoteToken: canary("remote-token"),
  remotePassword: canary("remote-password"),
  hooks: canary("hooks-token"),
  openai: canary("openai-key"),
  anthropic: canary("anthropic-key"),
  header: canary("provider-header"),
  telegram: canary("telegram-bot"),
  webhook: canary("telegram-webhook"),
  discord: canary("discord-token"),
  slackBot: canary("slack-bot"),
  slackApp: canary("slack-app"),
  signing: canary("slack-signing"),
  env: canary("env-var"),
  envBlock: canary("env-block"),
  skill: canary("skill-key"),
  skillEnv: canary("skill-env"),
  talk: canary("talk-key"),
  search: canary("search-key"),
  elevenlabs: canary("elevenlabs-key"),
  speech: canary("tts-openai-key"),
} as const;

const CONFIG = {
  // Every method is called, and none of them is to end the gateway.
  commands: { restart: false },
  gateway: {
    mode: "local",
    auth: { token: SECRETS.token },
    remote: { url: "wss://gw.example.com", token: SECRETS.remoteToken, password: SECRETS.remotePassword },
    http: { endpoints: { chatCompletions: { enabled: true } } },
    reload: { debounceMs: 10 },
  },
  hooks: { enabled: true, token: SECRETS.hooks },
  models: {
    providers: {
      openai: { baseUrl: "https://api.example.com/v1", apiKey: SECRETS.openai, models: [] },
      anthropic: { baseUrl: "https://api.example.com", apiKey: SECRETS.anthropic, headers: { "x-api-key": SECRETS.header }, models: [] },
    },
  },
  channels: {
    telegram: { botToken: SECRETS.telegram, webhookSecret: SECRETS.webhook },
    discord: { token: SECRETS.discord },
    slack: { botToken: SECRETS.slackBot, appToken: SECRETS.slackApp, signingSecret: SECRETS.signing },
  },
  env: { vars: { OPENAI_API_KEY: SECRETS.env }, GROQ_API_KEY: SECRETS.envBlock },
  skills: { entries: { weather: { apiKey: SECRETS.skill, env: { WEATHER_API_KEY: SECRETS.skillEnv } } } },
  talk: { apiKey: SECRETS.talk },
  tools: { web: { search: { apiKey: SECRETS.search } } },
  messages: { tts: { elevenlabs: { apiKey: SECRETS.elevenlabs }, openai: { apiKey: SECRETS.speech } } },
  logging: { level: "trace", consoleLevel: "trace" },
};
const ENVIRONMENT = { OPENCLAW_GATEWAY_PASSWORD: canary("env-password"), ANTHROPIC_API_KEY: canary("env-anthropic"), AWS_SECRET_ACCESS_KEY: canary("env-aws") };
const ALL = [...Object.values(SECRETS), ...Object.values(ENVIRONMENT)];

/** Which secrets a text has, in the clear or as something that anybody can turn back. */
function secretsIn(text: string): string[] {
  return ALL.filter((secret) =>
    [secret, Buffer.from(secret).toString("base64").replace(/=+$/, ""), encodeURIComponent(secret)].some((form) => text.includes(form)),
  );
}

/** Every file below a folder. */
function filesOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const PARAMS: Partial<Record<MethodName, unknown>> = {
  "chat.history": { sessionKey: "main" },
  "sessions.preview": { keys: ["agent:main:main"] },
  "system-event": { text: "Node: here" },
  "chat.send": { sessionKey: "main", message: "hello", idempotencyKey: "canaries" },
  "sessions.patch": { key: "agent:main:main", label: "canaries" },
};
/** They would end or change what is looked at. */
const LEFT_OUT: ReadonlySet<MethodName> = new Set(["agent", "agent.wait", "config.set", "config.apply", "config.patch", "sessions.reset", "sessions.delete"]);

/** Calls everything that answers, and everything that fails on the way. */
async function callAll(client: DeviceClient): Promise<void> {
  for (const method of METHOD_NAMES) if (!LEFT_OUT.has(method) && METHODS[method].access !== "node") await client.request(method, PARAMS[method] ?? {});
  for (const method of ["config.set", "config.apply", "config.patch"] as const) {
    await client.request(method, { raw: JSON.stringify({ gateway: { auth: { token: 5 }, nope: true } }) });
    await client.request(method, { raw: JSON.stringify(CONFIG).slice(0, -1), baseHash: "stale" });
  }
  for (const method of ["health", "status", "logs.tail", "config.get"]) await client.request(method, {});
}

test("33: none of 24 secrets is in a log, in what is kept of sessions, in a frame or in an answer, in the clear", { timeout: 60_000 }, async () => {
  expect(new Set(ALL).size).toBeGreaterThanOrEqual(20);
  const place = makePlace();
  place.configure(JSON.stringify(CONFIG, undefined, 2));
  const said: string[] = [];
  {
    await using gateway = await place.gateway({ env: ENVIRONMENT, args: ["--verbose"] });
    if (gateway.url === undefined) throw new Error(gateway.output());
    const { url } = gateway;
    await using admin = await enter(url, { token: SECRETS.token, password: ENVIRONMENT.OPENCLAW_GATEWAY_PASSWORD, scopes: ["operator.admin"] });
    await using reader = await enter(url, { token: SECRETS.token, password: ENVIRONMENT.OPENCLAW_GATEWAY_PASSWORD, scopes: ["operator.read"] });
    await callAll(admin);
    await callAll(reader);
    for (const guess of [SECRETS.openai, `${SECRETS.token}x`, SECRETS.hooks]) {
      await using client = await visit(url, { token: guess, password: guess, scopes: ["operator.admin"] });
      said.push(JSON.stringify(client.frames));
    }
    for (const path of [
      "/",
      "/health",
      "/healthz",
      "/readyz",
      "/v1/models",
      "/v1/chat/completions",
      "/tools/invoke",
      "/hooks/wake",
      "/nothing",
      `/${SECRETS.token}x`,
    ]) {
      for (const token of [SECRETS.token, ENVIRONMENT.OPENCLAW_GATEWAY_PASSWORD, SECRETS.hooks, "guess"]) {
        for (const method of ["GET", "POST"]) {
          const reply = await ask(url, path, {
            method,
            headers: bearer(token),
            ...(method === "POST" ? { body: '{"model":"openclaw","messages":[{"role":"user","content":"hi"}]}' } : {}),
          });
          // The one text that repeats is the caller's own address.
          said.push(JSON.stringify(reply).replaceAll(path, ""));
        }
      }
    }
    said.push(JSON.stringify(admin.frames), JSON.stringify(reader.frames), gateway.output());
    const shown = admin.frames.find(({ payload }) => payload?.["hash"] !== undefined && payload["raw"] !== undefined);
    expect(JSON.stringify(shown)).toContain("__OPENCLAW_REDACTED__");
    gateway.child.kill("SIGTERM");
    await gateway.exited;
    said.push(gateway.output());
  }
  expect(secretsIn(said.join("\n"))).toEqual([]);
  const cli = [
    ["status", "--json"],
    ["config", "get", "gateway"],
    ["config", "get"],
    ["logs"],
    ["sessions", "--json"],
    ["config", "validate"],
    ["config", "diff"],
  ];
  for (const args of cli) {
    const { stdout, stderr } = place.cli(...args);
    expect([args.join(" "), secretsIn(stdout + stderr)]).toEqual([args.join(" "), []]);
  }
  const files = filesOf(place.stateDir);
  expect(files.some((file) => file.endsWith(".jsonl"))).toBe(true);
  expect(files.some((file) => file.includes("/logs/"))).toBe(true);
  const found = files
    .map((file) => [file.slice(place.stateDir.length), secretsIn(readFileSync(file, "latin1"))] as const)
    .filter(([, secrets]) => secrets.length > 0);
  // Copies of the configuration are as private as the configuration.
  const isCopy = (file: string): boolean => file === "/config.last-good.json" || /^\/config-versions\/[^/]+\.json5$/.test(file);
  expect(found.map(([file]) => file).filter((file) => !isCopy(file))).toEqual([]);
  for (const [file] of found) expect(statSync(join(place.stateDir, file)).mode & 0o777).toBe(0o600);
});

test("33: what a user says is not a secret of the gateway, but its own token is hidden in the log even when a user says it", async () => {
  const place = makePlace();
  const plugin = join(place.home, "careless");
  mkdirSync(plugin);
  writeFileSync(join(plugin, "openclaw.plugin.json"), JSON.stringify({ id: "careless", configSchema: { type: "object" } }));
  writeFileSync(
    join(plugin, "index.js"),
    `export default { id: "careless", register(api) { api.logger.info("careless knows ${SECRETS.token}", { it: "${SECRETS.token}" }); } };`,
  );
  const gatewaySection = { mode: "local", auth: { token: SECRETS.token } };
  place.configure(JSON.stringify({ gateway: gatewaySection, logging: { level: "trace" }, plugins: { load: { paths: [plugin] } } }));
  await using gateway = await place.gateway({ args: ["--verbose"] });
  await using client = await enter(gateway.url!, { token: SECRETS.token, scopes: ["operator.admin"] });
  await client.request(`no.${SECRETS.token}`, {});
  await client.request("sessions.patch", { key: SECRETS.token, model: SECRETS.token });
  await client.ask("chat.send", { sessionKey: SECRETS.token.toLowerCase(), message: "hello", idempotencyKey: SECRETS.token });
  await client.next(({ event, payload }) => event === "chat" && payload?.["state"] === "final");
  gateway.child.kill("SIGTERM");
  await gateway.exited;
  expect(gateway.output()).toContain("careless knows");
  expect(secretsIn(gateway.output())).toEqual([]);
  for (const file of filesOf(join(place.stateDir, "logs"))) expect([file, secretsIn(readFileSync(file, "utf8"))]).toEqual([file, []]);
});

/** Fifty secrets of a gateway: half of them in its configuration, half in its environment. */
function fifty() {
  const inConfig = Array.from({ length: 25 }, (_, n) => canary(`config-${n}`));
  const inEnvironment = Array.from({ length: 25 }, (_, n) => canary(`env-${n}`));
  return { inConfig, inEnvironment, all: [...inConfig, ...inEnvironment] };
}

test("33: none of 50 canaries that tools and commands come across is stored, logged, sent or said", { timeout: 120_000 }, async () => {
  const { inConfig, inEnvironment, all } = fifty();
  const place = makePlace();
  const workspace = join(place.home, "ws");
  mkdirSync(workspace);
  await using model = await startTalkingModel();
  const env = Object.fromEntries(inEnvironment.map((secret, n) => [`SERVICE_${n}_TOKEN`, secret]));
  const models = [{ id: "m1", name: "m1", contextWindow: 200_000, maxTokens: 8192 }];
  place.configure(
    JSON.stringify({
      gateway: { mode: "local", auth: { token: SECRETS.token } },
      agents: {
        defaults: { model: { primary: "mock/m1" }, skipBootstrap: true },
        list: [{ id: "main", workspace, tools: { exec: { host: "gateway", security: "full", ask: "off" }, fs: { outside: "allow" } } }],
      },
      models: { providers: { mock: { baseUrl: model.url, apiKey: SECRETS.openai, api: "openai-completions", models } } },
      skills: { entries: Object.fromEntries(inConfig.map((secret, n) => [`skill${n}`, { apiKey: secret }])) },
      tools: { exec: { passEnv: ["SERVICE_*"] } },
      logging: { level: "trace" },
    }),
  );
  // What the model finds in files, as if a user had copied the secrets there; one to a line, and one in the middle of a long one.
  const list = all.join("\n");
  writeFileSync(join(workspace, "notes.txt"), list);
  writeFileSync(join(workspace, "one.txt"), `${"x".repeat(900)}${all[0]}${"y".repeat(900)}`);
  writeFileSync(
    join(workspace, "slow.sh"),
    all.map((secret) => `printf %s '${secret.slice(0, 13)}'; sleep 0.02; printf '%s\\n' '${secret.slice(13)}'`).join("\n"),
  );
  const calls: readonly HijackedCall[] = [
    { name: "read", args: { path: "notes.txt" } },
    { name: "read", args: { path: "one.txt" } },
    { name: "grep", args: { pattern: "canary", path: "." } },
    { name: "exec", args: { command: "cat notes.txt" } },
    { name: "exec", args: { command: "env" } },
    { name: "exec", args: { command: "sh slow.sh" } },
    { name: "exec", args: { command: "base64 -w0 notes.txt; xxd -p notes.txt | tr -d '\\n'" } },
    { name: "exec", args: { command: "cat notes.txt >&2; exit 3" } },
    { name: "exec", args: { command: "sh slow.sh", background: true } },
    { name: "exec", args: { command: `echo ${all[0]} ${all[30]}` } },
    { name: "write", args: { path: `${all[1]}/x.txt`, content: "x" } },
    { name: "edit", args: { path: "notes.txt", oldText: all[2], newText: "changed" } },
    { name: "read", args: { path: `missing-${all[3]}` } },
    { name: `no_tool_${all[4]}`, args: {} },
    { name: "process", args: { action: "list" } },
  ];
  const said: string[] = [];
  {
    await using gateway = await place.gateway({ env, args: ["--verbose"] });
    if (gateway.url === undefined) throw new Error(gateway.output());
    // A client that watches tools is sent their results too.
    const scopes = ["operator.admin", "operator.read", "operator.write"];
    await using client = await enter(gateway.url, { token: SECRETS.token, scopes, params: { caps: ["tool-events"] } });
    const ask = async (message: string, idempotencyKey: string): Promise<void> => {
      await client.request("chat.send", { sessionKey: "agent:main:main", message, idempotencyKey });
      const end = await client.request("agent.wait", { runId: idempotencyKey, timeoutMs: 60_000 });
      expect(end.payload?.["status"], JSON.stringify(end)).toBe("ok");
    };
    await client.request("sessions.patch", { key: "agent:main:main", verboseLevel: "full" });
    // It says what it found, in pieces that break every secret.
    const pieces = `These are they: ${list}`.match(/.{1,7}/gs) ?? [];
    model.plan({ calls }, { say: pieces });
    await ask("look around", "tools");
    model.plan({
      calls: [
        { name: "exec", args: { command: "sleep 2" } },
        { name: "process", args: { action: "list" } },
      ],
    });
    await ask("and now?", "later");
    await client.request("chat.history", { sessionKey: "agent:main:main" });
    await client.request("sessions.preview", { keys: ["agent:main:main"] });
    await client.request("logs.tail", {});
    expect(model.requests.length).toBeGreaterThanOrEqual(4);
    expect(JSON.stringify(client.frames)).toMatch(/"stream":"tool".*"phase":"result"/);
    said.push(model.requests.join("\n"), JSON.stringify(client.frames));
    gateway.child.kill("SIGTERM");
    await gateway.exited;
    said.push(gateway.output());
  }
  const known = (text: string): string[] => all.filter((secret) => formsOf(secret).some((form) => text.includes(form)));
  expect(known(said.join("\n"))).toEqual([]);
  expect(said.join("\n")).toContain("***");
  const stored = filesOf(place.stateDir).filter((file) => !/config\.last-good\.json$|config-versions\//.test(file));
  expect(stored.some((file) => file.endsWith(".jsonl"))).toBe(true);
  expect(stored.some((file) => /sqlite|\.db/.test(file))).toBe(true);
  for (const file of stored) expect([file, known(readFileSync(file, "latin1"))], file).toEqual([file, []]);
});

/** In the clear, or as something that anybody can turn back. */
const formsOf = (secret: string): string[] => [
  secret,
  Buffer.from(secret).toString("hex"),
  Buffer.from(secret).toString("base64").slice(4, -4),
  encodeURIComponent(secret),
];
