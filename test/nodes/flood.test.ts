/** A node that floods: many answers that nobody waits for, large ones, and more commands than a node may have. The gateway stays small and answers others. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DeviceClient } from "../harness/device-client.ts";
import { start, type Started } from "../security/start.ts";
import { askedFor, connectNode, connectOperator } from "./lab.ts";

const MB = 1024 * 1024;

let gateway: Started;
let operator: DeviceClient;
beforeAll(async () => {
  gateway = await start();
  operator = await connectOperator(gateway);
});
afterAll(async () => {
  await operator[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});

/** Memory that the gateway's process has. */
function residentBytes(): number {
  const status = readFileSync(`/proc/${gateway.process.child.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)![1]) * 1024;
}

type Node = Awaited<ReturnType<typeof connectNode>>;
const result = (node: Node, n: number, payloadJSON: string): string =>
  JSON.stringify({ type: "req", id: `f${n}`, method: "node.invoke.result", params: { id: `nothing-${n}`, nodeId: node.nodeId, ok: true, payloadJSON } });
const answered = (node: Node, n: number) => node.next((frame) => frame.id === `f${n}`);
/** The gateway is there for others, and a command of theirs has its outcome. */
async function expectService(key: string): Promise<void> {
  await using other = await connectNode(gateway);
  const invoked = operator.ask("node.invoke", { nodeId: other.nodeId, command: "system.which", params: { bins: ["sh"] }, idempotencyKey: key });
  const { id } = await askedFor(other, key);
  await other.request("node.invoke.result", { id, nodeId: other.nodeId, ok: true, payloadJSON: '{"bins":{}}' });
  expect((await invoked).payload).toMatchObject({ ok: true });
}

test("a flood of answers that nobody waits for is stored nowhere, and others are served beside it", { timeout: 120_000 }, async () => {
  await using node = await connectNode(gateway);
  const before = residentBytes();
  const most = 10_000;
  for (let n = 0; n < most; n += 1) node.send(result(node, n, JSON.stringify("x".repeat(2000))));
  await expectService("beside-many");
  const frames = await Promise.all(Array.from({ length: most }, (_, n) => answered(node, n)));
  const isSlowed = ({ error }: (typeof frames)[number]): boolean => error?.message.startsWith("too many requests on this connection") === true;
  expect(frames.filter((frame) => frame.payload?.["ignored"] !== true && !isSlowed(frame))).toEqual([]);
  expect(residentBytes() - before).toBeLessThan(150 * MB);
});

test("large answers that nobody waits for leave no trace in memory, and one beyond a frame ends the connection", { timeout: 120_000 }, async () => {
  await using node = await connectNode(gateway);
  const before = residentBytes();
  const large = JSON.stringify("x".repeat(8 * MB));
  for (let n = 0; n < 40; n += 1) {
    node.send(result(node, n, large));
    if (n % 4 === 3) await answered(node, n);
  }
  await expectService("beside-large");
  expect(residentBytes() - before).toBeLessThan(250 * MB);
  const invoked = operator.request("node.invoke", { nodeId: node.nodeId, command: "system.which", params: {}, idempotencyKey: "beyond" });
  await askedFor(node, "beyond");
  node.send(result(node, 99, "x".repeat(26 * MB)));
  expect(await node.closed).toMatchObject({ code: 1009 });
  expect((await invoked).error).toMatchObject({ code: "UNAVAILABLE", details: expect.objectContaining({ code: "DISCONNECTED" }) });
  await expectService("after-large");
});

test("a node that declares a thousand commands has the first ones that are allowed", async () => {
  const junk = (from: number): string[] => Array.from({ length: 1000 }, (_, n) => `junk.${from + n}`);
  await using node = await connectNode(gateway, { commands: ["system.which", "x".repeat(300), ...junk(0), "system.run"], caps: junk(0) });
  const { payload } = await operator.ask("node.describe", { nodeId: node.nodeId });
  expect(payload!["commands"]).toEqual(["system.which"]);
  expect((payload!["caps"] as readonly string[]).length).toBeLessThanOrEqual(500);
  expect((await operator.request("node.invoke", { nodeId: node.nodeId, command: "junk.1", params: {}, idempotencyKey: "junk" })).error?.details).toMatchObject({
    reason: "command not allowlisted",
  });
});
