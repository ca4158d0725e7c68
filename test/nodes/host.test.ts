import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DeviceClient } from "../harness/device-client.ts";
import { start, type Started } from "../security/start.ts";
import { startHost, type HostProcess } from "./host-process.ts";
import { connectOperator } from "./lab.ts";

let gateway: Started;
let operator: DeviceClient;
let host: HostProcess;
let nodeId: string;
beforeAll(async () => {
  gateway = await start();
  operator = await connectOperator(gateway, ["operator.admin", "operator.approvals", "operator.pairing"]);
  host = startHost(gateway.url, { name: "Büro PC", rules: { agents: { main: { allowlist: [{ pattern: "/bin/echo" }, { pattern: "/usr/bin/echo" }] } } } });
  await host.waitFor("connected to");
  nodeId = (await entry())!.nodeId as string;
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await operator[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});

type Entry = Readonly<Record<string, unknown>>;
const entry = async (): Promise<Entry | undefined> =>
  ((await operator.ask("node.list", {})).payload!["nodes"] as Entry[]).find(({ displayName }) => displayName === "Büro PC");

let count = 0;
const newKey = (): string => `host-${(count += 1)}`;
const invoke = (command: string, params: object, over: object = {}) =>
  operator.request("node.invoke", { nodeId, command, params, idempotencyKey: newKey(), ...over });

/** Runs a command that an operator has approved. */
async function approved(script: string, over: object = {}, invokeOver: object = {}) {
  const id = `host-approval-${newKey()}`;
  const asked = operator.request("exec.approval.request", { id, command: script, host: "node", nodeId, agentId: "main" });
  await operator.next(({ event, payload }) => event === "exec.approval.requested" && payload!["id"] === id);
  await operator.ask("exec.approval.resolve", { id, decision: "allow-once" });
  await asked;
  return invoke("system.run", { command: ["/bin/sh", "-lc", script], agentId: "main", runId: id, approved: true, ...over }, invokeOver);
}
const run = async (script: string, over: object = {}) => (await approved(script, over)).payload!["payload"] as Entry;

test("the host declares what this machine can do, under an identity of its own", async () => {
  expect(await entry()).toMatchObject({ platform: "linux", connected: true, paired: true, caps: expect.arrayContaining(["system"]) });
  expect((await entry())!["commands"]).toEqual(expect.arrayContaining(["system.run", "system.which"]));
  expect(existsSync(join(host.place.stateDir, "node", "identity", "device.json"))).toBe(true);
  expect((await invoke("system.which", { bins: ["sh", "no-such-program", "/bin/sh"] })).payload!["payload"]).toEqual({
    bins: { sh: expect.stringMatching(/\/sh$/) },
  });
});

test("a command that the node's list covers runs, and exactly that one", async () => {
  const { payload } = await invoke("system.run", { command: ["echo", "a b", "$HOME", "'; touch x"], agentId: "main" });
  expect(payload!["payload"]).toMatchObject({ exitCode: 0, timedOut: false, success: true, stdout: "a b $HOME '; touch x\n", stderr: "", error: null });
});

test.each([["touch made"], ["echo ok; touch made"], ["echo $(touch made)"], ["echo ok > made"]])(
  "what it does not cover waits for approval: %s",
  async (script) => {
    const { error } = await invoke("system.run", { command: ["/bin/sh", "-lc", script], agentId: "main" });
    expect(error).toMatchObject({ code: "UNAVAILABLE", message: "SYSTEM_RUN_DENIED: approval required" });
    expect(existsSync(join(host.place.home, "made"))).toBe(false);
  },
);

test("an approved command runs in the node's home with both streams and its code", async () => {
  expect(await run("pwd; echo oops >&2; exit 3")).toMatchObject({ exitCode: 3, success: false, stdout: `${host.place.home}\n`, stderr: "oops\n" });
});

test("variables that load foreign code are dropped on the node", async () => {
  const params = { command: ["/bin/sh", "-lc", "echo ok"], env: { PATH: "/evil", LD_PRELOAD: "/evil.so", NODE_OPTIONS: "--evil", SHOWN: "yes" } };
  expect((await invoke("system.run", { ...params, command: ["echo", "ok"], agentId: "main" })).error?.message).toBe("SYSTEM_RUN_DENIED: approval required");
  const id = `host-approval-${newKey()}`;
  const environment = "LD_PRELOAD='/evil.so' NODE_OPTIONS='--evil' PATH='/evil' SHOWN='yes'";
  const asked = operator.request("exec.approval.request", { id, command: "env", environment, host: "node", nodeId });
  await operator.next(({ event, payload }) => event === "exec.approval.requested" && payload!["id"] === id);
  await operator.ask("exec.approval.resolve", { id, decision: "allow-once" });
  await asked;
  const { payload } = await invoke("system.run", { command: ["env"], env: params.env, runId: id, approved: true });
  const { stdout } = payload!["payload"] as { stdout: string };
  expect(stdout).toContain("SHOWN=yes");
  expect(stdout).not.toContain("evil");
});

test("a command that takes too long is ended with everything it started", async () => {
  const result = await run("(sleep 60; echo late) & wait", { timeoutMs: 100 });
  expect(result).toMatchObject({ timedOut: true, success: false, error: "the command ran out of time" });
});

test("a command whose caller gave up is ended", async () => {
  const script = "echo $$ > pid-file; sleep 60; touch survived";
  const { error } = await approved(script, {}, { timeoutMs: 400 });
  expect(error?.message).toBe("node invoke timed out");
  const pid = Number(readFileSync(join(host.place.home, "pid-file"), "utf8"));
  await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
  expect(existsSync(join(host.place.home, "survived"))).toBe(false);
});

test("long output is cut to its end", async () => {
  const { stdout } = (await run("seq 1 100000")) as { stdout: string };
  expect(stdout.length).toBeLessThan(201_000);
  expect(stdout).toMatch(/^… \(\d+ characters before this\)\n/);
  expect(stdout.endsWith("100000\n")).toBe(true);
});

test("what a server cannot do is refused with the documented code", async () => {
  expect((await invoke("system.notify", { title: "x" })).error?.details).toMatchObject({ reason: "command not declared by node" });
  expect((await invoke("camera.snap", {})).error?.details).toMatchObject({ reason: "command not allowlisted" });
  expect((await invoke("system.run", { command: ["echo"], cwd: "/no/such/folder" })).error).toMatchObject({
    message: "cwd is not a folder on this node: /no/such/folder",
    details: { nodeError: { code: "INVALID_REQUEST" } },
  });
});

test("an administrator reads and replaces the node's rules, and the change holds at once", async () => {
  const read = await operator.ask("exec.approvals.node.get", { nodeId });
  const before = read.payload as unknown as { hash: string; file: { version: 1; agents: object } };
  const denied = { ...before.file, agents: { ...before.file.agents, closed: { security: "deny" } } };
  expect((await operator.request("exec.approvals.node.set", { nodeId, file: denied, baseHash: "stale" })).ok).toBe(false);
  expect((await operator.request("exec.approvals.node.set", { nodeId, file: denied, baseHash: before.hash })).ok).toBe(true);
  expect((await invoke("system.run", { command: ["echo", "x"], agentId: "closed" })).error?.message).toBe("SYSTEM_RUN_DISABLED: security=deny");
});

test("the command line shows and uses nodes", { timeout: 120_000 }, async () => {
  const { place } = gateway;
  const cli = async (...args: string[]) => {
    const { code, stdout, stderr } = await place.start(...args);
    return { code, stdout, stderr };
  };
  const [status, described, invoked, ran, unknown] = await Promise.all([
    cli("nodes", "status"),
    cli("nodes", "describe", "--node", "büro-pc", "--json"),
    cli("nodes", "invoke", "--node", nodeId.slice(0, 8), "--command", "system.which", "--params", '{"bins":["sh"]}'),
    cli("nodes", "run", "--node", "Büro PC", "--agent", "main", "--", "echo", "from here"),
    cli("nodes", "invoke", "--node", "attic", "--command", "system.which"),
  ]);
  expect(status).toMatchObject({ code: 0, stdout: expect.stringMatching(/Büro PC\s+connected/) });
  expect(JSON.parse(described.stdout)).toMatchObject({ nodeId, connected: true });
  expect(JSON.parse(invoked.stdout)).toEqual({ bins: { sh: expect.stringMatching(/sh$/) } });
  expect(ran).toMatchObject({ code: 0, stdout: "from here\n" });
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('unknown node "attic"; known nodes: Büro PC') });
  const own = await host.place.start("node", "status", "--json");
  expect(JSON.parse(own.stdout)).toMatchObject({ running: true, pid: host.child.pid });
});

test("nodes run asks where the node wants it, and runs what was allowed", { timeout: 120_000 }, async () => {
  const file = join(host.place.home, "by-cli");
  const seen = operator.frames.length;
  const ran = gateway.place.start("nodes", "run", "--node", nodeId, "--raw", `touch ${file} && echo done`);
  const isQuestion = ({ event, payload }: (typeof operator.frames)[number]): boolean =>
    event === "exec.approval.requested" && JSON.stringify(payload).includes("by-cli");
  const { payload } = await operator.next((frame) => operator.frames.indexOf(frame) >= seen && isQuestion(frame));
  expect(payload!["request"]).toMatchObject({ command: `touch ${file} && echo done`, host: "node", nodeId });
  expect(existsSync(file)).toBe(false);
  await operator.ask("exec.approval.resolve", { id: payload!["id"], decision: "allow-once" });
  expect(await ran).toMatchObject({ code: 0, stdout: "done\n" });
  expect(existsSync(file)).toBe(true);
});

test("a second process of the same node does not start, and a copy of the identity ends the first", { timeout: 120_000 }, async () => {
  await using first = startHost(gateway.url, { name: "Twin" });
  await first.waitFor("connected to");
  await using second = startHost(gateway.url, { place: first.place });
  expect(await second.exited).toBe(1);
  expect(second.output()).toContain(`process ${first.child.pid} runs as this node`);
  writeFileSync(join(first.place.stateDir, "node", "process.json"), "{}");
  await using copy = startHost(gateway.url, { place: first.place });
  await copy.waitFor("connected to");
  expect(await first.exited).toBe(1);
  expect(first.output()).toContain("another process connected as this node");
});
