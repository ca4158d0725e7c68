import { describe, expect, test } from "vitest";
import { createTaint, type TaintSettings } from "./taint.ts";

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

test("sessions do not taint each other, and a new one is clean", async () => {
  const taint = createTaint({ settings: () => ON });
  taint.observe(KEY, "read");
  taint.observe("agent:main:other", "web_fetch");
  expect([await asks(taint, "message"), await asks(taint, "message", "agent:main:other")]).toEqual([false, false]);
  taint.mark(KEY, "untrusted");
  expect([await asks(taint, "message"), taint.flags(KEY)]).toEqual([true, { private: true, untrusted: true }]);
  taint.forget(KEY);
  expect([await asks(taint, "message"), taint.flags(KEY)]).toEqual([false, { private: false, untrusted: false }]);
});

test("the configuration says what a tool reads and whether it reaches out", async () => {
  const tools = { notes: { reads: "private" }, read: {}, message: { outbound: false }, "*": { reads: "untrusted" } } as const;
  const taint = createTaint({ settings: () => ({ enabled: true, tools }) });
  taint.observe(KEY, "notes");
  taint.observe(KEY, "read");
  expect(taint.flags(KEY)).toEqual({ private: true, untrusted: false });
  taint.observe(KEY, "weather");
  expect([await asks(taint, "message"), await asks(taint, "exec"), await asks(taint, "weather")]).toEqual([false, true, false]);
});

describe("what a session held before", () => {
  test("counts after a restart, and is read once", async () => {
    const reads: string[] = [];
    const history = (sessionKey: string): string[] => (reads.push(sessionKey), ["read", "web_fetch"]);
    const taint = createTaint({ settings: () => ON, history });
    expect([await asks(taint, "message"), await asks(taint, "message")]).toEqual([true, true]);
    expect(reads).toEqual([KEY]);
  });

  test("counts as the worst when it cannot be read", async () => {
    const taint = createTaint({ settings: () => ON, history: () => Promise.reject(new Error("disk")) });
    expect(await asks(taint, "message")).toBe(true);
  });
});

test("memory is bounded, and what was dropped is read again", async () => {
  const taint = createTaint({ settings: () => ON, history: (key) => (key === "s0" ? ["exec"] : []) });
  taint.observe("s0", "exec");
  for (let n = 1; n <= 10_000; n += 1) taint.observe(`s${n}`, "ls");
  expect(taint.flags("s0")).toEqual({ private: false, untrusted: false });
  expect(await asks(taint, "message", "s0")).toBe(true);
});
