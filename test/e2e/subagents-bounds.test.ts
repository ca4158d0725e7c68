/** What keeps sessions that wait for each other, or start each other, inside of bounds. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { isReport, isTask, labChat, lastResult, PATIENCE, spawning, using } from "../harness/lab-chat.ts";

let gateway: LabGateway;
const { call, say, asked, answered, answers, lastAnswer } = labChat(() => gateway);

beforeAll(async () => {
  gateway = await startLabGateway({ build: "dist-test" });
  const { defaults } = gateway.sections["agents"] as { defaults: object };
  gateway.configure({
    agents: { defaults: { ...defaults, subagents: { maxConcurrent: 2, maxSpawnDepth: 2 } } },
    tools: { sessions: { visibility: "all" } },
    session: { agentToAgent: { maxPingPongTurns: 2 } },
  });
  await gateway.stop();
  await gateway.start();
});
afterAll(() => gateway?.[Symbol.asyncDispose]());
beforeEach(() => gateway.model.answers(undefined));
afterEach(() => gateway.model.holds(undefined));

test("sessions_send waits as long as it was asked to, and not longer", async () => {
  const [one, other] = ["agent:main:impatient", "agent:main:never"];
  gateway.model.holds(({ user }) => user.includes("w-hang"));
  gateway.model.answers((request) => {
    const result = lastResult(request);
    return result ? `status ${String(result["status"])}` : using("sessions_send", { sessionKey: other, message: "w-hang", timeoutSeconds: 1 });
  });
  await say(one, "go");
  await expect.poll(() => lastAnswer(one), PATIENCE).toBe("status timeout");
  await say(other, "/stop");
});

test("two sessions that wait for each other's answer both go on when the time is over", async () => {
  const [one, other] = ["agent:main:ada", "agent:main:bob"];
  gateway.model.answers((request) => {
    const { user } = request;
    const result = lastResult(request);
    if (result) return `${user.includes("w-there") ? "other" : "one"} has ${String(result["status"])}`;
    if (user.includes("w-back")) return "heard it";
    return user.includes("w-there")
      ? using("sessions_send", { sessionKey: one, message: "w-back", timeoutSeconds: 1 })
      : using("sessions_send", { sessionKey: other, message: "w-there", timeoutSeconds: 20 });
  });
  await say(one, "begin");
  await expect.poll(() => lastAnswer(other), PATIENCE).toBe("other has timeout");
  await expect.poll(() => answers(one), PATIENCE).toContain("heard it");
  // They have more to say to each other.
  for (const session of [one, other]) await say(session, "/stop");
});

test("a session that answers REPLY_SKIP at once ends the exchange, and the word is not passed on", async () => {
  const [one, other] = ["agent:main:talker", "agent:main:quiet"];
  gateway.model.answers((request) => {
    const result = lastResult(request);
    if (result) return `got ${JSON.stringify(result["reply"])}`;
    return request.user.includes("w-note") ? "REPLY_SKIP" : using("sessions_send", { sessionKey: other, message: "w-note" });
  });
  await say(one, "tell it");
  await expect.poll(() => lastAnswer(one), PATIENCE).toBe('got ""');
  await gateway.aside();
  expect(gateway.model.requests.filter(({ user }) => user.includes("REPLY_SKIP"))).toEqual([]);
});

/** The agent starts a sub-agent at first, and again in each report. */
function looping(task: string, results: string[] = []): void {
  gateway.model.answers((request) => {
    if (isTask(request)) return "done";
    if (!isReport(request) && !/\bgo\b/.test(request.user)) return undefined;
    const result = lastResult(request);
    if (result?.["status"] === "forbidden") results.push(String(result["error"]));
    return result ? "started" : spawning(task);
  });
}

test("reports that start sub-agents come to an end, with a reason", async () => {
  const session = "agent:main:endless";
  const results: string[] = [];
  looping("w-endless", results);
  await say(session, "go");
  await expect.poll(() => results, { ...PATIENCE, timeout: 60_000 }).toEqual([expect.stringContaining("(at most 20)")]);
  expect(asked("[Subagent Task]: w-endless")).toHaveLength(21);
  await gateway.aside();
  expect(results).toHaveLength(1);
  // A person's message begins a new chain.
  await say(session, "go again");
  await expect.poll(() => asked("[Subagent Task]: w-endless").length, PATIENCE).toBeGreaterThan(22);
  await call("chat.send", { sessionKey: session, message: "/stop", idempotencyKey: "stop-endless" });
});

test.each(["/stop", "/kill all"])("%s ends sub-agents and reports that start each other, whenever it comes", async (command) => {
  for (let round = 0; round < 6; round += 1) {
    const name = `w-${command.replaceAll(/[^a-z]/g, "")}${round}`;
    const session = `agent:main:${name}`;
    const tasks = (): number => asked(`[Subagent Task]: ${name}`).length;
    looping(name);
    await say(session, "go");
    // It comes at another moment of the loop each time.
    await expect.poll(tasks, { ...PATIENCE, interval: 5 + 3 * round }).toBeGreaterThan(1);
    const { runId } = await call<{ runId?: string }>("chat.send", { sessionKey: session, message: command, idempotencyKey: name });
    if (runId !== undefined) await call("agent.wait", { runId, timeoutMs: PATIENCE.timeout });
    const before = tasks();
    const isIdle = async (): Promise<boolean> =>
      !(await call<{ runs: readonly { sessionKey: string }[] }>("overview", {})).runs.some(
        ({ sessionKey }) => sessionKey === session || sessionKey.includes(":subagent:"),
      );
    await expect.poll(isIdle, PATIENCE).toBe(true);
    // Nothing was asked for after the answer to the stop, and nothing is.
    await gateway.aside();
    await gateway.aside();
    expect(tasks()).toBe(before);
  }
});

test("sub-agents that wait for their own do not keep them from running", async () => {
  const session = "agent:main:crowded";
  gateway.model.answers((request) => {
    const result = lastResult(request);
    const { user } = request;
    if (isReport(request)) return "reported";
    if (user.includes("[Subagent Task]: leaf")) return "w-leaf";
    if (isTask(request)) {
      if (!result) return spawning("leaf");
      return result["action"] === "wait" ? `branch has ${String(result["status"])}` : using("subagents", { action: "wait" });
    }
    if (!/\bgo\b/.test(user)) return undefined;
    if (!result) return { text: "", calls: ["one", "two", "three"].map((name) => ({ name: "sessions_spawn", args: { task: `branch ${name}` } })) };
    return result["action"] === "wait" ? JSON.stringify(result["children"]) : using("subagents", { action: "wait", timeoutSeconds: 60 });
  });
  await say(session, "go");
  await expect.poll(() => lastAnswer(session), PATIENCE).toMatch(/(?:[^]*"result":"branch has ok"){3}/);
});

test("digits name a number of the list and nothing else, and a stop says what was stopped", async () => {
  const session = "agent:main:numbers";
  gateway.model.holds((request) => isTask(request) && request.user.includes("stay"));
  gateway.model.answers((request) => {
    if (request.user !== "go" && !request.user.endsWith("go")) return undefined;
    const result = lastResult(request);
    return result ? "started" : { text: "", calls: ["One", "Two"].map((label) => ({ name: "sessions_spawn", args: { task: `stay ${label}`, label } })) };
  });
  await say(session, "go");
  await expect.poll(() => lastAnswer(session), PATIENCE).toBe("started");
  for (let digit = 3; digit <= 9; digit += 1)
    expect(await answered(session, `/kill ${digit}`)).toBe(`⚠️ the list has 2 sub-agents, there is no number ${digit}`);
  for (const letter of "abcdef") expect(await answered(session, `/kill ${letter}`)).toContain("there is no sub-agent");
  expect(await answered(session, "/kill 1")).toBe("Stopped Two.");
  expect(await answered(session, "/kill all")).toBe("Stopped One.");
});

test.each([
  ["\u001b[31mred", "control or invisible"],
  ["two\nlines", "control or invisible"],
  ["\u202eback", "control or invisible"],
  ["x".repeat(65), "the label has 65 characters; the limit is 64"],
])("the label %j is refused with a reason", async (label, why) => {
  const session = `agent:main:labelled${label.length}`;
  const before = asked("[Subagent Task]: w-labelled").length;
  gateway.model.answers((request) => {
    const result = lastResult(request);
    return result ? `${String(result["status"])}: ${String(result["error"])}` : spawning("w-labelled", { label });
  });
  await say(session, "go");
  await expect.poll(() => lastAnswer(session), PATIENCE).toMatch(/^error: the label/);
  expect(await lastAnswer(session)).toContain(why);
  expect(asked("[Subagent Task]: w-labelled")).toHaveLength(before);
});
