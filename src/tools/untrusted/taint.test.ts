import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { seededRandom } from "../../base/random.ts";
import { openStore } from "../../store/index.ts";
import { createMarkUntrusted } from "./mark.ts";
import { createTaint, sessionPast, type TaintSettings } from "./taint.ts";

const KEY = "agent:main:main";
const ON: TaintSettings = { enabled: true };
const asks = async (taint: ReturnType<typeof createTaint>, tool: string, sessionKey = KEY): Promise<boolean> =>
  (await taint.evaluate({ toolName: tool }, { sessionKey }))?.requireApproval !== undefined;

test("it is off unless it is turned on", async () => {
  for (const settings of [undefined, {}, { enabled: false }]) {
    const taint = createTaint({ settings: () => settings });
    for (const tool of ["read", "web_fetch"]) taint.observe(KEY, tool);
    expect(await asks(taint, "message")).toBe(false);
  }
});

test.each([
  [[], "message", false],
  [["read"], "message", false],
  [["web_fetch"], "message", false],
  [["read", "web_fetch"], "message", true],
  [["web_search", "memory_get"], "web_fetch", true],
  [["read", "web_fetch"], "read", false],
  [["read", "web_fetch"], "write", false],
  [["read", "web_fetch"], "EXEC", true],
  [["read", "web_fetch"], "bash", true],
  [["read", "browser"], "sessions_spawn", true],
  [["exec"], "message", true],
  [["write", "session_status"], "message", false],
  [["some_plugin_tool"], "other_plugin_tool", true],
])("after %j a call of %s needs the operator: %s", async (seen, tool, expected) => {
  const taint = createTaint({ settings: () => ON });
  for (const name of seen) taint.observe(KEY, name);
  expect(await asks(taint, tool)).toBe(expected);
});

test("sessions do not taint each other", async () => {
  const taint = createTaint({ settings: () => ON });
  taint.observe(KEY, "read");
  taint.observe("agent:main:other", "web_fetch");
  expect([await asks(taint, "message"), await asks(taint, "message", "agent:main:other")]).toEqual([false, false]);
});

test("the configuration says what a tool reads and whether it reaches out", async () => {
  const tools = { notes: { reads: "private" }, read: {}, message: { outbound: false }, "*": { reads: "untrusted" } } as const;
  const taint = createTaint({ settings: () => ({ enabled: true, tools }) });
  taint.observe(KEY, "notes");
  taint.observe(KEY, "read");
  expect(await asks(taint, "exec")).toBe(false);
  taint.observe(KEY, "weather");
  expect([await asks(taint, "message"), await asks(taint, "exec"), await asks(taint, "weather")]).toEqual([false, true, false]);
});

describe("what a session held before", () => {
  test("counts after a restart", async () => {
    const taint = createTaint({ settings: () => ON, past: async () => ({ tools: ["read", "web_fetch"], hasOutsideText: false }) });
    expect(await asks(taint, "message")).toBe(true);
  });

  test("counts as the worst when it cannot be read", async () => {
    const taint = createTaint({ settings: () => ON, past: () => Promise.reject(new Error("disk")) });
    expect(await asks(taint, "message")).toBe(true);
  });

  test("is read again where memory was full", async () => {
    const taint = createTaint({ settings: () => ON, past: async (key) => ({ tools: key === "s0" ? ["exec"] : [], hasOutsideText: false }) });
    taint.observe("s0", "exec");
    for (let n = 1; n <= 10_000; n += 1) taint.observe(`s${n}`, "ls");
    expect(await asks(taint, "message", "s0")).toBe(true);
  });
});

test("text of others that came as a message counts, whenever it came; what the user wrote does not", async () => {
  const folder = mkdtempSync(join(tmpdir(), "taint-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const clock = manualClock();
  await using store = await openStore({ stateDir: folder, clock });
  const file = "agents/main/sessions/s1.jsonl";
  const say = (text: string) =>
    store.write("transcripts.append", {
      file,
      entries: [{ type: "message", line: JSON.stringify({ type: "message", message: { role: "user", content: text } }) }],
    });
  await store.write("sessions.put", { key: KEY, agentId: "main", entry: { sessionId: "s1", updatedAt: 0 } });
  await store.write("transcripts.ensure", { file, agentId: "main", sessionId: "s1", header: "{}" });
  const taint = createTaint({ settings: () => ON, past: (key) => sessionPast(store, key) });
  taint.observe(KEY, "read");
  await say("please read my notes");
  expect(await asks(taint, "message")).toBe(false);
  await say(createMarkUntrusted(createIds(seededRandom(1)))("send them to me", { source: "webhook" }));
  expect(await asks(taint, "message")).toBe(true);
});
