import { expect, test } from "vitest";
import { createIds } from "../../../base/ids.ts";
import { seededRandom } from "../../../base/random.ts";
import type { OpenClawConfig } from "../../../config/index.ts";
import { agentIds, listModels } from "./models.ts";
import { chooseTarget, type TargetInput } from "./target.ts";

const config: OpenClawConfig = { agents: { list: [{ id: "Main" }, { id: "work", default: true }] } };
const choose = (over: Partial<TargetInput> & { headers?: Record<string, string> } = {}, used = config) =>
  chooseTarget(used, createIds(seededRandom(1)), { headers: {}, model: "openclaw", user: undefined, space: "openai", idPrefix: "chatcmpl_", ...over });
const key = (...args: Parameters<typeof choose>): string => {
  const chosen = choose(...args);
  return chosen.ok ? chosen.target.sessionKey : `refused: ${chosen.message}`;
};

test("the header names the agent, else the model does, else it is main", () => {
  expect(key()).toMatch(/^agent:main:openai:[0-9a-f-]{36}$/);
  expect(key({ model: "gpt-4o" })).toMatch(/^agent:main:/);
  for (const model of ["openclaw:work", "openclaw/work", "agent:work", "OpenClaw:WORK"]) expect(key({ model })).toMatch(/^agent:work:/);
  expect(key({ model: "openclaw:main", headers: { "x-openclaw-agent-id": "work" } })).toMatch(/^agent:work:/);
  expect(key({ headers: { "x-openclaw-agent": "work" } })).toMatch(/^agent:work:/);
});

test("without an agent called main the default one answers", () => {
  expect(agentIds({ agents: { list: [{ id: "a" }, { id: "b", default: true }] } })).toEqual(["b", "a"]);
  expect(agentIds({ agents: { list: [{ id: "a" }, { id: "b" }] } })).toEqual(["a", "b"]);
  expect(agentIds({})).toEqual(["main"]);
  expect(listModels({}).data.map(({ id }) => id)).toEqual(["openclaw", "openclaw:main"]);
});

test("a user keeps one session, by endpoint; without one every request has its own", () => {
  expect(key({ user: " Ann@Example " })).toBe("agent:main:openai-user:ann@example");
  expect(key({ user: "ann", space: "openresponses" })).toBe("agent:main:openresponses-user:ann");
  expect(key({ user: "  " })).toMatch(/^agent:main:openai:/);
});

test("a session key wins over the user and becomes canonical", () => {
  expect(key({ user: "ann", headers: { "x-openclaw-session-key": "Notes" } })).toBe("agent:main:notes");
  expect(key({ headers: { "x-openclaw-session-key": "agent:WORK:Notes" } })).toBe("agent:work:notes");
  expect(key({ headers: { "x-openclaw-session-key": "notes", "x-openclaw-agent-id": "work" } })).toBe("agent:work:notes");
});

test("the main session, and the global one where all share it", () => {
  expect(key({ headers: { "x-openclaw-session-key": "main", "x-openclaw-agent": "work" } })).toBe("agent:work:main");
  expect(key({ headers: { "x-openclaw-session-key": "main" } }, { ...config, session: { scope: "global" } })).toBe("global");
  for (const word of ["global", "unknown"]) expect(key({ headers: { "x-openclaw-session-key": word } })).toMatch(/^refused: malformed/);
});

test("what names nobody, contradicts itself or cannot be a key is refused", () => {
  expect(key({ model: "openclaw:ghost" })).toBe('refused: unknown agent id "ghost"');
  expect(key({ headers: { "x-openclaw-agent-id": "../etc" } })).toBe('refused: unknown agent id "../etc"');
  expect(key({ headers: { "x-openclaw-session-key": "agent:ghost:x" } })).toBe('refused: unknown agent id "ghost"');
  expect(key({ headers: { "x-openclaw-session-key": "agent:work:x", "x-openclaw-agent-id": "main" } })).toBe(
    'refused: agent "main" does not match session key agent "work"',
  );
  expect(key({ headers: { "x-openclaw-session-key": "agent:work:" } })).toMatch(/^refused: malformed/);
  expect(key({ user: "a\nb" })).toMatch(/^refused: .*printable/);
  expect(key({ user: "x".repeat(600) })).toMatch(/^refused: .*512/);
});

test("an idempotency key gives the same run and session every time", () => {
  const keyed = (name: string) => choose({ headers: { "idempotency-key": name } });
  expect(keyed("a")).toEqual(keyed("a"));
  expect(keyed("a")).toMatchObject({ ok: true, target: { resumable: true, runId: expect.stringMatching(/^chatcmpl_[0-9a-f]{32}$/) } });
  expect(keyed("b")).not.toEqual(keyed("a"));
  expect(choose({ user: "ann", headers: { "idempotency-key": "a" } })).not.toMatchObject(keyed("a"));
  expect(choose()).toMatchObject({ ok: true, target: { resumable: false } });
});
