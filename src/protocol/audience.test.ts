import { expect, test } from "vitest";
import { EVENTS, isDroppable, isFor, SCOPES, type EventName } from "./index.ts";

const seenBy = (client: Parameters<typeof isFor>[1]) => (Object.keys(EVENTS) as EventName[]).filter((name) => isFor(EVENTS[name].audience, client)).sort();

const FOR_ALL = ["shutdown", "talk.mode", "tick", "update.available", "voicewake.changed"];
const FOR_READERS = [...FOR_ALL, "agent", "chat", "cron", "health", "heartbeat", "presence", "subagent"].sort();

test("a client without scopes gets no events about conversations", () => {
  expect(seenBy({ role: "operator", scopes: [] })).toEqual(FOR_ALL);
});

test("readers and nodes see conversations, but neither pairing nor approvals", () => {
  expect(seenBy({ role: "operator", scopes: ["operator.read"] })).toEqual(FOR_READERS);
  expect(seenBy({ role: "operator", scopes: ["operator.write"] })).toEqual(FOR_READERS);
  expect(seenBy({ role: "node", scopes: [] })).toEqual(FOR_READERS);
});

test("a node's scopes open nothing", () => {
  expect(seenBy({ role: "node", scopes: SCOPES })).toEqual(FOR_READERS);
});

test("pairing and approvals go to those who decide about them", () => {
  const pairing = ["device.pair.requested", "device.pair.resolved", "node.pair.requested", "node.pair.resolved"];
  const approvals = ["exec.approval.requested", "exec.approval.resolved", "plugin.approval.requested", "plugin.approval.resolved"];
  expect(seenBy({ role: "operator", scopes: ["operator.pairing"] })).toEqual([...FOR_ALL, ...pairing].sort());
  expect(seenBy({ role: "operator", scopes: ["operator.approvals"] })).toEqual([...FOR_ALL, ...approvals].sort());
  expect(seenBy({ role: "operator", scopes: ["operator.admin"] })).toEqual([...FOR_READERS, ...pairing, ...approvals].sort());
});

test("a slow reader misses only what the next event replaces", () => {
  const missed = (Object.keys(EVENTS) as EventName[]).filter((name) => isDroppable(EVENTS[name], {}));
  expect(missed.sort()).toEqual([
    "chat.changed",
    "cron",
    "device.pair.requested",
    "device.pair.resolved",
    "exec.approval.requested",
    "exec.approval.resolved",
    "heartbeat",
    "node.invoke.progress",
    "node.pair.requested",
    "node.pair.resolved",
    "plugin.approval.requested",
    "plugin.approval.resolved",
    "presence",
    "skills.install.progress",
    "subagent",
    "talk.mode",
    "tick",
    "update.available",
    "voicewake.changed",
  ]);
  expect(isDroppable(EVENTS.chat, { state: "delta" })).toBe(true);
  expect(isDroppable(EVENTS.chat, { state: "final" })).toBe(false);
});
