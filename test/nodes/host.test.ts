import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { fileCommandText } from "../../src/nodes/file-command.ts";
import type { DeviceClient } from "../harness/device-client.ts";
import { makePlace } from "../harness/gateway-process.ts";
import { programArguments } from "../harness/program.ts";
import { start, type Started } from "../security/start.ts";
import { startHost, type HostProcess } from "./host-process.ts";
import { connectOperator } from "./lab.ts";

let gateway: Started;
let operator: DeviceClient;
let host: HostProcess;
let nodeId: string;
let shared: string;
beforeAll(async () => {
  gateway = await start({ gateway: { nodes: { allowCommands: ["file.read", "file.write"] } } });
  operator = await connectOperator(gateway, ["operator.admin", "operator.approvals", "operator.pairing"]);
  const place = makePlace();
  shared = join(place.home, "shared");
  mkdirSync(join(shared, ".ssh"), { recursive: true });
  place.configure(JSON.stringify({ nodeHost: { files: { folders: [shared, join(place.home, ".ssh"), place.stateDir], write: true } } }));
  host = startHost(gateway.url, {
    place,
    name: "Büro PC",
    rules: { agents: { main: { allowlist: [{ pattern: "/bin/echo" }, { pattern: "/usr/bin/echo" }] } } },
  });
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

/** The id of an approval for a command on the node. */
async function approval(command: string): Promise<string> {
  const id = `host-approval-${newKey()}`;
  const asked = operator.request("exec.approval.request", { id, command, host: "node", nodeId, agentId: "main" });
  await operator.next(({ event, payload }) => event === "exec.approval.requested" && payload!["id"] === id);
  await operator.ask("exec.approval.resolve", { id, decision: "allow-once" });
  await asked;
  return id;
}

/** Runs a command that an operator has approved. */
async function approved(script: string, over: object = {}, invokeOver: object = {}) {
  const id = await approval(script);
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
  expect(result).toMatchObject({ timedOut: true, success: false, error: "the command timed out" });
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

test("files are moved in the node's folders with an approval for this file and this content, and not twice", async () => {
  const base64 = Buffer.from("hello file").toString("base64");
  const path = join(shared, "deep", "note.txt");
  const write = { path, base64, agentId: "main" };
  expect((await invoke("file.write", write)).error?.message).toBe("FILE_DENIED: approval required");
  const asNew = fileCommandText("file.write", path, { base64, overwrite: false });
  const runId = await approval(asNew);
  const other = { ...write, base64: Buffer.from("something else").toString("base64"), runId, approved: true };
  expect((await invoke("file.write", other)).error?.details).toMatchObject({ code: "APPROVAL_COMMAND_MISMATCH" });
  const replacing = { ...write, overwrite: true, runId, approved: true };
  expect((await invoke("file.write", replacing)).error?.details, "whether a file is replaced is part of what was allowed").toMatchObject({
    code: "APPROVAL_COMMAND_MISMATCH",
  });
  expect(existsSync(path)).toBe(false);
  const { payload } = await invoke("file.write", { ...write, runId, approved: true });
  expect(payload!["payload"]).toMatchObject({ path, size: 10, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(readFileSync(path, "utf8")).toBe("hello file");
  expect((await invoke("file.write", { ...write, runId, approved: true })).error?.details).toMatchObject({ code: "APPROVAL_REQUIRED" });
  const again = await approval(asNew);
  expect((await invoke("file.write", { ...write, runId: again, approved: true })).error?.details).toMatchObject({ nodeError: { code: "FILE_EXISTS" } });
  const read = await approval("file.read deep/note.txt");
  const got = await invoke("file.read", { path: "deep/note.txt", agentId: "main", runId: read, approved: true });
  expect(got.payload!["payload"]).toMatchObject({ path, size: 10, base64 });
});

test("files outside of the node's folders, sealed ones and too large ones stay where they are", async () => {
  const { home, stateDir } = host.place;
  writeFileSync(join(home, "outside.txt"), "outside");
  writeFileSync(join(home, ".netrc"), "secret");
  symlinkSync(join(home, "outside.txt"), join(shared, "link"));
  linkSync(join(home, ".netrc"), join(shared, "hard-link"));
  writeFileSync(join(shared, "large"), Buffer.alloc(8 * 1024 * 1024 + 1));
  const refusal = ({ error }: Awaited<ReturnType<typeof invoke>>) => (error!.details as { nodeError?: { code?: string } }).nodeError?.code;
  const read = async (path: string) =>
    refusal(await invoke("file.read", { path, agentId: "main", runId: await approval(`file.read ${path}`), approved: true }));
  const denied = [join(home, "outside.txt"), "../outside.txt", "link", "hard-link", "/etc/passwd", join(stateDir, "exec-approvals.json"), "~/.netrc"];
  for (const path of denied) expect([path, await read(path)]).toEqual([path, "FILE_DENIED"]);
  expect(await read("large")).toBe("INVALID_REQUEST");
  expect(await read("missing")).toBe("UNAVAILABLE");
  const base64 = Buffer.from("key").toString("base64");
  for (const path of [join(stateDir, "exec-approvals.json"), "../escaped", "link/../../x"]) {
    const runId = await approval(fileCommandText("file.write", path, { base64, overwrite: true }));
    expect([path, refusal(await invoke("file.write", { path, base64, overwrite: true, agentId: "main", runId, approved: true }))]).toEqual([
      path,
      "FILE_DENIED",
    ]);
  }
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
  const [status, described, invoked, ran, followed, unknown] = await Promise.all([
    cli("nodes", "status"),
    cli("nodes", "describe", "--node", "büro-pc", "--json"),
    cli("nodes", "invoke", "--node", nodeId.slice(0, 8), "--command", "system.which", "--params", '{"bins":["sh"]}'),
    cli("nodes", "run", "--node", "Büro PC", "--agent", "main", "--", "echo", "from here"),
    cli("nodes", "run", "--node", "Büro PC", "--agent", "main", "--follow", "--", "echo", "as it comes"),
    cli("nodes", "invoke", "--node", "attic", "--command", "system.which"),
  ]);
  expect(status).toMatchObject({ code: 0, stdout: expect.stringMatching(/Büro PC\s+connected/) });
  expect(JSON.parse(described.stdout)).toMatchObject({ nodeId, connected: true });
  expect(JSON.parse(invoked.stdout)).toEqual({ bins: { sh: expect.stringMatching(/sh$/) } });
  expect(ran).toMatchObject({ code: 0, stdout: "from here\n" });
  expect(followed).toMatchObject({ code: 0, stdout: "as it comes\n" });
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('unknown node "attic"; known nodes: Büro PC') });
  const whole = await cli("status");
  expect(whole.stdout).toMatch(/Nodes\s+.*connected.*: Büro PC/);
  expect(JSON.parse((await cli("status", "--json")).stdout)).toMatchObject({
    nodes: expect.arrayContaining([expect.objectContaining({ nodeId, displayName: "Büro PC", connected: true })]) as unknown,
  });
  const own = await host.place.start("node", "status", "--json");
  expect(JSON.parse(own.stdout)).toMatchObject({ running: true, pid: host.child.pid });
});

/** Allows the command of which this is a part, once it is asked about. */
async function allow(part: string): Promise<void> {
  const isQuestion = ({ event, payload }: (typeof operator.frames)[number]): boolean =>
    event === "exec.approval.requested" && JSON.stringify(payload).includes(part);
  const { payload } = await operator.next(isQuestion);
  await operator.ask("exec.approval.resolve", { id: payload!["id"], decision: "allow-once" });
}

test("nodes run --follow prints what a command writes while it runs, also of one that was asked about", { timeout: 120_000 }, async () => {
  const { env, home } = gateway.place;
  const go = join(home, "go-on");
  const script = `echo first; until [ -e ${go} ]; do sleep 0.05; done; echo second`;
  const line = [...programArguments("dist"), "nodes", "run", "--node", nodeId, "--agent", "main", "--follow", "--raw", script];
  const child = spawn(process.execPath, line, { env, cwd: home, stdio: ["ignore", "pipe", "ignore"] });
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (shown += text));
  await allow("echo first; until");
  await vi.waitFor(() => expect(shown).toBe("first\n"), { timeout: 20_000 });
  writeFileSync(go, "");
  const [code] = (await once(child, "close")) as [number];
  expect({ code, shown }).toEqual({ code: 0, shown: "first\nsecond\n" });
});

test("nodes run --follow shows the end of long output, and says when pieces of it were dropped on the way", { timeout: 120_000 }, async () => {
  const ran = gateway.place.start("nodes", "run", "--node", nodeId, "--agent", "main", "--follow", "--", "seq", "1", "70000");
  await allow("seq 1 70000");
  const { code, stdout, stderr } = await ran;
  const shown = new Set(stdout.split("\n"));
  const missing = (from: number): readonly number[] => Array.from({ length: 70_001 - from }, (_, n) => from + n).filter((n) => !shown.has(String(n)));
  expect({ code, missing: missing(50_000) }).toEqual({ code: 0, missing: [] });
  expect(stderr.includes("Parts of the output were not streamed") || missing(1).length === 0).toBe(true);
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

test("nodes file copies to the node and back, and asks where the node wants it", { timeout: 120_000 }, async () => {
  const [local, copy] = [join(gateway.place.home, "menu.txt"), join(gateway.place.home, "copy.txt")];
  writeFileSync(local, "soup");
  const isQuestion = (text: string) => (frame: (typeof operator.frames)[number]) =>
    frame.event === "exec.approval.requested" && (frame.payload!["request"] as { command: string }).command.startsWith(text);
  const run = async (text: string, ...args: string[]) => {
    const ran = gateway.place.start("nodes", "file", ...args, "--node", nodeId);
    const { payload } = await operator.next(isQuestion(text));
    await operator.ask("exec.approval.resolve", { id: payload!["id"], decision: "allow-once" });
    return ran;
  };
  expect(await run("file.write menu.txt (4 bytes", "put", local, "menu.txt")).toMatchObject({ code: 0, stdout: `${join(shared, "menu.txt")}\n` });
  expect(await run("file.read menu.txt", "get", "menu.txt", "--out", copy)).toMatchObject({ code: 0, stdout: `${copy}\n` });
  expect(readFileSync(copy, "utf8")).toBe("soup");
});

test("a second process of the same node does not start, and a copy of the identity ends the first", { timeout: 120_000 }, async () => {
  await using first = startHost(gateway.url, { name: "Twin" });
  await first.waitFor("connected to");
  await using second = startHost(gateway.url, { place: first.place });
  expect(await second.exited).toBe(1);
  expect(second.output()).toContain(`process ${first.child.pid} already runs as this node`);
  writeFileSync(join(first.place.stateDir, "node", "process.json"), "{}");
  await using copy = startHost(gateway.url, { place: first.place });
  await copy.waitFor("connected to");
  expect(await first.exited).toBe(1);
  expect(first.output()).toContain("another process connected with this node's identity");
});

test("requests for a browser go to the node that shares its own, and profiles stay settings of the gateway", async () => {
  const request = (method: string, path: string, body?: object) =>
    operator.request("browser.request", { method, path, ...(body ? { body } : {}), idempotencyKey: newKey() });
  expect((await entry())!["commands"]).toContain("browser.proxy");
  expect((await request("GET", "/")).payload).toMatchObject({ userDataDir: join(host.place.stateDir, "browser", "openclaw", "user-data") });
  for (const path of ["/profiles/create", "/reset-profile"]) {
    const direct = await invoke("browser.proxy", { method: "POST", path, body: { name: "x" } });
    expect([path, direct.error?.message]).toEqual([path, expect.stringContaining("operator.admin")]);
  }
  expect((await request("POST", "/profiles/create", { name: "../x" })).error?.message).toContain("is not a valid profile name");
  expect((await request("GET", "/", undefined)).payload).toMatchObject({ running: false });
});
