import { expect, test } from "vitest";
import type { OpenClawConfig } from "../../config/index.ts";
import { agentAction, mappedAction, wakeAction } from "./action.ts";
import { mappingsOf, type Mapping } from "./mappings.ts";

const withHooks = (hooks: OpenClawConfig["hooks"] = {}, more: OpenClawConfig = {}): OpenClawConfig => ({ ...more, hooks: { enabled: true, ...hooks } });
const agents: OpenClawConfig["agents"] = { list: [{ id: "main", default: true }, { id: "Ops" }] };
const ask = (fields: Readonly<Record<string, unknown>>, config = withHooks(), mapping?: Mapping) =>
  agentAction({ message: "m", ...fields }, { config, uuid: () => "u-1" }, mapping);
const values = { path: "x", now: "2026-01-01T00:00:00.000Z", headers: {}, query: {}, payload: {} };

test("a run gets a session of its own, the default one, or the one that the sender may choose", () => {
  expect(ask({})).toMatchObject({ sessionKey: "agent:main:hook:u-1", isMarked: true, name: "Hook", wakeMode: "now", deliver: true, channel: "last" });
  expect(ask({}, withHooks({ defaultSessionKey: "Hook:In" }))).toMatchObject({ sessionKey: "agent:main:hook:in", isMarked: true });
  expect(() => ask({ sessionKey: "hook:a" })).toThrow(/^sessionKey is disabled for external \/hooks\/agent payloads; /);
  const open = withHooks({ allowRequestSessionKey: true });
  expect(ask({ sessionKey: "hook:a" }, open)).toMatchObject({ sessionKey: "agent:main:hook:a", isMarked: true });
  expect(ask({ sessionKey: "main" }, open)).toMatchObject({ sessionKey: "agent:main:main", isMarked: false });
  expect(() => ask({ sessionKey: "agent:" }, open)).toThrow(/malformed session key/);
  expect(() => ask({ sessionKey: "agent:nobody:main" }, open)).toThrow(/unknown agent/);
});

test("prefixes hold for keys of senders and of mappings", () => {
  const config = withHooks({ allowRequestSessionKey: true, allowedSessionKeyPrefixes: ["hook:", "crm:"] });
  expect(ask({ sessionKey: "CRM:7" }, config).sessionKey).toBe("agent:main:crm:7");
  expect(() => ask({ sessionKey: "main" }, config)).toThrow("sessionKey must start with one of: hook:, crm:");
  expect(() => mappedAction({ label: "m", sessionKey: "main", messageTemplate: "m" }, values, {}, { config, uuid: () => "u" })).toThrow(
    /must start with one of/,
  );
});

test("agents are limited by the list, also when a key names one; an unknown one is the default", () => {
  const config = withHooks({ allowRequestSessionKey: true }, { agents });
  expect(ask({ agentId: "ops" }, config).sessionKey).toBe("agent:ops:hook:u-1");
  expect(ask({ agentId: "nobody" }, config).agentId).toBe("main");
  for (const allowedAgentIds of [[], ["main"]]) {
    const limited = withHooks({ allowRequestSessionKey: true, allowedAgentIds }, { agents });
    expect(() => ask({ agentId: "ops" }, limited)).toThrow("agentId is not allowed by hooks.allowedAgentIds");
    expect(() => ask({ sessionKey: "agent:ops:main" }, limited)).toThrow("agentId is not allowed by hooks.allowedAgentIds");
  }
  expect(ask({ agentId: "ops" }, withHooks({ allowedAgentIds: ["*"] }, { agents })).agentId).toBe("ops");
});

test("channels are those that are configured", () => {
  const config = withHooks({}, { channels: { telegram: {}, defaults: {} } });
  expect(ask({ channel: "Telegram", to: "1", deliver: false }, config)).toMatchObject({ channel: "telegram", to: "1", deliver: false });
  expect(() => ask({ channel: "irc" }, config)).toThrow("channel must be last|telegram");
});

test("mail has its own model and thinking, unless the mapping names others", () => {
  const config = withHooks({ presets: ["gmail"], gmail: { model: "small", thinking: "low", allowUnsafeExternalContent: true } });
  const [gmail] = mappingsOf(config);
  const mail = { ...values, payload: { messages: [{ id: "9", from: "a" }] } };
  expect(mappedAction(gmail!, mail, {}, { config, uuid: () => "u" })).toMatchObject({
    sessionKey: "agent:main:hook:gmail:9",
    model: "small",
    thinking: "low",
    isMail: true,
    isMarked: false,
  });
  expect(mappedAction(gmail!, mail, { model: "large" }, { config, uuid: () => "u" })).toMatchObject({ model: "large", thinking: "low" });
  // Without an id there is no session to name.
  expect(mappedAction(gmail!, values, {}, { config, uuid: () => "u" })).toMatchObject({ sessionKey: "agent:main:hook:u", isMail: false });
});

test("only a mapping can leave text from outside unmarked, and signed text is marked in every session", () => {
  expect(ask({ allowUnsafeExternalContent: true }).isMarked).toBe(true);
  expect(ask({ allowUnsafeExternalContent: true }, withHooks(), { label: "m" }).isMarked).toBe(false);
  const signed: Mapping = { label: "m", signed: { preset: "github", secret: "s", secretAt: "x" } };
  expect(ask({ sessionKey: "main" }, withHooks(), signed).isMarked).toBe(true);
  expect(mappedAction({ ...signed, action: "wake", textTemplate: "t" }, values, {}, { config: withHooks(), uuid: () => "u" })).toMatchObject({
    isForeign: true,
  });
});

test("what is missing is named", () => {
  expect(() => wakeAction({})).toThrow("text required");
  expect(wakeAction({ text: " a \ud800", mode: null })).toEqual({ kind: "wake", text: "a \ufffd", mode: "now" });
  expect(() => agentAction({}, { config: withHooks(), uuid: () => "u" })).toThrow("message required");
  expect(() => mappedAction({ label: "m" }, values, {}, { config: withHooks(), uuid: () => "u" })).toThrow("hook mapping requires message");
  expect(() => mappedAction({ label: "m", action: "wake" }, values, {}, { config: withHooks(), uuid: () => "u" })).toThrow("hook mapping requires text");
  expect(() => ask({ model: 7 })).toThrow("model required");
});

test.each([
  [{ wakeMode: "zzz" }, "wakeMode must be now|next-heartbeat"],
  [{ deliver: "no" }, "deliver must be true or false"],
  [{ timeoutSeconds: -1 }, "timeoutSeconds must be a number of seconds"],
  [{ timeoutSeconds: "abc" }, "timeoutSeconds must be a number of seconds"],
  [{ to: {} }, "to must be a string"],
  [{ name: {} }, "name must be a string"],
  [{ agentId: ["main"] }, "agentId must be a string"],
  [{ sessionKey: 5 }, "sessionKey must be a string"],
])("the fields %j are refused", (fields, message) => {
  expect(() => ask(fields)).toThrow(message);
});

test("a wrong mode or action is refused, from a sender or from code; what is not known is ignored", () => {
  expect(() => wakeAction({ text: "a", mode: "later" })).toThrow("mode must be now|next-heartbeat");
  expect(() => mappedAction({ label: "m", messageTemplate: "m" }, values, { action: "zzz" }, { config: withHooks(), uuid: () => "u" })).toThrow(
    "action must be agent|wake",
  );
  expect(ask({ colour: "red", to: 7, timeoutSeconds: 1e12 })).toMatchObject({ to: "7", timeoutSeconds: 2_000_000 });
});
