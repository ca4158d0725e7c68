/** Session tools over many and large sessions: what a model asks for, however it is written, stays inside the documented bounds. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { manualClock } from "../../../base/clock.ts";
import { createRedactor } from "../../../base/redaction.ts";
import { openStore, transcriptFile, type Store, type Write } from "../../../store/index.ts";
import type { Tool } from "../../tool.ts";
import type { SessionToolsDeps } from "./deps.ts";
import { sessionsHistoryTool } from "./sessions-history.ts";
import { sessionsListTool } from "./sessions-list.ts";

const NOW = Date.UTC(2026, 10, 17, 9);
const COUNT = 260;
const KIB_80 = 80 * 1024;
const SECRET = "sk-0123456789abcdefghij";
const clock = manualClock(NOW);

let stateDir: string;
let store: Store;

function transcript(key: string, messages: readonly object[]): readonly Write[] {
  const sessionId = key.replaceAll(/[^a-z0-9]/g, "-");
  const file = transcriptFile("main", sessionId);
  const header = JSON.stringify({ type: "session", version: 3, id: sessionId, timestamp: new Date(NOW).toISOString() });
  const entries = messages.map((message, at) => {
    const [id, parentId] = [`${sessionId}-${at}`, at === 0 ? null : `${sessionId}-${at - 1}`];
    return { id, parentId, type: "message", line: JSON.stringify({ type: "message", id, parentId, timestamp: new Date(NOW).toISOString(), message }) };
  });
  return [
    ["sessions.put", { key, agentId: "main", entry: { sessionId, updatedAt: NOW - messages.length } }],
    ["transcripts.ensure", { file, agentId: "main", sessionId, header }],
    ["transcripts.append", { file, entries }],
  ];
}

beforeAll(async () => {
  stateDir = mkdtempSync(join(tmpdir(), "session-bounds-"));
  store = await openStore({ stateDir, clock });
  const result = { role: "toolResult", toolCallId: "t", toolName: "read", content: [{ type: "text", text: `token ${SECRET}` }] };
  const messages = Array.from({ length: 30 }, (_, at) => (at % 2 === 0 ? { role: "user", content: `${at} ${"x".repeat(900)}` } : result));
  for (let at = 0; at < COUNT; at += 1) await store.commit([...transcript(`agent:main:telegram:direct:${at}`, at < 40 ? messages : messages.slice(0, 2))]);
  await store.commit([
    ...transcript(
      "agent:main:long",
      Array.from({ length: 1500 }, (_, at) => ({ role: "user", content: `m${at}` })),
    ),
  ]);
});
afterAll(async () => {
  await store[Symbol.asyncDispose]();
  rmSync(stateDir, { recursive: true, force: true });
});

const deps = (): SessionToolsDeps => ({
  store,
  config: () => ({ tools: { sessions: { visibility: "agent" } } }),
  clock,
  stateDir,
  version: "1",
  isSandboxed: () => false,
  redact: createRedactor().text,
  models: { describe: async () => ({ ref: "acme/large" }), setModel: async (_key, ref) => ref },
});
interface Shown {
  readonly count: number;
  readonly sessions: readonly { readonly key: string; readonly messages?: readonly { readonly role: string }[] }[];
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly bytes: number;
}
async function run(tool: { create(made: SessionToolsDeps): Tool }, params: Record<string, unknown>): Promise<Shown> {
  const context = { agentId: "main", sessionKey: "agent:main:long", sessionId: "s", runId: "r", workspaceDir: "/nowhere", owner: false };
  const { content } = await tool.create(deps()).run({ id: "c", params, signal: new AbortController().signal, update: () => undefined, context });
  const [part] = content;
  return JSON.parse(part?.type === "text" ? part.text : "") as Shown;
}

test.each([
  [undefined, 50],
  [1, 1],
  [3.9, 3],
  [0, 1],
  [-5, 1],
  [200, 200],
  [1e9, 200],
  [Number.NaN, 50],
])("sessions_list with limit %s shows %s", async (limit, expected) => {
  const { count, sessions } = await run(sessionsListTool, { limit });
  expect([count, sessions.length]).toEqual([expected, expected]);
});

test("sessions_list with activeMinutes that reach before the beginning of time shows what there is", async () => {
  expect((await run(sessionsListTool, { activeMinutes: 1e300, limit: 3 })).count).toBe(3);
  expect((await run(sessionsListTool, { activeMinutes: -1, limit: 3 })).count).toBe(3);
});

test("messages of all listed sessions together are at most 80 KiB, at most 20 of each, without results of tools", async () => {
  const { sessions } = await run(sessionsListTool, { messageLimit: 1000, limit: 200 });
  const messages = sessions.flatMap((session) => session.messages ?? []);
  expect(Buffer.byteLength(JSON.stringify(messages))).toBeLessThan(KIB_80 + 200 * 80);
  for (const session of sessions) expect(session.messages!.length).toBeLessThanOrEqual(20);
  expect(new Set(messages.map(({ role }) => role))).not.toContain("toolResult");
  expect(JSON.stringify(sessions)).not.toContain(SECRET);
  expect((await run(sessionsListTool, { messageLimit: -3, limit: 1 })).sessions[0]).not.toHaveProperty("messages");
});

test.each([
  [undefined, 200],
  [0, 1],
  [-1, 1],
  [2.5, 2],
  [5000, 1000],
  ["many", 200],
])("sessions_history with limit %s shows the newest %s", async (limit, expected) => {
  const { messages, bytes } = await run(sessionsHistoryTool, { sessionKey: "agent:main:long", limit });
  expect(messages).toHaveLength(expected);
  expect(messages.at(-1)!.content).toBe("m1499");
  expect(bytes).toBeLessThanOrEqual(KIB_80);
});

test("sessions_history with results of tools has no secret in them", async () => {
  const { messages } = await run(sessionsHistoryTool, { sessionKey: "agent:main:telegram:direct:3", includeTools: true });
  expect(messages.filter(({ role }) => role === "toolResult")).toHaveLength(15);
  expect(JSON.stringify(messages)).not.toContain(SECRET);
});
