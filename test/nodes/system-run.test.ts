import { afterAll, beforeAll, expect, test } from "vitest";
import type { DeviceClient } from "../harness/device-client.ts";
import { start, type Started } from "../security/start.ts";
import { askedFor, connectNode, connectOperator, requests } from "./lab.ts";

type Node = Awaited<ReturnType<typeof connectNode>>;
let gateway: Started;
let operator: DeviceClient;
let node: Node;
beforeAll(async () => {
  gateway = await start();
  operator = await connectOperator(gateway, ["operator.admin", "operator.approvals"]);
  node = await connectNode(gateway);
});
afterAll(async () => {
  await node[Symbol.asyncDispose]();
  await operator[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});

let count = 0;
const newKey = (): string => `run-${(count += 1)}`;
const invoke = (params: object, key = newKey(), by = operator) =>
  by.request("node.invoke", { nodeId: node.nodeId, command: "system.run", params, idempotencyKey: key });

/** An approval for this command, decided. */
async function approval(over: object = {}, decision = "allow-once", by = operator): Promise<string> {
  const id = `approval-${newKey()}`;
  const asked = by.request("exec.approval.request", { id, command: "ls -l", cwd: "/tmp", host: "node", nodeId: node.nodeId, agentId: "main", ...over });
  await operator.next(({ event, payload }) => event === "exec.approval.requested" && payload!["id"] === id);
  await operator.ask("exec.approval.resolve", { id, decision });
  await asked;
  return id;
}
const claim = (runId: string, over: object = {}) => ({ command: ["ls", "-l"], cwd: "/tmp", agentId: "main", runId, approved: true, ...over });

test("only the documented fields are forwarded, and no claim of approval without one", async () => {
  const key = newKey();
  void invoke({ command: ["ls", "-l"], cwd: "/tmp", env: { A: "1" }, sessionKey: "s", security: "full", ask: "off", evil: true }, key).catch(() => undefined);
  expect(JSON.parse((await askedFor(node, key)).paramsJSON!)).toEqual({ command: ["ls", "-l"], cwd: "/tmp", env: { A: "1" }, sessionKey: "s" });
});

test.each([
  ["no runId", {}, "MISSING_RUN_ID"],
  ["an unknown one", { runId: "nothing" }, "UNKNOWN_APPROVAL_ID"],
])("a claim of approval with %s is refused", async (_, over, code) => {
  const before = requests(node).length;
  expect((await invoke({ command: ["ls"], approved: true, ...over })).error).toMatchObject({ code: "INVALID_REQUEST", details: { code } });
  expect((await invoke({ command: ["ls"], approvalDecision: "allow-once", ...over })).error?.details).toEqual({ code });
  expect(requests(node)).toHaveLength(before);
});

test("an approved command is forwarded once with the decision", async () => {
  const runId = await approval();
  const key = newKey();
  void invoke(claim(runId), key).catch(() => undefined);
  expect(JSON.parse((await askedFor(node, key)).paramsJSON!)).toMatchObject({ command: ["ls", "-l"], runId, approved: true, approvalDecision: "allow-once" });
  expect((await invoke(claim(runId))).error).toMatchObject({
    message: "the approval was already used; request it again",
    details: { code: "APPROVAL_REQUIRED" },
  });
});

test("a denied or undecided approval lets nothing run", async () => {
  expect((await invoke(claim(await approval({}, "deny")))).error?.details).toEqual({ code: "APPROVAL_REQUIRED" });
  const id = `approval-${newKey()}`;
  void operator
    .request("exec.approval.request", { id, command: "ls -l", cwd: "/tmp", host: "node", agentId: "main", timeoutMs: 60_000 })
    .catch(() => undefined);
  await operator.next(({ event, payload }) => event === "exec.approval.requested" && payload!["id"] === id);
  expect((await invoke(claim(id))).error?.details).toEqual({ code: "APPROVAL_REQUIRED" });
  const late = `approval-${newKey()}`;
  expect(
    (await operator.request("exec.approval.request", { id: late, command: "ls -l", cwd: "/tmp", host: "node", agentId: "main", timeoutMs: 1 })).payload,
  ).toMatchObject({ decision: null });
  await expect.poll(async () => (await invoke(claim(late))).error?.details).toEqual({ code: "APPROVAL_EXPIRED" });
});

test.each([
  ["another command", { command: ["ls", "-a"] }, "APPROVAL_COMMAND_MISMATCH"],
  ["a quoted lookalike", { command: ["ls -l"] }, "APPROVAL_COMMAND_MISMATCH"],
  ["another folder", { cwd: "/" }, "APPROVAL_CWD_MISMATCH"],
  ["no folder", { cwd: undefined }, "APPROVAL_CWD_MISMATCH"],
  ["variables", { env: { PAGER: "sh" } }, "APPROVAL_ENV_MISMATCH"],
  ["another agent", { agentId: "other" }, "APPROVAL_AGENT_MISMATCH"],
  ["a session", { sessionKey: "agent:main:main" }, "APPROVAL_SESSION_MISMATCH"],
  ["a text that is not the command's", { rawCommand: "ls -la" }, "RAW_COMMAND_MISMATCH"],
])("an approval is not good for %s", async (_, over, code) => {
  expect((await invoke(claim(await approval(), over))).error).toMatchObject({ code: "INVALID_REQUEST", details: { code } });
});

test("an approval is not good for another node, host or device", async () => {
  await using other = await connectNode(gateway);
  const elsewhere = await operator.request("node.invoke", {
    nodeId: other.nodeId,
    command: "system.run",
    params: claim(await approval()),
    idempotencyKey: newKey(),
  });
  expect(elsewhere.error?.details).toEqual({ code: "APPROVAL_NODE_MISMATCH" });
  expect((await invoke(claim(await approval({ host: "gateway" })))).error?.details).toEqual({ code: "APPROVAL_HOST_MISMATCH" });
  await using stranger = await connectOperator(gateway, ["operator.write"]);
  expect((await invoke(claim(await approval()), newKey(), stranger)).error?.details).toEqual({ code: "APPROVAL_DEVICE_MISMATCH" });
  expect(requests(other)).toEqual([]);
});

test.each([[undefined], [{}], [{ command: "ls" }], [{ command: [] }], [{ command: ["ls", 1] }], [{ command: ["ls"], env: { A: 1 } }]])(
  "garbage as parameters is refused: %j",
  async (params) => {
    const { error } = await operator.request("node.invoke", { nodeId: node.nodeId, command: "system.run", params, idempotencyKey: newKey() });
    expect(error).toMatchObject({ code: "INVALID_REQUEST", message: expect.stringContaining("system.run takes") });
  },
);
