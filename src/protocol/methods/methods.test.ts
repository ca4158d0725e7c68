import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { METHODS, type EventPayload, type MethodParams, type MethodResult } from "../catalog.ts";
import { createCheck, type JsonSchema } from "../check.ts";
import { DECLARED_EVENTS } from "../events.ts";
import { DevicePairRequestSchema, NodePairRequestSchema } from "../pairing.ts";
import { DECLARED_METHODS } from "./index.ts";

const names = (file: string): string[] => JSON.parse(readFileSync(new URL(`../../../test/fixtures/protocol/${file}.json`, import.meta.url), "utf8"));
const specs = Object.entries(DECLARED_METHODS);

/** Not among the 89: ours, and one that was documented later. */
const ADDED = [
  "agents.files.find",
  "agents.templates",
  "backup.create",
  "backup.list",
  "backup.read",
  "backup.remove",
  "backup.restore",
  "backup.verify",
  "canvas.action",
  "canvas.attach",
  "canvas.invoke",
  "canvas.result",
  "channels.pairing.allowed",
  "channels.pairing.approve",
  "channels.pairing.list",
  "channels.pairing.reject",
  "channels.pairing.revoke",
  "channels.start",
  "channels.stop",
  "chat.branch",
  "chat.branches",
  "chat.entry",
  "chat.image",
  "chat.file",
  "chat.page",
  "chat.queued",
  "chat.regenerate",
  "chat.search",
  "chat.steer",
  "chat.watch",
  "commands.list",
  "config.check",
  "config.edit",
  "config.restore",
  "config.version",
  "config.versions",
  "cron.next",
  "cron.upcoming",
  "exec.approval.history",
  "exec.approval.list",
  "exec.approvals.explain",
  "exec.approvals.forget",
  "exec.approvals.policy",
  "exec.approvals.remembered",
  "exec.approvals.restore",
  "hooks.status",
  "login.code",
  "node.invoke.cancel",
  "node.invokes",
  "node.pair.remove",
  "node.invoke.progress",
  "agents.files.restore",
  "agents.files.version",
  "agents.files.versions",
  "models.rests.clear",
  "models.rests.list",
  "overview",
  "overview.history",
  "plugins.enable",
  "plugins.install",
  "plugins.list",
  "plugins.reload",
  "plugins.stats",
  "plugins.uninstall",
  "prompts.list",
  "prompts.put",
  "prompts.remove",
  "channels.pairing.owner",
  "route.explain",
  "security.audit",
  "security.fix",
  "security.progress",
  "sessions.context",
  "sessions.export",
  "sessions.pluginPatch",
  "sessions.restore",
  "setup.channel",
  "setup.key",
  "setup.local",
  "setup.status",
  "skills.add",
  "skills.create",
  "skills.file.get",
  "skills.file.set",
  "skills.remove",
  "skills.review",
  "subagents.kill",
  "subagents.list",
  "subagents.steer",
  "talk.ready",
  "talk.speak",
  "talk.transcribe",
  "tools.catalog",
  "tools.explain",
  "message.action",
  "message.resend",
  "memory.forget",
  "memory.index",
  "memory.notes.delete",
  "memory.notes.get",
  "memory.notes.list",
  "memory.notes.restore",
  "memory.notes.set",
  "memory.recalls",
  "memory.search",
  "memory.status",
  "update.check",
  "update.restart",
  "update.status",
  "usage.budgets",
  "why",
];

test("the advertised methods are the 89 documented ones and ours", () => {
  const advertised = Object.entries(METHODS).filter(([, facts]) => facts.advertised !== false);
  expect(advertised.map(([name]) => name).sort()).toEqual([...names("methods"), ...ADDED].sort());
  expect(advertised).toHaveLength(89 + ADDED.length);
});

test("the methods that are handled but not advertised are the documented ones", () => {
  const quiet = Object.entries(METHODS).filter(([, facts]) => facts.advertised === false);
  expect(quiet.map(([name]) => name).sort()).toEqual([
    "chat.inject",
    "poll",
    "push.test",
    "sessions.resolve",
    "sessions.usage",
    "sessions.usage.logs",
    "sessions.usage.timeseries",
    "web.login.start",
    "web.login.wait",
  ]);
});

test("the events are the 19 documented ones, one for those who watch a session, two for those who show a canvas, one about sub-agents, one about installs for skills, two about commands of nodes (one that cancels them, one with their output), and two for questions of plugins", () => {
  expect(Object.keys(DECLARED_EVENTS).sort()).toEqual(
    [
      ...names("events"),
      "canvas.changed",
      "canvas.request",
      "chat.changed",
      "node.invoke.cancel",
      "node.invoke.progress",
      "plugin.approval.requested",
      "plugin.approval.resolved",
      "skills.install.progress",
      "subagent",
    ].sort(),
  );
});

test("checks can be made of every shape", () => {
  for (const [name, spec] of specs) {
    expect(() => createCheck(spec.params as JsonSchema), name).not.toThrow();
    expect(() => createCheck(spec.result as JsonSchema), name).not.toThrow();
  }
});

test("whatever changes something takes an idempotency key", () => {
  for (const [name, spec] of specs.filter(([, { effect }]) => effect)) {
    const params = spec.params as JsonSchema;
    for (const kind of params.anyOf ?? [params]) {
      expect(kind.additionalProperties === true || Object.hasOwn(kind.properties ?? {}, "idempotencyKey"), name).toBe(true);
    }
  }
});

test("the documented keys stay required, and so do those that begin a run or name the command to cancel", () => {
  const required = specs.filter(([, spec]) => (spec.params as JsonSchema).required?.includes("idempotencyKey")).map(([name]) => name);
  expect(required.sort()).toEqual(["agent", "chat.regenerate", "chat.send", "node.invoke", "node.invoke.cancel", "poll", "send"]);
});

test("a method that takes a node's word is for nodes only, and the other way round", () => {
  const forNodes = specs.filter(([, spec]) => spec.access === "node").map(([name]) => name);
  expect(forNodes.sort()).toEqual(["node.event", "node.invoke.progress", "node.invoke.result", "skills.bins"]);
});

test("what only reads asks for no more than reading, except where secrets or other people's access are shown", () => {
  const more = specs.filter(([, spec]) => !spec.effect && spec.access !== "operator.read" && spec.access !== "node").map(([name, spec]) => [name, spec.access]);
  expect(Object.fromEntries(more)).toEqual({
    "agent.wait": "operator.write",
    // Names and contents of the gateway's own files, and what could be attacked.
    "backup.list": "operator.admin",
    "backup.read": "operator.admin",
    "security.audit": "operator.admin",
    "skills.review": "operator.admin",
    "security.progress": "operator.admin",
    "update.status": "operator.admin",
    // Who shows a canvas answers for it.
    "canvas.attach": "operator.write",
    "canvas.result": "operator.write",
    "channels.pairing.allowed": "operator.pairing",
    "channels.pairing.list": "operator.pairing",
    "config.check": "operator.admin",
    "config.edit": "operator.admin",
    "config.schema": "operator.admin",
    "config.version": "operator.admin",
    "config.versions": "operator.admin",
    "device.pair.list": "operator.pairing",
    "exec.approval.history": "operator.approvals",
    "exec.approval.list": "operator.approvals",
    "exec.approval.waitDecision": "operator.approvals",
    "exec.approvals.explain": "operator.admin",
    "exec.approvals.get": "operator.admin",
    "exec.approvals.policy": "operator.admin",
    "exec.approvals.node.get": "operator.admin",
    "exec.approvals.remembered": "operator.admin",
    "node.pair.list": "operator.pairing",
    "node.pair.verify": "operator.pairing",
    // They cost what the operator pays for.
    "talk.speak": "operator.write",
    "talk.transcribe": "operator.write",
    "web.login.wait": "operator.admin",
    "wizard.status": "operator.admin",
  });
});

test("what a caller writes and what a handler answers is typed by the declaration", () => {
  const sent: MethodParams<"chat.send"> = { sessionKey: "main", message: "hi", idempotencyKey: "k" };
  // @ts-expect-error the key is required
  const without: MethodParams<"chat.send"> = { sessionKey: "main", message: "hi" };
  // @ts-expect-error a word that is not among the known ones
  const target: MethodParams<"wake"> = { mode: "later", text: "x" };
  // @ts-expect-error answers are closed where the contract is
  const answer: MethodResult<"set-heartbeats"> = { ok: true, enabled: true, extra: 1 };
  const open: MethodResult<"channels.logout"> = { channel: "x", accountId: "y", cleared: true, extra: 1 };
  const event: EventPayload<"tick"> = { ts: 1 };
  expect([sent, without, target, answer, open, event]).toHaveLength(6);
});

test("nothing that changes something is open to readers", () => {
  expect(specs.filter(([, spec]) => spec.effect && spec.access === "operator.read")).toEqual([]);
});

test("fields that several shapes share are declared once", () => {
  const devices = DECLARED_METHODS["device.pair.list"].result.properties.paired.items.properties;
  const node = DECLARED_METHODS["node.pair.list"].result as unknown as { properties: { paired: { items: { properties: Record<string, unknown> } } } };
  const asked = DevicePairRequestSchema.properties;
  for (const name of ["deviceId", "publicKey", "displayName", "clientId", "clientMode", "roles", "scopes", "remoteIp"] as const) {
    expect(devices[name], name).toBe(asked[name]);
  }
  expect(node.properties.paired.items.properties["approvedAtMs"]).toBe(devices.approvedAtMs);
  expect(node.properties.paired.items.properties["deviceFamily"]).toBe(NodePairRequestSchema.properties.deviceFamily);
  expect(DECLARED_METHODS["node.pair.approve"].params).toBe(DECLARED_METHODS["device.pair.approve"].params);
});
