import { expect, test } from "vitest";
import { isMainKey, readableKey, sessionName } from "./session-name.ts";

test("a session is named by its label, its chat, its first message, and at last by its key", () => {
  const key = "agent:main:telegram:group:-100";
  const all = { key, label: "Mine", displayName: "#bakery", subject: "Bread", title: "how do I bake" };
  expect(sessionName(all)).toBe("Mine");
  expect(sessionName({ ...all, label: "  " })).toBe("#bakery");
  expect(sessionName({ key, subject: "Bread", title: "how do I bake" })).toBe("Bread");
  expect(sessionName({ key, title: "how do I bake" })).toBe("how do I bake");
  expect(sessionName({ key })).toBe("Telegram group -100");
  expect(sessionName({ key: "agent:main:web:k3j4h5" })).toBe("New chat");
});

test("the main chat keeps its name whatever its messages are, unless its owner gave it another", () => {
  expect(sessionName({ key: "agent:main:main", title: "hello" })).toBe("Main chat");
  expect(sessionName({ key: "agent:ops:main", title: "hello" })).toBe("Main chat (ops)");
  expect(sessionName({ key: "global" })).toBe("Main chat");
  expect(sessionName({ key: "agent:main:main", label: "Home" })).toBe("Home");
  expect(isMainKey("global")).toBe(true);
  expect(isMainKey("agent:main:mainly")).toBe(false);
});

test.each([
  ["agent:main:web:k3j4h5", "Chat k3j4h5"],
  ["agent:ops:telegram:direct:42", "Telegram 42"],
  ["agent:ops:telegram:work:direct:42", "Telegram work 42"],
  ["agent:main:slack:channel:c1:thread:17.5", "Slack channel c1 17.5"],
  ["agent:main:direct:alice", "Alice"],
  ["agent:main:cron:nightly", "Cron nightly"],
  ["agent:main:subagent:0aae3335-1b1c-4c1d-8e1f-0123456789ab", "Subagent 0aae3335"],
  ["agent:main:notes", "notes"],
  ["unknown", "unknown"],
])("%s reads as %s", (key, words) => {
  expect(readableKey(key)).toBe(words);
});
