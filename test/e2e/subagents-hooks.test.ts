/** What plugins decide about sub-agents and heartbeats in a real gateway, over a channel that a plugin brings. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { isTask, labChat, lastResult, PATIENCE, spawning } from "../harness/lab-chat.ts";

/** A channel that notes what it sends, and hooks that do what a client has set. */
const CODE = `
export default function register(api) {
  const state = { sent: [], ended: [], ready: true };
  api.on("subagent_spawning", () => (state.refusal ? { status: "error", error: state.refusal } : { status: "ok" }));
  api.on("subagent_delivery_target", () => (state.target ? { origin: state.target } : undefined));
  api.on("subagent_ended", (event) => void state.ended.push(event));
  api.on("heartbeat_prompt_contribution", () => (state.contribution ? { appendContext: state.contribution } : undefined));
  let inbound;
  api.registerChannel({
    plugin: {
      id: "watch",
      meta: { id: "watch", label: "Watch", selectionLabel: "Watch", docsPath: "", blurb: "" },
      capabilities: { chatTypes: ["direct"] },
      config: { listAccountIds: () => ["default"], resolveAccount: () => ({ accountId: "default" }), isConfigured: () => true, isEnabled: () => true },
      heartbeat: { checkReady: async () => ({ ok: state.ready, reason: "the line is cut" }) },
      outbound: {
        deliveryMode: "direct",
        textChunkLimit: 4000,
        sendText: async ({ to, text }) => ({ channel: "watch", messageId: String(state.sent.push({ to, text })) }),
      },
      gateway: {
        startAccount: ({ abortSignal, inbound: given }) =>
          new Promise((resolve) => {
            inbound = given;
            abortSignal.addEventListener("abort", () => resolve());
          }),
      },
    },
  });
  api.registerGatewayMethod("witness.set", async ({ params, respond }) => respond(true, { ...Object.assign(state, params) }));
  api.registerGatewayMethod("witness.state", async ({ respond }) => respond(true, state));
  api.registerGatewayMethod("witness.say", async ({ params: { from, text, id }, respond }) => {
    if (!inbound) return respond(true, { outcome: "not ready" });
    respond(true, await inbound.accept({ kind: "message", id, chat: { type: "direct", id: from }, sender: { id: from }, text, to: from }));
  });
}`;

interface State {
  readonly sent: readonly { readonly to: string; readonly text: string }[];
  readonly ended: readonly Readonly<Record<string, unknown>>[];
}

let gateway: LabGateway;
const { call, say, answers, asked } = labChat(() => gateway);

beforeAll(async () => {
  gateway = await startLabGateway({ build: "dist-test" });
  await gateway.stop();
  const folder = join(gateway.place.stateDir, "extensions", "witness");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify({ id: "witness", channels: ["watch"], configSchema: {} }));
  writeFileSync(join(folder, "index.mjs"), CODE);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "witness", version: "1.0.0", type: "module", openclaw: { extensions: ["./index.mjs"] } }));
  gateway.configure({
    channels: { watch: { allowFrom: ["ada"] } },
    commands: { ownerAllowFrom: ["watch:ada"] },
    plugins: { allow: ["witness"], entries: { witness: { enabled: true, hooks: { allowConversationAccess: true } } } },
  });
  await gateway.start();
});
afterAll(() => gateway?.[Symbol.asyncDispose]());
beforeEach(async () => {
  gateway.model.answers(undefined);
  await call("witness.set", { refusal: null, target: null, contribution: null, ready: true, sent: [], ended: [] });
});
afterEach(() => gateway.model.holds(undefined));

const state = (): Promise<State> => call<State>("witness.state", {});
const sent = async (): Promise<readonly string[]> => (await state()).sent.map(({ to, text }) => `${to}: ${text}`);
let messages = 0;
/** Ada writes in her chat, which is the main session. */
async function write(text: string): Promise<void> {
  const id = `message-${(messages += 1)}`;
  await expect.poll(async () => (await call<{ outcome: string }>("witness.say", { from: "ada", text, id })).outcome, PATIENCE).not.toBe("not ready");
}

/** The model spawns for messages with `ask`, once, and says what the tool answered. */
function spawns(ask: string, task: string, more: object = {}): void {
  gateway.model.answers((request) => {
    if (isTask(request) || !request.user.includes(ask)) return undefined;
    const result = lastResult(request);
    return result ? `${String(result["status"])}: ${String(result["error"])}` : spawning(task, more);
  });
}

test("a plugin refuses a sub-agent: nothing is started, and the agent gets the reason", async () => {
  await call("witness.set", { refusal: "no helpers on Sundays" });
  spawns("refuse it", "say w-refused");
  await say("agent:main:refusing", "refuse it");
  await expect.poll(() => answers("agent:main:refusing"), PATIENCE).toContain("error: no helpers on Sundays");
  expect(asked("w-refused")).toEqual([]);
  expect((await call<{ subagents: readonly unknown[] }>("subagents.list", { sessionKey: "agent:main:refusing" })).subagents).toEqual([]);
});

test("a plugin sends the result of a sub-agent to another chat", async () => {
  await call("witness.set", { target: { channel: "watch", accountId: "default", to: "bob" } });
  spawns("redirect it", "say w-redirected");
  await write("redirect it");
  await expect.poll(sent, PATIENCE).toContainEqual("bob: ✅ Subagent main finished\n\nHeard w-redirected.");
  expect((await sent()).filter((text) => text.startsWith("ada: ✅"))).toEqual([]);
});

test("a result that was sent to a chat is known to the session's next turn, however many lines come in between", async () => {
  spawns("look closely", "say w-closely");
  await write("look closely");
  await expect.poll(sent, PATIENCE).toContainEqual("ada: ✅ Subagent main finished\n\nHeard w-closely.");
  for (let n = 1; n <= 25; n += 1) await call("system-event", { text: `line ${n}` });
  gateway.model.answers(undefined);
  await write("say w-knows");
  await expect.poll(() => asked("w-knows").length, PATIENCE).toBe(1);
  const [{ user } = { user: "" }] = asked("w-knows");
  expect(user).toMatch(/its result was sent to this chat:\n\s*Heard w-closely\./);
  expect([user.includes("line 5\n"), user.includes("line 25")]).toEqual([false, true]);
});

const beat = (heartbeat: object): void => {
  const { defaults } = gateway.sections["agents"] as { defaults: object };
  gateway.configure({ agents: { defaults: { ...defaults, heartbeat } } });
};
const last = () => call<{ status: string; reason?: string } | null>("last-heartbeat", {});

test("what a plugin adds to heartbeats reaches the model, and no other turn has it", async () => {
  await call("witness.set", { contribution: "w-contributed" });
  await call("wake", { text: "look w-door", mode: "now", idempotencyKey: "door" });
  await expect.poll(() => asked("w-door").length, PATIENCE).toBe(1);
  expect(asked("w-door")[0]?.body).toContain("w-contributed");
  await say("agent:main:plain", "say w-plain");
  await expect.poll(() => asked("w-plain").length, PATIENCE).toBe(1);
  expect(asked("w-plain")[0]?.body).not.toContain("w-contributed");
});

test("a heartbeat waits for a channel that is not ready, and sends HEARTBEAT_OK where that is asked for", async () => {
  // The main session talks in this chat.
  await write("say w-here");
  await expect.poll(async () => (await sent()).at(-1), PATIENCE).toMatch(/^ada: Heard.* w-here\.$/);
  writeFileSync(join(gateway.workspace, "HEARTBEAT.md"), "- look whether w-all is well\n");
  gateway.model.answers(({ user }) => (user.includes("HEARTBEAT.md") ? "HEARTBEAT_OK" : undefined));
  await call("witness.set", { ready: false });
  const before = asked("HEARTBEAT.md").length;
  beat({ every: "1s" });
  await expect.poll(last, PATIENCE).toMatchObject({ status: "skipped", reason: "the line is cut" });
  expect(asked("HEARTBEAT.md")).toHaveLength(before);
  await call("witness.set", { ready: true });
  await expect.poll(last, PATIENCE).toMatchObject({ status: "ok-token" });
  expect((await sent()).filter((text) => text.includes("HEARTBEAT_OK"))).toEqual([]);
  gateway.configure({ channels: { watch: { allowFrom: ["ada"], heartbeat: { showOk: true } } } });
  await expect.poll(sent, PATIENCE).toContainEqual("ada: HEARTBEAT_OK");
  beat({ every: "0m" });
  rmSync(join(gateway.workspace, "HEARTBEAT.md"));
});

test("plugins are notified of the end of a sub-agent, with its outcome", async () => {
  spawns("end it", "say w-ends");
  await say("agent:main:ending", "end it");
  await expect
    .poll(async () => (await state()).ended, PATIENCE)
    .toMatchObject([
      { targetKind: "subagent", outcome: "ok", reason: "completed", targetSessionKey: expect.stringContaining(":subagent:"), endedAt: expect.any(Number) },
    ]);
});

test.each([
  ["sessions.reset", { outcome: "reset", reason: "session-reset" }],
  ["sessions.delete", { outcome: "deleted", reason: "session-delete" }],
])("a sub-agent whose session is ended by %s has that outcome", async (method, expected) => {
  const session = `agent:main:${method.replace(".", "-")}`;
  gateway.model.holds(isTask);
  spawns("start it", `say w-${method.length}`);
  await say(session, "start it");
  const children = async () =>
    (await call<{ subagents: readonly { sessionKey: string; startedAt?: number }[] }>("subagents.list", { sessionKey: session })).subagents;
  await expect.poll(async () => (await children())[0]?.startedAt, PATIENCE).toBeGreaterThan(0);
  const [child] = await children();
  await call(method, { key: child?.sessionKey });
  await expect.poll(async () => (await state()).ended, PATIENCE).toMatchObject([{ ...expected, targetSessionKey: child?.sessionKey }]);
});
