/** Nodes as agents use them: the `nodes` tool and `exec` on a node, asked for by the owner and by others in a chat. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import type { ModelRequest } from "../conformance/channels/lab-model.ts";
import { startTelegram, type FakeTelegram, type User } from "../fakes/telegram/index.ts";
import { enter } from "../harness/device-client.ts";
import { startHost, type HostProcess } from "./host-process.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };

let telegram: FakeTelegram;
let gateway: LabGateway;
let guest: User;
let host: HostProcess;
beforeAll(async () => {
  telegram = await startTelegram();
  guest = telegram.person({ first_name: "Guest" });
  for (const user of [telegram.me, guest]) telegram.direct(user);
  const allowFrom = [String(telegram.me.id), String(guest.id)];
  const own = { enabled: true, botToken: telegram.token, ackReaction: "", streamMode: "off", dmPolicy: "allowlist", allowFrom };
  gateway = await startLabGateway({
    sections: {
      channels: { telegram: own },
      session: { dmScope: "per-channel-peer" },
      commands: { ownerAllowFrom: [`telegram:${telegram.me.id}`] },
      tools: { exec: { host: "node" } },
    },
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
  });
  host = startHost(gateway.url, {
    name: "Shed",
    token: gateway.token,
    rules: { agents: { main: { allowlist: [{ pattern: "/bin/echo" }, { pattern: "/usr/bin/echo" }] } } },
  });
  await host.waitFor("connected to");
});
afterAll(async () => {
  await host?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
  await telegram?.[Symbol.asyncDispose]();
});
beforeEach(() => gateway.model.answers(undefined));

const texts = (user: User): string =>
  telegram
    .messages(user.id)
    .map(({ text }) => text)
    .join("\n");
const lastResult = ({ body }: ModelRequest): string | undefined => {
  const last = (JSON.parse(body) as { messages: readonly { role: string; content: string }[] }).messages.at(-1);
  return last?.role === "tool" ? last.content : undefined;
};
/** The model calls a tool and says what came of it. */
const calling = (name: string, args: object): void => gateway.model.answers((request) => lastResult(request) ?? { text: "", calls: [{ name, args }] });
const questions = () => gateway.operator.frames.filter(({ event }) => event === "exec.approval.requested");

test("the owner's agent lists nodes and runs a listed command there, with the answer marked as untrusted", async () => {
  calling("nodes", { action: "status" });
  telegram.say("n-status");
  await expect.poll(() => texts(telegram.me), PATIENCE).toContain('"displayName": "Shed"');
  calling("nodes", { action: "run", node: "shed", command: ["echo", "from the shed"] });
  telegram.say("n-run");
  await expect.poll(() => texts(telegram.me), PATIENCE).toContain("from the shed");
  const request = gateway.model.requests.findLast(({ body }) => body.includes("from the shed"))!;
  expect(lastResult(request)).toMatch(/EXTERNAL_UNTRUSTED_CONTENT[^]*from the shed/);
});

test("a tool call cannot go past the checks of system.run, nor use what the owner did not allow", async () => {
  const file = join(host.place.home, "past");
  calling("nodes", {
    action: "invoke",
    invokeCommand: "system.run",
    invokeParamsJson: JSON.stringify({ command: ["touch", file], approved: true, approvalDecision: "allow-once" }),
  });
  telegram.say("n-invoke");
  await expect.poll(() => texts(telegram.me), PATIENCE).toContain("system.run cannot be invoked like this");
  calling("nodes", { action: "camera_snap", node: "Shed" });
  telegram.say("n-snap");
  await expect.poll(() => texts(telegram.me), PATIENCE).toContain("action=camera_snap: node command not allowed");
  calling("nodes", { action: "describe", node: "no such node" });
  telegram.say("n-unknown");
  await expect.poll(() => texts(telegram.me), PATIENCE).toContain('unknown node "no such node"');
  expect(existsSync(file)).toBe(false);
});

test("exec runs on the node: listed commands at once, others when the operator has allowed them", async () => {
  const file = join(host.place.home, "allowed");
  calling("exec", { command: "echo via exec" });
  telegram.say("e-listed");
  await expect.poll(() => texts(telegram.me), PATIENCE).toContain("via exec");
  calling("exec", { command: `touch ${file} && echo touched it` });
  telegram.say("e-asked");
  await expect.poll(() => questions().some(({ payload }) => JSON.stringify(payload).includes("touched it")), PATIENCE).toBe(true);
  const { payload } = questions().find((frame) => JSON.stringify(frame.payload).includes("touched it"))!;
  expect(payload!["request"]).toMatchObject({ host: "node", command: `touch ${file} && echo touched it`, nodeId: expect.any(String) });
  expect(existsSync(file)).toBe(false);
  await expect.poll(() => texts(telegram.me), PATIENCE).toContain("Approval required");
  gateway.model.answers(() => "went on");
  await gateway.operator.ask("exec.approval.resolve", { id: payload!["id"], decision: "allow-once" });
  await expect.poll(() => existsSync(file), PATIENCE).toBe(true);
  await expect.poll(() => gateway.model.requests.some(({ body }) => body.includes("touched it") && body.includes("Shed")), PATIENCE).toBe(true);
  await expect.poll(() => texts(telegram.me), PATIENCE).toContain("went on");
});

test("what a guest says reaches no node command that the owner did not allow", async () => {
  const file = join(host.place.home, "by-guest");
  calling("nodes", { action: "run", node: "Shed", command: ["touch", file] });
  telegram.say("g-nodes", { from: guest });
  await expect.poll(() => gateway.model.requests.some(({ user }) => user.includes("g-nodes")), PATIENCE).toBe(true);
  const offered = (
    JSON.parse(gateway.model.requests.find(({ user }) => user.includes("g-nodes"))!.body) as { tools: readonly { function: { name: string } }[] }
  ).tools;
  expect(offered.map((tool) => tool.function.name)).not.toContain("nodes");
  await expect.poll(() => telegram.messages(guest.id).length, PATIENCE).toBeGreaterThan(1);
  calling("exec", { command: `touch ${file}`, security: "full", ask: "off" });
  telegram.say("g-exec", { from: guest });
  await expect.poll(() => questions().some(({ payload }) => JSON.stringify(payload).includes("by-guest")), PATIENCE).toBe(true);
  const { payload } = questions().find((frame) => JSON.stringify(frame.payload).includes("by-guest"))!;
  await expect.poll(() => texts(guest), PATIENCE).toContain("Approval required");
  gateway.model.answers(() => "understood");
  await gateway.operator.ask("exec.approval.resolve", { id: payload!["id"], decision: "deny" });
  await expect.poll(() => gateway.model.requests.some(({ body }) => body.includes("user-denied")), PATIENCE).toBe(true);
  await expect.poll(() => texts(guest), PATIENCE).toContain("understood");
  expect(existsSync(file)).toBe(false);
});

test("the owner's agent shows something on a node's canvas; a guest's agent cannot, and is offered nothing but its own conversation", async () => {
  const client = { id: "node-host", mode: "node", version: "1.0.0", platform: "ios", displayName: "Tablet" } as const;
  const params = { client, commands: ["canvas.present", "canvas.snapshot"], caps: ["canvas"] };
  await using node = await enter(gateway.url, { token: gateway.token, role: "node", scopes: [], params });
  const asked = () => node.frames.filter(({ event }) => event === "node.invoke.request");
  calling("canvas", { action: "present", url: "https://example.com/", x: 5 });
  telegram.say("c-guest", { from: guest });
  await expect.poll(() => texts(guest), PATIENCE).toContain("action=present: node required: no node with a canvas is connected");
  calling("canvas", { action: "present", node: "tablet" });
  telegram.say("c-guest-named", { from: guest });
  await expect.poll(() => texts(guest), PATIENCE).toContain("only the owner uses the canvas of a node");
  expect(asked()).toHaveLength(0);
  calling("canvas", { action: "present", url: "https://example.com/", x: 5 });
  telegram.say("c-owner");
  await expect.poll(() => asked().length, PATIENCE).toBe(1);
  const { id, nodeId, command, paramsJSON } = asked()[0]!.payload as Record<string, string>;
  expect([command, JSON.parse(paramsJSON!)]).toEqual(["canvas.present", { url: "https://example.com/", placement: { x: 5 } }]);
  await node.request("node.invoke.result", { id, nodeId, ok: true, payloadJSON: "{}" });
  await expect.poll(() => texts(telegram.me), PATIENCE).toContain('"shownOn": "Tablet"');
});
