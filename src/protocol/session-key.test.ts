import * as fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalSessionKey, formatSessionKey, parseSessionKey, resolveSessionKey } from "./session-key.ts";

const naming = { defaultAgentId: "main" };

test.each([
  ["main", "agent:main:main"],
  ["  Main ", "agent:main:main"],
  ["telegram:group:-100", "agent:main:telegram:group:-100"],
  ["Agent:Ops:Telegram:Group:X", "agent:ops:telegram:group:x"],
  ["global", "global"],
  ["UNKNOWN", "unknown"],
  ["agent:ops:main", "agent:ops:main"],
  ["agent:main:dm:alice", "agent:main:direct:alice"],
  ["agent:main:telegram:dm:42", "agent:main:telegram:direct:42"],
  ["agent:main:telegram:work:dm:42", "agent:main:telegram:work:direct:42"],
  ["dm:alice", "agent:main:direct:alice"],
])("%s is stored as %s", (written, canonical) => {
  expect(canonicalSessionKey(written, naming)).toBe(canonical);
});

test.each([
  "agent:main:telegram:group:dm:1",
  "agent:main:telegram:direct:dm:1",
  "agent:main:openai-user:dm:alice",
  "agent:main:telegram:dm",
  "agent:main:a:b:c:dm:1",
])("a dm that is part of an id stays: %s", (key) => {
  expect(canonicalSessionKey(key, naming)).toBe(key);
  expect(parseSessionKey(key)).toBeDefined();
});

test.each(["", "  ", "agent:", "agent:x", "agent::x", "agent:x:", "agent: :x", "agent:x: "])("nothing can be meant by %j", (written) => {
  expect(canonicalSessionKey(written, naming)).toBeUndefined();
  expect(parseSessionKey(written)).toBeUndefined();
});

test("the configured main key is another name of main", () => {
  const named = { defaultAgentId: "Ops", mainKey: " Home " };
  expect(canonicalSessionKey("home", named)).toBe("agent:ops:main");
  expect(canonicalSessionKey("agent:x:HOME", named)).toBe("agent:x:main");
  expect(canonicalSessionKey("homes", named)).toBe("agent:ops:homes");
});

test("in global scope all main sessions are one", () => {
  const global = { defaultAgentId: "main", scope: "global" } as const;
  expect(canonicalSessionKey("main", global)).toBe("global");
  expect(canonicalSessionKey("agent:ops:main", global)).toBe("global");
  expect(canonicalSessionKey("agent:ops:telegram:group:1", global)).toBe("agent:ops:telegram:group:1");
});

test.each(["main", "agent:Main:main", "agent:main:telegram:dm:1", " global", "agent:main: x"])("%j is not canonical", (key) => {
  expect(parseSessionKey(key)).toBeUndefined();
});

const part = fc.oneof(
  fc.constantFrom("agent", "main", "dm", "direct", "group", "telegram", "global", "unknown", "İ", "ẞ", " ", ""),
  fc.string({ maxLength: 6 }),
);
const written = fc.array(part, { maxLength: 7 }).map((parts) => parts.join(":"));
const namings = fc.record(
  { defaultAgentId: fc.constantFrom("main", "Ops"), mainKey: part, scope: fc.constantFrom("per-sender" as const, "global" as const) },
  { requiredKeys: ["defaultAgentId"] },
);

test("a canonical key is its own canonical key, and can be taken apart and put together again", () => {
  fc.assert(
    fc.property(written, namings, (text, named) => {
      const key = canonicalSessionKey(text, named);
      if (key === undefined) return;
      expect(canonicalSessionKey(key, named)).toBe(key);
      const parsed = parseSessionKey(key);
      expect(parsed).toBeDefined();
      expect(formatSessionKey(parsed!)).toBe(key);
    }),
    { numRuns: 2000 },
  );
});

test("case and surrounding space make no difference", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-zA-Z:]{1,20}$/u), (text) => {
      expect(canonicalSessionKey(` ${text.toUpperCase()}\n`, naming)).toBe(canonicalSessionKey(text, naming));
    }),
  );
});

test.each([
  ["main", { ok: true, key: "agent:main:main", agentId: "main" }],
  ["Agent:OPS:Notes", { ok: true, key: "agent:ops:notes", agentId: "ops" }],
  ["global", { ok: true, key: "global", agentId: "main" }],
  ["agent:nope:main", { ok: false, key: "agent:nope:main", agentId: "nope", message: 'unknown agent id "nope"' }],
  ["agent:", { ok: false, key: undefined, message: 'malformed session key "agent:"' }],
  ["agent:../x:main", { ok: false, key: undefined, message: 'malformed session key "agent:../x:main"' }],
])("%s among the agents main and ops", (text, resolved) => {
  expect(resolveSessionKey(text, naming, ["main", "ops"])).toEqual(resolved);
});

test("in global scope the main session of an agent is the global one, of an agent that is not there it is none", () => {
  const global = { ...naming, scope: "global" } as const;
  expect(resolveSessionKey("agent:ops:main", global, ["main", "ops"])).toEqual({ ok: true, key: "global", agentId: "ops" });
  expect(resolveSessionKey("agent:nope:main", global, ["main", "ops"])).toMatchObject({ ok: false, message: 'unknown agent id "nope"' });
});

test("a key longer than any platform makes is malformed, and repeated in part only", () => {
  const found = resolveSessionKey(`x${"y".repeat(2000)}`, naming, ["main"]);
  expect(found).toMatchObject({ ok: false, key: undefined });
  expect(found.ok ? "" : found.message.length).toBeLessThan(400);
});
