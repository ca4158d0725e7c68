/** Events of nodes wake the session that they are about, in a real gateway. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ConnectParams } from "../../src/protocol/index.ts";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { enter } from "../harness/device-client.ts";
import { labChat, PATIENCE } from "../harness/lab-chat.ts";

let gateway: LabGateway;
const { say, asked } = labChat(() => gateway);

beforeAll(async () => {
  gateway = await startLabGateway();
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

test("the end of a command on a node gives its session a turn, also where nothing beats by itself", async () => {
  const { defaults } = gateway.sections["agents"] as { defaults: object };
  gateway.configure({ agents: { defaults: { ...defaults, heartbeat: { every: "0m" } } } });
  const session = "agent:main:building";
  await say(session, "say w-begun");
  await expect.poll(() => asked("w-begun").length, PATIENCE).toBe(1);
  const client = { id: "node-host", mode: "node", version: "1.2.3", platform: "linux" } as ConnectParams["client"];
  await using node = await enter(gateway.url, {
    token: gateway.token,
    role: "node",
    scopes: [],
    params: { client, commands: ["system.run"], caps: ["system"] },
  });
  const payload = { sessionKey: session, runId: "build-1", exitCode: 3, output: "w-broken" };
  for (let n = 0; n < 2; n += 1) expect((await node.request("node.event", { event: "exec.finished", payload, idempotencyKey: "end-1" })).ok).toBe(true);
  await expect.poll(() => asked("w-broken").length, PATIENCE).toBe(1);
  const [{ user, body } = { user: "", body: "" }] = asked("w-broken");
  expect(user).toMatch(/^System: .*Exec finished \(node=.* id=build-1, code 3\)/);
  expect(user).toContain("A command that you started in the background has ended");
  // It is the session of the command that was woken.
  expect(body).toContain("w-begun");
  await gateway.aside();
  expect(asked("w-broken")).toHaveLength(1);
});
