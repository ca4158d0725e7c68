import { expect, test } from "vitest";
import {
  grouped,
  groupedByKind,
  isAutomation,
  isUnread,
  listed,
  matches,
  newSessionKey,
  titleOf,
  whereOf,
  withSeen,
  type Seen,
  type SessionRow,
} from "./sidebar-groups.ts";

const row = (fields: Partial<SessionRow> & { key: string }): SessionRow => ({ kind: "direct", updatedAt: 0, ...fields });
const NOW = new Date(2026, 4, 20, 12).getTime();
const HOUR = 3_600_000;

test("a session is called by its label, then by its chat, then by how it began", () => {
  expect(titleOf(row({ key: "agent:main:main", derivedTitle: "hello" }))).toBe("Main chat");
  expect(titleOf(row({ key: "agent:main:main", label: "Home" }))).toBe("Home");
  expect(titleOf(row({ key: "agent:main:web:x", derivedTitle: "hello" }))).toBe("hello");
  expect(titleOf(row({ key: "agent:main:telegram:direct:1", displayName: "Ann", derivedTitle: "hello" }))).toBe("Ann");
  expect(titleOf(row({ key: "agent:main:web:x", label: " " }))).toBe("New chat");
  expect(titleOf(row({ key: "agent:main:web:x", name: "As the gateway says", derivedTitle: "hello" }))).toBe("As the gateway says");
});

test("a session of a channel, a job or a sub-agent says so; one of this page does not", () => {
  expect(whereOf(row({ key: "agent:main:telegram:direct:1" }))).toBe("telegram");
  expect(whereOf(row({ key: "agent:main:cron:1" }))).toBe("cron");
  expect(whereOf(row({ key: "agent:main:web:x", lastChannel: "webchat" }))).toBeUndefined();
  expect(whereOf(row({ key: "agent:main:main", lastChannel: "irc" }))).toBe("irc");
});

test("sessions stand under their day, newest first", () => {
  const sessions = [
    row({ key: "agent:a:web:1", updatedAt: NOW - 30 * HOUR }),
    row({ key: "agent:b:web:2", updatedAt: NOW - HOUR }),
    row({ key: "agent:a:web:3", updatedAt: NOW - 2 * HOUR }),
    row({ key: "agent:a:web:4", updatedAt: NOW - 80 * HOUR }),
  ].map((one) => listed(one, "a"));
  const shape = (by: "day" | "agent") => grouped(sessions, by, NOW).map(({ name, sessions: all }) => [name, ...all.map(({ key }) => key.at(-1))]);
  expect(shape("day")).toEqual([
    ["Today", "2", "3"],
    ["Yesterday", "1"],
    ["This week", "4"],
  ]);
  expect(shape("agent")).toEqual([
    ["b", "2"],
    ["a", "3", "1", "4"],
  ]);
});

test("sessions of jobs, webhooks, sub-agents and heartbeats stand apart, under what they belong to", () => {
  const keys = ["agent:a:cron:1", "agent:a:subagent:2", "agent:b:hook:gmail:3", "agent:a:heartbeat", "agent:b:cron:5"];
  const sessions = keys.map((key, at) => listed(row({ key, updatedAt: at + 1 }), "a"));
  expect(sessions.every(isAutomation)).toBe(true);
  expect(groupedByKind(sessions).map(({ name, sessions: all }) => [name, ...all.map(({ key }) => key)])).toEqual([
    ["Jobs", "agent:b:cron:5", "agent:a:cron:1"],
    ["Webhooks", "agent:b:hook:gmail:3"],
    ["Sub-agents", "agent:a:subagent:2"],
    ["Heartbeats", "agent:a:heartbeat"],
  ]);
  for (const key of ["agent:a:main", "global", "agent:cron:main", "agent:a:telegram:direct:cron:1"]) expect(isAutomation({ key })).toBe(false);
});

test("every word that is looked for must be in a session's title, key or last message", () => {
  const session = listed(row({ key: "agent:main:web:1", derivedTitle: "Buy milk", lastMessagePreview: "and tea" }), "main");
  expect(matches(session, "TEA buy")).toBe(true);
  expect(matches(session, "tea coffee")).toBe(false);
});

test("a session is unread when it changed after it was last shown", () => {
  const session = listed(row({ key: "k", updatedAt: 50 }), "main");
  expect(isUnread(session, { since: 10, at: {} })).toBe(true);
  expect(isUnread(session, { since: 60, at: {} })).toBe(false);
  expect(isUnread(session, withSeen({ since: 10, at: {} }, "k", 50))).toBe(false);
});

test("what is forgotten about old sessions does not make them unread", () => {
  let seen: Seen = { since: 0, at: {} };
  for (let at = 1; at <= 400; at += 1) seen = withSeen(seen, `k${at}`, at);
  expect(Object.keys(seen.at)).toHaveLength(300);
  expect(isUnread(listed(row({ key: "k5", updatedAt: 5 }), "main"), seen)).toBe(false);
});

test("a new conversation gets a key of its agent in lower case", () => {
  expect(newSessionKey("Main", () => 0.5)).toBe("agent:main:web:iiiiiiiiii");
});
