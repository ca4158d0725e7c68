import { expect, test } from "vitest";
import type { OpenClawConfig } from "../../../config/index.ts";
import type { SessionRow } from "../../../store/index.ts";
import type { ToolCall, ToolOutcome } from "../../tool.ts";
import type { SessionToolsDeps } from "./deps.ts";
import { sessionsSendTool, type SessionPost, type SessionReply } from "./sessions-send.ts";

type Sent = Parameters<SessionPost["send"]>[0];

const row = (key: string, entry: object = {}): SessionRow =>
  ({ key, agentId: key.split(":")[1]!, entry: { sessionId: "s", ...entry } }) as unknown as SessionRow;

function lab(config: OpenClawConfig, answer: SessionReply = { status: "ok", reply: "done" }) {
  const rows = [row("agent:main:main"), row("agent:main:work", { label: "Work" }), row("agent:other:main")];
  const read = async (kind: string, input: { key?: string; agentId?: string; sessionId?: string; label?: string }): Promise<unknown> => {
    if (kind === "sessions.get") return rows.find(({ key }) => key === input.key);
    if (kind === "sessions.byLabel") return rows.filter(({ agentId, entry }) => agentId === input.agentId && entry["label"] === input.label);
    return [];
  };
  const sent: Sent[] = [];
  const deps = { store: { read }, config: () => config, isSandboxed: () => false } as unknown as SessionToolsDeps;
  const tool = sessionsSendTool.create({ ...deps, post: { send: async (message) => (sent.push(message), answer) } });
  const context = { agentId: "main", sessionKey: "agent:main:main", runId: "run", sessionId: "s", workspaceDir: "", owner: true, channel: "telegram" };
  const run = async (params: object): Promise<{ readonly outcome: ToolOutcome; readonly result: Record<string, unknown> }> => {
    const outcome = await tool.run({ id: "call", params, context, signal: new AbortController().signal, update: () => {} } as unknown as ToolCall);
    const [first] = outcome.content;
    const text = first?.type === "text" ? first.text : "";
    return { outcome, result: text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : { text } };
  };
  return { run, sent };
}

const AGENT: OpenClawConfig = { tools: { sessions: { visibility: "agent" } } };

test("sends a message to a session by key or label and returns the answer", async () => {
  const { run, sent } = lab(AGENT);
  expect((await run({ sessionKey: "agent:main:work", message: " hello " })).result).toMatchObject({
    status: "ok",
    reply: "done",
    sessionKey: "agent:main:work",
  });
  expect((await run({ label: "Work", message: "again" })).result).toMatchObject({ status: "ok" });
  expect(sent.map(({ to, text, timeoutMs }) => [to.key, text, timeoutMs])).toEqual([
    ["agent:main:work", "hello", 30_000],
    ["agent:main:work", "again", 30_000],
  ]);
  expect(sent[0]).toMatchObject({ from: { key: "agent:main:main", channel: "telegram" }, runId: "send-run-call" });
});

test("refuses sessions that the caller may not see, and sends nothing", async () => {
  for (const [config, sessionKey] of [
    [{}, "agent:main:work"],
    [AGENT, "agent:other:main"],
    [{ tools: { sessions: { visibility: "all" } } } as OpenClawConfig, "agent:other:main"],
  ] as const) {
    const { run, sent } = lab(config);
    expect((await run({ sessionKey, message: "x" })).result).toMatchObject({ status: "forbidden" });
    expect(sent).toEqual([]);
  }
});

test("reaches another agent when agent-to-agent messages are allowed", async () => {
  const { run } = lab({ tools: { sessions: { visibility: "all" }, agentToAgent: { enabled: true, allow: ["*"] } } });
  expect((await run({ sessionKey: "agent:other:main", message: "x" })).result).toMatchObject({ status: "ok" });
});

test("the caller's own session, an unknown label and an empty message are errors", async () => {
  const { run, sent } = lab(AGENT);
  expect((await run({ sessionKey: "agent:main:main", message: "x" })).result).toMatchObject({ status: "error" });
  expect((await run({ label: "Nobody", message: "x" })).result).toMatchObject({ status: "error", error: expect.stringContaining("sessions_list") });
  expect((await run({ sessionKey: "agent:main:work", message: "  " })).outcome.isError).toBe(true);
  expect(sent).toEqual([]);
});

test("does not wait with a timeout of 0 seconds, and reports a failed run as an error", async () => {
  const waiting = lab(AGENT, { status: "accepted" });
  expect((await waiting.run({ sessionKey: "agent:main:work", message: "x", timeoutSeconds: 0 })).result).toMatchObject({ status: "accepted" });
  expect(waiting.sent[0]!.timeoutMs).toBe(0);
  const failing = lab(AGENT, { status: "error", error: "no model" });
  expect(await failing.run({ sessionKey: "agent:main:work", message: "x" })).toMatchObject({
    outcome: { isError: true },
    result: { status: "error", error: "no model" },
  });
});
