/** Sub-agents, jobs and heartbeats in a real terminal, with a real gateway. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import type { ModelRequest } from "../conformance/channels/lab-model.ts";
import { programArguments } from "../harness/program.ts";
import { openPseudoTerminal } from "../harness/pseudo-terminal.ts";

const ENTER = "\r";
const DOWN = "\u001b[B";
const isTask = ({ user }: ModelRequest): boolean => user.includes("[Subagent Task]:");
const hasResult = ({ body }: ModelRequest): boolean => (JSON.parse(body) as { messages: readonly { role: string }[] }).messages.at(-1)?.role === "tool";

let gateway: LabGateway;
beforeAll(async () => {
  gateway = await startLabGateway();
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

test("a sub-agent appears in the open list, and is stopped there", async () => {
  gateway.model.holds((request) => isTask(request));
  gateway.model.answers((request) => {
    if (isTask(request)) return undefined;
    return hasResult(request) ? "Started." : { text: "", calls: [{ name: "sessions_spawn", args: { task: "count the stars", label: "Stars" } }] };
  });
  const line = [process.execPath, ...programArguments(), "tui"];
  await using terminal = await openPseudoTerminal({ line, env: gateway.place.env, cwd: gateway.place.home });
  await terminal.waitFor(/^ready/m);
  terminal.send(`/heartbeat${ENTER}`);
  await terminal.waitFor("No heartbeat yet");
  terminal.send(`/subagents${ENTER}`);
  await terminal.waitFor(/sub-agents 0 of 0/);
  const { ok } = await gateway.operator.request("chat.send", { sessionKey: "agent:main:sky", message: "go", idempotencyKey: "go" });
  expect(ok).toBe(true);
  await terminal.waitFor(/› Stars +running for \d+s.*of sky/);
  terminal.send(ENTER);
  await terminal.waitFor(/steer[^]*stop/);
  terminal.send(`${DOWN}${DOWN}${ENTER}`);
  await terminal.waitFor("stopped 1 sub-agent");
  terminal.send(`/subagents${ENTER}`);
  await terminal.waitFor(/Stars +killed after/);
});

test("a job appears in the open list, is run there, and its history shows how it went", async () => {
  gateway.model.holds(undefined);
  gateway.model.answers(undefined);
  const line = [process.execPath, ...programArguments(), "tui"];
  await using terminal = await openPseudoTerminal({ line, env: gateway.place.env, cwd: gateway.place.home });
  await terminal.waitFor(/^ready/m);
  terminal.send(`/jobs${ENTER}`);
  await terminal.waitFor(/jobs 0 of 0/);
  const job = { name: "Report", schedule: { kind: "every", everyMs: 7_200_000 }, sessionTarget: "isolated", wakeMode: "now" };
  const payload = { kind: "agentTurn", message: "say w-report" };
  expect(await gateway.operator.request("cron.add", { ...job, payload, delivery: { mode: "none" } })).toMatchObject({ ok: true });
  await terminal.waitFor(/› Report +every 2h · next in 1h 59m · never ran/);
  terminal.send(ENTER);
  await terminal.waitFor(/run now[^]*history[^]*disable/);
  terminal.send(ENTER);
  await terminal.waitFor(/Report ran: \S+ ok, .*Heard w-report\./);
  terminal.send(`/jobs${ENTER}`);
  await terminal.waitFor(/› Report .*last ok/);
  terminal.send(`${ENTER}${DOWN}${ENTER}`);
  await terminal.waitFor("Runs of Report:");
});
