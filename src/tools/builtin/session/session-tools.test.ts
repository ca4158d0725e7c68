import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { manualClock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import { createRedactor } from "../../../base/redaction.ts";
import type { OpenClawConfig } from "../../../config/index.ts";
import type { SessionEntry } from "../../../protocol/index.ts";
import { openStore, transcriptFile, type Store } from "../../../store/index.ts";
import type { Tool, ToolContext, ToolOutcome } from "../../tool.ts";
import { agentsListTool } from "./agents-list.ts";
import type { SessionToolsDeps } from "./deps.ts";
import { sessionStatusTool } from "./session-status.ts";
import { sessionsHistoryTool } from "./sessions-history.ts";
import { sessionsListTool } from "./sessions-list.ts";

const NOW = Date.UTC(2026, 10, 15, 16, 26);
const clock = manualClock(NOW);
const MAIN = "agent:main:main";
const GROUP = "agent:main:whatsapp:group:1@g.us";
const CHILD = "agent:main:subagent:c1";
const GRANDCHILD = "agent:work:subagent:c2";
const WORK = "agent:work:main";
const CRON = "agent:main:cron:nightly";

let store: Store;
let stateDir: string;

async function put(key: string, minutesAgo: number, entry: Partial<SessionEntry> = {}, into = store): Promise<void> {
  const agentId = key.split(":")[1]!;
  const sessionId = key.replaceAll(/[^a-z0-9]/g, "-");
  await into.commit([["sessions.put", { key, agentId, entry: { sessionId, updatedAt: NOW - minutesAgo * 60_000, ...entry } }]]);
}

let id = 0;
/** Writes a transcript with these messages, one below the other. */
async function say(key: string, messages: readonly object[], into = store): Promise<void> {
  const agentId = key.split(":")[1]!;
  const sessionId = key.replaceAll(/[^a-z0-9]/g, "-");
  const file = transcriptFile(agentId, sessionId);
  const header = JSON.stringify({ type: "session", version: 3, id: sessionId, timestamp: new Date(NOW).toISOString() });
  await into.commit([["transcripts.ensure", { file, agentId, sessionId, header }]]);
  let parentId = (await into.read("transcripts.get", { file }))?.leafId ?? null;
  const entries = messages.map((message) => {
    const own = (++id).toString(16).padStart(8, "0");
    const line = JSON.stringify({ type: "message", id: own, parentId, timestamp: new Date(NOW).toISOString(), message });
    const entry = { id: own, parentId, type: "message", line };
    parentId = own;
    return entry;
  });
  await into.commit([["transcripts.append", { file, entries }]]);
}

beforeAll(async () => {
  stateDir = mkdtempSync(join(tmpdir(), "session-tools-"));
  store = await openStore({ stateDir, clock });
  await put(MAIN, 1, { lastChannel: "telegram", lastTo: "7", inputTokens: 1200, outputTokens: 90, totalTokens: 20_000, contextTokens: 100_000 });
  await put(GROUP, 2, { channel: "whatsapp", displayName: "Family", label: "fam", totalTokens: 5, totalTokensFresh: false, modelOverride: "gpt-5.2" });
  await put(CHILD, 3, { spawnedBy: MAIN, spawnDepth: 1 });
  await put(GRANDCHILD, 4, { spawnedBy: CHILD, spawnDepth: 2 });
  await put(WORK, 5);
  await put(CRON, 600);
  await put("agent:main:hook:1", 700);
  await put("agent:main:node-x", 800);
  for (const key of ["unknown", "global"]) await store.commit([["sessions.put", { key, agentId: "main", entry: { sessionId: key, updatedAt: NOW } }]]);
  await say(CHILD, [
    { role: "user", content: "find it; the key is sk-0123456789abcdefghij", timestamp: 1 },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", thinkingSignature: "sig" },
        {
          type: "toolCall",
          id: "1",
          name: "read",
          arguments: { path: "a", token: "sk-0123456789abcdefghij", long: "y".repeat(5000) },
          thoughtSignature: "sig",
        },
      ],
      usage: { input: 1 },
      timestamp: 2,
    },
    {
      role: "toolResult",
      toolCallId: "1",
      toolName: "read",
      content: [
        { type: "text", text: "x".repeat(5000) },
        { type: "image", data: "AAAA", mimeType: "image/png" },
      ],
      details: { a: 1 },
    },
    { role: "assistant", content: [{ type: "text", text: "withheld" }], openclawShown: "", timestamp: 3 },
    { role: "assistant", content: [{ type: "text", text: "found, says Ann" }], openclawShown: "found", timestamp: 3 },
  ]);
});
afterAll(() => store[Symbol.asyncDispose]());

interface House {
  readonly config?: OpenClawConfig;
  readonly sandboxed?: boolean;
  readonly caller?: string;
  readonly chosen?: string[];
  readonly from?: Store;
}

function deps({ config = {}, sandboxed = false, chosen = [], from = store }: House = {}): SessionToolsDeps {
  return {
    store: from,
    config: () => config,
    clock,
    stateDir,
    version: "9.9.9",
    isSandboxed: () => sandboxed,
    redact: createRedactor().text,
    models: {
      describe: ({ override }) =>
        Promise.resolve({ ref: override?.modelOverride ?? "anthropic/claude-opus-4-6", why: "the default", thinking: "low", contextWindow: 200_000 }),
      setModel(sessionKey, ref) {
        if (ref === "nonsense") return Promise.reject(new AppError("INVALID_INPUT", "model not allowed: nonsense"));
        chosen.push(`${sessionKey} ${ref}`);
        return Promise.resolve(ref);
      },
    },
  };
}

function contextOf(sessionKey = MAIN): ToolContext {
  return { agentId: sessionKey.split(":")[1]!, sessionKey, sessionId: "s", runId: "r", workspaceDir: "/nowhere", owner: false };
}

async function run(tool: { create(deps: SessionToolsDeps): Tool }, params: Record<string, unknown>, house: House = {}): Promise<ToolOutcome> {
  return tool.create(deps(house)).run({ id: "c", params, signal: new AbortController().signal, update: () => undefined, context: contextOf(house.caller) });
}
type Json = Record<string, never> & { readonly sessions: Record<string, unknown>[]; readonly messages: Record<string, unknown>[] };
const json = ({ content: [part] }: ToolOutcome): Json => JSON.parse(part!.type === "text" ? part!.text : "") as Json;
const keys = (outcome: ToolOutcome): unknown[] => json(outcome).sessions.map(({ key }) => key);

const TO_ALL: OpenClawConfig = { tools: { sessions: { visibility: "all" }, agentToAgent: { enabled: true } } };
const see = (visibility: "self" | "tree" | "agent" | "all", tools: OpenClawConfig["tools"] = {}): OpenClawConfig => ({
  tools: { ...tools, sessions: { visibility } },
});

describe("sessions_list shows", () => {
  test.each<[string, House, readonly string[]]>([
    ["by default the session itself and what it began, at any depth", {}, [MAIN, CHILD, GRANDCHILD]],
    ["for a child only its own", { caller: CHILD }, [CHILD, GRANDCHILD]],
    ["with self only the session itself", { config: see("self") }, [MAIN]],
    ["with agent all of the agent", { config: see("agent") }, [MAIN, GROUP, CHILD, CRON, "agent:main:hook:1", "agent:main:node-x"]],
    ["with all still only its own agent's", { config: see("all") }, [MAIN, GROUP, CHILD, CRON, "agent:main:hook:1", "agent:main:node-x"]],
    [
      "with all and agents that may meet everybody's",
      { config: TO_ALL },
      [MAIN, GROUP, CHILD, GRANDCHILD, WORK, CRON, "agent:main:hook:1", "agent:main:node-x"],
    ],
    [
      "only agents that the list names meet",
      { config: see("all", { agentToAgent: { enabled: true, allow: ["main", "ho*e"] } }) },
      [MAIN, GROUP, CHILD, CRON, "agent:main:hook:1", "agent:main:node-x"],
    ],
    ["in a sandbox never more than its tree", { config: TO_ALL, sandboxed: true }, [MAIN, CHILD, GRANDCHILD]],
    [
      "unless the sandbox says all",
      { config: { ...see("agent"), agents: { defaults: { sandbox: { sessionToolsVisibility: "all" } } } }, sandboxed: true },
      [MAIN, GROUP, CHILD, CRON, "agent:main:hook:1", "agent:main:node-x"],
    ],
    [
      "an agent's own word about the sandbox comes first",
      {
        config: {
          ...see("agent"),
          agents: { defaults: { sandbox: { sessionToolsVisibility: "all" } }, list: [{ id: "main", sandbox: { sessionToolsVisibility: "spawned" } }] },
        },
        sandboxed: true,
      },
      [MAIN, CHILD, GRANDCHILD],
    ],
  ])("%s", async (_, house, expected) => {
    expect(keys(await run(sessionsListTool, {}, house))).toEqual(expected);
  });

  test.each<[string, Record<string, unknown>, readonly string[]]>([
    ["kinds", { kinds: ["cron", "group"] }, [GROUP, CRON]],
    ["hooks and nodes", { kinds: ["hook", "node"] }, ["agent:main:hook:1", "agent:main:node-x"]],
    ["the rest", { kinds: ["other"] }, [CHILD]],
    ["no more than asked for", { limit: 2 }, [MAIN, GROUP]],
    ["those that were active", { activeMinutes: 2 }, [MAIN, GROUP]],
  ])("%s", async (_, params, expected) => {
    expect(keys(await run(sessionsListTool, params, { config: see("agent") }))).toEqual(expected);
  });

  test("what is documented of each", async () => {
    const { count, sessions } = json(await run(sessionsListTool, { limit: 2 }, { config: see("agent") }));
    expect(count).toBe(2);
    expect(sessions[0]).toEqual({
      key: MAIN,
      kind: "main",
      channel: "telegram",
      contextTokens: 100_000,
      lastChannel: "telegram",
      lastTo: "7",
      deliveryContext: { channel: "telegram", to: "7" },
      updatedAt: NOW - 60_000,
      sessionId: "agent-main-main",
      totalTokens: 20_000,
      transcriptPath: join(stateDir, "agents/main/sessions/agent-main-main.jsonl"),
    });
    expect(sessions[1]).toMatchObject({ kind: "group", channel: "whatsapp", displayName: "Family", label: "fam", model: "gpt-5.2" });
    expect(sessions[1]).not.toHaveProperty("totalTokens");
  });

  test("the last messages when asked, without results of tools and without secrets", async () => {
    const { sessions } = json(await run(sessionsListTool, { messageLimit: 2, kinds: ["other"] }));
    expect(sessions.map(({ key, messages }) => [key, (messages as { role: string }[]).map(({ role }) => role)])).toEqual([
      [CHILD, ["assistant", "assistant"]],
      [GRANDCHILD, []],
    ]);
  });

  test("one main session where there is only one", async () => {
    const config: OpenClawConfig = { ...see("agent"), session: { scope: "global" } };
    expect(keys(await run(sessionsListTool, { kinds: ["main"], limit: 1 }, { config }))).toEqual(["main"]);
    expect(keys(await run(sessionsListTool, {}, { config: see("agent") }))).not.toContain("main");
  });
});

describe("sessions_history", () => {
  test("shows what was said: long texts cut, secrets, pictures, numbers and signatures taken out", async () => {
    const outcome = await run(sessionsHistoryTool, { sessionKey: CHILD, includeTools: true });
    const shown = json(outcome);
    expect(shown).toMatchObject({ sessionKey: CHILD, truncated: true, droppedMessages: false, contentTruncated: true });
    expect(shown["bytes"]).toBe(Buffer.byteLength(JSON.stringify(shown.messages)));
    expect(shown.messages).toEqual([
      { role: "user", content: "find it; the key is sk-012…ghij", timestamp: 1 },
      {
        role: "assistant",
        timestamp: 2,
        content: [
          { type: "thinking", thinking: "hm" },
          { type: "toolCall", id: "1", name: "read", arguments: { path: "a", token: "sk-012…ghij", long: `${"y".repeat(4000)}\n…(truncated)…` } },
        ],
      },
      {
        role: "toolResult",
        toolCallId: "1",
        toolName: "read",
        content: [
          { type: "text", text: `${"x".repeat(4000)}\n…(truncated)…` },
          { type: "image", mimeType: "image/png", omitted: true, bytes: 3 },
        ],
      },
      { role: "assistant", content: [{ type: "text", text: "found" }], timestamp: 3 },
    ]);
    expect(JSON.stringify(outcome)).not.toContain("0123456789abcdefghij");
  });

  test("leaves results of tools out unless asked, and takes the newest", async () => {
    const roles = async (params: object): Promise<unknown[]> =>
      json(await run(sessionsHistoryTool, { sessionKey: CHILD, ...params })).messages.map(({ role }) => role);
    expect(await roles({})).toEqual(["user", "assistant", "assistant"]);
    expect(await roles({ limit: 2, includeTools: true })).toEqual(["toolResult", "assistant"]);
    expect(await roles({ limit: 1 })).toEqual(["assistant"]);
  });

  test("is at most 80 KiB: the newest that fit, and a word about one that does not", async () => {
    await using own = await openStore({ stateDir: mkdtempSync(join(tmpdir(), "session-tools-")), clock });
    const history = async (): Promise<Json> => json(await run(sessionsHistoryTool, { sessionKey: "main" }, { from: own }));
    await put(MAIN, 1, {}, own);
    const many = Array.from({ length: 60 }, (_, at) => ({ role: "user", content: `${at} ${"z".repeat(3000)}` }));
    await say(MAIN, many, own);
    const shown = await history();
    expect(shown).toMatchObject({ truncated: true, droppedMessages: true, contentTruncated: false });
    expect(shown["bytes"]).toBeLessThanOrEqual(80 * 1024);
    expect(shown.messages.length).toBeGreaterThan(20);
    expect(shown.messages.at(-1)!["content"]).toMatch(/^59 /);
    await say(MAIN, [{ role: "user", content: Array.from({ length: 30 }, () => ({ type: "text", text: "w".repeat(4000) })) }], own);
    expect((await history()).messages).toEqual([{ role: "assistant", content: "[sessions_history omitted: message too large]" }]);
  });

  test.each<[string, string, House, RegExp | undefined]>([
    ["itself as main", "main", {}, undefined],
    ["a child by the id of its session", "agent-main-subagent-c1", {}, undefined],
    ["a child of its child, of another agent", GRANDCHILD, {}, undefined],
    ["its parent", MAIN, { caller: CHILD }, /sessions started by this one/],
    ["another session of the agent", GROUP, {}, /sessions started by this one.*"tree"/],
    ["one that is not there, as if it were", "agent:main:whatsapp:group:none", {}, /sessions started by this one/],
    ["another one with self", CHILD, { config: see("self") }, /Only this session is accessible/],
    ["another one of the agent with agent", GROUP, { config: see("agent") }, undefined],
    ["another agent's with agent", WORK, { config: see("agent") }, /sessions of this agent/],
    ["another agent's with all", WORK, { config: see("all") }, /agentToAgent/],
    ["another agent's when they may meet", WORK, { config: TO_ALL }, undefined],
    ["another one from a sandbox", GROUP, { config: TO_ALL, sandboxed: true }, /it is sandboxed/],
  ])("of %s", async (_, sessionKey, house, refused) => {
    const outcome = await run(sessionsHistoryTool, { sessionKey }, house);
    expect(outcome.isError).toBe(refused !== undefined);
    if (refused) expect(json(outcome)).toEqual({ status: "forbidden", error: expect.stringMatching(refused) as string });
    else expect(json(outcome)).toHaveProperty("messages");
  });

  test.each<[string, string, RegExp]>([
    ["nothing", "  ", /^sessionKey required$/],
    ["no key", "agent:", /is not a session key/],
    ["a session that is not there", "agent:main:whatsapp:direct:9", /There is no session/],
  ])("of %s is an error that says so", async (_, sessionKey, text) => {
    const outcome = await run(sessionsHistoryTool, { sessionKey }, { config: see("agent") });
    expect(outcome).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(text) as string }] });
  });
});

describe("session_status", () => {
  test("is a card with what is known, and data for machines", async () => {
    const config: OpenClawConfig = { agents: { defaults: { userTimezone: "Europe/Vienna", verboseDefault: "on" } } };
    const outcome = await run(sessionStatusTool, {}, { config });
    const { statusText } = outcome.details as { statusText: string };
    expect(statusText.split("\n")).toEqual([
      "OpenClaw 9.9.9",
      "Time: Sun 2026-11-15 17:26 Europe/Vienna",
      "Model: anthropic/claude-opus-4-6 · the default",
      "Tokens: 1.2k in / 90 out",
      "Context: 20k of 200k (10 %) · compactions 0",
      `Session: ${MAIN} · active 1m ago`,
      "Subagents: 1",
      "Runtime: direct · think low · verbose on · reasoning off",
      "Queue: collect",
    ]);
    expect(outcome).toMatchObject({ content: [{ type: "text", text: statusText }], details: { ok: true, sessionKey: MAIN, changedModel: false } });
  });

  test("the time of day is written as agents.defaults.timeFormat says", async () => {
    const config: OpenClawConfig = { agents: { defaults: { userTimezone: "Europe/Vienna", timeFormat: "12" } } };
    const { statusText } = (await run(sessionStatusTool, {}, { config })).details as { statusText: string };
    expect(statusText).toContain("Time: Sun 2026-11-15 05:26 pm Europe/Vienna");
  });

  test("an invalid time zone becomes UTC, and a model that was chosen is shown", async () => {
    const { statusText } = (
      await run(sessionStatusTool, { sessionKey: GROUP }, { config: { agents: { defaults: { userTimezone: "Mars/Olympus" } } }, sandboxed: false })
    ).details as {
      statusText: string;
    };
    expect(statusText).toContain("Time: Sun 2026-11-15 16:26 UTC");
    expect(statusText).toContain("Model: gpt-5.2 · chosen for this session");
    expect(statusText).toContain("Context: of 200k, usage unknown");
  });

  test.each<[string, string, Record<string, unknown>, House, RegExp | undefined]>([
    ["any session of the agent can be looked at", GROUP, {}, {}, undefined],
    ["not another agent's", WORK, {}, { config: see("all") }, /agentToAgent/],
    ["unless they may meet", WORK, {}, { config: TO_ALL }, undefined],
    ["a sandboxed one looks only at what it began", GROUP, {}, { config: see("agent"), sandboxed: true }, /it is sandboxed/],
    ["a model is chosen only for sessions that are visible", GROUP, { model: "opus" }, {}, /sessions started by this one/],
    ["as this one is", CHILD, { model: "opus" }, {}, undefined],
  ])("%s", async (_, sessionKey, params, house, refused) => {
    const outcome = await run(sessionStatusTool, { sessionKey, ...params }, house);
    if (refused) expect(json(outcome)).toEqual({ status: "forbidden", error: expect.stringMatching(refused) as string });
    else expect(outcome).toMatchObject({ isError: false, details: { ok: true, sessionKey } });
  });

  test("chooses a model for the session and goes back; one that may not be used is an error", async () => {
    const chosen: string[] = [];
    expect((await run(sessionStatusTool, { model: "openai/gpt-5.2" }, { chosen })).details).toMatchObject({ changedModel: true });
    await run(sessionStatusTool, { model: "Default" }, { chosen });
    expect(chosen).toEqual([`${MAIN} openai/gpt-5.2`, `${MAIN} default`]);
    expect(json(await run(sessionStatusTool, { model: "nonsense" }, { chosen }))).toEqual({ status: "error", error: "model not allowed: nonsense" });
  });
});

test.each<[string, OpenClawConfig, object]>([
  ["the agent that asks, when nothing is said", {}, { requester: "main", allowAny: false, agents: [{ id: "main", configured: false }] }],
  [
    "those it may start, itself first, known or not",
    {
      agents: {
        list: [
          { id: "Main", name: "Boss", subagents: { allowAgents: ["Zed", "work"] } },
          { id: "work", name: " " },
        ],
      },
    },
    {
      requester: "main",
      allowAny: false,
      agents: [
        { id: "main", name: "Boss", configured: true },
        { id: "work", configured: true },
        { id: "zed", configured: false },
      ],
    },
  ],
  [
    "all of them with a star",
    { agents: { list: [{ id: "b" }, { id: "main", subagents: { allowAgents: ["*"] } }, { id: "a" }] } },
    { requester: "main", allowAny: true, agents: ["main", "a", "b"].map((id) => ({ id, configured: true })) },
  ],
])("agents_list: %s", async (_, config, expected) => {
  expect(json(await run(agentsListTool, {}, { config }))).toEqual(expected);
});
