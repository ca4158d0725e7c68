import { createTestHost, type TestHost } from "openclaw/plugin-sdk/testing";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const plugins = [fileURLToPath(new URL(".", import.meta.url))];
const folder = (host: TestHost): string => join(host.stateDir, "audit-log");
const text = (host: TestHost): string => readFileSync(join(folder(host), "audit.jsonl"), "utf8");
const lines = (host: TestHost): Record<string, unknown>[] =>
  text(host)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const SECRET = "sk-very-secret-0123456789";

test("tool calls, messages and sessions are written down in order", async () => {
  await using host = await createTestHost({ plugins });
  const ctx = { channelId: "telegram", senderId: "42", sessionKey: "agent:main:main" };
  await host.hooks.run("session_start", { sessionId: "s1" }, { sessionId: "s1" });
  await host.hooks.run("message_received", { from: "42", content: "hello" }, ctx);
  await host.hooks.run(
    "after_tool_call",
    { toolName: "exec", params: { command: "ls", cwd: "/" }, durationMs: 12 },
    { toolName: "exec", sessionKey: "agent:main:main" },
  );
  await host.hooks.run("after_tool_call", { toolName: "read", params: {}, error: "no such file" }, { toolName: "read" });
  await host.hooks.run("message_sent", { to: "42", content: "done", success: true }, ctx);
  await host.hooks.run("session_end", { sessionId: "s1", messageCount: 2, reason: "reset" }, { sessionId: "s1" });
  expect(lines(host)).toMatchObject([
    { kind: "session started", sessionId: "s1" },
    { kind: "received", channelId: "telegram", senderId: "42", content: { chars: 5 } },
    { kind: "tool", tool: "exec", parameters: ["command", "cwd"], ok: true, durationMs: 12 },
    { kind: "tool", tool: "read", ok: false },
    { kind: "sent", to: "42", ok: true, content: { chars: 4 } },
    { kind: "session ended", reason: "reset", messageCount: 2 },
  ]);
});

test("nothing that was said, asked or answered is in the file, and only its owner reads it", async () => {
  await using host = await createTestHost({ plugins });
  await host.hooks.run("message_received", { from: "42", content: SECRET, metadata: { token: SECRET } }, { channelId: "x" });
  await host.hooks.run(
    "after_tool_call",
    { toolName: "exec", params: { env: { KEY: SECRET } }, result: { content: SECRET }, error: SECRET },
    { toolName: "exec" },
  );
  await host.hooks.run("message_sent", { to: "42", content: SECRET, success: false, error: SECRET }, { channelId: "x" });
  expect(lines(host)).toHaveLength(3);
  expect(text(host)).not.toContain(SECRET);
  expect(statSync(join(folder(host), "audit.jsonl")).mode & 0o777).toBe(0o600);
});

test("a file that is full is set aside, and the oldest go", async () => {
  const config = { plugins: { entries: { "audit-log": { config: { maxBytes: 10_000, keep: 2 } } } } };
  await using host = await createTestHost({ plugins, config });
  for (let round = 0; round < 400; round += 1) await host.hooks.run("after_tool_call", { toolName: `tool_${round}`, params: {} }, { toolName: "t" });
  expect(readdirSync(folder(host)).sort()).toEqual(["audit.1.jsonl", "audit.2.jsonl", "audit.jsonl"]);
  for (const name of readdirSync(folder(host))) expect(statSync(join(folder(host), name)).size).toBeLessThanOrEqual(10_000);
  expect(lines(host).at(-1)).toMatchObject({ tool: "tool_399" });
});
