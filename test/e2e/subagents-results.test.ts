/** When a sub-agent has ended, and what is reported as its result. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { isReport, isTask, labChat, lastResult, PATIENCE, spawning, using } from "../harness/lab-chat.ts";

let gateway: LabGateway;
const { call, say, asked, reports, answered, lastAnswer } = labChat(() => gateway);

beforeAll(async () => {
  gateway = await startLabGateway({ build: "dist-test", sections: { tools: { exec: { host: "gateway", ask: "always" } } } });
});
afterAll(() => gateway?.[Symbol.asyncDispose]());
beforeEach(() => gateway.model.answers(undefined));
afterEach(() => gateway.model.holds(undefined));

interface Approval {
  readonly id: string;
  readonly request: { readonly command?: string };
}

async function approvalOf(command: string): Promise<string> {
  const find = async (): Promise<string | undefined> =>
    (await call<{ approvals: readonly Approval[] }>("exec.approval.list", {})).approvals.find((one) => JSON.stringify(one).includes(command))?.id;
  await expect.poll(find, PATIENCE).toBeDefined();
  return (await find())!;
}

/** A child that asks for a command, and says afterwards what came of it. */
function asking(command: string, label: string): void {
  gateway.model.answers((request) => {
    if (isReport(request)) return "passed on";
    if (request.user.includes("aside")) return undefined;
    if (request.user.includes("waited for approval")) return `after ${command}: ${request.user.includes("did not run") ? "refused" : "done"}`;
    const result = lastResult(request);
    if (isTask(request)) return result ? "asked" : using("exec", { command });
    return result ? "started" : spawning(`run ${command}`, { label });
  });
}

test("a sub-agent whose command waits for approval has not ended: it is reported after the command, once", async () => {
  const session = "agent:main:approving";
  asking("echo w-approved", "Approving");
  await say(session, "go");
  const id = await approvalOf("echo w-approved");
  await expect.poll(() => asked("run echo w-approved").filter((request) => lastResult(request)).length, PATIENCE).toBeGreaterThan(0);
  await gateway.aside();
  expect(await answered(session, "/subagents")).toMatch(/\*\*Active sub-agents\*\*\n1\. Approving \(.*\) running/);
  expect(reports("Approving")).toEqual([]);
  await call("exec.approval.resolve", { id, decision: "allow-once" });
  await expect.poll(() => lastAnswer(session), PATIENCE).toBe("passed on");
  expect(reports("Approving")).toEqual([expect.stringContaining("Result:\nafter echo w-approved: done")]);
  expect(await answered(session, "/subagents")).toMatch(/\*\*Last 30 minutes\*\*\n1\. Approving \(.*\) done/);
});

test("one call that waits for a sub-agent gets what it found after its command", async () => {
  const session = "agent:main:held";
  gateway.model.answers((request) => {
    if (request.user.includes("waited for approval")) return "w-later";
    const result = lastResult(request);
    if (isTask(request)) return result ? "asked" : using("exec", { command: "echo w-held" });
    if (!result) return spawning("run echo w-held");
    return result["action"] === "wait" ? JSON.stringify(result["children"]) : using("subagents", { action: "wait" });
  });
  await say(session, "go");
  await call("exec.approval.resolve", { id: await approvalOf("echo w-held"), decision: "allow-once" });
  await expect.poll(() => lastAnswer(session), PATIENCE).toContain('"result":"w-later"');
});

test.each([undefined, "subagent.settled"])("a gateway that is killed while a command waits (%s) reports the sub-agent once", async (failpoint) => {
  const name = failpoint === undefined ? "w-killed" : "w-settled";
  const session = `agent:main:${name}`;
  asking(`echo ${name}`, name);
  if (failpoint !== undefined) {
    await gateway.stop();
    await gateway.start({ OPENCLAW_FAILPOINT: failpoint });
  }
  await say(session, "go");
  const id = await approvalOf(`echo ${name}`);
  if (failpoint === undefined) await gateway.kill();
  else {
    await call("exec.approval.resolve", { id, decision: "allow-once" });
    expect(await gateway.ended()).toMatchObject({ signal: "SIGKILL" });
  }
  await gateway.start();
  await expect.poll(() => lastAnswer(session), PATIENCE).toBe("passed on");
  expect(reports(name)).toEqual([expect.stringContaining(`Result:\nafter echo ${name}: ${failpoint === undefined ? "refused" : "done"}`)]);
});

test("what a sub-agent answers to a question in between is not its result", async () => {
  const session = "agent:main:asked";
  gateway.model.pace(400);
  gateway.model.answers((request) => {
    if (isReport(request)) return "passed on";
    if (request.user.includes("how far")) return "nearly there";
    if (isTask(request)) return `THE REAL RESULT ${"4711 ".repeat(40)}`;
    return lastResult(request) ? "started" : spawning("w-slowly", { label: "Busy" });
  });
  await say(session, "go");
  await expect.poll(() => asked("[Subagent Task]: w-slowly").length, PATIENCE).toBe(1);
  await expect.poll(() => lastAnswer(session), PATIENCE).toBe("started");
  expect(await answered(session, "/subagents send busy how far are you?")).toBe("nearly there");
  gateway.model.pace(undefined);
  await expect.poll(() => lastAnswer(session), PATIENCE).toBe("passed on");
  expect(reports("Busy")).toEqual([expect.stringContaining("Result:\nTHE REAL RESULT 4711")]);
});

test("tokens of calls before a failure are part of the report", async () => {
  const session = "agent:main:failing";
  gateway.model.answers((request) => {
    if (isReport(request)) return "passed on";
    const result = lastResult(request);
    if (isTask(request)) return result ? "" : using("subagents", { action: "nothing" });
    return result ? "started" : spawning("w-fail", { label: "Failing", runTimeoutSeconds: 2 });
  });
  gateway.model.holds((request) => isTask(request) && request.user.includes("w-fail") && lastResult(request) !== undefined);
  await say(session, "go");
  await expect.poll(() => reports("Failing").length, PATIENCE).toBe(1);
  expect(reports("Failing")[0]).toMatch(/timed out\.[^]*tokens [1-9]\d* \(in [1-9]\d* \/ out [1-9]\d*\)/);
});
