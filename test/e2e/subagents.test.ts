/** Sub-agents in a real gateway: over a chat and over WebChat, with caps, stops and kills. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import type { LabCalls, ModelRequest } from "../conformance/channels/lab-model.ts";
import { startTelegram, type FakeTelegram } from "../fakes/telegram/index.ts";
import { expectInTime } from "../harness/in-time.ts";
import { lastResult } from "../harness/lab-chat.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };
const MAIN = "agent:main:main";

let telegram: FakeTelegram;
let gateway: LabGateway;

beforeAll(async () => {
  telegram = await startTelegram();
  telegram.direct(telegram.me);
  const own = { enabled: true, botToken: telegram.token, ackReaction: "", streamMode: "off", dmPolicy: "allowlist", allowFrom: [String(telegram.me.id)] };
  gateway = await startLabGateway({
    build: "dist-test",
    sections: { channels: { telegram: own }, session: { dmScope: "per-channel-peer" }, commands: { ownerAllowFrom: [`telegram:${telegram.me.id}`] } },
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await telegram?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  gateway.model.answers(undefined);
  await configured({ maxSpawnDepth: 1 });
});
afterEach(() => gateway.model.holds(undefined));

async function call<T>(method: string, params: object): Promise<T> {
  const { ok, payload, error } = await gateway.operator.request(method, params);
  expect({ ok, error }).toMatchObject({ ok: true });
  return payload as T;
}
const texts = (): readonly string[] => telegram.messages(telegram.me.id).map(({ text }) => text);
const asked = (word: string): readonly ModelRequest[] => gateway.model.requests.filter(({ user }) => user.includes(word));
const isReport = ({ user }: ModelRequest): boolean => user.includes("[System Message]");
const isTask = ({ user }: ModelRequest): boolean => user.includes("[Subagent Task]:");

let sent = 0;
async function say(message: string, sessionKey = MAIN): Promise<string> {
  const idempotencyKey = `say-${(sent += 1)}-${message.length}`;
  await call("chat.send", { sessionKey, message, idempotencyKey });
  return idempotencyKey;
}
async function answers(sessionKey = MAIN): Promise<readonly string[]> {
  const { messages } = await call<{ messages: readonly { role: string; content: unknown }[] }>("chat.history", { sessionKey });
  return messages.filter(({ role }) => role === "assistant").map(({ content }) => JSON.stringify(content));
}
interface Session {
  readonly key: string;
  readonly label?: string;
  readonly abortedLastRun?: boolean;
}
const childrenOf = async (spawnedBy: string): Promise<readonly Session[]> =>
  (await call<{ sessions: readonly Session[] }>("sessions.list", { limit: 200, spawnedBy })).sessions;

/** Sets the limits of sub-agents, and waits until the gateway has them. */
async function configured(subagents: object): Promise<void> {
  const { defaults } = gateway.sections["agents"] as { defaults: object };
  gateway.configure({ agents: { defaults: { ...defaults, subagents } } });
  const set = async (): Promise<unknown> =>
    (await call<{ config: { agents: { defaults: { subagents?: unknown } } } }>("config.get", {})).config.agents.defaults.subagents;
  await expect.poll(set, PATIENCE).toMatchObject(subagents);
}

const spawn = (task: string, more: object = {}): LabCalls => ({ text: "", calls: [{ name: "sessions_spawn", args: { task, ...more } }] });
/** The model is shown the result of its call. */
const hasResult = (request: ModelRequest): boolean => lastResult(request) !== undefined;

/** The model spawns for messages with `ask`, once, and says `started` then. */
function spawning(ask: string, task: string, more: object = {}): void {
  gateway.model.answers((request) => {
    if (isTask(request) || !request.user.includes(ask) || request.user.includes("[System Message]")) return undefined;
    return hasResult(request) ? "started" : spawn(task, more);
  });
}

test("what a sub-agent found arrives in the chat that asked for it, once", async () => {
  spawning("look into it", "say w-findings");
  telegram.say("please look into it");
  await expect.poll(() => texts(), PATIENCE).toContain("✅ Subagent main finished\n\nHeard w-findings.");
  expect(texts()).toContain("started");
  const [task] = asked("w-findings").filter(isTask);
  expect(task!.user).toMatch(/^\[Subagent Context\] .*\(depth 1\/1\)/);
  expect(task!.body).toContain("## Subagent Context");
  expect(task!.body).not.toContain('"name":"sessions_spawn"');
  // The chat's next turn knows of it.
  gateway.model.answers(undefined);
  telegram.say("w-next");
  await expect.poll(() => texts(), PATIENCE).toContain("Heard w-findings w-next.");
  expect(texts().filter((text) => text.startsWith("✅ Subagent") && text.includes("w-findings"))).toHaveLength(1);
});

test("a sub-agent with nothing to report sends nothing, and one with a label is named by it", async () => {
  gateway.model.answers((request) => {
    if (isTask(request)) return request.user.includes("quietly") ? "NO_REPLY" : "w-named";
    if (hasResult(request)) return "both started";
    const both = [{ task: "look quietly" }, { task: "look and say", label: "Second look" }];
    return request.user.includes("look twice") ? { text: "", calls: both.map((args) => ({ name: "sessions_spawn", args })) } : undefined;
  });
  const before = texts().length;
  telegram.say("please look twice");
  await expect.poll(() => texts(), PATIENCE).toContain("✅ Subagent main finished (Second look)\n\nw-named");
  gateway.model.answers((request) => (request.user.includes("what came") ? `known: ${String(request.user.includes("it had nothing to report"))}` : undefined));
  const isKnown = async (): Promise<boolean> => (await call<{ runs: readonly unknown[] }>("overview", {})).runs.length === 0;
  await expect.poll(isKnown, PATIENCE).toBe(true);
  telegram.say("what came of it?");
  await expect.poll(() => texts(), PATIENCE).toContain("known: true");
  expect(
    texts()
      .slice(before)
      .filter((text) => text.includes("Subagent")),
  ).toHaveLength(1);
});

test("in WebChat the agent passes the result on in a turn of its own", async () => {
  gateway.model.answers((request) => {
    if (request.user.includes("[System Message]")) return "passed on";
    if (isTask(request)) return "the result is 42";
    return request.user.includes("compute it") && !hasResult(request) ? spawn("compute", { label: "Sums" }) : "started";
  });
  await say("compute it");
  await expect.poll(() => answers(), PATIENCE).toContainEqual(expect.stringContaining("passed on"));
  const reports = asked("[System Message]").filter(({ user }) => user.includes('A subagent task "Sums" just completed successfully.'));
  const [report] = reports;
  expect(report!.user).toContain("Result:\nthe result is 42");
  expect(report!.user).toMatch(/Stats: runtime \d+s • tokens \d+ \(in \d+ \/ out \d+\)/);
  expect(reports).toHaveLength(1);
  expect((await childrenOf(MAIN)).map(({ label }) => label)).toEqual(["Sums"]);
});

test("a sub-agent may have its own where the depth allows it, and reports when they are done", async () => {
  await configured({ maxSpawnDepth: 2 });
  gateway.model.answers((request) => {
    const { user } = request;
    if (user.includes("[Subagent Task]: leaf")) return "w-leaf is done";
    if (user.includes("[Subagent Task]: branch")) return hasResult(request) ? "waiting for the leaf" : spawn("leaf");
    if (user.includes("[System Message]") && user.includes("w-leaf is done")) return user.includes('"branch"') ? "the root has it" : "w-branch has the leaf";
    if (user.includes("[System Message]")) return `the root has ${user}`;
    return user.includes("grow it") && !hasResult(request) ? spawn("branch") : "growing";
  });
  await say("grow it", "agent:main:nested");
  await expect.poll(async () => (await answers("agent:main:nested")).at(-1), PATIENCE).toContain("w-branch has the leaf");
  const reports = asked("[System Message]").filter(({ user }) => user.includes("w-branch has the leaf"));
  expect(reports).toHaveLength(1);
  expect(asked("[Subagent Task]: leaf")[0]!.user).toContain("(depth 2/2)");
});

test("a gateway that is killed while children run goes on with them, and each is reported once", async () => {
  const session = "agent:main:both";
  gateway.model.holds(isTask);
  gateway.model.answers((request) => {
    if (isReport(request)) return "got a report";
    if (isTask(request)) return "done";
    if (hasResult(request)) return "two are started";
    return { text: "", calls: ["one", "two"].map((label) => ({ name: "sessions_spawn", args: { task: `part ${label}`, label } })) };
  });
  await say("split it", session);
  await expect.poll(async () => (await childrenOf(session)).length, PATIENCE).toBe(2);
  await expect.poll(async () => (await answers(session)).at(-1), PATIENCE).toContain("two are started");
  await gateway.kill();
  gateway.model.holds(undefined);
  await gateway.start();
  const reported = (label: string): number => asked(`task "${label}" just completed successfully`).length;
  await expect.poll(() => [reported("one"), reported("two")], PATIENCE).toEqual([1, 1]);
  await gateway.aside();
  expect([reported("one"), reported("two")]).toEqual([1, 1]);
});

test.each(["subagent.spawned", "subagent.announced", "turn.started", "inbox.committed", "tool.done"])(
  "killed at %s, a child is there once, ends once and is reported once",
  async (failpoint) => {
    const word = `w-${failpoint.replaceAll(/[^a-z]/g, "")}`;
    const session = `agent:main:${word}`;
    gateway.model.answers((request) => {
      if (request.user.includes("[System Message]")) return `reported ${word}`;
      if (isTask(request)) return `found ${word}`;
      return hasResult(request) ? "started" : spawn(`find ${word}`);
    });
    await gateway.stop();
    // The first turn is that of the parent.
    const nth = failpoint === "turn.started" || failpoint === "inbox.committed" ? `${failpoint}:2` : failpoint;
    const message = { sessionKey: session, message: "go", idempotencyKey: `go-${word}` };
    // What another test left may come to the failpoint before a client is connected.
    const isUp = await gateway.start({ OPENCLAW_FAILPOINT: nth }).then(
      () => true,
      () => false,
    );
    if (isUp) {
      await call("chat.send", message).catch(() => {});
      expect(await gateway.ended()).toMatchObject({ signal: "SIGKILL" });
    }
    await gateway.start();
    // The same message: it is accepted now if the kill came before it was.
    await call("chat.send", message);
    await expect.poll(async () => (await answers(session)).at(-1), PATIENCE).toContain(`reported ${word}`);
    expect(await childrenOf(session)).toHaveLength(1);
    expect(asked(`[Subagent Task]: find ${word}`).length).toBeLessThanOrEqual(2);
    expect(asked("[System Message]").filter(({ user }) => user.includes(`find ${word}`)).length).toBeLessThanOrEqual(2);
    const reports = (await answers(session)).filter((text) => text.includes(`reported ${word}`));
    expect(reports).toHaveLength(1);
  },
);

test("/stop ends everything below a session within two seconds, and nothing of it is reported", async () => {
  await configured({ maxSpawnDepth: 2 });
  gateway.model.holds(({ user }) => user.includes("[Subagent Task]: deep"));
  gateway.model.answers((request) => {
    if (request.user.includes("[Subagent Task]: middle")) return hasResult(request) ? "waiting" : spawn("deep");
    return hasResult(request) ? "started" : spawn("middle");
  });
  await say("dig", "agent:main:stopped");
  await expect.poll(() => asked("[Subagent Task]: deep").length, PATIENCE).toBe(1);
  const before = performance.now();
  await call("chat.send", { sessionKey: "agent:main:stopped", message: "/stop", idempotencyKey: "stop-1" });
  const [middle] = await childrenOf("agent:main:stopped");
  const isStopped = async (): Promise<unknown> => (await childrenOf(middle!.key)).map(({ abortedLastRun }) => abortedLastRun);
  await expect.poll(isStopped, PATIENCE).toEqual([true]);
  expectInTime(performance.now() - before, 2000);
  gateway.model.holds(undefined);
  await gateway.aside();
  expect(asked("[System Message]").filter(({ user }) => user.includes("deep") || user.includes("middle"))).toEqual([]);
});
