/** What plugins learn about scheduled jobs in a real gateway: `cron_changed`, `gateway_start`, and the job in the contexts of its run. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };

/** Notes what its hooks are called with, and has a method for the jobs that it was given. */
const CODE = `
export default function register(api) {
  const calls = [];
  let getCron;
  const contextOf = ({ port, config, workspaceDir, jobId, trigger, getCron }) =>
    ({ port, hasConfig: config?.gateway?.mode === "local", workspaceDir, jobId, trigger, hasCron: typeof getCron?.()?.list === "function" });
  api.on("gateway_start", (event, ctx) => {
    getCron = ctx.getCron;
    calls.push({ hook: "gateway_start", event, ctx: contextOf(ctx) });
  });
  for (const hook of ["cron_changed", "cron_reconciled", "before_tool_call", "agent_end"])
    api.on(hook, (event, ctx) => void calls.push({ hook, event: hook.startsWith("cron") ? event : {}, ctx: contextOf(ctx) }));
  api.registerGatewayMethod("witness.calls", async ({ respond }) => respond(true, { calls }));
  api.registerGatewayMethod("witness.cron", async ({ params: { name, args }, respond }) => {
    try {
      respond(true, { result: await getCron()[name](...args) });
    } catch (error) {
      respond(true, { code: error.code, error: error.message });
    }
  });
}`;

let gateway: LabGateway;

beforeAll(async () => {
  gateway = await startLabGateway({ build: "dist-test" });
  await gateway.stop();
  const folder = join(gateway.place.stateDir, "extensions", "witness");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify({ id: "witness", configSchema: {} }));
  writeFileSync(join(folder, "index.mjs"), CODE);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "witness", version: "1.0.0", type: "module", openclaw: { extensions: ["./index.mjs"] } }));
  gateway.configure({
    plugins: { allow: ["witness"], entries: { witness: { enabled: true, hooks: { allowConversationAccess: true } } } },
    tools: { exec: { host: "gateway", security: "full", ask: "off" } },
  });
  await gateway.start();
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

interface Call {
  readonly hook: string;
  readonly event: Readonly<Record<string, unknown>> & { readonly job?: { readonly name: string; readonly state: object } };
  readonly ctx: Readonly<Record<string, unknown>>;
}
async function ask<T>(method: string, params: object = {}): Promise<T> {
  const { ok, payload, error } = await gateway.operator.request(method, params);
  expect({ ok, error }).toMatchObject({ ok: true });
  return payload as T;
}
const calls = async (hook: string): Promise<readonly Call[]> =>
  (await ask<{ calls: readonly Call[] }>("witness.calls")).calls.filter((call) => call.hook === hook);
const changes = async (name: string): Promise<readonly Call["event"][]> =>
  (await calls("cron_changed")).map(({ event }) => event).filter(({ job }) => job?.name === name);
const onCron = (name: string, ...args: readonly unknown[]) => ask<{ result?: unknown; code?: string; error?: string }>("witness.cron", { name, args });

const every = { schedule: { kind: "every", everyMs: 86_400_000 }, sessionTarget: "isolated", wakeMode: "now" } as const;

test("the hooks of the gateway and of jobs get its port, configuration and jobs", async () => {
  const context = { port: Number(new URL(gateway.url).port), hasConfig: true, workspaceDir: gateway.workspace, hasCron: true };
  await expect.poll(async () => (await calls("gateway_start")).map(({ ctx }) => ctx), PATIENCE).toMatchObject([context]);
  await ask("cron.add", { ...every, name: "context", payload: { kind: "agentTurn", message: "x" } });
  await expect.poll(async () => (await calls("cron_changed"))[0]?.ctx, PATIENCE).toMatchObject(context);
  await expect.poll(async () => (await calls("cron_reconciled"))[0], PATIENCE).toMatchObject({ event: { reason: "startup", enabled: true }, ctx: context });
});

test("a job is reported as added, scheduled, started, finished with its delivery, updated, removed with its last state", async () => {
  const job = { ...every, name: "life", payload: { kind: "agentTurn", message: "say w-life" }, delivery: { mode: "none" } };
  const { id } = await ask<{ id: string }>("cron.add", job);
  await ask("cron.run", { id });
  await ask("cron.update", { id, patch: { schedule: { kind: "every", everyMs: 3_600_000 } } });
  await ask("cron.remove", { id });
  const reported = async () => (await changes("life")).map(({ action }) => action);
  await expect.poll(reported, PATIENCE).toEqual(["added", "scheduled", "started", "finished", "updated", "scheduled", "removed"]);
  const [added, scheduled, , finished, , again, removed] = await changes("life");
  expect(added).toMatchObject({ reason: "added", jobId: id, nextRunAtMs: expect.any(Number), job: { id, state: { nextRunAtMs: added?.["nextRunAtMs"] } } });
  expect(scheduled).toMatchObject({ reason: "scheduled", nextRunAtMs: added?.["nextRunAtMs"] });
  expect(again?.["nextRunAtMs"]).toBeLessThan(Number(scheduled?.["nextRunAtMs"]));
  expect(finished).toMatchObject({ status: "ok", deliveryStatus: "not-requested", job: { state: { lastRunStatus: "ok" } } });
  expect(removed).toMatchObject({ job: { name: "life", state: { lastRunStatus: "ok" } } });
  expect(scheduled).not.toHaveProperty("deliveryStatus");
});

test("a failed run has its error, and says whether its answer was delivered", async () => {
  const delivery = { mode: "announce", channel: "nowhere", to: "42" };
  const { id } = await ask<{ id: string }>("cron.add", { ...every, name: "failing", payload: { kind: "agentTurn", message: "say w-failing" }, delivery });
  await ask("cron.run", { id });
  const finished = async () => (await changes("failing")).find(({ action }) => action === "finished");
  await expect.poll(finished, PATIENCE).toMatchObject({
    status: "error",
    deliveryStatus: "not-delivered",
    job: { state: { lastRunStatus: "error", lastError: expect.stringContaining("nowhere") } },
  });
  await ask("cron.remove", { id });
  const posted = {
    ...every,
    name: "posted",
    payload: { kind: "agentTurn", message: "say w-posted" },
    delivery: { mode: "webhook", to: "http://hooks.invalid/" },
  };
  const { id: other } = await ask<{ id: string }>("cron.add", posted);
  await ask("cron.run", { id: other });
  await expect.poll(async () => (await changes("posted")).find(({ action }) => action === "finished"), PATIENCE).toMatchObject({ deliveryStatus: "unknown" });
  await ask("cron.remove", { id: other });
});

test("a plugin lists, adds, changes and removes jobs, and is refused what is no job", async () => {
  const added = await onCron("add", { name: "from a plugin", schedule: { kind: "every", everyMs: 3_600_000 }, text: "tea" });
  expect(added).toMatchObject({ result: { name: "from a plugin", sessionTarget: "main", payload: { kind: "systemEvent", text: "tea" } } });
  const { id } = added.result as { id: string };
  expect((await onCron("update", id, { enabled: false })).result).toMatchObject({ id, enabled: false });
  expect((await onCron("list")).result).not.toContainEqual(expect.objectContaining({ id }));
  expect((await onCron("list", { includeDisabled: true })).result).toContainEqual(expect.objectContaining({ id }));
  expect(await onCron("add", { name: "none" })).toMatchObject({ code: "INVALID_INPUT", error: expect.stringContaining("cron.add") });
  expect(await onCron("update", "unknown", { enabled: true })).toMatchObject({ error: expect.stringContaining("unknown cron job id") });
  expect((await onCron("remove", id)).result).toEqual({ ok: true, removed: true });
});

test("the run of a job names it to hooks of the turn and of its tools, and other turns name none", async () => {
  gateway.model.answers(({ user, body }) => {
    if (!user.includes("use a tool")) return undefined;
    return body.includes('"role":"tool"') ? "done" : { text: "", calls: [{ name: "exec", args: { command: "true" } }] };
  });
  const { id } = await ask<{ id: string }>("cron.add", {
    ...every,
    name: "tools",
    payload: { kind: "agentTurn", message: "use a tool" },
    delivery: { mode: "none" },
  });
  await ask("cron.run", { id });
  const ofJob = async (hook: string) => (await calls(hook)).filter(({ ctx }) => ctx["jobId"] === id).length;
  await expect.poll(() => ofJob("before_tool_call"), PATIENCE).toBe(1);
  await expect.poll(() => ofJob("agent_end"), PATIENCE).toBe(1);
  const before = (await calls("agent_end")).length;
  await gateway.aside();
  await expect.poll(async () => (await calls("agent_end")).length, PATIENCE).toBe(before + 1);
  expect((await calls("agent_end")).at(-1)?.ctx).not.toHaveProperty("jobId");
  await ask("cron.remove", { id });
});
