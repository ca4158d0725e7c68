/** Stopping, steering and asking sub-agents, and what keeps them inside their limits. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { isReport, isTask, labChat, lastResult, PATIENCE, using } from "../harness/lab-chat.ts";

let gateway: LabGateway;
const { say, asked, answered: command, answers, lastAnswer } = labChat(() => gateway);

beforeAll(async () => {
  const list = [{ id: "main", subagents: { allowAgents: ["helper"] } }, { id: "helper" }, { id: "secret" }];
  gateway = await startLabGateway({ build: "dist-test" });
  const { defaults } = gateway.sections["agents"] as { defaults: object };
  gateway.configure({ agents: { defaults, list }, tools: { sessions: { visibility: "all" } }, session: { agentToAgent: { maxPingPongTurns: 2 } } });
  await gateway.stop();
  await gateway.start();
});
afterAll(() => gateway?.[Symbol.asyncDispose]());
beforeEach(() => gateway.model.answers(undefined));
afterEach(() => gateway.model.holds(undefined));

/** The agent starts a child that does not end by itself, and says what it was answered. */
function startsHeld(task: string, more: object = {}): void {
  gateway.model.holds((request) => isTask(request) && request.user.includes(task));
  gateway.model.answers((request) => {
    if (isTask(request) || isReport(request)) return undefined;
    const result = lastResult(request);
    return result ? String(result["status"]) : using("sessions_spawn", { task, ...more });
  });
}

test("a running child is listed, described and stopped by commands, and then reports nothing", async () => {
  const session = "agent:main:listed";
  startsHeld("count the stars", { label: "Stars" });
  await say(session, "go");
  await expect.poll(() => asked("count the stars").filter(isTask).length, PATIENCE).toBe(1);
  await expect.poll(() => lastAnswer(session), PATIENCE).toBe("accepted");
  expect(await command(session, "/subagents")).toMatch(/\*\*Active sub-agents\*\*\n1\. Stars \(.*\) running - count the stars/);
  const info = await command(session, "/subagents info sta");
  expect(info).toMatch(/Status: running\nLabel: Stars\nTask: count the stars\nRun: [0-9a-f-]{36}\nSession: agent:main:subagent:/);
  expect(await command(session, "/subagents info nobody")).toContain('there is no sub-agent "nobody"');
  await say(session, "/kill 1");
  const list = async (): Promise<string> => command(session, "/subagents list");
  await expect.poll(list, PATIENCE).toMatch(/\*\*Active sub-agents\*\*\nnone\n\n\*\*Last 30 minutes\*\*\n1\. Stars \(.*\) killed/);
  expect(await command(session, "/kill 1")).toContain("has already finished");
  expect(asked("Stars").filter(isReport)).toEqual([]);
});

test("a child that is steered goes on with the message, in its session", async () => {
  const session = "agent:main:steered";
  startsHeld("paint it blue", { label: "Paint" });
  await say(session, "go");
  await expect.poll(() => asked("paint it blue").filter(isTask).length, PATIENCE).toBe(1);
  await expect.poll(() => lastAnswer(session), PATIENCE).toBe("accepted");
  gateway.model.answers((request) => (isReport(request) ? `reported: ${request.user}` : undefined));
  await say(session, "/steer last make it w-green");
  await expect.poll(async () => (await answers(session)).join("\n"), PATIENCE).toMatch(/Steered Paint[^]*Heard w-green\.|Heard w-green\.[^]*Steered Paint/);
  expect(asked('task "Paint"').filter(isReport)).toHaveLength(1);
  expect(asked("w-green").filter((request) => !isReport(request))).toHaveLength(1);
  const log = await command(session, "/subagents log last");
  expect(log).toMatch(/paint it blue[^]*make it w-green[^]*Heard w-green/);
  expect(await command(session, "/subagents send last and w-red?")).toBe("Heard w-red.");
});

test("one call waits for several children and gets their results, and they are not reported besides", async () => {
  const session = "agent:main:waiting";
  gateway.model.answers((request) => {
    if (isTask(request)) return request.user.includes("half one") ? "w-first" : "w-second";
    const result = lastResult(request);
    if (!result) return { text: "", calls: ["half one", "half two"].map((task) => ({ name: "sessions_spawn", args: { task } })) };
    if (result["action"] !== "wait") return using("subagents", { action: "wait" });
    return JSON.stringify(result);
  });
  await say(session, "do both");
  await expect.poll(() => lastAnswer(session), PATIENCE).toContain('"action":"wait"');
  const { status, children } = JSON.parse(await lastAnswer(session)) as { status: string; children: readonly { status: string; result: string }[] };
  expect(status).toBe("ok");
  expect(new Map(children.map((child) => [child.result, child.status]))).toEqual(
    new Map([
      ["w-first", "done"],
      ["w-second", "done"],
    ]),
  );
  await gateway.aside();
  expect(asked("half ").filter(isReport)).toEqual([]);
});

test("what may not be started is refused with its reason, and nothing is started", async () => {
  const session = "agent:main:refused";
  const results: (Readonly<Record<string, unknown>> | undefined)[] = [];
  const tries = [{ agentId: "secret" }, { agentId: "helper", thinking: "extreme" }, { model: "nowhere/none" }, { agentId: "helper" }];
  gateway.model.answers((request) => {
    if (isTask(request)) return "helped";
    if (isReport(request)) return "reported";
    if (lastResult(request)) results.push(lastResult(request));
    const next = tries[results.length];
    return next ? using("sessions_spawn", { task: "try it", ...next }) : "tried";
  });
  await say(session, "try");
  await expect.poll(() => lastAnswer(session), PATIENCE).toBe("reported");
  expect(results).toMatchObject([
    { status: "forbidden", error: "agentId is not allowed for sessions_spawn (allowed: helper)" },
    { status: "error", error: expect.stringContaining("extreme") },
    { status: "error", error: expect.stringContaining("none") },
    { status: "accepted", childSessionKey: expect.stringMatching(/^agent:helper:subagent:/), runId: expect.any(String), note: expect.any(String) },
  ]);
  expect(asked("try it").filter(isTask)).toHaveLength(1);
});

test("a model that only ever starts sub-agents ends at the limits", async () => {
  const session = "agent:main:loop";
  gateway.model.holds((request) => isTask(request) && request.user.includes("again and again"));
  const results: Readonly<Record<string, unknown>>[] = [];
  gateway.model.answers((request) => {
    const result = lastResult(request);
    if (result) results.push(result);
    return result?.["status"] === "forbidden" ? "it cannot be" : using("sessions_spawn", { task: "again and again" });
  });
  await say(session, "loop");
  await expect.poll(() => lastAnswer(session), PATIENCE).toBe("it cannot be");
  expect(results.map(({ status }) => status)).toEqual([...Array.from({ length: 5 }, () => "accepted"), "forbidden"]);
  expect(results.at(-1)).toMatchObject({ error: "sessions_spawn has reached max active children for this session (5/5)" });
  await say(session, "/stop");
  await expect.poll(() => command(session, "/subagents"), PATIENCE).toMatch(/\*\*Active sub-agents\*\*\nnone(?:[^]*killed){5}/);
});

test("children that fail one after the other stop further ones, with a reason", async () => {
  const session = "agent:main:failing";
  const results: Readonly<Record<string, unknown>>[] = [];
  gateway.model.holds((request) => isTask(request) && request.user.includes("never ends"));
  gateway.model.answers((request) => {
    const result = lastResult(request);
    if (!result) return using("sessions_spawn", { task: "never ends", runTimeoutSeconds: 1 });
    results.push(result);
    if (result["status"] === "forbidden") return "given up";
    return result["action"] === "wait"
      ? using("sessions_spawn", { task: "never ends", runTimeoutSeconds: 1 })
      : using("subagents", { action: "wait", target: "last", timeoutSeconds: 20 });
  });
  await say(session, "keep trying");
  await expect.poll(() => lastAnswer(session), { timeout: 45_000, interval: 50 }).toBe("given up");
  expect(results.filter(({ status }) => status === "accepted")).toHaveLength(5);
  expect(results.at(-1)?.["error"]).toContain("the last 5 sub-agents of this session failed");
});

test("two sessions that only talk to each other end at the limit of turns, and a session cannot write to itself", async () => {
  const [one, other] = ["agent:main:one", "agent:main:other"];
  await say(other, "be there");
  await expect.poll(() => lastAnswer(other), PATIENCE).not.toBe("");
  let refused: unknown;
  gateway.model.answers((request) => {
    const result = lastResult(request);
    if (result?.["status"] === "error") refused = result["error"];
    if (result) return result["status"] === "error" ? using("sessions_send", { sessionKey: other, message: "w-ping" }) : "sent";
    if (request.user === "begin") return using("sessions_send", { sessionKey: one, message: "w-self" });
    return `pong ${request.user.length}`;
  });
  await say(one, "begin");
  await expect.poll(() => lastAnswer(other), PATIENCE).toContain("pong");
  const pongs = (): number => gateway.model.requests.filter(({ user }) => user.includes("\npong")).length;
  await expect.poll(pongs, PATIENCE).toBe(2);
  await gateway.aside();
  expect(pongs()).toBe(2);
  // The model sees that no person wrote it, and the transcript says so.
  expect(asked("w-ping")[0]!.user).toContain("[Inter-session message] sourceSession=agent:main:one");
  expect(refused).toContain("That is this session");
  expect(asked("w-self")).toEqual([]);
});
