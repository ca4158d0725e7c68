/** Commands that agents leave in the background on a node: a real node host, followed and ended with the tool `process`. */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { identify, isRunning } from "../../src/base/process-identity.ts";
import { enter, type DeviceClient } from "../harness/device-client.ts";
import { makePlace, type GatewayProcess } from "../harness/gateway-process.ts";
import { orders, startHijackedModel, textOf, type HijackedModel } from "../harness/hijacked-model.ts";
import { TOKEN } from "../security/start.ts";
import { startHost, type HostProcess } from "./host-process.ts";

const OPEN = { tools: { exec: { security: "full", ask: "off" } } };
const RULES = { defaults: { security: "full", ask: "off" } };
const place = makePlace();
const ofNode = makePlace();

let model: HijackedModel;
let gateway: GatewayProcess;
let owner: DeviceClient;
let host: HostProcess;
beforeAll(async () => {
  model = await startHijackedModel();
  const models = [{ id: "m1", name: "m1", contextWindow: 200_000, maxTokens: 8192 }];
  place.configure(
    JSON.stringify({
      gateway: { mode: "local", auth: { token: TOKEN } },
      agents: { defaults: { model: { primary: "mock/m1" }, skipBootstrap: true } },
      tools: { exec: { host: "node", security: "full", ask: "off" } },
      models: { providers: { mock: { baseUrl: model.url, apiKey: "a-key", api: "openai-completions", models } } },
    }),
  );
  ofNode.configure(JSON.stringify(OPEN));
  gateway = await place.gateway();
  if (gateway.url === undefined) throw new Error(gateway.output());
  owner = await enter(gateway.url, { token: TOKEN, scopes: ["operator.admin", "operator.read", "operator.write"] });
  host = startHost(gateway.url, { place: ofNode, name: "Shed", rules: RULES });
  await host.waitFor("connected to");
});
afterAll(async () => {
  for (const one of [host, owner, gateway, model]) await one?.[Symbol.asyncDispose]();
  for (const { home } of [place, ofNode]) rmSync(home, { recursive: true, force: true });
});

let turns = 0;
/** What a call of the agent gives the model. */
async function call(session: string, name: "exec" | "process", args: Readonly<Record<string, unknown>>): Promise<string> {
  const idempotencyKey = `turn-${(turns += 1)}`;
  const message = `${idempotencyKey} ${orders([{ name, args }])}`;
  await owner.ask("chat.send", { sessionKey: `agent:main:${session}`, message, idempotencyKey });
  const { payload } = await owner.ask("agent.wait", { runId: idempotencyKey, timeoutMs: 60_000 });
  expect(payload).toMatchObject({ status: "ok" });
  const asked = model.requests.findLast(({ messages }) => messages.some((one) => textOf(one.content).includes(`${idempotencyKey} CALLS`)))!;
  return textOf(asked.messages.findLast(({ role }) => role === "tool")!.content);
}
const sessionOf = (text: string): string => /\(session ([\w-]+)\)/.exec(text)?.[1] ?? text;
const pidIn = (name: string): number => Number(readFileSync(join(ofNode.home, name), "utf8"));

test("a command goes to the background at once, shows what it writes, and is ended with everything it started", async () => {
  const left = await call("kill", "exec", { command: "echo $$ > killed; echo begun; sleep 300; echo never", background: true });
  expect(left).toMatch(
    /^Command still running on the node Shed \(session [a-z]+-[a-z]+\)\. Use process \(list\/poll\/log\/kill\/clear\/remove\) for follow-up\.$/,
  );
  const sessionId = sessionOf(left);
  await expect.poll(() => call("kill", "process", { action: "log", sessionId })).toContain("begun");
  expect(await call("kill", "process", { action: "list" })).toContain(`${sessionId} running`);
  expect(await call("other", "process", { action: "poll", sessionId })).toContain(`No session found for ${sessionId}`);
  const command = identify(pidIn("killed"));
  expect(await call("kill", "process", { action: "kill", sessionId })).toContain(`Killed session ${sessionId}.`);
  await expect.poll(() => isRunning(command)).toBe(false);
  const end = await call("kill", "process", { action: "poll", sessionId, timeout: 20_000 });
  expect(end).toContain("Process exited with signal SIGTERM.");
  expect(end).not.toContain("never");
});

test("after yieldMs it goes on in the background, and its end and all of its output are there", async () => {
  const left = await call("yield", "exec", { command: "echo one; sleep 2; echo two >&2; exit 3", yieldMs: 100 });
  const sessionId = sessionOf(left);
  const polled: string[] = [];
  while (!polled.at(-1)?.includes("Process exited")) polled.push(await call("yield", "process", { action: "poll", sessionId, timeout: 20_000 }));
  expect(polled.join("\n").match(/one|two|Process exited with code \d/g)).toEqual(["one", "two", "Process exited with code 3"]);
  expect(await call("yield", "exec", { command: "echo quick; exit 4", yieldMs: 60_000 })).toBe("quick\n\n(Command exited with code 4)");
  expect(await call("yield", "exec", { command: "echo plain" })).toBe("plain");
});

test("when its node dies it ends once, as unknown, and its session is notified once", async () => {
  const left = await call("dies", "exec", { command: "echo $$ > orphan; echo begun; sleep 300", background: true });
  const sessionId = sessionOf(left);
  await expect.poll(() => call("dies", "process", { action: "log", sessionId })).toContain("begun");
  await host.kill();
  try {
    const ends = async (): Promise<string> => call("dies", "process", { action: "poll", sessionId, timeout: 20_000 });
    await expect.poll(ends).toMatch(/node disconnected \(system\.run\)[^]*Process exited with code unknown\.$/);
    expect(await ends()).toContain("Process exited with code unknown.");
    const lines = new Set(
      model.requests.flatMap(({ messages }) =>
        messages.flatMap(({ content }) => textOf(content).match(new RegExp(`Exec (?:completed|failed) \\(${sessionId},[^\\n]*`, "g")) ?? []),
      ),
    );
    expect(lines.size).toBeLessThanOrEqual(1);
    host = startHost(gateway.url!, { place: ofNode, name: "Shed", rules: RULES });
    await host.waitFor("connected to");
    expect(await ends()).toContain("Process exited with code unknown.");
    expect(await call("dies", "exec", { command: "echo again" })).toBe("again");
  } finally {
    process.kill(pidIn("orphan"), "SIGKILL");
  }
});
