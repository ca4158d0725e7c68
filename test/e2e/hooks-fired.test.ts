import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { NOT_IN_A_GATEWAY, UNCALLED } from "../../scripts/hooks/uncalled.ts";
import { HOOKS } from "../../src/hooks/index.ts";
import { startModelServer, STREAMS, type ModelServer, type ScriptedAnswer } from "../fakes/model-server/index.ts";
import { enter } from "../harness/device-client.ts";
import { makePlace, type Place } from "../harness/gateway-process.ts";
import type { RawClient } from "../harness/gateway-client.ts";

const API = "openai-completions";
const TOKEN = "token-of-this-test-0123456789";
const KEY = "agent:main:main";
const LONG = "many words of a long conversation ".repeat(400);
const EXPECTED = Object.keys(HOOKS).filter((name) => !Object.hasOwn(UNCALLED, name) && !Object.hasOwn(NOT_IN_A_GATEWAY, name));

/** Registers every hook and writes down each that it hears of; brings a channel and says over it what a client asks it to say. */
const CODE = `
import { appendFileSync } from "node:fs";

const SEEN = ${JSON.stringify("SEEN_FILE")};

export default function register(api) {
  const seen = new Set();
  for (const name of ${JSON.stringify(Object.keys(HOOKS))}) {
    api.on(name, () => {
      if (seen.has(name)) return;
      seen.add(name);
      appendFileSync(SEEN, name + "\\n");
    });
  }
  let inbound;
  api.registerChannel({
    plugin: {
      id: "watch",
      meta: { id: "watch", label: "Watch", selectionLabel: "Watch", docsPath: "", blurb: "" },
      capabilities: { chatTypes: ["direct"] },
      config: { listAccountIds: () => ["default"], resolveAccount: () => ({ accountId: "default" }), isConfigured: () => true, isEnabled: () => true },
      outbound: { deliveryMode: "direct", textChunkLimit: 4000, sendText: async () => ({ channel: "watch", messageId: "sent" }) },
      gateway: {
        startAccount: ({ abortSignal, inbound: given }) =>
          new Promise((resolve) => {
            inbound = given;
            abortSignal.addEventListener("abort", () => resolve());
          }),
      },
    },
  });
  api.registerGatewayMethod("watcher.say", async ({ params, respond }) => {
    if (!inbound) return respond(true, { ready: false });
    const { from, text, id } = params;
    respond(true, { ready: true, ...(await inbound.accept({ kind: "message", id, chat: { type: "direct", id: from }, sender: { id: from }, text, to: from })) });
  });
}
`;

function install(place: Place, server: ModelServer): string {
  const seen = join(place.home, "seen.txt");
  const folder = join(place.stateDir, "extensions", "watcher");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify({ id: "watcher", channels: ["watch"], configSchema: {} }));
  writeFileSync(join(folder, "index.mjs"), CODE.replace("SEEN_FILE", seen));
  place.env["OPENCLAW_BUNDLED_PLUGINS_DIR"] = join(place.home, "none");
  const model = { id: "large", name: "Large", contextWindow: 60_000, maxTokens: 1000, input: ["text"], reasoning: false };
  place.configure(
    JSON.stringify({
      gateway: { mode: "local", auth: { mode: "token", token: TOKEN } },
      agents: { defaults: { model: { primary: "acme/large" }, skipBootstrap: true, compaction: { maxHistoryShare: 0.1 } } },
      models: { providers: { acme: { baseUrl: server.url, apiKey: "sk-example-0123456789abcdef", api: API, models: [model] } } },
      tools: { exec: { host: "gateway", security: "full", ask: "off" } },
      channels: { watch: { allowFrom: ["ada"] } },
      plugins: { allow: ["watcher"], entries: { watcher: { enabled: true, hooks: { allowConversationAccess: true } } } },
    }),
  );
  return seen;
}

/** A model that runs a command once when it is asked to, and says something else otherwise. */
function answerTo(body: string): ScriptedAnswer {
  const { messages } = JSON.parse(body) as { messages: { role: string; content: unknown }[] };
  const last = messages.at(-1);
  const asks = last?.role === "user" && JSON.stringify(last.content).includes("use a tool");
  return asks ? { toolCalls: [{ id: "call-1", name: "exec", arguments: ['{"command":"true"}'] }] } : { text: ["a long answer ", LONG] };
}

async function until(what: () => boolean | Promise<boolean>, named: () => string): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (await what()) return;
    await pause(50);
  }
  throw new Error(`not within 30 s: ${named()}`);
}

async function asked(client: RawClient, method: string, params: object): Promise<Readonly<Record<string, unknown>>> {
  const frame = await client.request(method, params);
  if (!frame.ok) throw new Error(`${method}: ${JSON.stringify(frame.error)}`);
  return frame.payload ?? {};
}

/** Says something over the channel and waits for its end. */
async function say(client: RawClient, id: string, from: string, text: string): Promise<Readonly<Record<string, unknown>>> {
  let result: Readonly<Record<string, unknown>> = {};
  await until(
    async () => (result = await asked(client, "watcher.say", { from, text, id }))["ready"] === true,
    () => "the channel's account",
  );
  let outcome: unknown;
  await until(
    async () => {
      const { stories } = (await asked(client, "why", { what: id })) as { stories: { verdict: { outcome: string } }[] };
      outcome = stories[0]?.verdict.outcome;
      return outcome !== "waiting" && outcome !== "running";
    },
    () => `the end of ${id}, which is ${String(outcome)}`,
  );
  return result;
}

test("every hook fires from the path that messages, tools, sessions and the gateway really take", { timeout: 120_000 }, async () => {
  await using server = await startModelServer(({ body }) => ({ kind: "stream", frames: STREAMS[API]!(answerTo(body)) }));
  const place = makePlace();
  const file = install(place, server);
  const seen = (): readonly string[] => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []);
  const missing = (): readonly string[] => EXPECTED.filter((name) => !seen().includes(name));
  await using gateway = await place.gateway();
  if (gateway.url === undefined) throw new Error(gateway.output());
  {
    await using client = await enter(gateway.url, { token: TOKEN, scopes: ["operator.admin"] });
    await say(client, "stranger-1", "eve", "let me in");
    await say(client, "message-1", "ada", `hello ${LONG}`);
    await say(client, "message-2", "ada", "please use a tool");
    await say(client, "message-3", "ada", `and once more ${LONG}`);
    expect(await asked(client, "sessions.compact", { key: KEY })).toMatchObject({ compacted: true });
    await asked(client, "sessions.reset", { key: KEY });
    await say(client, "message-4", "ada", "/subagents spawn main look around");
    const job = { name: "tea", schedule: { kind: "every", everyMs: 3_600_000 }, sessionTarget: "main", wakeMode: "now" };
    await asked(client, "cron.add", { ...job, payload: { kind: "systemEvent", text: "tea" } });
    await asked(client, "wake", { mode: "now", text: "the door bell rang", idempotencyKey: "bell" });
    await until(
      () => missing().every((name) => name === "gateway_stop"),
      () => `${missing().join(", ")}\n${gateway.output()}`,
    );
    const { stories } = (await asked(client, "why", { what: "message-2" })) as { stories: { steps: { kind: string; text: string }[] }[] };
    expect(stories[0]!.steps.filter(({ kind }) => kind === "tool")).toMatchObject([{ text: "exec: done" }]);
    expect(stories[0]!.steps.filter(({ kind }) => kind === "hook").map(({ text }) => text.split(" ")[0])).toEqual(
      expect.arrayContaining(["inbound_claim", "before_dispatch", "before_agent_run", "before_tool_call", "message_sending"]),
    );
  }
  gateway.child.kill("SIGTERM");
  await gateway.exited;
  expect(missing()).toEqual([]);
});
