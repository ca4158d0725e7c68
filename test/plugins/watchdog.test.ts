import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { DeviceClient } from "../harness/device-client.ts";
import type { GatewayProcess } from "../harness/gateway-process.ts";
import { makeGuardedPlace, type GuardedPlace } from "../harness/guarded-gateway.ts";

/** Blocks the event loop for ever: in its hook by computing or, asleep, in a call to the system, after a pause in its tool. */
const BLOCKER = {
  id: "blocker",
  code: `
    const block = () => { for (;;) if (home === "") return; };
    const sleep = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    api.on("before_tool_call", ({ params }) => {
      if (params.command === "echo block") block();
      if (params.command === "echo sleep") sleep();
    });
    api.registerTool({ name: "later", description: "d", parameters: { type: "object", properties: {} },
      async execute() { await new Promise((resolve) => setTimeout(resolve, 5)); block(); } });
    api.registerTool({ name: "leave", description: "d", parameters: { type: "object", properties: { how: { type: "string" } } },
      async execute(_id, { how }) {
        if (how === "exit") process.exit(3);
        if (how === "imported") (await import("node:process")).exit(3);
        if (how === "abort") process.abort();
        if (how === "kill") process.kill(process.pid, "SIGKILL");
      } });
  `,
};

let there: GuardedPlace;
let gateway: GatewayProcess;
let client: DeviceClient;

async function open(watchdog: object): Promise<void> {
  there.configure({ watchdog });
  gateway = await there.start();
  if (gateway.url === undefined) throw new Error(gateway.output());
  client = await there.enter();
}

beforeEach(async () => {
  there = await makeGuardedPlace();
  there.plant(BLOCKER);
});
afterEach(async () => {
  await client[Symbol.asyncDispose]();
  await there[Symbol.asyncDispose]();
});

const send = (name: string, args: object, idempotencyKey = "run"): Promise<unknown> =>
  client.request("chat.send", { sessionKey: "agent:main:x", message: there.orders([{ name, args: args as never }]), idempotencyKey });

test.each([
  ["a hook", "exec", { command: "echo block" }, "hook before_tool_call"],
  ["a tool, after it has waited", "later", {}, "tool later"],
])("%s that blocks the event loop is named, the process is ended, and the next start says why", async (_where, name, args, what) => {
  await open({ warnSeconds: 1, limitSeconds: 3 });
  await send(name, args);
  const { code, signal } = await gateway.exited;
  expect(code ?? signal, "a supervisor sees a failure").not.toBe(0);
  const said = gateway.output();
  expect(said).toMatch(new RegExp(`has not answered anything for 1 s: the plugin blocker runs \\(${what}\\) at .*blocker/index.ts:\\d+`));
  expect(said).toMatch(new RegExp(`the gateway was ended because .* for 3 s: the plugin blocker runs \\(${what}\\)`));
  there.plant({ id: "blocker", code: "" });
  // With so short a limit a busy machine would end this one, too.
  there.configure({ watchdog: {} });
  const next = await there.start();
  await next.waitFor(/the previous process: the gateway was ended because .* the plugin blocker/);
  expect(there.place.cli("status").stdout).toContain("the plugin blocker runs");
  expect(existsSync(join(there.place.stateDir, "last-exit.json")), "reported once").toBe(false);
  expect(there.place.cli("why", "run").stdout).toMatch(new RegExp(`the watchdog ended the gateway: plugin blocker \\(${what}\\)`));
});

test("a stop is not put off by code that blocks the event loop", async () => {
  await open({ warnSeconds: 1, limitSeconds: 0 });
  // Asleep it leaves the cores to other tests for as long as a stop has.
  await send("exec", { command: "echo sleep" });
  await gateway.waitFor("has not answered anything");
  gateway.child.kill("SIGTERM");
  expect(await gateway.exited).toEqual({ code: null, signal: "SIGKILL" });
  expect(gateway.output()).toMatch(/the gateway was ended .* and was asked to stop \(SIGTERM\): the plugin blocker runs \(hook before_tool_call\)/);
});

test("a plugin that would end the gateway gets an error, is named, and ends nothing", async () => {
  await open({});
  for (const how of ["exit", "imported", "abort", "kill"]) {
    await send("leave", { how }, `run-${how}`);
    expect(await client.request("agent.wait", { runId: `run-${how}`, timeoutMs: 20_000 })).toMatchObject({ ok: true, payload: { status: "ok" } });
    expect(JSON.stringify(there.model.requests.at(-1)?.messages.at(-1)), how).toContain("a plugin cannot end the gateway");
  }
  for (const call of ["exit", "abort", "kill"]) expect(gateway.output()).toMatch(new RegExp(`blocker: it called process\\.${call}\\(.*which is refused`));
  expect(gateway.child.exitCode).toBe(null);
});
